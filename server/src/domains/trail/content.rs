//! Where the content of a stored record is: in the row, packed, or gone but for its digest (trail#retention). Pure.

use std::io::{self, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};

use super::store::TrailRow;
use super::zone::RetentionZone;
use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;

/// The most bytes of UTF-8 a content may have (trail#limits). Unpacking stops there.
pub const MAX_CONTENT_BYTES: usize = 1_048_576;

/// No packed form of [`MAX_CONTENT_BYTES`] is longer, however badly it compresses.
const MAX_PACKED_BYTES: usize = 2 * MAX_CONTENT_BYTES;

/// The gzip header's word for "no particular system": the same payload wherever it is written.
const ANY_SYSTEM: u8 = 255;

/// Packs a content: standard base64 of its gzip, without a time.
///
/// # Errors
/// The compressor's, which does not fail on memory.
pub fn pack(content: &str) -> io::Result<String> {
    let mut gzip =
        GzBuilder::new().mtime(0).operating_system(ANY_SYSTEM).write(Vec::new(), Compression::default());
    gzip.write_all(content.as_bytes())?;
    Ok(STANDARD.encode(gzip.finish()?))
}

/// Unpacks contents into buffers that a walk keeps for all its rows.
#[derive(Debug, Default)]
pub struct Unpacker {
    gzip: Vec<u8>,
    text: Vec<u8>,
}

impl Unpacker {
    /// The content in a payload; `None` when the payload is not what [`pack`] makes, or holds too much.
    pub fn unpack(&mut self, payload: &str) -> Option<&str> {
        if payload.len() > MAX_PACKED_BYTES {
            return None;
        }
        self.gzip.clear();
        self.text.clear();
        STANDARD.decode_vec(payload, &mut self.gzip).ok()?;
        let mut gzip = GzDecoder::new(self.gzip.as_slice());
        let read = gzip.by_ref().take(MAX_CONTENT_BYTES as u64 + 1).read_to_end(&mut self.text).ok()?;
        if read > MAX_CONTENT_BYTES || !gzip.into_inner().is_empty() {
            return None;
        }
        std::str::from_utf8(&self.text).ok()
    }

    /// The content of a warm row, if it is the one whose digest was kept.
    fn checked(&mut self, row: &TrailRow<'_>) -> Option<(&str, HexDigest)> {
        let kept = HexDigest::parse(row.content_hash?)?;
        let content = self.unpack(row.content_compressed?)?;
        (HexDigest::of(content.as_bytes()) == kept).then_some((content, kept))
    }
}

/// The content of a row, unpacked and checked against its digest if it is warm (trail#retention). A row that
/// does not hold what its zone says has lost it.
pub fn content_of<'a>(row: &TrailRow<'a>, unpacker: &'a mut Unpacker) -> Content<'a> {
    match RetentionZone::of(row.zone) {
        Some(RetentionZone::Hot) => row.content.map_or(Content::Lost, Content::Kept),
        Some(RetentionZone::Warm) => {
            unpacker.checked(row).map_or(Content::Lost, |(content, _)| Content::Kept(content))
        }
        Some(RetentionZone::Cold) if row.content_hash.and_then(HexDigest::parse).is_some() => {
            Content::Dropped
        }
        Some(RetentionZone::Cold) | None => Content::Lost,
    }
}

/// Whether a row holds what its zone says, and nothing else: the table's own rule, which is no rule for somebody who
/// switches it off, and which SQLite does not check on a connection that cannot write.
pub fn is_where_zone_says(row: &TrailRow<'_>) -> bool {
    let held = (row.content.is_some(), row.content_compressed.is_some(), row.content_hash.is_some());
    match RetentionZone::of(row.zone) {
        Some(RetentionZone::Hot) => matches!(held, (true, false, _)),
        Some(RetentionZone::Warm) => held == (false, true, true),
        Some(RetentionZone::Cold) => held == (false, false, true),
        None => false,
    }
}

/// The SHA-256 of a row's content: computed while the content is there, the kept one when it is cold; `None`
/// when the content is lost.
pub fn content_digest(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> Option<HexDigest> {
    match RetentionZone::of(row.zone)? {
        RetentionZone::Hot => row.content.map(|content| HexDigest::of(content.as_bytes())),
        RetentionZone::Warm => unpacker.checked(row).map(|(_, kept)| kept),
        RetentionZone::Cold => row.content_hash.and_then(HexDigest::parse),
    }
}
