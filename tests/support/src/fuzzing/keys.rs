//! Keys: a key that is accepted is written again as the same key, in every form, and no error message repeats a piece
//! of a refused text.

use std::fs;
use std::io::Write;

use colibri::domains::consensus::node_key::existing_key;
use colibri::domains::proof::key_file::read_key_file;
use colibri::settings::rules::{PublicKeys, Rule};
use colibri_canonical::hex;
use colibri_consensus::private_key::{PrivateKey, parse_private_key};
use colibri_proof::keys::{PublicKey, SigningKey, TrustedKeys};

/// Seeds, prefixes, and what other programs write keys as.
pub const TOKENS: &[&str] = &[
    "302e020100300506032b657004220420",
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "[0,1,2,3,4,5,6,7]",
    "0x",
    "\n",
    "\r\n",
    " ",
    ",",
    "A",
    "f",
    "é",
    "\0",
    "-----BEGIN PRIVATE KEY-----\n",
];

/// The shortest piece of an input that would give something away.
const PIECE_BYTES: usize = 6;

/// Reads the input as a key of each kind, from text and from a file.
pub fn check(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).ok();
    let signing = text.and_then(signing_key);
    let private = text.and_then(private_key);
    let public = text.is_some_and(public_keys);
    key_files(bytes, text, signing.as_ref(), private.as_ref());
    signing.is_some() || private.is_some() || public
}

/// The key of tree heads.
fn signing_key(text: &str) -> Option<SigningKey> {
    let key = SigningKey::from_seed_text(text).map_err(|error| silent(text, &error.to_string())).ok()?;
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let seed = key.seed_text();
    assert_eq!(seed.expose(), line.to_ascii_lowercase(), "the seed is what was given");
    silent(text, &format!("{key:?}"));
    Some(key)
}

/// The key of consensus and of the verifiable random function.
fn private_key(text: &str) -> Option<PrivateKey> {
    let key = parse_private_key(text).map_err(|error| silent(text, &error.to_string())).ok()?;
    let (seed, public) = (hex::encode(key.seed()), hex::encode(&key.public_key()));
    let forms = [seed.clone(), format!("302e020100300506032b657004220420{seed}"), format!("{seed}{public}")];
    assert!(forms.iter().any(|form| form == text), "it was written in one of the forms");
    for form in forms {
        let again = parse_private_key(&form).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.seed(), key.seed());
    }
    Some(key)
}

/// Keys that verify, one or a list.
fn public_keys(text: &str) -> bool {
    match PublicKey::parse(text) {
        Ok(key) => {
            assert_eq!(key.hex(), text.to_ascii_lowercase());
            assert_eq!(PublicKey::parse(&key.hex()), Ok(key.clone()));
            assert!(key.hex() != key.key_id() && key.key_id().len() == 32);
        }
        Err(error) => silent(text, &error.to_string()),
    }
    match PublicKeys.parse(text) {
        Ok(keys) => {
            let list: Vec<String> = keys.iter().map(|key| hex::encode(key)).collect();
            assert_eq!(PublicKeys.parse(&list.join(",")), Ok(keys));
        }
        Err(complaint) => silent(text, &complaint),
    }
    match TrustedKeys::parse(text) {
        Ok(trusted) => {
            let list: Vec<String> = trusted.iter().map(PublicKey::hex).collect();
            assert_eq!(TrustedKeys::parse(&list.join(" , ")).as_ref(), Ok(&trusted));
            !trusted.is_empty()
        }
        Err(error) => {
            silent(text, &error.to_string());
            false
        }
    }
}

/// A key file holds what the texts hold, and nothing else is one.
fn key_files(bytes: &[u8], text: Option<&str>, signing: Option<&SigningKey>, private: Option<&PrivateKey>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path).and_then(|mut file| file.write_all(bytes)).expect("a file");
    match read_key_file(&path) {
        Ok(key) => assert_eq!(Some(key.key_id()), signing.map(SigningKey::key_id)),
        Err(error) => {
            assert!(signing.is_none(), "{error}");
            silent(text.unwrap_or_default(), &error.to_string().replace(&path.display().to_string(), ""));
        }
    }
    // Of the forms, a node's file has the seed alone, and a line end.
    let seed = text.and_then(|text| parse_private_key(text.strip_suffix('\n').unwrap_or(text)).ok());
    match existing_key(&path) {
        Ok(found) => {
            let found = found.expect("the file is there");
            assert_eq!(Some(found.seed()), seed.as_ref().map(PrivateKey::seed));
            assert!((64..=65).contains(&bytes.len()), "{} bytes", bytes.len());
        }
        Err(error) => {
            assert!(private.is_none() || bytes.len() != 64, "{error}");
            silent(text.unwrap_or_default(), &error.to_string());
        }
    }
}

/// No piece of a secret stands in what is said about it.
fn silent(secret: &str, said: &str) {
    // What is said of any text at all gives nothing away.
    const SAID: &str = "a key is 64 hex characters (32 bytes); the 64 hex characters are not an Ed25519 public key; key is \
        not lowercase hex of even length; key is empty; 48-byte key is not an Ed25519 PKCS#8 document; public half does \
        not match the seed; expected 32, 48 or 64 bytes, got ; must be a comma-separated list of public keys of 64 hex \
        characters each; key file  holds no signing key: a key is 64 hex characters (32 bytes), and a line end at most; \
        name a file made by `colibri keys generate`; node key file: expected 64 lowercase hex characters and at most a \
        line end";
    for piece in secret.as_bytes().windows(PIECE_BYTES) {
        let Ok(piece) = std::str::from_utf8(piece) else { continue };
        assert!(SAID.contains(piece) || !said.contains(piece), "`{said}` repeats `{piece}`");
    }
}
