//! The key that signs seals, and the trusted keys.

use std::io;
use std::path::Path;

use super::Finding;
use crate::domains::proof::key_file::KeyFileError;
use crate::domains::proof::keyring::{Keyring, KeyringError};
use crate::settings::config::Config;
use crate::settings::keys::{PROOF_SIGNING_KEY_FILE, PROOF_TRUSTED_KEYS};
use crate::settings::mode::Mode;
use crate::shell_word::quoted;

const CHECK: &str = "keys";

/// Judges the keys as they were loaded; `None` if none are configured.
pub(crate) fn check(config: &Config, keyring: &Result<Keyring, KeyringError>) -> Option<Finding> {
    match keyring {
        Err(error) => Some(Finding::fail(CHECK, error.to_string(), advice(error))),
        Ok(keyring) => keyring
            .signing_key()
            .filter(|_| config.mode != Mode::Minimal)
            .map(|key| Finding::ok(CHECK, format!("seals are signed by key {}", key.key_id()))),
    }
}

fn advice(error: &KeyringError) -> String {
    let (variable, trusted) = (PROOF_SIGNING_KEY_FILE.name, PROOF_TRUSTED_KEYS.name);
    let word = |path: &Path| quoted(&path.to_string_lossy());
    match error {
        KeyringError::File(KeyFileError::Exposed { path, .. }) => format!(
            "run `chmod 600 {}`; if another user may have read the key, make a new one with `colibri keys generate`",
            word(path)
        ),
        KeyringError::File(KeyFileError::Unreadable { path, error })
            if error.kind() == io::ErrorKind::NotFound =>
        {
            format!("put the key back, or make one with `colibri keys generate {}`", word(path))
        }
        KeyringError::File(_) => format!(
            "name in {variable} a file of this user that `colibri keys generate` made, or unset it to seal without signatures"
        ),
        KeyringError::Trusted { text, .. } => format!("correct {text} in {trusted}, or leave it out"),
    }
}
