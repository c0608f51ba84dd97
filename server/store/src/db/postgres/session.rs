//! A connection and its pipeline: statements are queued, sent together and answered in order. (PostgreSQL manual, "Extended Query" and
//! "Pipelining".)
//!
//! A *boundary* is a Sync message. If a statement fails, the server skips all that follows up to the next boundary, and waiting for this boundary
//! returns the failure. [`replies`](super::replies) reads what comes back.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::dial::dial;
use super::error::{CommitState, Lost, PgError};
use super::expect::Expect;
use super::frontend::{self, Name};
use super::options::SessionOptions;
use super::question::Conditions;
use super::rows::Rows;
use super::sql::translate;
use super::startup::Started;
use super::statements::{Found, Statement, Statements};
use super::url::DatabaseUrl;
use super::wire::{Wire, reason};
use crate::Value;

/// Queued bytes are sent early from this size on.
const BYTES_BEFORE_SENDING: usize = 64 << 10;
/// The caller waits while more than these are queued.
const MOST_QUEUED_BYTES: usize = 4 << 20;

/// Where the server's transaction stands after a boundary. (PostgreSQL manual, ReadyForQuery.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    /// None is open.
    Idle,
    /// One is open.
    Open,
    /// One is open and has failed: the server refuses all but its end.
    Failed,
}

/// A boundary to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a wait for the boundary returns the failures of its statements"]
pub struct Boundary(pub(super) u64);

/// How much of a result a caller takes.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The most rows that the server sends; 0 for all. The result may have more.
    pub rows: u32,
    /// The most bytes that are kept. More are [`PgError::TooLarge`].
    pub bytes: usize,
}

impl Limit {
    /// All rows, within 256 MiB.
    pub const ALL: Self = Self { rows: 0, bytes: 256 << 20 };
    /// The first row.
    pub const ONE: Self = Self { rows: 1, bytes: 64 << 20 };
}

/// What has happened on a connection, for tests that count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often statements were sent. A caller that waits for the answer waits for a round trip.
    pub round_trips: u64,
    /// How many statements were executed, those of scripts left out.
    pub statements: u64,
}

/// A connection to a server. Dropping it says goodbye; an open transaction is rolled back.
pub struct Session {
    pub(super) wire: Wire,
    pub(super) started: Started,
    /// What held when it was established.
    pub(super) conditions: Option<Conditions>,
    pub(super) statements: Statements,
    /// What the server still has to answer, in order.
    pub(super) expected: VecDeque<Expect>,
    /// Answers that no caller has waited for yet.
    pub(super) answered: VecDeque<(u64, Result<TransactionStatus, PgError>)>,
    /// The first failure since the last answered boundary.
    pub(super) failed: Option<PgError>,
    pub(super) status: TransactionStatus,
    /// A COMMIT was answered, and its boundary not yet.
    pub(super) has_committed: bool,
    pub(super) lost: Option<Lost>,
    /// The result that is being received, and the most bytes of it.
    pub(super) rows: Option<Rows>,
    pub(super) most_bytes: usize,
    /// A running COPY: whether it has begun, and how many rows it had.
    pub(super) copying: bool,
    pub(super) copied_rows: u64,
    boundary: u64,
    pub(super) portals: u64,
    patience: Option<Duration>,
    reserve: Duration,
    deadline: Option<Instant>,
    pub(super) counters: Counters,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("pid", &self.started.pid)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.lost.is_none() {
            self.wire.hang_up();
        }
    }
}

impl Session {
    /// Connects to the first server of the URL that is fit, and logs in.
    ///
    /// # Errors
    /// [`PgError::Setting`], [`PgError::Unreachable`] or [`PgError::Refused`], without a part of the URL.
    pub fn connect(url: &DatabaseUrl, options: &SessionOptions) -> Result<Self, PgError> {
        let (wire, started) = dial(url, options)?;
        Ok(Self {
            wire,
            started,
            conditions: None,
            statements: Statements::default(),
            expected: VecDeque::new(),
            answered: VecDeque::new(),
            failed: None,
            status: TransactionStatus::Idle,
            has_committed: false,
            lost: None,
            rows: None,
            most_bytes: 0,
            copying: false,
            copied_rows: 0,
            boundary: 0,
            portals: 0,
            patience: options.statement,
            reserve: options.reserve,
            deadline: None,
            counters: Counters::default(),
        })
    }

    /// Returns the number of the server's process, for `pg_terminate_backend`.
    pub fn backend_pid(&self) -> i32 {
        self.started.pid
    }

    /// Returns a parameter that the server reports: `server_version`, `in_hot_standby` and some others.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.started.parameters.get(name).map(String::as_str)
    }

    /// Returns where the transaction stood at the last answered boundary.
    pub fn status(&self) -> TransactionStatus {
        self.status
    }

    /// Returns how the connection ended, if it has.
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    /// Returns what has happened so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Sets how long a statement may take before the connection counts as lost, without the reserve. The server's own time-out stays as it is.
    pub fn set_patience(&mut self, patience: Option<Duration>) {
        self.patience = patience;
    }

    /// Queues a statement, whose result is discarded. Nothing is waited for; a failure shows at the next boundary.
    ///
    /// # Errors
    /// [`PgError::Lost`]; [`PgError::Usage`] for a text with a zero byte, with nothing queued.
    pub fn queue(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), PgError> {
        self.push(sql, params, Execution::discarding()).map(drop)
    }

    /// Queues a COMMIT. If the connection ends before its answer, [`Lost::commit`] says whether it may have happened. A transaction that had failed
    /// before is rolled back by it, which shows as a failure at the next boundary.
    ///
    /// # Errors
    /// Those of [`Session::queue`].
    pub fn queue_commit(&mut self) -> Result<(), PgError> {
        self.push("COMMIT", &[], Execution { commit: true, ..Execution::discarding() }).map(drop)
    }

    /// Ends the statements queued so far. Outside of a transaction, they are one by themselves, which ends here.
    pub fn boundary(&mut self) -> Boundary {
        frontend::sync(self.wire.out());
        let boundary = Boundary(self.boundary);
        self.expected.push_back(Expect::Ready(boundary.0));
        self.boundary += 1;
        boundary
    }

    /// Runs a statement and all that was queued before it, in one round trip.
    ///
    /// # Errors
    /// The first failure since the last boundary; [`PgError::TooLarge`].
    pub fn query(&mut self, sql: &str, params: &[Value<'_>], limit: Limit) -> Result<Rows, PgError> {
        self.push(sql, params, Execution { most_rows: limit.rows, keep: true, ..Execution::discarding() })?;
        self.receive(limit)
    }

    /// Runs a script of several statements as it is: no parameters, no translation. Without BEGIN in it, it is one transaction.
    ///
    /// # Errors
    /// The script's first failure; a failure of what was queued before it.
    pub fn simple(&mut self, script: &str) -> Result<(), PgError> {
        let most_results = script.matches(';').count() + 1;
        let boundary = self.start_script(script, Expect::Script(most_results))?;
        self.wait(boundary).map(drop)
    }

    /// Sends a script, after all that was queued before it has been answered.
    pub(super) fn start_script(&mut self, script: &str, expect: Expect) -> Result<Boundary, PgError> {
        self.check()?;
        if !matches!(self.expected.back(), None | Some(Expect::Ready(_))) {
            let before = self.boundary();
            self.send()?;
            self.wait(before)?;
        }
        frontend::query(self.wire.out(), script)?;
        let boundary = Boundary(self.boundary);
        self.boundary += 1;
        self.expected.extend([expect, Expect::Ready(boundary.0)]);
        self.send()?;
        Ok(boundary)
    }

    /// Sends all that is queued, and reads what comes meanwhile. Does not wait for an answer.
    ///
    /// # Errors
    /// [`PgError::Lost`].
    pub fn send(&mut self) -> Result<(), PgError> {
        self.check()?;
        self.counters.round_trips += u64::from(self.wire.has_unsent());
        self.made_progress();
        self.send_down_to(0)
    }

    /// Sends what is queued of a flight that goes on. The server works on it meanwhile.
    ///
    /// # Errors
    /// [`PgError::Lost`].
    pub fn send_ahead(&mut self) -> Result<(), PgError> {
        self.check()?;
        self.made_progress();
        self.send_down_to(0)
    }

    /// Waits until a boundary is answered. Boundaries may be waited for in any order.
    ///
    /// # Errors
    /// The first failure since the boundary before it; [`PgError::Lost`].
    pub fn wait(&mut self, boundary: Boundary) -> Result<TransactionStatus, PgError> {
        self.made_progress();
        loop {
            if let Some(at) = self.answered.iter().position(|(number, _)| *number == boundary.0) {
                return self.answered.remove(at).map_or(Ok(self.status), |(_, answer)| answer);
            }
            self.check()?;
            if !self
                .expected
                .iter()
                .any(|expect| matches!(expect, Expect::Ready(number) if *number == boundary.0))
            {
                return Err(PgError::Usage("a boundary was waited for twice"));
            }
            if let Err(error) = self.step()
                && !self.is_answered(boundary)
            {
                return Err(error);
            }
        }
    }

    pub(super) fn is_answered(&self, boundary: Boundary) -> bool {
        self.answered.iter().any(|(number, _)| *number == boundary.0)
    }

    /// Waits for the server once, and takes in what it sent. Sends on meanwhile.
    pub(super) fn step(&mut self) -> Result<(), PgError> {
        let waited = self.wire.wait(self.deadline);
        // A process that was frozen finds its deadline over and the answer there, so it looks before it gives up.
        let timed_out = waited.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut);
        let came = if timed_out { self.wire.advance() } else { waited.and_then(|()| self.wire.advance()) };
        let over = self.deadline;
        match came {
            Ok(true) => self.absorb()?,
            Ok(false) => {}
            // What the server said before it hung up counts: the answer to a COMMIT may be in it.
            Err(error) => {
                self.absorb()?;
                return Err(self.lose(reason(&error)));
            }
        }
        match timed_out && self.deadline == over {
            true => Err(self.lose(reason(&ErrorKind::TimedOut.into()))),
            false => Ok(()),
        }
    }

    /// Sends until at most these bytes are left.
    pub(super) fn send_down_to(&mut self, most: usize) -> Result<(), PgError> {
        let sent = self.wire.send_some();
        if sent.is_err() {
            // The reason why the server hung up may still be readable.
            return self.step();
        }
        while self.wire.waiting() > most || (most == 0 && self.wire.has_unsent()) {
            self.step()?;
        }
        Ok(())
    }

    /// Starts the time anew in which the server has to get on.
    pub(super) fn made_progress(&mut self) {
        self.deadline = self
            .patience
            .and_then(|patience| Instant::now().checked_add(patience.saturating_add(self.reserve)));
    }

    /// Ends the connection, and notes what is known of a commit.
    pub(super) fn lose(&mut self, reason: String) -> PgError {
        let sent = self.wire.handed_over();
        let unknown = self
            .expected
            .iter()
            .any(|expect| matches!(expect, Expect::Executed { commit_at: Some(at), .. } if *at < sent));
        let commit = if unknown || self.has_committed { CommitState::Unknown } else { CommitState::NotSent };
        self.rows = None;
        PgError::Lost(self.lost.get_or_insert(Lost { reason, commit }).clone())
    }

    pub(super) fn check(&self) -> Result<(), PgError> {
        self.lost.clone().map_or(Ok(()), |lost| Err(PgError::Lost(lost)))
    }

    /// Sends, waits, and returns the rows that were asked for.
    pub(super) fn receive(&mut self, limit: Limit) -> Result<Rows, PgError> {
        self.rows = None;
        self.most_bytes = limit.bytes;
        let boundary = self.boundary();
        self.send()?;
        let answer = self.wait(boundary);
        let rows = self.rows.take();
        answer?;
        rows.ok_or_else(|| self.lose("the server answered a statement without its result".to_owned()))
    }

    /// Writes a statement's messages: Parse and Describe if it is new, Bind, Execute.
    pub(super) fn push(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        execution: Execution,
    ) -> Result<Arc<Statement>, PgError> {
        self.check()?;
        for statement in self.statements.take_closing() {
            frontend::close(self.wire.out(), statement.name())?;
            self.expected.push_back(Expect::Closed(Some(statement)));
        }
        let (statement, is_new) = match self.statements.find(sql, params, self.boundary) {
            Found::Prepared(statement) => (statement, false),
            Found::New(statement) => (statement, true),
        };
        let position = self.wire.position();
        if let Err(error) = self.write(sql, params, execution, &statement, is_new) {
            self.wire.withdraw(position);
            if is_new {
                self.statements.forget(&statement);
            }
            return Err(error);
        }
        if is_new {
            self.expected.extend([Expect::Parsed(statement.clone()), Expect::Described(statement.clone())]);
        }
        let commit_at = execution.commit.then_some(position);
        self.expected.push_back(Expect::Bound);
        self.expected.push_back(Expect::Executed {
            statement: statement.clone(),
            keep: execution.keep,
            commit_at,
        });
        self.counters.statements += 1;
        if self.wire.waiting() > BYTES_BEFORE_SENDING {
            self.made_progress();
            self.send_down_to(MOST_QUEUED_BYTES)?;
        }
        Ok(statement)
    }

    fn write(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        execution: Execution,
        statement: &Statement,
        is_new: bool,
    ) -> Result<(), PgError> {
        let (name, out) = (statement.name(), self.wire.out());
        if is_new {
            frontend::parse(out, name, &translate(sql), params)?;
            frontend::describe(out, name)?;
        }
        frontend::bind(out, execution.portal, name, params)?;
        frontend::execute(out, execution.portal, execution.most_rows)
    }
}

/// How a statement is executed.
#[derive(Clone, Copy)]
pub(super) struct Execution {
    pub portal: Name,
    /// The most rows that the server sends; 0 for all.
    pub most_rows: u32,
    /// Whether the caller takes the rows.
    pub keep: bool,
    /// Whether it is a COMMIT.
    pub commit: bool,
}

impl Execution {
    fn discarding() -> Self {
        Self { portal: Name::Unnamed, most_rows: 0, keep: false, commit: false }
    }
}
