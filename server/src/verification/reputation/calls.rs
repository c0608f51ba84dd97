//! Compares entries with the calls that wrote them, both ways (store#ties). An entry names a closed, successful call
//! of the tool that causes such events, about the same subject. Entries have the order in which their calls took
//! effect. An import names the entries it wrote, so that none of them can be removed.

use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::rfc3339_ms;

use super::super::history::Callers;
use super::super::run::Run;
use super::entries::found;
use crate::catalogue::ToolId;
use crate::domains::reputation::event::Source;
use crate::domains::reputation::import::subject_entries;
use crate::domains::reputation::ledger::Entry;
use crate::domains::reputation::ties::{LedgerRow, entries_of_call, is_of_call};
use crate::domains::tasks::history::earns;
use colibri_store::db::Db;
use colibri_store::log::verify::{Call, Calls as Looked, each_subject_of};
use colibri_store::walk::Stop;

/// The table of entries.
pub(super) const LEDGER: &str = "reputation_ledger";

/// The latest time that a stored text can show (9999-12-31T23:59:59.999Z), in milliseconds.
const LAST_MS: i64 = 253_402_300_799_999;

/// The state of the walk over the calls.
#[derive(Default)]
pub struct Calls {
    /// The number of entries tied to an import.
    pub of_imports: i64,
    last_exit_no: i64,
    callers: Callers,
    /// The calls that were looked up last.
    looked: Looked,
}

impl Calls {
    /// Checks an entry and the call it names.
    pub fn take(&mut self, run: &mut Run<'_>, entry: &Entry, row: &LedgerRow) -> Result<(), Stop> {
        let id = row.history_id;
        let Some(sequence_no) = row.sequence_no else {
            found(run, id, "NO_CALL", || format!("no call wrote entry {id}"));
            return Ok(());
        };
        let callers = &mut self.callers;
        let judged = self.looked.with(run.db, sequence_no, |call| {
            let subject = call.subject.filter(|_| call.outcome == "ok").unwrap_or_default();
            let writes = call.subject.is_some() && is_of_call(entry, call.tool, subject);
            let earned = !writes || entry.source != Source::Task || earned(callers, run.db, call, subject)?;
            Ok::<_, Fault>((call.exit_no, writes, earned))
        })?;
        let exit_no = match judged.transpose()? {
            None => {
                found(run, id, "CALL_MISSING", || {
                    format!("entry {id} names call {sequence_no}, which the log does not have")
                });
                return Ok(());
            }
            Some((Some(exit_no), true, earned)) => {
                if !earned {
                    found(run, id, "EVENT_NOT_EARNED", || {
                        format!(
                            "entry {id} is for a task that call {sequence_no} finished and that was born in a later state than INIT"
                        )
                    });
                }
                exit_no
            }
            Some(_) => {
                found(run, id, "CALL_MISMATCH", || {
                    format!("entry {id} names call {sequence_no}, which did not write it")
                });
                return Ok(());
            }
        };
        if exit_no < self.last_exit_no {
            found(run, id, "ENTRY_MOVED", || format!("entry {id} is not where call {sequence_no} put it"));
        }
        self.last_exit_no = self.last_exit_no.max(exit_no);
        self.of_imports += i64::from(entry.source == Source::Import);
        in_time(run, row, sequence_no, &mut self.looked)
    }
}

/// Returns whether a task's history lets it earn. Older servers did not ask.
fn earned(callers: &mut Callers, db: &Db, call: &Call<'_>, task_id: &str) -> Result<bool, Fault> {
    Ok(!callers.has(db, call.boot_id, call.sequence_no)? || earns(db, task_id)?)
}

/// Checks that the entry was recorded while its call ran. Clocks can be set back, so either end may be the earlier
/// one.
fn in_time(run: &mut Run<'_>, row: &LedgerRow, sequence_no: i64, looked: &mut Looked) -> Result<(), Stop> {
    let Some((entered, exited)) = looked.times(run.db, sequence_no)? else { return Ok(()) };
    let (first, last) = if entered <= exited { (entered, exited) } else { (exited, entered) };
    let at = (0..=LAST_MS).contains(&row.recorded_at).then(|| rfc3339_ms(row.recorded_at));
    if !at.as_ref().is_some_and(|at| (&first..=&last).contains(&at)) {
        let id = row.history_id;
        found(run, id, "RECORDED_AT", || {
            format!("entry {id} was not recorded while call {sequence_no} ran, from {first} to {last}")
        });
    }
    Ok(())
}

/// Reports the entries that imports name and the ledger lacks. `seen` entries are tied to an import. If that is as
/// many as all imports name, none is missing, because an entry names one call only.
///
/// # Errors
/// The engine's error.
pub fn missing_entries(run: &mut Run<'_>, seen: i64) -> Result<(), Stop> {
    let db = run.db;
    let import = ToolId::ReputationImport.name();
    let mut named: i64 = 0;
    each_subject_of(db, import, |_, subject| -> Result<(), Stop> {
        let entries = subject_entries(subject).map_or(0, |(first, last)| (last - first).saturating_add(1));
        named = named.saturating_add(entries);
        Ok(())
    })?;
    if named == seen {
        return Ok(());
    }
    each_subject_of(db, import, |number, subject| -> Result<(), Stop> {
        let Some((first, last)) = subject_entries(subject) else {
            run.found("SUBJECT_UNREADABLE", || {
                (
                    format!("actions {number}"),
                    format!("call {number} does not say which entries it has written"),
                )
            });
            return Ok(());
        };
        let mut there = 0;
        entries_of_call(db, (first, last), |row| {
            there += i64::from(row.sequence_no == Some(number));
            Ok(())
        })?;
        if there <= last - first {
            run.found("ENTRIES_MISSING", || {
                let message = format!(
                    "of the entries {first} to {last}, which call {number} wrote, only {there} exist"
                );
                (format!("actions {number}"), message)
            });
        }
        Ok(())
    })
}
