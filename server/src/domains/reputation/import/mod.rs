//! `reputation_import` (reputation#import): what happened outside, brought in by the operator. One call is one file: its events
//! go through the writer in the order of their epochs, and any that cannot be recorded refuses them all.
//!
//! [`plan`] checks each line by itself and puts the events in order, [`text`] reads the file's text into lines.

pub mod plan;
pub mod text;

use colibri_runtime::handler::{Failure, Fault, Outcome};

use self::plan::{Deed, Planned, plan};
use super::epoch::present_epoch;
use super::event::{Acker, EventError, Gain, Penalty, Source};
use super::store;
use super::writer::{Gained, Recording, Refusal, record_gain, record_penalty};
use crate::catalogue::{ReputationImportError, ReputationImportInput, ReputationImportOutput};
use crate::store::db::Db;

/// The result of applying one planned event.
enum Applied {
    Recorded,
    Duplicate,
    Ignored,
}

/// What an import has done.
#[derive(Debug)]
pub struct Imported {
    /// How many events of each kind there were.
    pub report: ReputationImportOutput,
    /// What the log calls the ledger entries that were written; `None` if there are none.
    pub entries: Option<String>,
}

/// Applies the events of a file, all or none.
///
/// # Errors
/// The first line that is refused, by line for what a line says by itself, by epoch for what depends on the standings.
pub fn import(
    db: &Db,
    recording: &Recording,
    input: ReputationImportInput,
) -> Outcome<Imported, ReputationImportError> {
    let present = present_epoch(db, recording.epoch_seconds, recording.now_ms)?;
    let events = plan(input.lines, present)?;
    let before = last_entry(db)?;
    let mut report = ReputationImportOutput { applied: 0, duplicates: 0, ignored: 0 };
    for event in &events {
        match apply(db, recording, event)? {
            Applied::Recorded => report.applied += 1,
            Applied::Duplicate => report.duplicates += 1,
            Applied::Ignored => report.ignored += 1,
        }
    }
    let after = last_entry(db)?;
    // The entries of a call follow one another, so that the first and the last name them all.
    let entries = (after > before).then(|| entries_subject(before + 1, after));
    Ok(Imported { report, entries })
}

/// What the log calls the entries that a call has written.
pub fn entries_subject(first: i64, last: i64) -> String {
    format!("{first}-{last}")
}

/// The entries that a subject names, the first and the last; `None` for any other text.
pub fn subject_entries(subject: &str) -> Option<(i64, i64)> {
    let (first, last) = subject.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last && entries_subject(first, last) == subject).then_some((first, last))
}

/// The number of the ledger's last entry, 0 when it is empty.
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

/// What the writer refuses, as the line's fault where it is one.
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
        // Neither a line's fault nor the store's: a row or the ledger is damaged.
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
