//! `colibri reputation export`: prints every entry of the ledger with its event, to be checked or kept elsewhere.
//! Each line is canonical JSON: the fields that the entry's hash covers, the hash, and the fields that it leaves out.

use std::io::{self, Write};

use serde::Serialize;

use super::super::Failure;
use super::super::arguments::reputation::Export;
use super::super::database::open_for_reading;
use super::super::output::write_to;
use super::super::work::Work;
use crate::domains::reputation::event::{Kind, Source};
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::penalty::Band;
use crate::domains::reputation::ties::{LedgerRow, Stored, count_entries, each_entry};
use crate::settings::environment::Environment;
use colibri_store::walk::Stop;

/// A line, its members sorted by name.
#[derive(Serialize)]
struct Line<'a> {
    acker_id: Option<&'a str>,
    ban_after: Option<i64>,
    band: Option<&'static str>,
    delta: i64,
    domain: &'static str,
    entry_hash: &'a str,
    epoch: i64,
    event_id: &'a str,
    history_id: i64,
    idle_epochs: i64,
    kind: &'static str,
    node_id: &'a str,
    nominal_delta: i64,
    prev_hash: &'a str,
    reason: &'a str,
    recorded_at: i64,
    rule_version_hash: &'a str,
    scar_after: i64,
    scar_before: i64,
    score_after: i64,
    score_before: i64,
    score_settled: i64,
    sequence_no: Option<i64>,
    source: &'static str,
    weight_bps: i64,
}

impl<'a> Line<'a> {
    fn of(entry: &'a Entry, row: &'a LedgerRow) -> Self {
        Self {
            acker_id: entry.acker_id.as_deref(),
            ban_after: entry.ban_after,
            band: entry.band.map(Band::as_str),
            delta: entry.delta,
            domain: entry.domain.as_str(),
            entry_hash: &row.entry_hash,
            epoch: entry.epoch,
            event_id: &entry.event_id,
            history_id: entry.history_id,
            idle_epochs: entry.idle_epochs,
            kind: Kind::as_str(entry.kind),
            node_id: &entry.node_id,
            nominal_delta: entry.nominal_delta,
            prev_hash: &entry.prev_hash,
            reason: &entry.reason,
            recorded_at: row.recorded_at,
            rule_version_hash: &entry.rule_version_hash,
            scar_after: entry.scar_after,
            scar_before: entry.scar_before,
            score_after: entry.score_after,
            score_before: entry.score_before,
            score_settled: entry.score_settled,
            sequence_no: row.sequence_no,
            source: Source::as_str(entry.source),
            weight_bps: entry.weight_bps,
        }
    }
}

/// Prints the ledger.
pub fn run(
    arguments: &Export,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut work = Work::of_product("reputation export", arguments.out.as_deref(), err);
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    write_to(arguments.out.as_deref(), out, |to| {
        let mut failure = None;
        let total = count_entries(&db).map_err(super::unreadable)?.unsigned_abs();
        let mut done = 0;
        let walked = each_entry(&db, |row| {
            done += 1;
            // The walk itself ends at Ctrl-C.
            let _ = work.at("entries", done, total);
            line(row, to).map_err(|reason| {
                failure = Some(reason);
                Stop::Interrupted
            })
        });
        work.settle(match (failure, walked) {
            (Some(failure), _) => Err(failure),
            (None, Ok(())) => Ok(()),
            (None, Err(Stop::Fault(fault))) => Err(super::unreadable(fault)),
            (None, Err(Stop::Interrupted)) => Err(Failure::Failed("the export was interrupted".to_owned())),
        })
    })
}

fn line(row: &LedgerRow, to: &mut dyn Write) -> Result<(), Failure> {
    let Stored::Whole(entry) = &row.stored else {
        return Err(Failure::Failed(format!(
            "ledger entry {} is malformed; `colibri reputation verify` says what is wrong",
            row.history_id
        )));
    };
    serde_json::to_writer(&mut *to, &Line::of(entry, row)).map_err(io::Error::from)?;
    Ok(writeln!(to)?)
}
