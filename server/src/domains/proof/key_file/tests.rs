//! Key files: who may read them and what they hold (proof#keys).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use crate::domains::proof::key_file::{KeyFileError, read_key_file};
use colibri_proof::keys::SigningKey;
use tempfile::TempDir;

const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn write(folder: &TempDir, text: &[u8], mode: u32) -> std::path::PathBuf {
    let path = folder.path().join("signing.key");
    std::fs::write(&path, text).unwrap();
    restrict(&path, mode);
    path
}

#[cfg(unix)]
fn restrict(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn restrict(_: &Path, _: u32) {}

#[test]
fn a_private_file_with_64_characters_is_a_key() {
    let folder = TempDir::new().unwrap();
    for text in [SEED.to_owned(), format!("{SEED}\n"), format!("{SEED}\r\n")] {
        let path = write(&folder, text.as_bytes(), 0o600);
        assert_eq!(
            read_key_file(&path).unwrap().key_id(),
            SigningKey::generate(std::array::from_fn(|index| index as u8)).key_id()
        );
    }
}

#[test]
fn other_texts_are_refused_without_being_repeated() {
    let folder = TempDir::new().unwrap();
    let long = SEED.repeat(1000);
    let texts =
        [&SEED.as_bytes()[1..], b"", long.as_bytes(), &[0xff; 64], &format!("{SEED}\n\n").into_bytes()];
    for text in texts {
        let path = write(&folder, text, 0o600);
        let error = read_key_file(&path).unwrap_err();
        assert!(matches!(error, KeyFileError::Malformed { .. }), "{error}");
        let (shown, debug) = (error.to_string(), format!("{error:?}"));
        assert!(shown.contains("signing.key") && shown.contains("64 hex characters"), "{shown}");
        assert!(!shown.contains("0c0d0e0f") && !debug.contains("0c0d0e0f"), "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_use_is_refused() {
    let folder = TempDir::new().unwrap();
    for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
        let path = write(&folder, SEED.as_bytes(), mode);
        let error = read_key_file(&path).unwrap_err();
        assert!(matches!(error, KeyFileError::Exposed { .. }), "{mode:o}: {error}");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}

#[test]
fn what_is_no_file_is_no_key() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = read_key_file(&path).unwrap_err();
        assert!(matches!(error, KeyFileError::Unreadable { .. }), "{error}");
    }
}
