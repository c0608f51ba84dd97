//! The place of a stored record's content: in the row, packed, or pruned to its digest (trail#retention). Pure.

use std::io::{self, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};

use super::store::TrailRow;
use super::zone::RetentionZone;
use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;

/// The most bytes of UTF-8 in a content (trail#limits). Unpacking stops there.
pub const MAX_CONTENT_BYTES: usize = 1_048_576;

/// The longest packed form of [`MAX_CONTENT_BYTES`], even if it compresses badly.
const MAX_PACKED_BYTES: usize = 2 * MAX_CONTENT_BYTES;

/// The gzip header's value for "no particular system", so that every system writes the same payload.
const ANY_SYSTEM: u8 = 255;

/// Packs a content as standard base64 of its gzip, without a timestamp.
///
/// # Errors
/// The compressor's error, which cannot occur in memory.
pub fn pack(content: &str) -> io::Result<String> {
    let mut gzip =
        GzBuilder::new().mtime(0).operating_system(ANY_SYSTEM).write(Vec::new(), Compression::default());
    gzip.write_all(content.as_bytes())?;
    Ok(STANDARD.encode(gzip.finish()?))
}

/// Unpacks contents into buffers that a walk reuses for all its rows.
#[derive(Debug, Default)]
pub struct Unpacker {
    gzip: Vec<u8>,
    text: Vec<u8>,
}

impl Unpacker {
    /// Returns the content of a payload; `None` if [`pack`] did not produce the payload, or if it is too long.
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

    /// Returns the content of a warm row, if it matches the stored digest.
    fn checked(&mut self, row: &TrailRow<'_>) -> Option<(&str, HexDigest)> {
        let kept = HexDigest::parse(row.content_hash?)?;
        let content = self.unpack(row.content_compressed?)?;
        (HexDigest::of(content.as_bytes()) == kept).then_some((content, kept))
    }
}

/// Returns the content of a row, unpacked and checked against its digest if it is warm (trail#retention). The content
/// is lost if the row does not match its zone.
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

/// Returns whether a row holds exactly the columns of its zone. The table has the same constraint, but anyone can
/// switch that off, and SQLite does not check it on a read-only connection.
pub fn is_where_zone_says(row: &TrailRow<'_>) -> bool {
    let held = (row.content.is_some(), row.content_compressed.is_some(), row.content_hash.is_some());
    match RetentionZone::of(row.zone) {
        Some(RetentionZone::Hot) => matches!(held, (true, false, _)),
        Some(RetentionZone::Warm) => held == (false, true, true),
        Some(RetentionZone::Cold) => held == (false, false, true),
        None => false,
    }
}

/// Returns the SHA-256 of a row's content: computed while the content exists, the stored one if it is cold. `None` if
/// the content is lost.
pub fn content_digest(row: &TrailRow<'_>, unpacker: &mut Unpacker) -> Option<HexDigest> {
    match RetentionZone::of(row.zone)? {
        RetentionZone::Hot => row.content.map(|content| HexDigest::of(content.as_bytes())),
        RetentionZone::Warm => unpacker.checked(row).map(|(_, kept)| kept),
        RetentionZone::Cold => row.content_hash.and_then(HexDigest::parse),
    }
}
