//! The router's part of the start (router#candidates): reads candidates once, before the gate opens. An invalid
//! source does not keep the server from starting, because other domains must not depend on it. It only disables
//! scoring and calling until the operator corrects it.

use std::path::Path;
use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::kernel::Clock;

use super::attempt::Providers;
use super::candidate_file;
use super::candidates::{Candidate, LatencyTier, Snapshot, built_in};
use super::decision::NoEmitter;
use super::fallback::{AttemptLimits, RouterEnv};
use super::profile::Profile;
use super::rules::Weights;
use super::service::{ConfigInvalid, Router, Scorer};
use super::store::{self, StoredCandidate};
use super::timer::Timer;
use super::transport::Network;
use crate::settings::config::Config;
use crate::settings::keys::ROUTER_CANDIDATES;
use crate::settings::rules::CandidateSource;
use colibri_proof::bounded_file;
use colibri_store::db::Db;

/// The largest file of candidates, in bytes. Nine rows need a few thousand.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Makes the router of this process, over the network.
pub fn router(config: &Arc<Config>, db: Option<&Db>, clock: Arc<dyn Clock>, log: Arc<dyn Log>) -> Router {
    let scorer = snapshot(config, db, &*log).and_then(Scorer::new);
    if let Err(invalid) = &scorer {
        log.write(Level::Warn, &format!("[Startup] {invalid}"));
    }
    let limits = AttemptLimits {
        attempt_timeout_ms: config.router_attempt_timeout_ms,
        anthropic_timeout_ms: config.anthropic_timeout_ms,
    };
    let network = Arc::new(Network::new(config.proxy.as_ref()));
    let providers = Providers::new(config.clone(), network, Arc::new(Timer), clock.clone(), log.clone());
    let environment = RouterEnv {
        completion: Arc::new(providers),
        clock,
        timer: Arc::new(Timer),
        log,
        emitter: Arc::new(NoEmitter),
    };
    Router::new(scorer, limits, environment)
}

/// Returns the candidates that the configuration names; `None` while the router is off.
///
/// # Errors
/// [`ConfigInvalid`]: the source cannot be read, or has invalid content.
pub fn snapshot(config: &Config, db: Option<&Db>, log: &dyn Log) -> Result<Option<Snapshot>, ConfigInvalid> {
    let found = match &config.router_candidates {
        CandidateSource::Off => return Ok(None),
        CandidateSource::Auto => {
            Ok(Snapshot::new(built_in(|model| has_key(config, model.profile())), Weights::default()))
        }
        CandidateSource::Db => from_table(db, log),
        CandidateSource::File(path) => from_file(path),
    };
    let name = ROUTER_CANDIDATES.name;
    found
        .map(Some)
        .map_err(|fault| ConfigInvalid { reason: format!("{fault}; mend what {name} names and restart") })
}

/// Returns whether a provider's key is set. A key that is not text counts as set, and each attempt will report its
/// fault.
pub fn has_key(config: &Config, profile: Profile) -> bool {
    match config.at_call(&profile.key_variable()) {
        Ok(key) => key.is_some_and(|key| !key.expose().trim().is_empty()),
        Err(_) => true,
    }
}

/// Reads the candidates that a file lists (router#candidates).
///
/// # Errors
/// The file cannot be read or is invalid. The message omits its path, because clients read it.
fn from_file(path: &Path) -> Result<Snapshot, String> {
    let text = bounded_file::text(path, MAX_FILE_BYTES)
        .map_err(|error| format!("the file of candidates cannot be read: {error}"))?;
    candidate_file::parse(&text).map_err(|fault| format!("the file of candidates is not valid: {fault}"))
}

fn from_table(db: Option<&Db>, log: &dyn Log) -> Result<Snapshot, String> {
    let db = db.ok_or("there is no database to read candidates from")?;
    let stored = store::candidates(db).map_err(|fault| format!("the candidates cannot be read: {fault}"))?;
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for row in stored {
        match row.model_id.parse() {
            Ok(model_id) => rows.push(candidate(model_id, row)?),
            Err(_) => skipped.push(format!("{:?}", row.model_id)),
        }
    }
    if !skipped.is_empty() {
        let line = format!("[Startup] candidates with unknown ids are skipped: {}", skipped.join(", "));
        log.write(Level::Warn, &line);
    }
    Ok(Snapshot::new(rows, Weights::default()))
}

fn candidate(model_id: super::model_id::ModelId, row: StoredCandidate) -> Result<Candidate, String> {
    let fault = |what: &str| format!("the candidate {model_id} is not valid: {what}");
    let window = u64::try_from(row.context_window_tokens).ok().filter(|window| *window > 0);
    Ok(Candidate {
        model_id,
        provider: row.provider,
        context_window_tokens: window.ok_or_else(|| fault("context_window_tokens must be at least 1"))?,
        latency_tier: LatencyTier::parse(&row.latency_tier)
            .ok_or_else(|| fault("latency_tier must be fast, balanced or slow"))?,
        cost_bps_per_kilotoken: u64::try_from(row.cost_bps_per_kilotoken)
            .map_err(|_| fault("cost_bps_per_kilotoken must be at least 0"))?,
        domain_fit_profile: row.domain_fit_profile,
        enabled: row.enabled,
        reliability_bps: 0,
        strengths: Vec::new(),
        task_domains: Vec::new(),
        split_price: None,
    })
}
