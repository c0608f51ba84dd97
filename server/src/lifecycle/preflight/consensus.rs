//! Whether the key file of the consensus node can be used. A start goes on without it, and nothing here creates it.

use std::path::Path;

use super::Finding;
use crate::domains::consensus::node_key::{NodeKeyError, usable_key};
use crate::settings::config::Config;
use crate::settings::keys::CONSENSUS_KEY_FILE;
use crate::shell_word::quoted;
use colibri_consensus::identity::SenderId;

const CHECK: &str = "consensus";

/// Examines the key file, if one is configured.
pub fn check(config: &Config) -> Option<Finding> {
    let path = config.consensus_key_file.as_deref()?;
    Some(match usable_key(path) {
        Ok(Some(key)) => Finding::ok(CHECK, format!("this node is {}", SenderId::of(&key.public_key()))),
        Ok(None) => Finding::ok(CHECK, "the key file is made when the key is first needed"),
        Err(error) => Finding::warn(CHECK, error.to_string(), advice(path, &error)),
    })
}

fn advice(path: &Path, error: &NodeKeyError) -> String {
    let name = CONSENSUS_KEY_FILE.name;
    match error {
        NodeKeyError::Exposed { .. } => {
            format!("run `chmod 600 {}`; until then consensus calls fail", quoted(&path.to_string_lossy()))
        }
        _ => format!(
            "name in {name} a file of this user with 64 lowercase hex characters, or a new file in a folder that this user may \
             write; until then consensus calls fail"
        ),
    }
}
