//! The consensus node's part of the examination: whether its key file can be used. The examination does not create it.

use super::Finding;
use crate::domains::consensus::node_key::usable_key;
use crate::settings::config::Config;
use crate::settings::keys::CONSENSUS_KEY_FILE;
use colibri_consensus::identity::SenderId;

const CHECK: &str = "consensus";

/// Examines the key file, if one is configured.
pub fn check(config: &Config) -> Option<Finding> {
    let path = config.consensus_key_file.as_deref()?;
    Some(match usable_key(path) {
        Ok(Some(key)) => Finding::ok(CHECK, format!("this node is {}", SenderId::of(&key.public_key()))),
        Ok(None) => Finding::ok(CHECK, "the key file is made when the key is first needed"),
        Err(error) => Finding::fail(
            CHECK,
            error.to_string(),
            format!(
                "name in {} a file of this user with mode 0600 and 64 lowercase hex characters, or a new file in \
                 a folder that this user may write; until then consensus calls fail",
                CONSENSUS_KEY_FILE.name
            ),
        ),
    })
}
