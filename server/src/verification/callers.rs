//! Checks that each call has a caller (people#callers), and that no number of a caller is missing. That a caller's row is what its
//! call has written is for the [ties](super::ties) to say.

use std::collections::HashMap;

use super::run::Run;
use super::ties::NAME;
use crate::catalogue::ToolId;
use colibri_store::callers::{each_number, first_of};
use colibri_store::walk::Stop;

/// How many processes are remembered before all are forgotten.
const MOST_PROCESSES: usize = 1024;

/// What the walk over the log has seen so far.
#[derive(Debug, Default)]
pub struct Callers {
    /// The first call that stored a caller. Calls with smaller numbers are from before the migration.
    since: Option<i64>,
    /// The calls that stored the first caller of each process.
    first: HashMap<String, Option<i64>>,
    /// Calls that still run.
    running: Vec<(String, i64)>,
}

impl Callers {
    /// Takes a closed call of the log, in the order of exits. A process stores its first caller before it ends its first call.
    ///
    /// # Errors
    /// The engine's error.
    pub fn call(
        &mut self,
        run: &mut Run<'_>,
        tool: &str,
        boot_id: &str,
        sequence_no: i64,
    ) -> Result<(), Stop> {
        if tool == ToolId::CallerBegin.name() {
            self.since.get_or_insert(sequence_no);
            return Ok(());
        }
        self.check(run, boot_id, sequence_no)
    }

    /// Takes a call that still runs.
    pub fn running(&mut self, boot_id: &str, sequence_no: i64) {
        self.running.push((boot_id.to_owned(), sequence_no));
    }

    fn check(&mut self, run: &mut Run<'_>, boot_id: &str, sequence_no: i64) -> Result<(), Stop> {
        if self.since.is_none_or(|since| sequence_no < since) {
            return Ok(());
        }
        let first = match self.first.get(boot_id) {
            Some(first) => *first,
            None => {
                let first = first_of(run.db, boot_id)?;
                if self.first.len() == MOST_PROCESSES {
                    self.first.clear();
                }
                self.first.insert(boot_id.to_owned(), first);
                first
            }
        };
        if first.is_none_or(|first| first > sequence_no) {
            run.found_against(NAME, "CALLER_MISSING", || {
                (format!("actions {sequence_no}"), format!("call {sequence_no} has no caller before it"))
            });
        }
        Ok(())
    }

    /// Looks at the calls that still run, and at the numbers.
    ///
    /// # Errors
    /// The engine's error.
    pub fn finish(mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        for (boot_id, sequence_no) in std::mem::take(&mut self.running) {
            self.check(run, &boot_id, sequence_no)?;
        }
        let mut expected = 1;
        each_number(run.db, |caller_no| {
            if caller_no != expected {
                run.found_against(NAME, "CALLER_GAP", || {
                    (
                        format!("callers {caller_no}"),
                        format!("callers {expected} to {caller_no} are not numbered without gaps"),
                    )
                });
            }
            expected = caller_no.saturating_add(1);
            Ok(())
        })
    }
}
