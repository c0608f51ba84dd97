//! The part of the examination that a shared database gets.

use super::Finding;
use crate::settings::config::Config;
use crate::settings::place::Place;
use colibri_store::server_version;

const CHECK: &str = "database";

/// Examines the configured database.
pub fn check(config: &Config) -> Vec<Finding> {
    let Place::Shared(url) = &config.place else { return Vec::new() };
    let finding = match server_version(url, &config.sharing.session()) {
        Ok(version) => Finding::ok(CHECK, format!("PostgreSQL {version} answers")),
        Err(error) => {
            let advice = "correct what the message names; until then no server starts on it";
            Finding::fail(CHECK, error.to_string(), advice)
        }
    };
    vec![finding]
}
