//! The keys of one server: the key that signs tree heads, and the trusted keys (proof#keys).

use super::key_file::{KeyFileError, read_key_file};
use crate::settings::config::Config;
use crate::settings::keys::{PROOF_SIGNING_KEY_FILE, PROOF_TRUSTED_KEYS};
use crate::settings::mode::Mode;
use colibri_canonical::HexDigest;
use colibri_proof::keys::{PublicKey, SigningKey, TrustedKeys};

/// Why the configured keys cannot be used. Each text names the variable.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The key file gives no key.
    #[error("{name}: {0}", name = PROOF_SIGNING_KEY_FILE.name)]
    File(#[from] KeyFileError),
    /// A trusted key is not a public key.
    #[error("{name}: {text}: {reason}", name = PROOF_TRUSTED_KEYS.name)]
    Trusted {
        /// The text in the list.
        text: String,
        /// The fault.
        reason: String,
    },
}

/// The keys, read once at the start. Without a configured key the server signs nothing and trusts no signature.
#[derive(Debug, Default)]
pub struct Keyring {
    signing: Option<SigningKey>,
    trusted: TrustedKeys,
}

impl Keyring {
    /// Loads the keys that the configuration names. MINIMAL, which has no seals, loads none.
    ///
    /// # Errors
    /// The fault of the key file or of a key in the list.
    pub fn load(config: &Config) -> Result<Self, KeyringError> {
        if config.mode == Mode::Minimal {
            return Ok(Self::default());
        }
        let signing = config.proof_signing_key_file.as_deref().map(read_key_file).transpose()?;
        let mut trusted = TrustedKeys::default();
        if let Some(key) = &signing {
            trusted.trust(key.public_key());
        }
        for bytes in &config.proof_trusted_keys {
            let text = HexDigest::from_raw(bytes);
            let key = PublicKey::parse(text.as_str()).map_err(|error| KeyringError::Trusted {
                text: text.as_str().to_owned(),
                reason: error.to_string(),
            })?;
            trusted.trust(key);
        }
        Ok(Self { signing, trusted })
    }

    /// Returns the signing key, if one is configured.
    pub fn signing_key(&self) -> Option<&SigningKey> {
        self.signing.as_ref()
    }

    /// Returns the trusted keys: the signing key's own public key, and the configured ones.
    pub fn trusted_keys(&self) -> &TrustedKeys {
        &self.trusted
    }
}
