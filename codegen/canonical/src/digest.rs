//! SHA-256 as 64 lowercase hexadecimal digits.

use sha2::{Digest, Sha256};

use crate::hex;

/// SHA-256 of `bytes`: 64 lowercase hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    HexDigest::of(bytes).as_str().to_owned()
}

/// A SHA-256 in lowercase hex. `Copy`, so that the tip of a chain moves without allocating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HexDigest([u8; 64]);

impl HexDigest {
    /// 64 zeros: the link before the first one of a chain.
    pub const ZERO: Self = Self([b'0'; 64]);

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_raw(&Sha256::digest(bytes).into())
    }

    /// The digest of all that a running hash was fed: for what is too long to lie in memory.
    pub fn from_sha256(hash: Sha256) -> Self {
        Self::from_raw(&hash.finalize().into())
    }

    /// The digest whose 32 bytes are given.
    pub fn from_raw(raw: &[u8; 32]) -> Self {
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(raw) {
            pair.copy_from_slice(&hex::digits(*byte));
        }
        Self(text)
    }

    /// Its 32 bytes.
    pub fn raw(&self) -> [u8; 32] {
        let value = |digit: u8| hex::lowercase(digit).unwrap_or_default();
        let mut raw = [0; 32];
        for (byte, pair) in raw.iter_mut().zip(self.0.chunks_exact(2)) {
            *byte = value(pair[0]) << 4 | value(pair[1]);
        }
        raw
    }

    /// A stored digest; `None` unless it is 64 lowercase hex characters.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 64] = text.as_bytes().try_into().ok()?;
        // No branch a byte: the walk over the log looks at half a dozen a row.
        let sound = bytes.iter().fold(true, |sound, byte| sound & matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        sound.then_some(Self(bytes))
    }

    /// The 64 characters.
    pub fn as_str(&self) -> &str {
        // Both constructors admit ASCII only, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::HexDigest;

    #[test]
    fn the_empty_object_has_its_known_digest() {
        assert_eq!(
            HexDigest::of(b"{}").as_str(),
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }

    #[test]
    fn bytes_and_text_are_the_same_digest() {
        let digest = HexDigest::of(b"{}");
        assert_eq!(HexDigest::from_raw(&digest.raw()), digest);
        assert_eq!(digest.raw()[..3], [0x44, 0x13, 0x6f]);
    }

    #[test]
    fn only_64_lowercase_hex_characters_parse() {
        let good = "0123456789abcdef".repeat(4);
        assert_eq!(HexDigest::parse(&good).map(|digest| digest.as_str().to_owned()), Some(good.clone()));
        for bad in [&good[1..], &good.to_uppercase(), &format!("{}g", &good[1..]), &"é".repeat(32)] {
            assert_eq!(HexDigest::parse(bad), None, "{bad}");
        }
    }
}
