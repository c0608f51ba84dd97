//! Which thoughts were answered with a warning (trail#unknown-tasks), and therefore how `thought_records` is tied to
//! calls (store#ties). A room of its own, since tasks ask the trail and the trail never asks tasks.

use std::collections::HashMap;

use colibri_runtime::handler::Fault;

use super::tasks;
use super::ties::{Place, TiedRow, TiedTable, Writer};
use super::trail::store::TrailRow;
use super::trail::ties::{TABLE, place, tied_row};
use super::trail::{Unpacker, content_of, each_row_in_order};
use crate::catalogue::ToolId;
use colibri_store::callers::call_of;
use colibri_store::db::Db;
use colibri_store::walk::{Stop, goes_on};

/// How many trails are remembered before all are forgotten.
const MOST_KNOWN: usize = 10_000;
/// The longest name that is remembered: a file can hold longer ones than any tool takes.
const MOST_BYTES: usize = 256;

/// Says of each record whether its call warned that no task has the id.
#[derive(Debug, Default)]
pub struct Warnings {
    /// The call of the first caller, if there is one; read at the first record.
    first_caller: Option<Option<i64>>,
    /// Whether a task has the id, of the trails seen last.
    known: HashMap<String, bool>,
}

impl Warnings {
    /// Returns whether the call of a record warned: it has a caller, and no task has the id. From the first caller on,
    /// the database refuses calls without one; those before did not warn.
    ///
    /// # Errors
    /// Storage faults.
    pub fn of(&mut self, db: &Db, row: &TrailRow<'_>) -> Result<bool, Fault> {
        let first_caller = match self.first_caller {
            Some(first) => first,
            None => *self.first_caller.insert(call_of(db, 1)?),
        };
        let has_caller = first_caller.zip(row.sequence_no).is_some_and(|(first, call)| first < call);
        Ok(has_caller && !self.is_known(db, row.task_id)?)
    }

    fn is_known(&mut self, db: &Db, task_id: &str) -> Result<bool, Fault> {
        if let Some(known) = self.known.get(task_id) {
            return Ok(*known);
        }
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        let known = tasks::has_row(db, task_id)?;
        if task_id.len() <= MOST_BYTES {
            self.known.insert(task_id.to_owned(), known);
        }
        Ok(known)
    }
}

/// `thought_records`.
#[derive(Debug)]
pub struct RecordTie;

impl TiedTable for RecordTie {
    fn name(&self) -> &'static str {
        TABLE
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::ThoughtRecord, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let (mut unpacker, mut scratch, mut stop) = (Unpacker::default(), Vec::new(), None);
        let mut warnings = Warnings::default();
        each_row_in_order(db, |row| {
            let content = content_of(row, &mut unpacker);
            let warned = warnings.of(db, row)?;
            Ok(goes_on(&mut stop, take(&tied_row(row, &content, warned, &mut scratch))))
        })?;
        stop.map_or(Ok(()), Err)
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        place(db, key)
    }
}
