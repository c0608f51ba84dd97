//! The keys of one server: the key that signs tree heads, and the trusted keys (proof#keys).

use super::key_file::read_key_file;
use crate::settings::config::Config;
use crate::settings::keys::{PROOF_SIGNING_KEY_FILE, PROOF_TRUSTED_KEYS};
use crate::settings::mode::Mode;
use colibri_canonical::HexDigest;
use colibri_proof::keys::{PublicKey, SigningKey, TrustedKeys};

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
    /// The fault of the key file or of a key in the list, in one line that names the variable.
    pub fn load(config: &Config) -> Result<Self, String> {
        if config.mode == Mode::Minimal {
            return Ok(Self::default());
        }
        let signing = config.proof_signing_key_file.as_deref().map(read_key_file).transpose();
        let signing = signing.map_err(|error| format!("{}: {error}", PROOF_SIGNING_KEY_FILE.name))?;
        let mut trusted = TrustedKeys::default();
        if let Some(key) = &signing {
            trusted.trust(key.public_key());
        }
        for bytes in &config.proof_trusted_keys {
            let text = HexDigest::from_raw(bytes);
            let key = PublicKey::parse(text.as_str())
                .map_err(|error| format!("{}: {}: {error}", PROOF_TRUSTED_KEYS.name, text.as_str()))?;
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
