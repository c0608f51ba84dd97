//! The SQL of seals: reads and writes sessions, roots, leaves, heads and tips. `service.rs` decides what may be
//! written; `seal.rs` and `heads.rs` decide what must match.

use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::ms_of_rfc3339;

use colibri_proof::head::{ChainTip, HeadSignature, SessionFacts, SignedTreeHead, TreeHead};
use colibri_store::db::{Db, Row, RowError, Value};
use colibri_store::params;

/// Replaces a text that is not UTF-8. No call writes this value: names hold no control characters, and times and
/// hashes have fixed forms. So it matches no hash, and a check of the row finds the damage.
const NO_TEXT: &str = "\u{0}";

/// A row of `audit_sessions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub session_id: String,
    /// Its purpose.
    pub intent: String,
    /// The task it is about.
    pub task_id: Option<String>,
    /// When it was opened.
    pub started_at: String,
}

impl Session {
    /// Returns the facts to which a head commits.
    pub(super) fn facts(&self) -> SessionFacts<'_> {
        SessionFacts {
            session_id: &self.session_id,
            intent: &self.intent,
            task_id: self.task_id.as_deref(),
            started_at: &self.started_at,
        }
    }
}

/// A row of `merkle_roots`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Root of the original's tree.
    pub root: String,
    /// How many records were sealed.
    pub record_count: i64,
    /// When it was sealed.
    pub finalized_at: String,
}

/// A row of `merkle_leaves`: a record as it was when its session was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its place, from 0.
    pub leaf_index: i64,
    /// The record.
    pub record_id: String,
    /// The record's hash.
    pub hash: String,
    /// The hash of its envelope.
    pub leaf_hash: String,
}

/// The length and tip of a task's chain when a head was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedTip {
    /// The head.
    pub head_index: i64,
    /// The head's session; `None` if the head does not exist.
    pub session_id: Option<String>,
    /// The tip.
    pub tip: ChainTip,
}

/// Reads a column's text; `None` for NULL.
fn text_or_null(row: &Row<'_>, column: usize) -> Result<Option<String>, RowError> {
    Ok(match row.get(column)? {
        Value::Null => None,
        Value::Text(text) => Some(text.to_owned()),
        _ => Some(NO_TEXT.to_owned()),
    })
}

fn text(row: &Row<'_>, column: usize) -> Result<String, RowError> {
    Ok(text_or_null(row, column)?.unwrap_or_else(|| NO_TEXT.to_owned()))
}

/// Stores a session unless its id is taken. Returns whether it was stored.
pub(super) fn insert_session(db: &Db, session: &Session, sequence_no: Option<i64>) -> Result<bool, Fault> {
    let inserted = db.changed(
        "INSERT INTO audit_sessions (session_id, intent, task_id, started_at, sequence_no) \
         VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (session_id) DO NOTHING",
        params![session.session_id, session.intent, session.task_id, session.started_at, sequence_no],
    )?;
    Ok(inserted == 1)
}

/// Returns the session with that id.
///
/// # Errors
/// [`Fault::Storage`].
pub fn session(db: &Db, session_id: &str) -> Result<Option<Session>, Fault> {
    db.query_opt(
        "SELECT session_id, intent, task_id, started_at FROM audit_sessions WHERE session_id = ?1",
        params![session_id],
        |row| {
            Ok(Session {
                session_id: text(row, 0)?,
                // Any text but an empty one can be an intent.
                intent: row.get(1).unwrap_or_default(),
                task_id: text_or_null(row, 2)?,
                started_at: text(row, 3)?,
            })
        },
    )
}

/// Returns whether a session with that id was opened, and whether any remains of its seal exist.
pub(super) fn traces(db: &Db, session_id: &str) -> Result<(bool, bool), Fault> {
    db.query_one(
        "SELECT EXISTS (SELECT 1 FROM audit_sessions WHERE session_id = ?1), \
         EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = ?1) \
         OR EXISTS (SELECT 1 FROM tree_heads WHERE session_id = ?1) \
         OR EXISTS (SELECT 1 FROM merkle_leaves WHERE session_id = ?1)",
        params![session_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Hands over the ids of all sessions that were opened or have any remains of a seal, in byte order, until `take`
/// returns `false`.
pub(super) fn each_session(db: &Db, mut take: impl FnMut(&str) -> Result<bool, Fault>) -> Result<(), Fault> {
    let mut failed = None;
    db.query_each(
        "SELECT session_id FROM audit_sessions UNION SELECT session_id FROM merkle_roots \
         UNION SELECT session_id FROM tree_heads UNION SELECT session_id FROM merkle_leaves ORDER BY 1",
        &[],
        |row| Ok(take(&text(row, 0)?).unwrap_or_else(|fault| stop(&mut failed, fault))),
    )?;
    failed.map_or(Ok(()), Err)
}

/// Keeps a callback's error until the walk has ended.
fn stop(failed: &mut Option<Fault>, fault: Fault) -> bool {
    *failed = Some(fault);
    false
}

/// Returns the place of a session's row among all, which grows from one session to the next.
pub(super) fn place_of(db: &Db, session_id: &str) -> Result<Option<i64>, Fault> {
    let sql = "SELECT rowid FROM audit_sessions WHERE session_id = ?1";
    db.query_opt(sql, params![session_id], |row| row.get(0))
}

/// Counts the sessions; with a task only those that were started for it.
///
/// # Errors
/// [`Fault::Storage`].
pub(super) fn count_sessions(db: &Db, task_id: Option<&str>) -> Result<i64, Fault> {
    let sql = "SELECT count(*) FROM audit_sessions WHERE CAST(?1 AS text) IS NULL OR task_id = ?1";
    db.query_one(sql, params![task_id], |row| row.get(0))
}

/// Hands over the place and id of each session, and whether anything of a seal exists, newest first, until `take`
/// returns `false`. With a task only the sessions that were started for it.
pub(super) fn each_newest_first(
    db: &Db,
    task_id: Option<&str>,
    mut take: impl FnMut(i64, &str, bool) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let of_task = if task_id.is_some() { "WHERE s.task_id = ?1" } else { "" };
    let sql = format!(
        "SELECT s.rowid, s.session_id, EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = s.session_id) \
         OR EXISTS (SELECT 1 FROM tree_heads WHERE session_id = s.session_id) \
         OR EXISTS (SELECT 1 FROM merkle_leaves WHERE session_id = s.session_id) \
         FROM audit_sessions AS s {of_task} ORDER BY s.rowid DESC"
    );
    let params = task_id.map(Value::Text);
    db.walk(&sql, params.as_slice(), |row| take(row.get(0)?, &text(row, 1)?, row.get(2)?))
}

/// Returns how many seconds before `now_ms` a session was started; 0 if the stored time lies ahead or cannot be read.
pub(super) fn age_seconds(started_at: &str, now_ms: i64) -> i64 {
    let started = ms_of_rfc3339(started_at).unwrap_or(now_ms);
    now_ms.div_euclid(1000).saturating_sub(started.div_euclid(1000)).max(0)
}

/// Returns the stored root of a session.
///
/// # Errors
/// [`Fault::Storage`].
pub fn root(db: &Db, session_id: &str) -> Result<Option<Root>, Fault> {
    db.query_opt(
        "SELECT root, record_count, finalized_at FROM merkle_roots WHERE session_id = ?1",
        params![session_id],
        |row| Ok(Root { root: text(row, 0)?, record_count: row.get(1)?, finalized_at: text(row, 2)? }),
    )
}

/// Stores a session's root.
pub(super) fn insert_root(
    db: &Db,
    session_id: &str,
    root: &Root,
    sequence_no: Option<i64>,
) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO merkle_roots (session_id, root, record_count, finalized_at, sequence_no) \
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![session_id, root.root, root.record_count, root.finalized_at, sequence_no],
    )
}

/// Stores a frozen leaf.
pub(super) fn insert_leaf(
    db: &Db,
    session_id: &str,
    leaf_index: i64,
    (record_id, hash, leaf_hash): (&str, &str, &str),
) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO merkle_leaves (session_id, leaf_index, record_id, hash, leaf_hash) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![session_id, leaf_index, record_id, hash, leaf_hash],
    )
}

/// Returns the next frozen leaves of a session from an index on, at most `limit`.
pub(super) fn leaves_from(
    db: &Db,
    session_id: &str,
    leaf_index: i64,
    limit: i64,
) -> Result<Vec<Leaf>, Fault> {
    db.query_all(
        "SELECT leaf_index, record_id, hash, leaf_hash FROM merkle_leaves \
         WHERE session_id = ?1 AND leaf_index >= ?2 ORDER BY leaf_index LIMIT ?3",
        params![session_id, leaf_index, limit],
        |row| {
            Ok(Leaf {
                leaf_index: row.get(0)?,
                record_id: text(row, 1)?,
                hash: text(row, 2)?,
                leaf_hash: text(row, 3)?,
            })
        },
    )
}

/// Columns of a head, in the order [`read_head`] takes them.
const HEAD_COLUMNS: &str = "session_id, session_hash, tree_size, root_hash, legacy_root, chain_tips_hash, head_index, \
    prev_head_hash, log_exit_no, log_row_hash, finalized_at, head_hash, signature, key_id, public_key";

fn read_head(row: &Row<'_>) -> Result<SignedTreeHead, RowError> {
    let signature = match (text_or_null(row, 12)?, text_or_null(row, 13)?, text_or_null(row, 14)?) {
        (None, None, None) => None,
        (signature, key_id, public_key) => Some(HeadSignature {
            signature: signature.unwrap_or_default(),
            key_id: key_id.unwrap_or_default(),
            public_key: public_key.unwrap_or_default(),
        }),
    };
    let head = TreeHead {
        session_id: text(row, 0)?,
        session_hash: text(row, 1)?,
        tree_size: row.get(2)?,
        root_hash: text(row, 3)?,
        legacy_root: text(row, 4)?,
        chain_tips_hash: text(row, 5)?,
        head_index: row.get(6)?,
        prev_head_hash: text(row, 7)?,
        log_exit_no: row.get(8)?,
        log_row_hash: text(row, 9)?,
        finalized_at: text(row, 10)?,
    };
    Ok(SignedTreeHead { head, head_hash: text(row, 11)?, signature })
}

/// Returns the head of a session.
///
/// # Errors
/// [`Fault::Storage`].
pub fn head_of(db: &Db, session_id: &str) -> Result<Option<SignedTreeHead>, Fault> {
    db.query_opt(
        &format!("SELECT {HEAD_COLUMNS} FROM tree_heads WHERE session_id = ?1"),
        params![session_id],
        read_head,
    )
}

/// Returns the hash of a session's head.
pub(super) fn head_hash_of(db: &Db, session_id: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT head_hash FROM tree_heads WHERE session_id = ?1";
    db.query_opt(sql, params![session_id], |row| text(row, 0))
}

/// Returns index and hash of the head before an index, gaps allowed; without an index, of the last head.
pub(super) fn head_before(db: &Db, head_index: Option<i64>) -> Result<Option<(i64, String)>, Fault> {
    db.query_opt(
        "SELECT head_index, head_hash FROM tree_heads WHERE head_index < ?1 ORDER BY head_index DESC LIMIT 1",
        params![head_index.unwrap_or(i64::MAX)],
        |row| Ok((row.get(0)?, text(row, 1)?)),
    )
}

/// Returns the index of the head after an index, gaps allowed, and the predecessor's hash that it names.
pub(super) fn head_after(db: &Db, head_index: i64) -> Result<Option<(i64, String)>, Fault> {
    db.query_opt(
        "SELECT head_index, prev_head_hash FROM tree_heads WHERE head_index > ?1 ORDER BY head_index LIMIT 1",
        params![head_index],
        |row| Ok((row.get(0)?, text(row, 1)?)),
    )
}

/// Walks over all heads in order, until `take` returns `false`.
pub(super) fn each_head(
    db: &Db,
    mut take: impl FnMut(&SignedTreeHead) -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let mut failed = None;
    db.query_each(&format!("SELECT {HEAD_COLUMNS} FROM tree_heads ORDER BY head_index"), &[], |row| {
        Ok(take(&read_head(row)?).unwrap_or_else(|fault| stop(&mut failed, fault)))
    })?;
    failed.map_or(Ok(()), Err)
}

/// Stores a head.
pub(super) fn insert_head(db: &Db, head: &SignedTreeHead) -> Result<(), Fault> {
    let signed = head.signature.as_ref();
    let (TreeHead { session_id, session_hash, tree_size, root_hash, .. }, head_hash) =
        (&head.head, &head.head_hash);
    let TreeHead { legacy_root, chain_tips_hash, head_index, prev_head_hash, .. } = &head.head;
    let TreeHead { log_exit_no, log_row_hash, finalized_at, .. } = &head.head;
    db.execute(
        &format!(
            "INSERT INTO tree_heads ({HEAD_COLUMNS}) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
        ),
        params![
            session_id,
            session_hash,
            tree_size,
            root_hash,
            legacy_root,
            chain_tips_hash,
            head_index,
            prev_head_hash,
            log_exit_no,
            log_row_hash,
            finalized_at,
            head_hash,
            signed.map(|signed| &signed.signature),
            signed.map(|signed| &signed.key_id),
            signed.map(|signed| &signed.public_key),
        ],
    )
}

/// Stores a tip of a head.
pub(super) fn insert_tip(db: &Db, head_index: i64, tip: &ChainTip) -> Result<(), Fault> {
    db.execute(
        "INSERT INTO tree_head_tips (head_index, task_id, chain_length, tip_hash) VALUES (?1, ?2, ?3, ?4)",
        params![head_index, tip.task_id, tip.chain_length, tip.tip_hash],
    )
}

/// Returns the tips of a head.
pub(super) fn tips_at(db: &Db, head_index: i64) -> Result<Vec<ChainTip>, Fault> {
    db.query_all(
        "SELECT task_id, chain_length, tip_hash FROM tree_head_tips WHERE head_index = ?1 ORDER BY task_id",
        params![head_index],
        |row| Ok(ChainTip { task_id: text(row, 0)?, chain_length: row.get(1)?, tip_hash: text(row, 2)? }),
    )
}

/// Returns the next tips of a task's chain, shortest first, after a length and a head; at most `limit`.
pub(super) fn tips_of_task_after(
    db: &Db,
    task_id: &str,
    (chain_length, head_index): (i64, i64),
    limit: i64,
) -> Result<Vec<SealedTip>, Fault> {
    db.query_all(
        "SELECT t.head_index, h.session_id, t.task_id, t.chain_length, t.tip_hash \
         FROM tree_head_tips AS t LEFT JOIN tree_heads AS h ON h.head_index = t.head_index \
         WHERE t.task_id = ?1 AND (t.chain_length, t.head_index) > (?2, ?3) \
         ORDER BY t.chain_length, t.head_index LIMIT ?4",
        params![task_id, chain_length, head_index, limit],
        |row| {
            Ok(SealedTip {
                head_index: row.get(0)?,
                session_id: text_or_null(row, 1)?,
                tip: ChainTip { task_id: text(row, 2)?, chain_length: row.get(3)?, tip_hash: text(row, 4)? },
            })
        },
    )
}
