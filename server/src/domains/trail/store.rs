//! The trail's SQL: rows in, rows out. `service.rs` decides what may be written.

use colibri_runtime::handler::Fault;

use colibri_proof::chain::TrailHead;
use colibri_proof::record::{ThoughtRecord, ThoughtType};
use colibri_store::db::{Db, Row, RowError, Value};
use colibri_store::params;

/// The columns of [`TrailRow`], in its order, which is the table's.
const COLUMNS: &str = "seq, id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, \
    session_id, zone, content_compressed, content_hash, sequence_no";

/// Replaces a text that is not UTF-8. No call writes this value: names hold no control characters, and times, hashes
/// and zones have fixed forms. So it matches no hash, and a check of the row finds the damage.
const NO_TEXT: &str = "\u{0}";

/// One row of `thought_records` as stored, borrowed from the statement that reads it. It is not checked: a tampered
/// row is returned unchanged.
#[derive(Debug, Clone, Copy)]
pub struct TrailRow<'a> {
    /// Insertion order.
    pub seq: i64,
    /// `id`.
    pub id: &'a str,
    /// `type`.
    pub kind: &'a str,
    /// The chain it belongs to.
    pub task_id: &'a str,
    /// The author.
    pub agent_id: &'a str,
    /// The text, while it is hot. Also `None` if its bytes are not text: a thought may hold any text, so no text can
    /// mark the damage.
    pub content: Option<&'a str>,
    /// When it was written.
    pub timestamp: &'a str,
    /// The stored hash of the record before it.
    pub prev_hash: &'a str,
    /// Its own stored hash.
    pub hash: &'a str,
    /// Equal to `timestamp` when written.
    pub created_at: &'a str,
    /// The audit session it is bound to.
    pub session_id: Option<&'a str>,
    /// The retention zone; `None` means hot.
    pub zone: Option<&'a str>,
    /// The payload of a warm record.
    pub content_compressed: Option<&'a str>,
    /// The digest of a warm or cold record's content.
    pub content_hash: Option<&'a str>,
    /// The audit number of the call that wrote it.
    pub sequence_no: Option<i64>,
}

impl<'a> TrailRow<'a> {
    fn read(row: &Row<'a>) -> Result<Self, RowError> {
        Ok(Self {
            seq: row.get(0)?,
            id: text(row, 1)?.unwrap_or(NO_TEXT),
            kind: text(row, 2)?.unwrap_or(NO_TEXT),
            task_id: text(row, 3)?.unwrap_or(NO_TEXT),
            agent_id: text(row, 4)?.unwrap_or(NO_TEXT),
            content: row.get(5).ok(),
            timestamp: text(row, 6)?.unwrap_or(NO_TEXT),
            prev_hash: text(row, 7)?.unwrap_or(NO_TEXT),
            hash: text(row, 8)?.unwrap_or(NO_TEXT),
            created_at: text(row, 9)?.unwrap_or(NO_TEXT),
            session_id: text(row, 10)?,
            zone: text(row, 11)?,
            content_compressed: text(row, 12)?,
            content_hash: text(row, 13)?,
            sequence_no: row.get(14)?,
        })
    }
}

/// Borrows a column's text; `None` for NULL.
fn text<'a>(row: &Row<'a>, column: usize) -> Result<Option<&'a str>, RowError> {
    Ok(match row.get(column)? {
        Value::Null => None,
        Value::Text(text) => Some(text),
        _ => Some(NO_TEXT),
    })
}

/// Hands over the rows of a query over [`COLUMNS`] one by one, until the last one or until `take` returns `false`.
fn each(
    db: &Db,
    rest: &str,
    params: &[Value<'_>],
    mut take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    db.show_each(&format!("SELECT {COLUMNS} FROM thought_records {rest}"), params, |row| {
        let row = TrailRow::read(row).map_err(Fault::from)?;
        db.hand_out(&[
            ("id", row.id.len()),
            ("task_id", row.task_id.len()),
            ("agent_id", row.agent_id.len()),
            ("content", row.content.map_or(0, str::len)),
            ("timestamp", row.timestamp.len()),
            ("prev_hash", row.prev_hash.len()),
            ("hash", row.hash.len()),
            ("session_id", row.session_id.map_or(0, str::len)),
            ("content_compressed", row.content_compressed.map_or(0, str::len)),
        ])?;
        take(&row)
    })
}

/// Walks over all rows in insertion order, until `take` returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_row_in_order(
    db: &Db,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    each(db, "ORDER BY seq", &[], take)
}

/// Walks over all rows chain by chain, ordered by task id, until `take` returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_row_by_chain(
    db: &Db,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    each(db, "INDEXED BY idx_trail_task ORDER BY task_id, seq", &[], take)
}

/// Walks along the chain of a task, until `take` returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_row_of_task(
    db: &Db,
    task_id: &str,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    each(db, "WHERE task_id = ?1 ORDER BY seq", params![task_id], take)
}

/// Walks along the chain of a task from its end, until `take` returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_newest_of_task(
    db: &Db,
    task_id: &str,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    each(db, "WHERE task_id = ?1 ORDER BY seq DESC", params![task_id], take)
}

/// Walks over the records bound to a session, in insertion order, until `take` returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_row_of_session(
    db: &Db,
    session_id: &str,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    each(db, "WHERE session_id = ?1 ORDER BY seq", params![session_id], take)
}

/// Hands over the stored hashes of a session's records in ascending order, which the original's tree needs
/// (proof#first-tree).
///
/// # Errors
/// [`Fault::Storage`].
pub fn each_hash_of_session_ascending(
    db: &Db,
    session_id: &str,
    mut take: impl FnMut(&str),
) -> Result<(), Fault> {
    let sql = "SELECT hash FROM thought_records WHERE session_id = ?1 ORDER BY hash";
    db.query_each(sql, params![session_id], |row| {
        take(text(row, 0)?.unwrap_or(NO_TEXT));
        Ok(true)
    })
}

/// Counts the records bound to a session.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_records_of_session(db: &Db, session_id: &str) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM thought_records WHERE session_id = ?1";
    db.query_one(sql, params![session_id], |row| row.get(0))
}

/// Counts the records bound to a session up to a number, which the count never exceeds.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_records_up_to(db: &Db, session_id: &str, most: i64) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM thought_records WHERE session_id = ?1 LIMIT ?2) AS bound";
    db.query_one(sql, params![session_id, most], |row| row.get(0))
}

/// Returns the time and author of the last record bound to a session.
///
/// # Errors
/// [`Fault::Storage`].
pub fn last_of_session(db: &Db, session_id: &str) -> Result<Option<(String, String)>, Fault> {
    let sql =
        "SELECT timestamp, agent_id FROM thought_records WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1";
    db.query_opt(sql, params![session_id], |row| {
        Ok((text(row, 0)?.unwrap_or(NO_TEXT).to_owned(), text(row, 1)?.unwrap_or(NO_TEXT).to_owned()))
    })
}

/// Returns the tasks with a record bound to a session, in ascending byte order.
///
/// # Errors
/// [`Fault::Storage`].
pub fn tasks_of_session(db: &Db, session_id: &str) -> Result<Vec<String>, Fault> {
    let sql = "SELECT DISTINCT task_id FROM thought_records WHERE session_id = ?1 ORDER BY task_id";
    db.query_all(sql, params![session_id], |row| Ok(text(row, 0)?.unwrap_or(NO_TEXT).to_owned()))
}

/// Returns the sessions that a task's records are bound to, the one with the newest record first.
///
/// # Errors
/// [`Fault::Storage`].
pub fn sessions_of_task(db: &Db, task_id: &str, most: usize) -> Result<Vec<String>, Fault> {
    let sql = "SELECT session_id FROM thought_records WHERE task_id = ?1 AND session_id IS NOT NULL \
               GROUP BY session_id ORDER BY max(seq) DESC LIMIT ?2";
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    db.query_all(sql, params![task_id, most], |row| Ok(text(row, 0)?.unwrap_or(NO_TEXT).to_owned()))
}

/// Returns the authors of the records bound to a session, each once, in ascending byte order. Leaves out authors that
/// are not text, which no call writes.
///
/// # Errors
/// [`Fault::Storage`].
pub fn agents_of_session(db: &Db, session_id: &str) -> Result<Vec<String>, Fault> {
    let sql = "SELECT DISTINCT agent_id FROM thought_records WHERE session_id = ?1 ORDER BY agent_id";
    let mut agents = Vec::new();
    db.query_each(sql, params![session_id], |row| {
        agents.extend(text(row, 0)?.filter(|agent| *agent != NO_TEXT).map(str::to_owned));
        Ok(true)
    })?;
    Ok(agents)
}

/// Counts all thought records.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_all(db: &Db) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM thought_records", params![], |row| row.get(0))
}

/// Counts the thought records of a task, of any type, session and retention zone (tasks#writeback-gate). Returns 0
/// for a task that does not exist.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_thoughts(db: &Db, task_id: &str) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM thought_records WHERE task_id = ?1", params![task_id], |row| {
        row.get(0)
    })
}

/// Returns the stored end of a task's chain.
///
/// # Errors
/// [`Fault::Storage`].
pub fn tip(db: &Db, task_id: &str) -> Result<Option<TrailHead>, Fault> {
    let sql = "SELECT chain_length, tip_id, tip_hash FROM trail_heads WHERE task_id = ?1";
    db.query_opt(sql, params![task_id], |row| read_head(row, 0))
}

fn read_head(row: &Row<'_>, first: usize) -> Result<TrailHead, RowError> {
    Ok(TrailHead {
        chain_length: row.get(first)?,
        tip_id: text(row, first + 1)?.unwrap_or(NO_TEXT).to_owned(),
        tip_hash: text(row, first + 2)?.unwrap_or(NO_TEXT).to_owned(),
    })
}

/// Hands over the ends of chains without records, in the order of their task ids.
pub fn each_bare_head(db: &Db, mut take: impl FnMut(&str, TrailHead)) -> Result<(), Fault> {
    let sql = "SELECT task_id, chain_length, tip_id, tip_hash FROM trail_heads AS head \
        WHERE NOT EXISTS (SELECT 1 FROM thought_records WHERE task_id = head.task_id) ORDER BY task_id";
    db.query_each(sql, &[], |row| {
        take(text(row, 0)?.unwrap_or(NO_TEXT), read_head(row, 1)?);
        Ok(true)
    })
}

/// Returns id and stored hash of the `number`th record of a chain, counted from 1.
pub fn record_at(db: &Db, task_id: &str, number: i64) -> Result<Option<(String, String)>, Fault> {
    let Some(before) = number.checked_sub(1).filter(|before| *before >= 0) else { return Ok(None) };
    let sql = "SELECT id, hash FROM thought_records WHERE task_id = ?1 ORDER BY seq LIMIT 1 OFFSET ?2";
    db.query_opt(sql, params![task_id, before], |row| {
        Ok((text(row, 0)?.unwrap_or(NO_TEXT).to_owned(), text(row, 1)?.unwrap_or(NO_TEXT).to_owned()))
    })
}

/// Returns the id of the first record bound to a session.
pub fn first_of_session(db: &Db, session_id: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT id FROM thought_records WHERE session_id = ?1 ORDER BY seq LIMIT 1";
    db.query_opt(sql, params![session_id], |row| row.get(0))
}

/// Returns whether more than `many` chains exist.
pub fn has_more_chains_than(db: &Db, many: i64) -> Result<bool, Fault> {
    db.query_one("SELECT EXISTS (SELECT 1 FROM trail_heads LIMIT 1 OFFSET ?1)", params![many], |row| {
        row.get(0)
    })
}

/// Returns the hash that the next record of a task points at: the tip's, or the last row's if the tip is missing,
/// which does not happen in a valid store.
pub fn link_hash(db: &Db, task_id: &str) -> Result<Option<String>, Fault> {
    db.query_one(
        "SELECT coalesce((SELECT tip_hash FROM trail_heads WHERE task_id = ?1), \
         (SELECT hash FROM thought_records WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1))",
        params![task_id],
        |row| Ok(text(row, 0)?.map(str::to_owned)),
    )
}

/// Writes a record and moves its chain's end to it.
pub fn append(db: &Db, record: &ThoughtRecord, sequence_no: Option<i64>) -> Result<(), Fault> {
    let (prev_hash, hash) = (record.prev_hash.as_str(), record.hash.as_str());
    db.execute(
        "INSERT INTO thought_records \
         (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id, sequence_no) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?6, ?9, ?10)",
        params![
            record.id,
            record.kind.as_str(),
            record.task_id,
            record.agent_id,
            record.content,
            record.timestamp,
            prev_hash,
            hash,
            record.session_id,
            sequence_no
        ],
    )?;
    db.execute(
        "INSERT INTO trail_heads (task_id, chain_length, tip_id, tip_hash) VALUES (?1, 1, ?2, ?3) \
         ON CONFLICT (task_id) DO UPDATE \
         SET chain_length = trail_heads.chain_length + 1, tip_id = excluded.tip_id, tip_hash = excluded.tip_hash",
        params![record.task_id, record.id, hash],
    )?;
    Ok(())
}

/// Hands over the row with that id. Returns whether it exists.
pub fn with_row(
    db: &Db,
    id: &str,
    mut take: impl FnMut(&TrailRow<'_>) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let mut found = false;
    each(db, "WHERE id = ?1", params![id], |row| {
        found = true;
        take(row).map(|()| false)
    })?;
    Ok(found)
}

/// Returns the task that a record belongs to.
pub fn task_of(db: &Db, id: &str) -> Result<Option<String>, Fault> {
    db.query_opt("SELECT task_id FROM thought_records WHERE id = ?1", params![id], |row| {
        Ok(text(row, 0)?.unwrap_or(NO_TEXT).to_owned())
    })
}

/// Returns a record's place in insertion order.
pub fn seq_of(db: &Db, id: &str) -> Result<Option<i64>, Fault> {
    db.query_opt("SELECT seq FROM thought_records WHERE id = ?1", params![id], |row| row.get(0))
}

/// Walks over the matching records after `after`, in insertion order, until `take` returns `false`.
pub fn each_match(
    db: &Db,
    task_id: Option<&str>,
    session_id: Option<&str>,
    after: i64,
    take: impl FnMut(&TrailRow<'_>) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    match (task_id, session_id) {
        (None, None) => each(db, "WHERE seq > ?1 ORDER BY seq", params![after], take),
        (Some(task_id), None) => {
            each(db, "WHERE task_id = ?2 AND seq > ?1 ORDER BY seq", params![after, task_id], take)
        }
        (None, Some(session_id)) => {
            each(db, "WHERE session_id = ?2 AND seq > ?1 ORDER BY seq", params![after, session_id], take)
        }
        (Some(task_id), Some(session_id)) => each(
            db,
            "WHERE task_id = ?2 AND session_id = ?3 AND seq > ?1 ORDER BY seq",
            params![after, task_id, session_id],
            take,
        ),
    }
}

/// Returns the author of a task's first record (reputation#events).
///
/// # Errors
/// [`Fault::Storage`].
pub fn first_author(db: &Db, task_id: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT agent_id FROM thought_records WHERE task_id = ?1 ORDER BY seq LIMIT 1";
    db.query_opt(sql, params![task_id], |row| row.get(0))
}

/// Returns the author of a task's latest reflection that `agent_id` did not write (reputation#events).
///
/// # Errors
/// [`Fault::Storage`].
pub fn latest_reflection_not_by(db: &Db, task_id: &str, agent_id: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT agent_id FROM thought_records WHERE task_id = ?1 AND type = ?3 AND agent_id <> ?2 \
        ORDER BY seq DESC LIMIT 1";
    db.query_opt(sql, params![task_id, agent_id, ThoughtType::Reflection.as_str()], |row| row.get(0))
}

/// The values that replace an archived row's content.
pub struct Move<'a> {
    /// Its new zone.
    pub zone: &'a str,
    /// The packed content, in the warm zone.
    pub packed: Option<&'a str>,
    /// The content's digest.
    pub digest: &'a str,
}

/// Moves a row's content.
pub fn archive(db: &Db, id: &str, to: &Move<'_>) -> Result<(), Fault> {
    db.execute(
        "UPDATE thought_records SET zone = ?2, content = NULL, content_compressed = ?3, content_hash = ?4 \
         WHERE id = ?1",
        params![id, to.zone, to.packed, to.digest],
    )
}

/// Returns a record's position; 1 is its task's newest. All positions beyond `farthest` give the same result, which
/// limits the count.
pub fn position(db: &Db, task_id: &str, seq: i64, farthest: i64) -> Result<i64, Fault> {
    db.query_one(
        "SELECT 1 + count(*) FROM (SELECT 1 FROM thought_records WHERE task_id = ?1 AND seq > ?2 LIMIT ?3) AS newer",
        params![task_id, seq, farthest],
        |row| row.get(0),
    )
}

/// A record whose zone may be due to change.
pub struct Due {
    /// Its place in insertion order.
    pub seq: i64,
    /// Its id.
    pub id: String,
    /// Whether its content is already packed.
    pub warm: bool,
}

/// Returns the oldest records of a task after `after` that lie beyond the last position of their zone.
pub fn due(
    db: &Db,
    task_id: &str,
    after: i64,
    (hot, warm): (i64, i64),
    limit: i64,
) -> Result<Vec<Due>, Fault> {
    db.query_all(
        "SELECT seq, id, coalesce(zone, 'hot') = 'warm' FROM thought_records WHERE task_id = ?1 AND seq > ?2 \
         AND seq <= (SELECT seq FROM thought_records WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?3) \
         AND (coalesce(zone, 'hot') NOT IN ('warm', 'cold') OR (zone = 'warm' AND seq <= \
         (SELECT seq FROM thought_records WHERE task_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?4))) \
         ORDER BY seq LIMIT ?5",
        params![task_id, after, hot, warm, limit],
        |row| Ok(Due { seq: row.get(0)?, id: row.get(1)?, warm: row.get(2)? }),
    )
}

/// Returns the next task after `after`, in the order of ids.
pub fn next_task(db: &Db, after: Option<&str>) -> Result<Option<String>, Fault> {
    // No task has an empty id.
    let sql = "SELECT min(task_id) FROM thought_records WHERE task_id > ?1";
    db.query_one(sql, params![after.unwrap_or_default()], |row| row.get(0))
}
