//! The keys of one server: what it signs tree heads with, and whose signatures it accepts (proof#keys).

use super::key_file::read_key_file;
use crate::settings::config::Config;
use crate::settings::keys::{PROOF_SIGNING_KEY_FILE, PROOF_TRUSTED_KEYS};
use crate::settings::mode::Mode;
use colibri_canonical::HexDigest;
use colibri_proof::keys::{PublicKey, SigningKey, TrustedKeys};

/// Read once, at the start. Without a configured key nothing is signed, and no signature is known.
#[derive(Debug, Default)]
pub struct Keyring {
    signing: Option<SigningKey>,
    trusted: TrustedKeys,
}

impl Keyring {
    /// The keys that the configuration names. MINIMAL, which has no seals, reads none.
    ///
    /// # Errors
    /// What is wrong with the key file or a key of the list, in one line that names the variable.
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

    /// The key that signs, if there is one.
    pub fn signing_key(&self) -> Option<&SigningKey> {
        self.signing.as_ref()
    }

    /// The keys whose signatures count: the signing key's own, and the configured ones.
    pub fn trusted_keys(&self) -> &TrustedKeys {
        &self.trusted
    }
}
