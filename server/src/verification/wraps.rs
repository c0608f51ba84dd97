//! Wrapped calls against the runs that passed them on, and the pins against their lists (wrap#rows). The walk over the log hands over
//! the calls. That runs and pins are what their calls have written is for the [ties](super::ties) to say.

use std::collections::{HashMap, HashSet};

use super::run::Run;
use crate::catalogue::{FOREIGN, ToolId};
use crate::domains::wrap::ToolList;
use crate::domains::wrap::store::{PinRow, each_list, each_run, name_of_boot};
use colibri_proof::log_row::ClosedRow;
use colibri_store::walk::Stop;

/// The check's name.
pub(super) const NAME: &str = "wraps";

/// How many processes are remembered before all are forgotten.
const MOST_PROCESSES: usize = 1024;

/// What the walk over the log has seen so far.
#[derive(Debug, Default)]
pub struct Wraps {
    /// The name of the server that each process passes calls on to; `None` for a process that wraps none.
    names: HashMap<String, Option<String>>,
    /// Calls that a run passed on or refused.
    calls: u64,
    /// Calls that still run: process, tool and number.
    running: Vec<(String, String, i64)>,
}

impl Wraps {
    /// Takes a closed call of the log.
    ///
    /// # Errors
    /// The engine's error.
    pub fn call(&mut self, run: &mut Run<'_>, row: &ClosedRow<'_>) -> Result<(), Stop> {
        if self.is_of_a_run(run, row.boot_id, row.tool, row.sequence_no)? || !row.tool.contains('/') {
            return Ok(());
        }
        // A client of Colibri's own server may ask for such a name, and is refused or cut off.
        let answered = matches!(row.outcome, "ok" | "domain_error");
        if answered || row.error_code.is_some_and(|code| FOREIGN.has(code)) {
            let number = row.sequence_no;
            run.found_against(NAME, "WRAP_RUN_MISSING", || {
                let message =
                    format!("call {number} went to another server, but wrap_runs does not have its process");
                (format!("actions {number}"), message)
            });
        }
        Ok(())
    }

    /// Takes a call that still runs.
    pub fn running(&mut self, boot_id: &str, tool: &str, sequence_no: i64) {
        self.running.push((boot_id.to_owned(), tool.to_owned(), sequence_no));
    }

    /// Returns whether a run made the call. Its calls are those of its server and operations.
    fn is_of_a_run(
        &mut self,
        run: &mut Run<'_>,
        boot_id: &str,
        tool: &str,
        sequence_no: i64,
    ) -> Result<bool, Stop> {
        if !self.names.contains_key(boot_id) {
            if self.names.len() == MOST_PROCESSES {
                self.names.clear();
            }
            self.names.insert(boot_id.to_owned(), name_of_boot(run.db, boot_id)?);
        }
        let Some(Some(name)) = self.names.get(boot_id) else { return Ok(false) };
        if tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('/')) {
            self.calls += 1;
        } else if !ToolId::from_name(tool).is_some_and(|tool| tool.spec().is_operation()) {
            run.found_against(NAME, "WRAP_NAME_MISMATCH", || {
                let message =
                    format!("call {sequence_no} is of a run of {name}, but its tool is not {name}'s");
                (format!("actions {sequence_no}"), message)
            });
        }
        Ok(true)
    }

    /// Looks at the calls that still run, at the runs and at the pins.
    ///
    /// # Errors
    /// The engine's error.
    pub fn finish(mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        run.begin(NAME, 0);
        for (boot_id, tool, sequence_no) in std::mem::take(&mut self.running) {
            self.is_of_a_run(run, &boot_id, &tool, sequence_no)?;
        }
        let mut runs = 0;
        each_run(run.db, |_, _, row| {
            runs += 1;
            run.step()?;
            if let Some(row) = row
                && i64::try_from(runs) != Ok(row.run_no)
            {
                let what = format!("wrap_runs {}", row.run_no);
                run.found("WRAP_RUN_GAP", || {
                    let message = format!("{what} is not numbered as the one after the run before it");
                    (what.clone(), message)
                });
            }
            Ok::<_, Stop>(())
        })?;
        let mut pins = Pins::default();
        each_list(run.db, |row, list| {
            run.step()?;
            pins.take(run, row, list);
            Ok::<_, Stop>(())
        })?;
        run.count("runs", runs);
        run.count("wrapped calls", self.calls);
        run.count("pins", u64::try_from(pins.lists.len()).unwrap_or_default());
        Ok(())
    }
}

/// The pins read so far.
#[derive(Default)]
struct Pins {
    /// The hashes of the lists of each name.
    lists: HashMap<String, HashSet<String>>,
}

impl Pins {
    /// Takes a row, in the order of the numbers.
    fn take(&mut self, run: &mut Run<'_>, row: &PinRow, list: Option<&str>) {
        let (number, name) = (row.pin_no, &row.name);
        let mut found = |code: &'static str, message: String| {
            run.found(code, || (format!("tool_pins {number}"), message));
        };
        if (row.event == "pinned") == self.lists.contains_key(name) {
            found(
                "PIN_ORDER",
                format!("tool_pins {number}: a pin of {name} is its first list, and no other row is"),
            );
        }
        let lists = self.lists.entry(name.clone()).or_default();
        match list {
            Some(text) if !is_list(text, row) => {
                let message = format!(
                    "tool_pins {number}: the list does not give the hash and the number of tools beside it"
                );
                found("PIN_LIST_CHANGED", message);
            }
            Some(_) => {}
            None if !lists.contains(&row.list_hash) => {
                found(
                    "PIN_LIST_MISSING",
                    format!("tool_pins {number} accepts a list of {name} that is not stored before it"),
                );
            }
            None => {}
        }
        if list.is_some() {
            lists.insert(row.list_hash.clone());
        }
    }
}

fn is_list(text: &str, row: &PinRow) -> bool {
    let list = ToolList::parse(text).and_then(|list| Some((list.tools.len(), list.listed().ok()?.hash())));
    list.is_some_and(|(tools, hash)| i64::try_from(tools) == Ok(row.tools) && hash.as_str() == row.list_hash)
}
