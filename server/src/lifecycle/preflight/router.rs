//! Where the router's candidates come from, and whether the providers that have a key could be reached. It sends no
//! request, and a start goes on without either.

use super::Finding;
use crate::domains::router::candidates::Snapshot;
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::service::ConfigInvalid;
use crate::domains::router::settings::Target;
use crate::domains::router::start::{has_key, snapshot};
use crate::settings::config::Config;
use crate::settings::keys::ROUTER_CANDIDATES;
use crate::settings::mode::{Mode, capabilities_for};
use crate::settings::rules::CandidateSource;
use colibri_runtime::chain::log::NoLog;

const CHECK: &str = "router";

/// Examines the settings of the router. They do not matter in modes without network calls.
pub fn check(config: &Config) -> Vec<Finding> {
    let mut findings = providers(config);
    if findings.is_empty() && capabilities_for(config.mode).dispatch_external_io {
        findings.push(Finding::ok(CHECK, "no provider has a key, so no prompt leaves this machine"));
    }
    // The table is read with the database, where one is open.
    if config.router_candidates != CandidateSource::Db || config.mode == Mode::Minimal {
        findings.extend(candidates(&snapshot(config, None, &NoLog)));
    }
    findings
}

/// Examines each provider that has a key.
pub fn providers(config: &Config) -> Vec<Finding> {
    if !capabilities_for(config.mode).dispatch_external_io {
        return Vec::new();
    }
    let keyed = PROFILES.into_iter().filter(|profile| has_key(config, *profile));
    keyed.map(|profile| provider(config, profile)).collect()
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

/// Judges what a start makes of the configured candidates; `None` if it has none.
pub fn candidates(snapshot: &Result<Option<Snapshot>, ConfigInvalid>) -> Option<Finding> {
    match snapshot {
        Ok(found) => found.as_ref().map(|snapshot| {
            Finding::ok(CHECK, format!("{} candidates are enabled", snapshot.enabled().count()))
        }),
        Err(invalid) => Some(Finding::warn(
            CHECK,
            invalid.to_string(),
            format!(
                "correct it and restart the server, or set {} to off; until then no model is scored or called",
                ROUTER_CANDIDATES.name
            ),
        )),
    }
}
