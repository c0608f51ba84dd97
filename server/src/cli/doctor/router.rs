//! The router's part of the examination: where its candidates come from, and whether the providers that have a key
//! could be reached. It sends no request.

use super::Finding;
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::settings::Target;
use crate::domains::router::start::{from_file, has_key};
use crate::settings::config::Config;
use crate::settings::keys::ROUTER_CANDIDATES;
use crate::settings::mode::capabilities_for;
use crate::settings::rules::CandidateSource;

const CHECK: &str = "router";

/// Examines the settings of the router. They do not matter in modes without network calls.
pub fn check(config: &Config) -> Vec<Finding> {
    if !capabilities_for(config.mode).dispatch_external_io {
        return Vec::new();
    }
    let providers = PROFILES.into_iter().filter(|profile| has_key(config, *profile));
    let mut findings: Vec<_> = providers.map(|profile| provider(config, profile)).collect();
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "no provider has a key, so no prompt leaves this machine"));
    }
    findings.extend(candidates(config));
    findings
}

fn provider(config: &Config, profile: Profile) -> Finding {
    let name = profile.key_variable();
    match Target::of_profile(config, profile, String::new()) {
        Ok(_) => Finding::ok(CHECK, format!("{name} is set")),
        Err(refused) => Finding::warn(
            CHECK,
            refused.message,
            "correct the variable; until then every request to this provider fails",
        ),
    }
}

/// Checks the candidates. Only a file can be wrong before the start; the table is checked with the database.
fn candidates(config: &Config) -> Option<Finding> {
    let CandidateSource::File(path) = &config.router_candidates else { return None };
    Some(match from_file(path) {
        Ok(snapshot) => Finding::ok(CHECK, format!("{} candidates are enabled", snapshot.enabled().count())),
        Err(reason) => Finding::fail(
            CHECK,
            format!("{}: {reason}", ROUTER_CANDIDATES.name),
            "correct the file and restart the server; until then no model is scored or called",
        ),
    })
}
