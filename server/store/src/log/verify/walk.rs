//! The walk over the whole log: closed rows in their chain's order, running rows, numbering, head.

use colibri_runtime::handler::Fault;

use super::finding::ActionsFinding;
use super::plausible;
use crate::db::Db;
use crate::log::head::Head;
use crate::log::rows::{CLOSED_COLUMNS, OPEN_COLUMNS, read_closed, read_open};
use colibri_canonical::HexDigest;
use colibri_proof::log_row::{ClosedRow, OpenRow};

/// A visitor of a walk over the log.
pub trait LogVisitor<E> {
    /// Takes a closed row that could be read, in the order of `exit_no`, with the hash stored for it.
    ///
    /// # Errors
    /// An error that ends the walk.
    fn closed(&mut self, row: &ClosedRow<'_>, row_hash: &str) -> Result<(), E>;

    /// Takes a running row.
    fn open(&mut self, row: &OpenRow<'_>);

    /// Takes a finding. The walk goes on with what is stored, so that one damage is reported once.
    fn found(&mut self, finding: ActionsFinding);

    /// Returns whether the walk shall go on; called once a row.
    ///
    /// # Errors
    /// An error that ends the walk.
    fn go_on(&mut self) -> Result<bool, E>;
}

/// Where the log ends, as its rows say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// The last call.
    pub last_sequence_no: i64,
    /// The last closed row.
    pub last_exit_no: i64,
    /// Its hash as stored; zeros before the first.
    pub last_row_hash: HexDigest,
    /// Rows still running.
    pub running: i64,
}

/// Not `max`, for which PostgreSQL reads the whole view.
pub(super) const LAST: &str = "SELECT sequence_no FROM actions ORDER BY sequence_no DESC LIMIT 1";

/// Returns how many rows the log has by its numbering, which is dense. SQLite would count the rows without looking at its bounds.
///
/// # Errors
/// The engine's error.
pub fn count_calls(db: &Db) -> Result<i64, Fault> {
    Ok(db.query_opt(LAST, &[], |row| row.get(0))?.unwrap_or(0))
}

/// Walks the whole log: closed rows in their chain's order, running rows, numbering, head. Meant for a read
/// transaction, so that head and rows are of one moment.
///
/// # Errors
/// The engine's error, and the visitor's; a finding is not an error.
pub fn walk_log<E: From<Fault>>(db: &Db, visitor: &mut dyn LogVisitor<E>) -> Result<LogEnd, E> {
    let (rows, highest) =
        db.query_one("SELECT count(*), coalesce(max(sequence_no), 0) FROM actions", &[], |row| {
            Ok((row.get::<i64>(0)?, row.get::<i64>(1)?))
        })?;
    let mut walk = Walk::from(0, HexDigest::ZERO);
    let sql = format!("SELECT {CLOSED_COLUMNS} FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no");
    walk.run(db, &sql, visitor)?;
    let running = open_rows(db, visitor)?;
    if !visitor.go_on()? {
        return Ok(walk.end(highest, running));
    }
    let between = rows - walk.rows - running;
    if between != 0 {
        visitor.found(ActionsFinding::NeitherOpenNorClosed { rows: between.abs() });
    }
    if rows != highest {
        visitor.found(ActionsFinding::SequenceMissing { sequence_no: first_gap(db)? });
    }
    if let Some(finding) = check_head(db, highest, walk.last_exit_no, walk.last_row_hash) {
        visitor.found(finding);
    }
    Ok(walk.end(highest, running))
}

/// Visits the running rows, which are outside the chain; returns how many it has read.
fn open_rows<E: From<Fault>>(db: &Db, visitor: &mut dyn LogVisitor<E>) -> Result<i64, E> {
    let mut running = 0;
    let sql = format!(
        "SELECT {OPEN_COLUMNS}, (error_code IS NULL AND error_message IS NULL AND result_hash IS NULL AND duration_ms IS NULL \
         AND exited_at IS NULL AND exit_no IS NULL AND prev_hash IS NULL AND row_hash IS NULL AND subject IS NULL) AS unclosed FROM actions WHERE outcome = 'running' ORDER BY sequence_no"
    );
    db.walk(&sql, &[], |row| -> Result<bool, E> {
        running += 1;
        let sequence_no: i64 = row.get(9).map_err(Fault::from)?;
        let unclosed: bool = row.get(10).map_err(Fault::from)?;
        match read_open(row) {
            Ok(open) => {
                let column = if unclosed { plausible::open(&open) } else { Some("outcome") };
                if let Some(column) = column {
                    visitor.found(ActionsFinding::Implausible { sequence_no, column });
                }
                visitor.open(&open);
            }
            Err(_) => visitor.found(ActionsFinding::Implausible { sequence_no, column: "a text" }),
        }
        visitor.go_on()
    })?;
    Ok(running)
}

/// The walk's place in the chain.
pub(super) struct Walk {
    rows: i64,
    pub(super) last_exit_no: i64,
    pub(super) last_row_hash: HexDigest,
    /// The row before could not be read, so the link to it cannot be checked.
    lost: bool,
}

impl Walk {
    pub(super) fn from(last_exit_no: i64, last_row_hash: HexDigest) -> Self {
        Self { rows: 0, last_exit_no, last_row_hash, lost: false }
    }

    fn end(&self, last_sequence_no: i64, running: i64) -> LogEnd {
        let (last_exit_no, last_row_hash) = (self.last_exit_no, self.last_row_hash);
        LogEnd { last_sequence_no, last_exit_no, last_row_hash, running }
    }

    pub(super) fn run<E: From<Fault>>(
        &mut self,
        db: &Db,
        sql: &str,
        visitor: &mut dyn LogVisitor<E>,
    ) -> Result<(), E> {
        db.show_each(sql, &[], |row| {
            self.rows += 1;
            match read_closed(row) {
                Ok((closed, row_hash)) => {
                    db.hand_out(&closed.lengths())?;
                    self.step(&closed, row_hash, &mut |finding| visitor.found(finding));
                    visitor.closed(&closed, row_hash)?;
                }
                Err(_) => {
                    // An edited file may hold any number, even the greatest one.
                    self.last_exit_no = self.last_exit_no.saturating_add(1);
                    visitor.found(ActionsFinding::Unreadable { exit_no: self.last_exit_no });
                    self.lost = true;
                }
            }
            visitor.go_on()
        })
    }

    /// Compares one row with the one before it.
    fn step(&mut self, closed: &ClosedRow<'_>, row_hash: &str, found: &mut dyn FnMut(ActionsFinding)) {
        let sequence_no = closed.sequence_no;
        let expected = self.last_exit_no.saturating_add(1);
        let hash = closed.hash();
        if closed.exit_no != expected || expected == self.last_exit_no {
            found(ActionsFinding::ExitMissing { exit_no: expected });
        } else if hash.as_str() != row_hash {
            found(ActionsFinding::RowChanged { sequence_no });
        } else if closed.prev_hash != self.last_row_hash.as_str() && !self.lost {
            found(ActionsFinding::LinkBroken { sequence_no });
        } else if let Some(column) = plausible::closed(closed) {
            found(ActionsFinding::Implausible { sequence_no, column });
        } else {
            self.lost = false;
            self.last_exit_no = expected;
            self.last_row_hash = hash;
            return;
        }
        // The next row was chained to what is stored.
        let stored = HexDigest::parse(row_hash);
        self.lost = stored.is_none();
        self.last_exit_no = closed.exit_no;
        self.last_row_hash = stored.unwrap_or(HexDigest::ZERO);
    }
}

/// Returns the first number below the highest that no row has.
fn first_gap(db: &Db) -> Result<i64, Fault> {
    let mut expected = 1;
    db.query_each("SELECT sequence_no FROM actions ORDER BY sequence_no", &[], |row| {
        let fits = row.get::<i64>(0)? == expected;
        expected += i64::from(fits);
        Ok(fits)
    })?;
    Ok(expected)
}

pub(super) fn check_head(
    db: &Db,
    sequence_no: i64,
    exit_no: i64,
    row_hash: HexDigest,
) -> Option<ActionsFinding> {
    let Ok(head) = Head::read(db) else { return Some(ActionsFinding::HeadMissing) };
    if !Head::stands_alone(db).unwrap_or(false) {
        return Some(ActionsFinding::HeadRows);
    }
    let (head_at, log_at) = ((head.last_sequence_no, head.last_exit_no), (sequence_no, exit_no));
    if head_at != log_at {
        Some(ActionsFinding::HeadMismatch { head: head_at, log: log_at })
    } else {
        (head.last_row_hash != row_hash).then_some(ActionsFinding::HeadHash)
    }
}
