//! Single calls of the log, for checks that compare other rows with them.

use colibri_runtime::handler::Fault;

use crate::ahead::Ahead;
use crate::db::{Db, Row, RowError};
use crate::params;

/// What the log says of a call, as far as rows are tied to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// Its number.
    pub sequence_no: i64,
    /// The process that ran it.
    pub boot_id: &'a str,
    /// Its place among the closed rows; `None` while it runs.
    pub exit_no: Option<i64>,
    /// The tool.
    pub tool: &'a str,
    /// How it ended.
    pub outcome: &'a str,
    /// The row it created or changed.
    pub subject: Option<&'a str>,
    /// The hash of its reply.
    pub result_hash: Option<&'a str>,
}

/// Looks a call up and shows it to `read`; `None` if no such call exists.
///
/// # Errors
/// The engine's error.
pub fn with_call<T>(
    db: &Db,
    sequence_no: i64,
    read: impl FnOnce(&Call<'_>) -> T,
) -> Result<Option<T>, Fault> {
    let sql =
        "SELECT exit_no, tool, outcome, subject, result_hash, boot_id FROM actions WHERE sequence_no = ?1";
    db.show_opt(sql, params![sequence_no], |row| {
        Ok(read(&Call {
            sequence_no,
            exit_no: row.get(0)?,
            tool: row.get(1)?,
            outcome: row.get(2)?,
            subject: row.get(3)?,
            result_hash: row.get(4)?,
            boot_id: row.get(5)?,
        }))
    })
}

/// Reads a page of the log on PostgreSQL. It does not use the view, for which PostgreSQL reads the exits of all earlier calls, too.
const PAGE: &str = "SELECT e.sequence_no, x.exit_no, e.tool, coalesce(x.outcome, 'running'), x.subject, x.result_hash, e.boot_id, \
                    e.entered_at, x.exited_at FROM enters AS e LEFT JOIN LATERAL (SELECT * FROM exits \
                    WHERE exits.sequence_no = e.sequence_no LIMIT 1) AS x ON true WHERE e.sequence_no >= ?1 ORDER BY e.sequence_no LIMIT ?2";

/// Looks up calls one by one, by numbers that mostly rise.
#[derive(Debug, Default)]
pub struct Calls(Ahead<i64, Kept>);

/// What is kept of a call.
#[derive(Debug)]
struct Kept {
    boot_id: String,
    exit_no: Option<i64>,
    tool: String,
    outcome: String,
    subject: Option<String>,
    result_hash: Option<String>,
    entered_at: String,
    exited_at: Option<String>,
}

impl Calls {
    /// Looks a call up and shows it to `read`, as [`with_call`].
    ///
    /// # Errors
    /// The engine's error.
    pub fn with<T>(
        &mut self,
        db: &Db,
        sequence_no: i64,
        read: impl FnOnce(&Call<'_>) -> T,
    ) -> Result<Option<T>, Fault> {
        if !db.asks_over_a_wire() {
            return with_call(db, sequence_no, read);
        }
        let kept = self.kept(db, sequence_no)?;
        Ok(kept.map(|kept| {
            read(&Call {
                sequence_no,
                boot_id: &kept.boot_id,
                exit_no: kept.exit_no,
                tool: &kept.tool,
                outcome: &kept.outcome,
                subject: kept.subject.as_deref(),
                result_hash: kept.result_hash.as_deref(),
            })
        }))
    }

    /// Returns when a call was entered and when it was closed, as [`call_times`].
    ///
    /// # Errors
    /// The engine's error.
    pub fn times(&mut self, db: &Db, sequence_no: i64) -> Result<Option<(String, String)>, Fault> {
        if !db.asks_over_a_wire() {
            return call_times(db, sequence_no);
        }
        let kept = self.kept(db, sequence_no)?;
        Ok(kept.and_then(|kept| Some((kept.entered_at.clone(), kept.exited_at.clone()?))))
    }

    fn kept(&mut self, db: &Db, sequence_no: i64) -> Result<Option<&Kept>, Fault> {
        self.0.get(&sequence_no, |page| {
            db.walk(PAGE, params![sequence_no, page.wanted()], |row| {
                let kept = keep(row);
                let texts = kept
                    .as_ref()
                    .map_or(0, |(_, kept)| kept.tool.len() + kept.subject.as_ref().map_or(0, String::len));
                page.take(kept.map_err(Fault::from), texts)
            })
        })
    }

    /// Returns the place of a call among the closed ones; `None` if no such call exists, or it still runs.
    ///
    /// # Errors
    /// The engine's error.
    pub fn exit_no_of(&mut self, db: &Db, sequence_no: i64) -> Result<Option<i64>, Fault> {
        self.with(db, sequence_no, |call| call.exit_no).map(Option::flatten)
    }
}

fn keep(row: &Row<'_>) -> Result<(i64, Kept), RowError> {
    let kept = Kept {
        exit_no: row.get(1)?,
        tool: row.get(2)?,
        outcome: row.get(3)?,
        subject: row.get(4)?,
        result_hash: row.get(5)?,
        boot_id: row.get(6)?,
        entered_at: row.get(7)?,
        exited_at: row.get(8)?,
    };
    Ok((row.get(0)?, kept))
}

/// Returns when a call was entered and when it was closed, as the log has it; `None` if no such call exists, or it still
/// runs.
fn call_times(db: &Db, sequence_no: i64) -> Result<Option<(String, String)>, Fault> {
    let sql = "SELECT entered_at, exited_at FROM actions WHERE sequence_no = ?1 AND exited_at IS NOT NULL";
    db.query_opt(sql, params![sequence_no], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Hands over the subjects of a tool's successful calls, in the order in which they ended.
///
/// # Errors
/// The engine's error, and what `take` returns.
pub fn each_subject_of<E: From<Fault>>(
    db: &Db,
    tool: &str,
    mut take: impl FnMut(i64, &str) -> Result<(), E>,
) -> Result<(), E> {
    let sql = "SELECT sequence_no, subject FROM actions \
               WHERE exit_no IS NOT NULL AND outcome = 'ok' AND tool = ?1 AND subject IS NOT NULL ORDER BY exit_no";
    db.walk(sql, params![tool], |row| {
        let sequence_no = row.get(0).map_err(Fault::from)?;
        let subject: String = row.get(1).map_err(Fault::from)?;
        take(sequence_no, &subject)?;
        Ok(true)
    })
}
