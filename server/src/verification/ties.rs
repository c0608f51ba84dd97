//! Compares rows with the calls that wrote them, both ways (store#ties):
//!
//! - each row names a successful call of a tool that writes its table, about this very row, and produces the reply
//!   whose hash is in the log ([`Table::row`]);
//! - each such call finds its row, and no later call wrote it (during the walk over the log, [`Ties::call`]).
//!
//! So an edited row produces another reply, an inserted row names no call of its own, a deleted row is missing, and
//! swapped rows name each other's calls. A row that was reset to an earlier valid state is older than the last call
//! about it. "Later" refers to `exit_no`: effects and exit row are committed together, while call numbers are
//! assigned at entry, and another process may call in between.

use colibri_runtime::handler::Fault;

use super::run::Run;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable};
use colibri_proof::log_row::ClosedRow;
use colibri_store::ahead::Ahead;
use colibri_store::db::Db;
use colibri_store::log::verify::{Call, Calls, each_subject_of};
use colibri_store::walk::Stop;

/// The check's name.
pub(crate) const NAME: &str = "ties";

/// The results for one table.
struct Table {
    table: &'static dyn TiedTable,
    /// Whether every call makes a row of its own, so that no later call changes it.
    append_only: bool,
    /// Successful calls that name a row.
    calls: u64,
    /// Rows seen.
    rows: u64,
    /// Rows that match their call.
    tied: u64,
    /// Of these, rows whose reply cannot be rebuilt.
    dropped: u64,
    /// The place of the last row made, among the calls read so far.
    last_place: i64,
    /// The end of the call of the last row read.
    last_exit_no: i64,
    /// The calls and the rows that were looked up last.
    looked: Calls,
    places: Ahead<String, Place>,
}

/// The state of all tables.
pub struct Ties(Vec<Table>);

impl Ties {
    /// Starts before the log is read.
    pub fn new(tables: &'static [&'static dyn TiedTable]) -> Self {
        Self(tables.iter().map(|table| Table::new(*table)).collect())
    }

    /// Takes a closed call of the log, in the order of exits.
    ///
    /// # Errors
    /// The engine's error.
    pub fn call(&mut self, run: &mut Run<'_>, row: &ClosedRow<'_>) -> Result<(), Stop> {
        if row.outcome != "ok" {
            return Ok(());
        }
        let writes =
            |table: &Table| table.table.writers().iter().find(|one| one.tool.name() == row.tool).copied();
        let Some((table, writer)) =
            self.0.iter_mut().find_map(|table| Some((writes(table)?, table))).map(|(w, t)| (t, w))
        else {
            return Ok(());
        };
        match row.subject {
            Some(subject) => table.call(run, row, subject, writer.creates),
            None if writer.creates => {
                let number = row.sequence_no;
                run.found_against(NAME, "SUBJECT_MISSING", || {
                    (format!("actions {number}"), format!("call {number} made a row but names none"))
                });
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Takes a row of the named table that another check has already read.
    ///
    /// # Errors
    /// The engine's error.
    pub fn row(&mut self, run: &mut Run<'_>, name: &str, row: &TiedRow<'_>) -> Result<(), Stop> {
        match self.0.iter_mut().find(|table| table.table.name() == name) {
            Some(table) => table.row(run, row),
            None => Ok(()),
        }
    }

    /// Reads the rows that no other check has read, and compares the totals.
    ///
    /// # Errors
    /// The engine's error.
    pub fn finish(mut self, run: &mut Run<'_>, read_already: &[&str]) -> Result<(), Stop> {
        run.begin(NAME, self.0.iter().map(|table| table.calls).sum());
        for table in &mut self.0 {
            let tied = table.table;
            if !read_already.contains(&tied.name()) {
                tied.each_row(run.db, &mut |row| {
                    run.step()?;
                    table.row(run, row)
                })?;
            }
            tied.each_stray(run.db, &mut |stray| {
                run.found_against(NAME, "STRAY_ROW", || {
                    (stray.clone(), format!("{stray} belongs to no row of {}", tied.name()))
                });
                Ok(())
            })?;
            if table.append_only && table.calls != table.tied {
                table.name_missing(run)?;
            }
        }
        run.count("rows", self.0.iter().map(|table| table.rows).sum());
        run.count("rows with pruned content", self.0.iter().map(|table| table.dropped).sum());
        Ok(())
    }
}

impl Table {
    fn new(table: &'static dyn TiedTable) -> Self {
        let append_only = table.writers().iter().all(|writer| writer.creates);
        let (calls, rows, tied, dropped) = (0, 0, 0, 0);
        let (looked, places) = (Calls::default(), Ahead::default());
        Self {
            table,
            append_only,
            calls,
            rows,
            tied,
            dropped,
            last_place: 0,
            last_exit_no: 0,
            looked,
            places,
        }
    }

    fn subject(&self, key: &str) -> String {
        format!("{} {key}", self.table.name())
    }

    /// Takes a call about a row. If each call has its own row, counting is enough: a row names one call only.
    fn call(&mut self, run: &mut Run<'_>, row: &ClosedRow<'_>, key: &str, creates: bool) -> Result<(), Stop> {
        self.calls += 1;
        if self.append_only {
            return Ok(());
        }
        let number = row.sequence_no;
        let Some(place) = self.place(run.db, key)? else {
            run.found_against(NAME, "ROW_MISSING", || {
                (self.subject(key), format!("the row of call {number} is missing: {}", self.subject(key)))
            });
            return Ok(());
        };
        if creates {
            self.in_order(run, key, place);
        }
        let Some(latest) = place.sequence_no else { return Ok(()) };
        if latest != number
            && self.looked.exit_no_of(run.db, latest)?.is_some_and(|exit_no| exit_no < row.exit_no)
        {
            run.found_against(NAME, "ROW_SET_BACK", || {
                let subject = self.subject(key);
                let message =
                    format!("{subject} is as call {latest} left it, but call {number} changed it later");
                (subject, message)
            });
        }
        Ok(())
    }

    /// Checks that rows were made in the order of their calls.
    fn in_order(&mut self, run: &mut Run<'_>, key: &str, place: Place) {
        let Some(number) = place.number else { return };
        if number <= self.last_place {
            run.found_against(NAME, "ROW_MOVED", || {
                let subject = self.subject(key);
                let message = format!("{subject} is not where its call put it");
                (subject, message)
            });
        }
        self.last_place = self.last_place.max(number);
    }

    /// Compares a row with the call it names.
    fn row(&mut self, run: &mut Run<'_>, row: &TiedRow<'_>) -> Result<(), Stop> {
        self.rows += 1;
        let Some(sequence_no) = row.sequence_no else {
            run.found_against(NAME, "NO_CALL", || {
                (self.subject(row.key), format!("no call wrote {}", self.subject(row.key)))
            });
            return Ok(());
        };
        let table = self.table;
        let judged = self.looked.with(run.db, sequence_no, |call| (judge(table, row, call), call.exit_no))?;
        let (verdict, exit_no) = judged.unwrap_or((Verdict::CallMissing, None));
        let (code, what) = match verdict {
            Verdict::Tied => {
                self.tied += 1;
                self.dropped += u64::from(row.reply == Reply::Dropped);
                if self.append_only && exit_no.is_some_and(|exit_no| exit_no <= self.last_exit_no) {
                    run.found_against(NAME, "ROW_MOVED", || {
                        let subject = self.subject(row.key);
                        let message = format!("{subject} is not where call {sequence_no} put it");
                        (subject, message)
                    });
                }
                self.last_exit_no = self.last_exit_no.max(exit_no.unwrap_or_default());
                return Ok(());
            }
            Verdict::CallMissing => ("CALL_MISSING", "which the log does not have"),
            Verdict::OtherCall => ("CALL_MISMATCH", "which did not write it"),
            Verdict::Changed => (self.table.changed(), "but does not match that call's reply"),
            Verdict::Unreadable => ("ROW_UNREADABLE", "but has a value that no row can have"),
        };
        run.found_against(NAME, code, || {
            let subject = self.subject(row.key);
            let message = format!("{subject} names call {sequence_no}, {what}");
            (subject, message)
        });
        Ok(())
    }

    /// Returns where the row with that key is.
    fn place(&mut self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        let Some(places) = self.table.places().filter(|_| db.asks_over_a_wire()) else {
            return self.table.place(db, key);
        };
        let key = key.to_owned();
        self.places.get(&key, |page| places(db, &key, page)).map(Option::<&Place>::copied)
    }

    /// Reports the calls whose rows are missing or name another call.
    fn name_missing(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        for writer in self.table.writers() {
            each_subject_of(run.db, writer.tool.name(), |number, key| -> Result<(), Stop> {
                let place = self.table.place(run.db, key)?;
                let (code, what) = match place {
                    None => ("ROW_MISSING", "is missing"),
                    Some(place) if place.sequence_no != Some(number) => {
                        ("CALL_MISMATCH", "names another call")
                    }
                    Some(_) => return Ok(()),
                };
                run.found_against(NAME, code, || {
                    (self.subject(key), format!("the row of call {number}, {}, {what}", self.subject(key)))
                });
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn judge(table: &dyn TiedTable, row: &TiedRow<'_>, call: &Call<'_>) -> Verdict {
    let writes = table.writers().iter().any(|writer| writer.tool.name() == call.tool);
    if call.outcome != "ok" || !writes || call.subject != Some(row.key) {
        return Verdict::OtherCall;
    }
    match &row.reply {
        Reply::Unreadable => Verdict::Unreadable,
        Reply::Hash(hash) if call.result_hash != Some(hash.as_str()) => Verdict::Changed,
        Reply::Hash(_) | Reply::Dropped => Verdict::Tied,
    }
}

/// The result of comparing a row with its call.
enum Verdict {
    Tied,
    CallMissing,
    OtherCall,
    Changed,
    Unreadable,
}
