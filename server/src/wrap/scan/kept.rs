//! Values that are kept or hashed while they pass in pieces. Places are those of the present piece.

use colibri_canonical::HexDigest;
use sha2::{Digest as _, Sha256};

/// A short value.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    limit: usize,
    /// It is longer than its limit.
    over: bool,
    /// Where it goes on, while it passes.
    from: Option<usize>,
}

impl Kept {
    /// The value begins at a place.
    pub(super) fn begin(&mut self, at: usize, limit: usize) {
        self.bytes.clear();
        (self.limit, self.over, self.from) = (limit, false, Some(at));
    }

    /// The piece ends at a place, or the value does.
    pub(super) fn pause(&mut self, piece: &[u8], to: usize) {
        let Some(from) = self.from else { return };
        let new = piece.get(from..to).unwrap_or_default();
        let room = self.limit - self.bytes.len();
        self.over |= new.len() > room;
        self.bytes.extend_from_slice(&new[..new.len().min(room)]);
        self.from = Some(0);
    }

    /// Returns the value, which ends before a place. `None` if it is too long.
    pub(super) fn end(&mut self, piece: &[u8], to: usize) -> Option<&[u8]> {
        self.pause(piece, to);
        self.from = None;
        if self.over { None } else { Some(&self.bytes) }
    }
}

/// A value of any length, of which only the hash is kept.
#[derive(Debug, Default)]
pub(super) struct Hashed {
    hash: Sha256,
    from: Option<usize>,
}

impl Hashed {
    /// The value begins at a place.
    pub(super) fn begin(&mut self, at: usize) {
        self.from = Some(at);
    }

    /// The piece ends at a place.
    pub(super) fn pause(&mut self, piece: &[u8], to: usize) {
        if let Some(from) = self.from {
            self.hash.update(piece.get(from..to).unwrap_or_default());
            self.from = Some(0);
        }
    }

    /// The value ends before a place.
    pub(super) fn end(&mut self, piece: &[u8], to: usize) {
        self.pause(piece, to);
        self.from = None;
    }

    /// Returns the hash of all values that passed.
    pub(super) fn digest(self) -> HexDigest {
        HexDigest::from_sha256(self.hash)
    }
}
