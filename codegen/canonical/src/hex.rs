//! Bytes as hexadecimal text. Digests and signatures have one form, in lowercase; keys may be typed in either case.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns the two lowercase digits of a byte.
pub(crate) fn digits(byte: u8) -> [u8; 2] {
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Returns bytes as lowercase digits without a prefix.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| digits(*byte).map(char::from)).collect()
}

/// Returns the bytes that a text of lowercase digits stands for, two digits a byte; `None` for any other text.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|pair| byte(*pair, lowercase)).collect()
}

/// Returns the `N` bytes that exactly `2 * N` lowercase digits stand for.
pub fn decode_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    array(text, lowercase)
}

/// Returns the `N` bytes that exactly `2 * N` digits of either case stand for.
pub fn decode_array_of_either_case<const N: usize>(text: &str) -> Option<[u8; N]> {
    array(text, |digit| lowercase(digit.to_ascii_lowercase()))
}

/// Returns the value of a lowercase digit.
pub(crate) fn lowercase(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn array<const N: usize>(text: &str, value: impl Fn(u8) -> Option<u8> + Copy) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (to, pair) in bytes.iter_mut().zip(pairs) {
        *to = byte(*pair, value)?;
    }
    Some(bytes)
}

fn byte([high, low]: [u8; 2], value: impl Fn(u8) -> Option<u8>) -> Option<u8> {
    Some(value(high)? << 4 | value(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowercase_is_the_one_form() {
        assert_eq!(encode(&[0, 0x0f, 0xa5]), "000fa5");
        assert_eq!(decode("000fa5"), Some(vec![0, 0x0f, 0xa5]));
        assert_eq!(decode_array("000fa5"), Some([0, 0x0f, 0xa5]));
        for bad in ["000fA5", "000fa", "000fag", "000f a5", "é00f"] {
            assert_eq!((decode(bad), decode_array::<3>(bad)), (None, None), "{bad}");
        }
        assert_eq!(decode(""), Some(Vec::new()));
        assert_eq!(decode_array::<2>("000fa5"), None);
    }

    #[test]
    fn keys_may_be_typed_in_either_case() {
        assert_eq!(decode_array_of_either_case("000FA5"), Some([0, 0x0f, 0xa5]));
        assert_eq!(decode_array_of_either_case("000fA5"), Some([0, 0x0f, 0xa5]));
        for bad in ["000FA", "000FAG", "+00FA5"] {
            assert_eq!(decode_array_of_either_case::<3>(bad), None, "{bad}");
        }
    }
}
