//! Recomputes the log (alpha §5.3): closed rows in `exit_no` order, the numbering of calls, and the
//! head, in constant memory. Names the first thing that does not fit.

use std::fmt;

use colibri_runtime::handler::Fault;

use super::audit::{CLOSED_COLUMNS, read_closed};
use super::db::Db;
use super::head::Head;
use crate::digest::HexDigest;

/// What a walk over the log found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionsReport {
    /// Closed rows that were recomputed and fit.
    pub closed: i64,
    /// The hash of the last of them: what an auditor keeps outside the file.
    pub last_row_hash: HexDigest,
    /// Rows still running. They stand outside the chain until they are closed.
    pub running: i64,
    /// The first thing that does not fit; `None` for a sound log.
    pub finding: Option<ActionsFinding>,
}

/// Something in the log that cannot have come about by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionsFinding {
    /// A closed row's columns do not give its hash.
    RowChanged {
        /// The call.
        sequence_no: i64,
    },
    /// A closed row does not follow the one before.
    LinkBroken {
        /// The call.
        sequence_no: i64,
    },
    /// A closed row is missing.
    ExitMissing {
        /// The number nobody has.
        exit_no: i64,
    },
    /// A closed row holds a value its column cannot have.
    Unreadable {
        /// Its place in the chain, as far as the walk had come.
        exit_no: i64,
    },
    /// A call's row is missing.
    SequenceMissing {
        /// The number nobody has.
        sequence_no: i64,
    },
    /// The head's row is missing or unreadable.
    HeadMissing,
    /// The log ends elsewhere than its head says: rows were cut off or put on.
    HeadMismatch {
        /// The head's numbers: last call, last closed row.
        head: (i64, i64),
        /// The log's.
        log: (i64, i64),
    },
    /// The head names another last row.
    HeadHash,
}

impl fmt::Display for ActionsFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowChanged { sequence_no } => {
                write!(f, "actions row {sequence_no}: its columns do not give its row_hash")
            }
            Self::LinkBroken { sequence_no } => {
                write!(f, "actions row {sequence_no}: prev_hash is not the row before's row_hash")
            }
            Self::ExitMissing { exit_no } => write!(f, "actions: no row has exit_no {exit_no}"),
            Self::Unreadable { exit_no } => {
                write!(f, "actions: the row with exit_no {exit_no} holds a value of a wrong type")
            }
            Self::SequenceMissing { sequence_no } => {
                write!(f, "actions: no row has sequence_no {sequence_no}")
            }
            Self::HeadMissing => write!(f, "actions_head: its row is missing or unreadable"),
            Self::HeadMismatch { head, log } => write!(
                f,
                "actions_head: says the log ends at sequence_no {} and exit_no {}, but it ends at {} and {}",
                head.0, head.1, log.0, log.1
            ),
            Self::HeadHash => write!(f, "actions_head: last_row_hash is not the last closed row's"),
        }
    }
}

/// Walks the whole log. Meant for a read transaction, so that head and rows are of one moment.
///
/// # Errors
/// The engine's; a finding is not an error.
pub fn verify_actions(db: &Db) -> Result<ActionsReport, Fault> {
    let (rows, highest) =
        db.query_one("SELECT count(*), coalesce(max(sequence_no), 0) FROM actions", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })?;
    let running = db.query_one("SELECT count(*) FROM actions WHERE outcome = 'running'", [], |row| {
        row.get::<_, i64>(0)
    })?;
    let mut walk = Walk::from(0, HexDigest::ZERO);
    walk.run(
        db,
        &format!("SELECT {CLOSED_COLUMNS} FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no"),
    )?;
    let finding = match walk.finding {
        Some(finding) => Some(finding),
        None if rows != highest => first_gap(db)?,
        None => check_head(db, highest, walk.last_exit_no, walk.last_row_hash),
    };
    Ok(ActionsReport { closed: walk.last_exit_no, last_row_hash: walk.last_row_hash, running, finding })
}

/// Boot's look at the end of the log: the last closed row, its hash, and the head (design R18).
///
/// # Errors
/// The engine's.
pub(super) fn verify_tail(db: &Db) -> Result<Option<ActionsFinding>, Fault> {
    let highest =
        db.query_one("SELECT coalesce(max(sequence_no), 0) FROM actions", [], |row| row.get::<_, i64>(0))?;
    // Start the walk where the last row says it stands, so that only that row is recomputed.
    let last = db.query_opt(
        "SELECT exit_no, prev_hash FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no DESC LIMIT 1",
        [],
        |row| Ok((row.get::<_, i64>(0)?, HexDigest::parse(&row.get::<_, String>(1)?))),
    )?;
    let mut walk = Walk::from(0, HexDigest::ZERO);
    if let Some((exit_no, prev_hash)) = last {
        let Some(prev_hash) = prev_hash else { return Ok(Some(ActionsFinding::Unreadable { exit_no })) };
        walk = Walk::from(exit_no - 1, prev_hash);
        walk.run(
            db,
            &format!(
                "SELECT {CLOSED_COLUMNS} FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no DESC LIMIT 1"
            ),
        )?;
    }
    Ok(match walk.finding {
        Some(finding) => Some(finding),
        None => check_head(db, highest, walk.last_exit_no, walk.last_row_hash),
    })
}

/// The walk's place in the chain.
struct Walk {
    last_exit_no: i64,
    last_row_hash: HexDigest,
    finding: Option<ActionsFinding>,
}

impl Walk {
    fn from(last_exit_no: i64, last_row_hash: HexDigest) -> Self {
        Self { last_exit_no, last_row_hash, finding: None }
    }

    fn run(&mut self, db: &Db, sql: &str) -> Result<(), Fault> {
        db.query_each(sql, [], |row| {
            let expected = self.last_exit_no + 1;
            let Ok((closed, stored)) = read_closed(row) else {
                self.finding = Some(ActionsFinding::Unreadable { exit_no: expected });
                return Ok(false);
            };
            let sequence_no = closed.sequence_no;
            let hash = closed.hash();
            self.finding = if closed.exit_no != expected {
                Some(ActionsFinding::ExitMissing { exit_no: expected })
            } else if hash.as_str() != stored {
                Some(ActionsFinding::RowChanged { sequence_no })
            } else if closed.prev_hash != self.last_row_hash.as_str() {
                Some(ActionsFinding::LinkBroken { sequence_no })
            } else {
                self.last_exit_no = expected;
                self.last_row_hash = hash;
                None
            };
            Ok(self.finding.is_none())
        })
    }
}

/// The first number below the highest that no row has.
fn first_gap(db: &Db) -> Result<Option<ActionsFinding>, Fault> {
    let mut expected = 1;
    db.query_each("SELECT sequence_no FROM actions ORDER BY sequence_no", [], |row| {
        let fits = row.get::<_, i64>(0)? == expected;
        expected += i64::from(fits);
        Ok(fits)
    })?;
    Ok(Some(ActionsFinding::SequenceMissing { sequence_no: expected }))
}

fn check_head(db: &Db, sequence_no: i64, exit_no: i64, row_hash: HexDigest) -> Option<ActionsFinding> {
    let Ok(head) = Head::read(&db.conn) else { return Some(ActionsFinding::HeadMissing) };
    let (head_at, log_at) = ((head.last_sequence_no, head.last_exit_no), (sequence_no, exit_no));
    if head_at != log_at {
        Some(ActionsFinding::HeadMismatch { head: head_at, log: log_at })
    } else {
        (head.last_row_hash != row_hash).then_some(ActionsFinding::HeadHash)
    }
}
