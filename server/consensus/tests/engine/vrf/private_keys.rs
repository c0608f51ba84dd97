//! The forms in which a private key may be written (consensus#private-keys).

use colibri_consensus::private_key::{PrivateKey, PrivateKeyError, parse_private_key};
use colibri_consensus::vrf::vrf_eval;
use proptest::prelude::*;

use crate::vrf::support::{SEED_A, SEED_B, hex, key};

const PKCS8: &str = "302e020100300506032b657004220420";
const PUBLIC_B: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";

/// Returns the error for a text that is not a key.
fn refusal(text: &str) -> String {
    parse_private_key(text).err().expect("no key").to_string()
}

#[test]
fn every_form_is_the_same_key() {
    let expected = vrf_eval(&[], &[0x72], &key(SEED_B)).unwrap();
    for form in [SEED_B.to_owned(), format!("{PKCS8}{SEED_B}"), format!("{SEED_B}{PUBLIC_B}")] {
        let key = key(&form);
        assert_eq!(hex(key.seed()), SEED_B);
        assert_eq!(hex(&key.public_key()), PUBLIC_B);
        assert_eq!(vrf_eval(&[], &[0x72], &key).unwrap(), expected);
    }
    assert_eq!(key(&"00".repeat(32)).seed(), &[0; 32], "32 zero bytes are a seed");
}

#[test]
fn what_is_no_key_is_refused_in_the_words_of_theta_3_4() {
    assert_eq!(refusal(""), "key is empty");
    assert_eq!(refusal("aa"), "expected 32, 48 or 64 bytes, got 1");
    assert_eq!(refusal(&"aa".repeat(31)), "expected 32, 48 or 64 bytes, got 31");
    assert_eq!(refusal(&"aa".repeat(128)), "expected 32, 48 or 64 bytes, got 128");
    assert_eq!(refusal(&"aa".repeat(48)), "48-byte key is not an Ed25519 PKCS#8 document");
    assert_eq!(refusal(&format!("{SEED_A}{PUBLIC_B}")), "public half does not match the seed");
    for text in ["a", "abc", "zz", "AA", "0xaa", "é"] {
        assert_eq!(parse_private_key(text).err(), Some(PrivateKeyError::NotHex), "{text}");
    }
    assert_eq!(parse_private_key(&SEED_B.to_uppercase()).err(), Some(PrivateKeyError::NotHex));
}

#[test]
fn every_byte_of_a_longer_form_counts() {
    for (form, checked) in [(format!("{PKCS8}{SEED_B}"), 0..32), (format!("{SEED_B}{PUBLIC_B}"), 0..128)] {
        for at in checked {
            let mut other = form.clone();
            let digit = if other.as_bytes()[at] == b'0' { "1" } else { "0" };
            other.replace_range(at..=at, digit);
            assert!(parse_private_key(&other).is_err(), "{other}");
        }
    }
}

proptest! {
    #[test]
    fn errors_say_nothing_of_the_key(bytes in proptest::collection::vec(any::<u8>(), 1..130)) {
        let text = hex(&bytes);
        if let Err(error) = parse_private_key(&text) {
            let (shown, debugged) = (error.to_string(), format!("{error:?}"));
            // Lengths and the words themselves hold up to two hex digits in a row.
            for piece in text.as_bytes().windows(6) {
                let piece = std::str::from_utf8(piece).unwrap();
                prop_assert!(!shown.contains(piece) && !debugged.contains(piece), "{shown}");
            }
        }
    }

    #[test]
    fn a_seed_comes_back(seed in any::<[u8; 32]>()) {
        prop_assert_eq!(*key(&hex(&seed)).seed(), seed);
        let public = PrivateKey::from_seed(&seed).public_key();
        let pair = hex(&[seed, public].concat());
        prop_assert_eq!(*key(&pair).seed(), seed);
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "[0-9a-f]{0,140}|\\PC{0,70}") {
        parse_private_key(&text).ok();
    }
}
