//! `reputation_import` (reputation#import): outside events that the operator imports. One call is one file. The
//! writer records its events in the order of their epochs; if any cannot be recorded, the call refuses them all.
//!
//! [`plan`] checks each line by itself and orders the events; [`text`] splits the file's text into lines.

pub(crate) use super::engine::import::{plan, text};
use colibri_runtime::handler::{Failure, Fault, Outcome};
use colibri_runtime::progress::Progress;

use self::plan::{Deed, Planned, plan};
use super::epoch::present_epoch;
use super::event::{Acker, EventError, Gain, Penalty, Source};
use super::store;
use super::writer::{Gained, Recording, Refusal, record_gain, record_penalty};
use crate::catalogue::{ReputationImportError, ReputationImportInput, ReputationImportOutput};
use colibri_store::db::Db;
use colibri_store::stop;

/// Lines between two reports.
const LINES_BETWEEN: u64 = 64;

/// The result of applying one planned event.
enum Applied {
    Recorded,
    Duplicate,
    Ignored,
}

/// The result of an import.
#[derive(Debug)]
pub struct Imported {
    /// The number of events of each kind.
    pub report: ReputationImportOutput,
    /// The log's subject for the written ledger entries; `None` if no entry was written.
    pub entries: Option<String>,
}

/// Applies the events of a file, all or none.
///
/// # Errors
/// The first refused line: by line for faults of a line itself, by epoch for faults that depend on the standings.
pub fn import(
    db: &Db,
    recording: &Recording,
    input: ReputationImportInput,
    progress: &Progress,
) -> Outcome<Imported, ReputationImportError> {
    let present = present_epoch(db, recording.epoch_seconds, recording.now_ms)?;
    let events = plan(input.lines, present)?;
    let before = last_entry(db)?;
    let mut report = ReputationImportOutput { applied: 0, duplicates: 0, ignored: 0 };
    for (done, event) in (0_u64..).zip(&events) {
        if done.is_multiple_of(LINES_BETWEEN) {
            progress.report(done, events.len() as u64);
        }
        if stop::is_asked() {
            return Err(Failure::Fault(Fault::Other("the import was interrupted".to_owned())));
        }
        match apply(db, recording, event)? {
            Applied::Recorded => report.applied += 1,
            Applied::Duplicate => report.duplicates += 1,
            Applied::Ignored => report.ignored += 1,
        }
    }
    let after = last_entry(db)?;
    // The entries of a call are consecutive, so the first and the last name them all.
    let entries = (after > before).then(|| entries_subject(before + 1, after));
    Ok(Imported { report, entries })
}

/// Returns the log's subject for the entries that a call has written.
pub fn entries_subject(first: i64, last: i64) -> String {
    format!("{first}-{last}")
}

/// Returns the first and the last entry that a subject names; `None` for any other text.
pub fn subject_entries(subject: &str) -> Option<(i64, i64)> {
    let (first, last) = subject.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last && entries_subject(first, last) == subject).then_some((first, last))
}

/// Returns the number of the ledger's last entry, 0 if it is empty.
fn last_entry(db: &Db) -> Result<i64, Fault> {
    Ok(store::ledger_tip(db)?.map_or(0, |(history_id, _)| history_id))
}

fn apply(db: &Db, recording: &Recording, event: &Planned) -> Result<Applied, Failure<ReputationImportError>> {
    let Planned { event_id, node_id, reason, epoch, domain, .. } = event;
    let (domain, epoch, source) = (*domain, *epoch, Source::Import);
    let refused = |failure| refusal(failure, event.line);
    match &event.deed {
        Deed::Gain { delta, acker_id } => {
            let gain = Gain {
                event_id,
                node_id,
                domain,
                nominal_delta: *delta,
                acker: Acker::Peer(acker_id),
                epoch,
                reason,
                source,
            };
            Ok(match record_gain(db, recording, &gain).map_err(refused)? {
                Gained::Recorded(_) => Applied::Recorded,
                Gained::Duplicate => Applied::Duplicate,
                Gained::Ignored(_) => Applied::Ignored,
            })
        }
        Deed::Penalty { band, scar } => {
            let (band, scar) = (*band, *scar);
            let penalty = Penalty { event_id, node_id, domain, band, scar, epoch, reason, source };
            match record_penalty(db, recording, &penalty) {
                Ok(_) => Ok(Applied::Recorded),
                Err(Failure::Domain(Refusal::Double(_))) => Ok(Applied::Duplicate),
                Err(failure) => Err(refused(failure)),
            }
        }
    }
}

/// Converts the writer's refusal into the line's fault if the line caused it.
fn refusal(failure: Failure<Refusal>, line: i64) -> Failure<ReputationImportError> {
    let refusal = match failure {
        Failure::Domain(refusal) => refusal,
        Failure::Fault(fault) => return Failure::Fault(fault),
    };
    match refusal {
        Refusal::Event(EventError::EpochOrder { node_id, domain, epoch, last_activity_epoch }) => {
            let domain = domain.as_str().to_owned();
            ReputationImportError::ErrEpochOrder { line, node_id, domain, epoch, last_activity_epoch }.into()
        }
        // The line did not cause it, and neither did the store: a row or the ledger is damaged.
        other => Failure::Fault(Fault::Other(format!("line {line}: {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{entries_subject, subject_entries};

    #[test]
    fn a_subject_names_the_first_and_the_last_entry() {
        assert_eq!(subject_entries(&entries_subject(3, 9)), Some((3, 9)));
        assert_eq!(subject_entries("7-7"), Some((7, 7)));
        for text in ["", "7", "9-3", "0-1", "-1-3", "03-9", "3-9 ", "+3-9", "a-b", "3-99999999999999999999"] {
            assert_eq!(subject_entries(text), None, "{text}");
        }
    }
}
