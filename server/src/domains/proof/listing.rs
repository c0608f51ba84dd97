//! The list of audit sessions (proof#list-of-sessions): how an agent that lost its session's id finds it again.
//!
//! One walk over the sessions' rows finds a page and counts the open sessions. Only the page's sessions are looked at
//! more closely, each by a few seeks and at most [`MOST_COUNTED`] entries of an index.

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Fault, Outcome};
use colibri_runtime::progress::Progress;

use super::seal::{SessionState, session_state};
use super::store;
use crate::catalogue::AuditSessionListError;
use crate::domains::trail;
use colibri_store::db::Db;

/// A session's records are counted up to this number.
pub const MOST_COUNTED: i64 = 10_000;

/// Sessions between two checks of the interrupt.
const BATCH: u64 = 1_000;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only sessions in that state.
    pub state: Option<SessionState>,
    /// Only sessions that were started for that task.
    pub task_id: Option<String>,
    /// The longest page.
    pub limit: usize,
    /// Only sessions older than that one.
    pub before: Option<String>,
}

/// A session as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The session's own row.
    pub session: store::Session,
    /// How long ago it was started.
    pub age_seconds: i64,
    /// Whether records can join it.
    pub state: SessionState,
    /// Its records, or [`MOST_COUNTED`] if it has more.
    pub record_count: i64,
    /// Time and author of its last record.
    pub last_record: Option<(String, String)>,
    /// When it was sealed.
    pub finalized_at: Option<String>,
    /// The hash of its tree head.
    pub head_hash: Option<String>,
}

/// A page of sessions, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Listed>,
    /// How many sessions are open, on all pages and for every state that is asked for.
    pub open_count: i64,
    /// The page's last session, if another page follows.
    pub next_before: Option<String>,
}

/// Returns a page of sessions, newest first.
///
/// # Errors
/// The tool's declared error if no session has the id `before`; storage faults; [`Fault::Other`] if interrupted.
pub fn list(
    db: &Db,
    filter: &Filter,
    now_ms: i64,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Outcome<Page, AuditSessionListError> {
    let end = match &filter.before {
        None => i64::MAX,
        Some(before) => store::place_of(db, before)?.ok_or_else(|| {
            Failure::Domain(AuditSessionListError::ErrCursorNotFound { before: before.clone() })
        })?,
    };
    let total = match progress.is_wanted() {
        true => store::count_sessions(db, filter.task_id.as_deref())?.unsigned_abs(),
        false => 0,
    };
    let (mut found, mut open_count, mut walked, mut more) = (Vec::new(), 0, 0, false);
    store::each_newest_first(db, filter.task_id.as_deref(), |place, session_id, sealed| {
        if walked % BATCH == 0 {
            if interrupt.is_raised() {
                return Err(interrupted());
            }
            progress.report(walked, total);
        }
        walked += 1;
        let state = if sealed { SessionState::Finalized } else { SessionState::Open };
        open_count += i64::from(!sealed);
        if place < end && filter.state.is_none_or(|wanted| wanted == state) {
            if found.len() < filter.limit {
                found.push((session_id.to_owned(), state));
            } else {
                more = true;
            }
        }
        Ok(true)
    })?;
    let next_before = found.last().filter(|_| more).map(|(session_id, _)| session_id.clone());
    let mut sessions = Vec::with_capacity(found.len());
    for (session_id, state) in found {
        if interrupt.is_raised() {
            return Err(Failure::Fault(interrupted()));
        }
        sessions.extend(listed(db, &session_id, state, now_ms)?);
    }
    Ok(Page { sessions, open_count, next_before })
}

/// Returns one session as it is listed; `None` if there is none with this id.
///
/// # Errors
/// [`Fault::Storage`].
pub fn one(db: &Db, session_id: &str, now_ms: i64) -> Result<Option<Listed>, Fault> {
    match session_state(db, session_id)? {
        Some(state) => listed(db, session_id, state, now_ms),
        None => Ok(None),
    }
}

fn listed(db: &Db, session_id: &str, state: SessionState, now_ms: i64) -> Result<Option<Listed>, Fault> {
    let Some(session) = store::session(db, session_id)? else { return Ok(None) };
    Ok(Some(Listed {
        age_seconds: store::age_seconds(&session.started_at, now_ms),
        state,
        record_count: trail::count_records_up_to(db, session_id, MOST_COUNTED)?,
        last_record: trail::last_of_session(db, session_id)?,
        finalized_at: store::root(db, session_id)?.map(|root| root.finalized_at),
        head_hash: store::head_hash_of(db, session_id)?,
        session,
    }))
}

fn interrupted() -> Fault {
    Fault::Other("the list of sessions was interrupted: the server is shutting down".into())
}
