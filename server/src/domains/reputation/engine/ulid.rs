//! ULIDs for experience tokens and witnesses (reputation#tokens). Pure.
//!
//! A ULID and a UUID v7 have the same 128 bits, 48 of them the time in milliseconds. A ULID is written in Crockford's
//! base 32, a UUID in hexadecimal. So the server's one source of ids serves both.

/// Crockford's digits: no I, L, O, U.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a ULID.
const LENGTH: usize = 26;

/// Converts a UUID in its usual form to the ULID of the same bits; `None` for any other text.
pub fn from_uuid(uuid: &str) -> Option<String> {
    let hex: String = uuid.split('-').collect();
    if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u128::from_str_radix(&hex, 16).ok()?;
    let digit = |place: usize| {
        let five = (bits >> (5 * (LENGTH - 1 - place))) & 31;
        usize::try_from(five).ok().and_then(|value| DIGITS.get(value)).map(|digit| char::from(*digit))
    };
    (0..LENGTH).map(digit).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::from_uuid;

    #[test]
    fn the_bits_stay_and_so_does_the_order() {
        // 26 digits hold 130 bits, so the first is 7 at most.
        assert_eq!(from_uuid("ffffffff-ffff-ffff-ffff-ffffffffffff").unwrap(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
        assert_eq!(from_uuid("00000000-0000-0000-0000-000000000000").unwrap(), "0".repeat(26));
        // The time of the specification's own example, 01ARZ3NDEKTSV4RRFFQ69G5FAV.
        assert_eq!(from_uuid("01563e3a-b5d3-d676-4c61-efb99302bd5b").unwrap(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        let first = from_uuid("019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c01").unwrap();
        let second = from_uuid("019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c02").unwrap();
        assert!(first < second);
        for text in ["", "x", "019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c0", "019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c0g"] {
            assert_eq!(from_uuid(text), None, "{text}");
        }
    }
}
