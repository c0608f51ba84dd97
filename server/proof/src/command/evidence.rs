//! What an auditor gives a check: a published hash, and public keys. A check takes nothing from the environment or
//! from the file under examination, so its verdict is the same on every machine.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::Failure;
use crate::bounded_file;
use crate::head::SignedTreeHead;
use crate::keys::{PublicKey, SignatureStatus, SigningKey, TrustedKeys, signed_by};

/// A file with a public key has 65 bytes.
const MAX_KEY_FILE_BYTES: u64 = 256;

/// Reads the input file, which is a regular one, or stdin for `-`.
///
/// # Errors
/// [`Failure::Usage`] if it cannot be opened.
pub fn input<'a>(file: &Path, stdin: &'a mut dyn Read) -> Result<Box<dyn BufRead + 'a>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(BufReader::new(stdin)));
    }
    match bounded_file::open(file) {
        Ok(opened) => Ok(Box::new(BufReader::new(opened))),
        Err(error) => {
            Err(Failure::Usage(format!("cannot read {}: {error}; name the file to check", file.display())))
        }
    }
}

/// Names a file of Colibri that is given to the wrong command, by its first bytes.
pub fn other_file(bytes: &[u8]) -> Option<&'static str> {
    let begins = |format: &str| bytes.starts_with(format!("{{\"format\":\"{format}\",").as_bytes());
    if begins("colibri-session-export") {
        Some("it is an export, which `verify-export` reads")
    } else if begins("colibri-inclusion-bundle") {
        Some("it is a proof, which `check-proof` reads")
    } else if begins("colibri-checkpoint") {
        Some("it is a checkpoint, which `colibri verify --checkpoint` reads")
    } else {
        None
    }
}

/// The keys that `--key` names.
#[derive(Default)]
pub struct Keys {
    /// Those whose signatures count.
    pub trusted: TrustedKeys,
    /// The public halves of seeds, in case a file holds a seed instead of a public key. They are never trusted: a public
    /// key read as a seed would let anyone sign.
    of_seeds: TrustedKeys,
}

/// A public key and a seed look alike. That a file holds a seed shows only if the head was signed with it.
pub const MISTAKEN: &str =
    "--key names the file of the signing key itself; name the public key that `colibri keys show` prints";

impl Keys {
    /// Wraps keys that were read elsewhere.
    pub fn of(trusted: TrustedKeys) -> Self {
        Self { trusted, of_seeds: TrustedKeys::default() }
    }

    /// Reads the keys.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a text that is not a public key.
    pub fn read(named: &[String]) -> Result<Self, Failure> {
        let mut keys = Self::default();
        for given in named {
            let digits = given.len() == 64 && given.bytes().all(|byte| byte.is_ascii_hexdigit());
            let text = if digits { given.clone() } else { key_file(given)? };
            if let Ok(seed) = SigningKey::from_seed_text(&text) {
                keys.of_seeds.trust(seed.public_key());
            }
            let key = PublicKey::parse(text.trim()).map_err(|error| {
                Failure::Usage(format!(
                    "--key {given}: {error}; `colibri keys show` prints the public key of a signing key's file"
                ))
            })?;
            keys.trusted.trust(key);
        }
        Ok(keys)
    }

    /// Checks that the user has not named the seed's file in place of the public key.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the user has.
    pub fn not_mistaken(&self, head: &SignedTreeHead) -> Result<(), Failure> {
        if signed_by(head, &self.of_seeds) { Err(Failure::Usage(MISTAKEN.to_owned())) } else { Ok(()) }
    }

    /// Returns the public halves of seeds that were named by mistake. A head signed by one of them shows the mistake.
    pub fn of_seeds(&self) -> &TrustedKeys {
        &self.of_seeds
    }
}

fn key_file(path: &str) -> Result<String, Failure> {
    bounded_file::text(Path::new(path), MAX_KEY_FILE_BYTES).map_err(|error| {
        Failure::Usage(format!("--key {path}: {error}; give 64 hex characters, or a file that holds them"))
    })
}

/// Returns a signature's status in words, given the keys that `--key` names.
pub fn signature_text(status: SignatureStatus, head: &SignedTreeHead, trusted: &TrustedKeys) -> String {
    let (key_id, public_key) =
        head.signature.as_ref().map_or(("", ""), |signed| (&signed.key_id, &signed.public_key));
    match status {
        SignatureStatus::Valid => format!("valid, by the given key {key_id}"),
        SignatureStatus::Invalid => {
            "invalid: it does not match this head and the key that it names".to_owned()
        }
        SignatureStatus::Unsigned => "missing: the head is not signed".to_owned(),
        SignatureStatus::UnknownKey if trusted.is_empty() => {
            format!("valid, but key {key_id} is not trusted; name the signer's public key with --key")
        }
        SignatureStatus::UnknownKey => {
            let named = trusted.iter().map(|key| format!("{} ({})", key.key_id(), key.hex()));
            let named = named.collect::<Vec<_>>().join(" and ");
            format!("valid, but by another key: {key_id} ({public_key}) signed it, --key names {named}")
        }
    }
}
