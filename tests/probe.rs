//! The probe server: the real chain, store and lifecycle under handlers that fail on purpose.
//!
//! Variables: `PROBE_MAX_PAGES` fills the disk, `PROBE_SQL` runs once the database is open,
//! `PROBE_OPEN_DELAY_MS`, `PROBE_OPEN_FAILS` and `PROBE_OPEN_PANICS` slow down and break the second phase,
//! `PROBE_DETACHED_FAILS` fails a detached task, `PROBE_CLEANUP_MS` shortens the wait for a running call.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use colibri::lifecycle::background;
use colibri::lifecycle::log::Logger;
use colibri::lifecycle::options::Options;
use colibri::lifecycle::process::serve_with;
use colibri_runtime::chain::log::Level;
use colibri_runtime::chain::redact::Redactor;
use colibri_store::db::Db;
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str) -> Option<u64> {
    variable(name)?.parse().ok()
}

fn main() -> ExitCode {
    let defaults = Options::default();
    let options = Options {
        max_pages: number("PROBE_MAX_PAGES").and_then(|pages| u32::try_from(pages).ok()),
        cleanup_timeout_ms: number("PROBE_CLEANUP_MS").unwrap_or(defaults.cleanup_timeout_ms),
        on_open: Some(Box::new(opened)),
        ..defaults
    };
    serve_with(&CATALOGUE, Dispatcher(Probe), options)
}

/// What the variables ask for once the database is open.
fn opened(db: Option<&Db>) -> Result<(), String> {
    if let Some(delay) = number("PROBE_OPEN_DELAY_MS") {
        std::thread::sleep(Duration::from_millis(delay));
    }
    if let Some(reason) = variable("PROBE_OPEN_FAILS") {
        return Err(reason);
    }
    if let Some(reason) = variable("PROBE_DETACHED_FAILS") {
        let log = Arc::new(Logger::stderr(Some(Level::Info), Redactor::default()));
        background::spawn("detached", log, || Err(reason)).map_err(|error| error.to_string())?;
    }
    assert!(variable("PROBE_OPEN_PANICS").is_none(), "as asked");
    let Some(db) = db else { return Ok(()) };
    colibri_test_support::probe::prepare(db).map_err(|fault| fault.to_string())?;
    for statement in variable("PROBE_SQL").iter().flat_map(|sql| sql.split(";;")) {
        db.execute(statement, &[]).map_err(|fault| fault.to_string())?;
    }
    Ok(())
}
