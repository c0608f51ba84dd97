//! `colibri reputation`: the operator's side of reputation (reputation#import). Reading needs no server and changes nothing;
//! [`import`] is a call through the chain like any other, except that no client can make it.

mod export;
mod import;
mod verify;

use std::io::{Read, Write};
use std::path::Path;

use super::Failure;
use super::arguments::audit::Database;
use super::arguments::reputation::Reputation;
use super::database::{open_for_reading, sentence};
use super::output::ToTheEnd;
use crate::domains::reputation::epoch::{epoch_at, length_warning, present_epoch};
use crate::settings::config::load_config;
use crate::settings::environment::Environment;
use colibri_store::sqlite::open::MEMORY;

/// Runs one of the commands.
pub fn run(
    command: &Reputation,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
    input: &mut dyn Read,
) -> Result<(), Failure> {
    match command {
        Reputation::Epoch(database) => epoch(database, env, out, err),
        Reputation::Import(arguments) => import::run(arguments, env, out, err, input),
        Reputation::Export(arguments) => export::run(arguments, env, out, err),
        Reputation::Verify(arguments) => verify::run(arguments, env, &mut ToTheEnd(out)),
    }
}

/// Prints the present epoch (reputation#epochs). Without a database it is the clock's.
fn epoch(
    database: &Database,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let (config, _) = load_config(env, std::process::id())
        .map_err(|problems| Failure::Usage(format!("{}; correct the variable", sentence(&problems))))?;
    let now_ms = now_ms();
    let unwritten = database.db.is_none() && config.place.file().is_some_and(|path| !is_there(path));
    let epoch = if unwritten {
        epoch_at(now_ms, config.epoch_seconds)
    } else {
        let db = open_for_reading(env, database.db.as_deref())?;
        if let Some(warning) = length_warning(&db, config.epoch_seconds).map_err(unreadable)? {
            // A closed stderr changes nothing about the epoch.
            let _ = writeln!(err, "colibri: {warning}");
        }
        present_epoch(&db, config.epoch_seconds, now_ms).map_err(unreadable)?
    };
    writeln!(out, "{epoch}")?;
    Ok(out.flush()?)
}

/// Checks whether a server has written to the configured database yet.
fn is_there(path: &Path) -> bool {
    path != Path::new(MEMORY) && std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

fn now_ms() -> i64 {
    use colibri_runtime::kernel::{Clock, SystemClock};
    SystemClock::default().wall_ms()
}

fn unreadable(fault: colibri_runtime::handler::Fault) -> Failure {
    Failure::Failed(format!("the reputations cannot be read: {fault}; `colibri verify` says what is wrong"))
}
