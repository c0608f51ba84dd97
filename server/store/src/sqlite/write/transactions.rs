//! The transactions behind the chain: queue, `BEGIN`, savepoints, the log's head, `COMMIT`, sync
//! (store#transactions). It knows neither context nor mode; [`crate::sqlite`] implements the runtime's trait with it.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::{Access, StoreFault};
use rusqlite::{Connection, ErrorCode};

use crate::db::sqlite::handle::fault;
use crate::log::head::Head;
use crate::log::rows::{AuditFacts, Closing};
use crate::sqlite::open::identity::{Displaced, Part, Place};
use crate::sqlite::write::holder;
use crate::sqlite::write::log_file::LogFile;
use crate::sqlite::write::queue::WriteQueue;
use crate::sqlite::write::rows;
use colibri_proof::log_row::OpenRow;

/// The transaction that may write, as far as this process knows. SQLite may roll back by itself (full disk, I/O error), so
/// [`Connection::is_autocommit`] has the last word.
#[derive(Debug)]
enum State {
    /// There is none.
    Idle,
    /// It is the turn to write: open, and used by no call yet.
    Turn,
    /// Calls use it.
    Writing(Writing),
}

#[derive(Debug)]
struct Writing {
    /// The head as the transaction has it; `None` until the first row.
    head: Option<Head>,
    /// The head has moved since it was read. The commit writes it, even if the call that moved it was undone.
    moved: bool,
    /// What undoes the next call.
    undo: Undo,
    /// What undoes the call that runs now, and the head before it.
    call: (Undo, Option<Head>),
}

/// What undoes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undo {
    /// The transaction: nothing preceded the call. Most calls come alone, and a savepoint copies each page that is
    /// changed inside it.
    Transaction,
    /// A savepoint of its own.
    Savepoint,
}

/// The head after a commit. It holds in a later transaction of the same connection that sees the same data version: then neither
/// another process nor another program has written meanwhile.
#[derive(Debug, Clone, Copy)]
struct Carried {
    data_version: u32,
    head: Head,
}

/// The files behind a connection, for a database that has files.
#[derive(Debug)]
pub(crate) struct Files {
    /// The files that were opened, and their names. The thread that copies the log checks them too.
    pub place: Arc<Place>,
    /// The log; `None` where it is only read.
    pub log: Option<LogFile>,
    /// Whether commits are synced before replies (`COLIBRI_DURABILITY=full`).
    pub durable: bool,
}

/// Why nothing more can be acknowledged: a sync has failed, after which none is tried again, or the files are not those that
/// were opened. It is never cleared. The thread that copies the log shares it.
pub(crate) type Latch = Arc<OnceLock<StoreFault>>;

/// What one connection's transactions need besides the connection.
#[derive(Debug)]
pub(crate) struct Transactions {
    queue: Option<WriteQueue>,
    state: State,
    /// The connection had the place in the queue, and another program held SQLite's write lock.
    locked: bool,
    files: Option<Files>,
    read_only: bool,
    /// The head as this process's last commit left it.
    carried: Option<Carried>,
    /// Something was committed since the last sync.
    unsynced: bool,
    latch: Latch,
}

/// How long the queue is left to others when a foreign program holds the database, before the next try.
const LOCKED_PAUSE: Duration = Duration::from_millis(5);

/// Checks whether another connection has the write lock.
fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Returns the operating system's error, without the file's name.
fn queue_fault(error: &io::Error) -> StoreFault {
    StoreFault(format!("write queue: {}", error.kind()))
}

/// Runs a statement without parameters or rows.
fn execute(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop)
}

/// Like [`execute`], with an error that the chain may show.
fn run(conn: &Connection, sql: &str) -> Result<(), StoreFault> {
    execute(conn, sql).map_err(fault)
}

impl Transactions {
    pub(crate) fn new(
        queue: Option<WriteQueue>,
        files: Option<Files>,
        read_only: bool,
        latch: Latch,
    ) -> Self {
        Self {
            queue,
            state: State::Idle,
            locked: false,
            files,
            read_only,
            carried: None,
            unsynced: false,
            latch,
        }
    }

    /// Takes over the files of another connection, which reads in place of the one before.
    pub(crate) fn move_to(&mut self, files: Option<Files>) {
        (self.files, self.state) = (files, State::Idle);
    }

    /// Asks for the place in the queue and SQLite's write lock; the transaction is open when the connection has both.
    pub(crate) fn poll_turn(
        &mut self,
        conn: &Connection,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), StoreFault>> {
        let Some(queue) = &mut self.queue else { return Poll::Ready(Ok(())) };
        if !conn.is_autocommit() {
            return Poll::Ready(Ok(()));
        }
        if let Err(error) = ready!(queue.poll(cx)) {
            return Poll::Ready(Err(queue_fault(&error)));
        }
        match execute(conn, "BEGIN IMMEDIATE") {
            Ok(()) => {
                (self.state, self.locked) = (State::Turn, false);
                Poll::Ready(Ok(()))
            }
            Err(error) if is_busy(&error) => {
                self.locked = true;
                match queue.step_back(LOCKED_PAUSE, cx.waker()) {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(queue_fault(&error))),
                }
            }
            Err(error) => {
                queue.leave();
                Poll::Ready(Err(fault(error)))
            }
        }
    }

    /// Returns what keeps the turn away.
    pub(crate) fn obstacle(&self, database: Option<&Path>) -> StoreFault {
        let Some(queue) = &self.queue else { return StoreFault("the database has no write queue".into()) };
        let seconds = queue.waited().as_secs();
        let way_out = "resume or stop that process, then call again";
        StoreFault(match (self.locked, database) {
            (true, Some(path)) => {
                let holder = holder::of_write_lock(path).unwrap_or_else(|| "another program".to_owned());
                format!("database is locked: {holder} has held its write lock for {seconds} s: {way_out}")
            }
            _ => format!("the write queue has been held for {seconds} s by {}: {way_out}", queue.holder()),
        })
    }

    /// Opens a transaction, using the turn if the connection has it. Otherwise it tries for an ordinary wait only.
    pub(crate) fn begin(
        &mut self,
        conn: &Connection,
        access: Access,
        database: Option<&Path>,
    ) -> Result<(), StoreFault> {
        let has_turn = matches!(self.state, State::Turn) && !conn.is_autocommit();
        if !has_turn && !conn.is_autocommit() {
            return Err(StoreFault("a transaction is open already".into()));
        }
        self.state = State::Idle;
        if access == Access::Read {
            return run(conn, "BEGIN");
        }
        if self.read_only {
            return Err(StoreFault("the database is open for reading only".into()));
        }
        if !has_turn {
            self.take_turn(conn, database)?;
        }
        let carried =
            self.carried.filter(|carried| colibri_wal::data_version(conn) == Some(carried.data_version));
        let head = carried.map(|carried| carried.head);
        let undo = Undo::Transaction;
        self.state = State::Writing(Writing { head, moved: false, undo, call: (undo, head) });
        Ok(())
    }

    /// Tries to get the turn for an ordinary wait only.
    fn take_turn(&mut self, conn: &Connection, database: Option<&Path>) -> Result<(), StoreFault> {
        if let Some(queue) = &mut self.queue
            && !queue.enter_soon().map_err(|error| queue_fault(&error))?
        {
            return Err(self.obstacle(database));
        }
        execute(conn, "BEGIN IMMEDIATE").map_err(|error| {
            self.locked = is_busy(&error);
            let failed = if self.locked { self.obstacle(database) } else { fault(error) };
            match &mut self.queue {
                // The next try, if it comes soon, is part of the same wait.
                Some(queue) if self.locked => queue.give_up(),
                _ => self.leave_queue(conn),
            }
            failed
        })
    }

    /// Stores the head if it has moved, and commits. No transaction stays open, even on failure.
    pub(crate) fn commit(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let state = std::mem::replace(&mut self.state, State::Idle);
        if conn.is_autocommit() {
            return Err(StoreFault("the transaction was rolled back by the engine".into()));
        }
        let done = match state {
            State::Writing(writing) => self.write_out(conn, &writing),
            _ => run(conn, "COMMIT"),
        };
        done.inspect_err(|_| {
            self.carried = None;
            self.roll_back(conn);
        })
    }

    /// Commits what was written. If another program has cut the log, the commit fails: recovery would never reach it.
    fn write_out(&mut self, conn: &Connection, writing: &Writing) -> Result<(), StoreFault> {
        if let Some(head) = writing.head.filter(|_| writing.moved) {
            rows::write_head(conn, &head).map_err(fault)?;
        }
        let log = self.files.as_ref().and_then(|files| files.log.as_ref());
        let end =
            log.map(LogFile::end).transpose().map_err(|error| StoreFault(format!("log end: {error}")))?;
        match colibri_wal::gathered(end, || run(conn, "COMMIT")) {
            (Err(_), true) => return Err(self.lose(Displaced::Cut(Part::Log).to_string())),
            (done, _) => done?,
        }
        self.unsynced = true;
        let seen = colibri_wal::data_version(conn).zip(writing.head);
        self.carried = seen.map(|(data_version, head)| Carried { data_version, head });
        Ok(())
    }

    /// Stops all acknowledging from here on. The first reason is kept.
    fn lose(&self, reason: String) -> StoreFault {
        self.latch.get_or_init(|| StoreFault(reason)).clone()
    }

    /// Undoes the transaction, if one is open.
    pub(crate) fn roll_back(&mut self, conn: &Connection) {
        if !conn.is_autocommit() {
            // What cannot be rolled back is undone by recovery.
            let _ = run(conn, "ROLLBACK");
        }
        self.state = State::Idle;
    }

    /// Lets the next writer in, and stops waiting if this connection's turn had not come yet.
    pub(crate) fn leave_queue(&mut self, conn: &Connection) {
        if matches!(self.state, State::Turn) {
            self.roll_back(conn);
        }
        if let Some(queue) = &mut self.queue {
            queue.leave();
        }
    }

    /// Opens a call's savepoint.
    pub(crate) fn savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let writing = self.writing(conn)?;
        writing.call = (writing.undo, writing.head);
        match writing.undo {
            Undo::Transaction => Ok(()),
            Undo::Savepoint => run(conn, "SAVEPOINT call"),
        }
    }

    /// Keeps what was done since the savepoint.
    pub(crate) fn release(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let writing = self.writing(conn)?;
        writing.undo = Undo::Savepoint;
        match writing.call.0 {
            Undo::Transaction => Ok(()),
            Undo::Savepoint => run(conn, "RELEASE call"),
        }
    }

    /// Undoes what was done since the savepoint, rows of the log that were written meanwhile included.
    pub(crate) fn roll_back_to_savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let writing = self.writing(conn)?;
        let (undo, head) = writing.call;
        match undo {
            Undo::Savepoint => run(conn, "ROLLBACK TO call")?,
            // The place in the queue is kept, so that no other process comes in between.
            Undo::Transaction => {
                run(conn, "ROLLBACK")?;
                run(conn, "BEGIN IMMEDIATE")?;
            }
        }
        writing.head = head;
        Ok(())
    }

    /// Makes every commit so far durable, and checks that it is where others will look for it. A reply is an
    /// acknowledgement only while the database's names lead to the files that this process has open.
    pub(crate) fn sync(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        if let Some(reason) = self.latch.get() {
            return Err(reason.clone());
        }
        let unsynced = std::mem::take(&mut self.unsynced);
        let Some(files) = &mut self.files else { return Ok(()) };
        let synced = match &mut files.log {
            Some(log) if files.durable && unsynced => log.sync(),
            _ => Ok(()),
        };
        match synced {
            // Also if nothing was committed: a failure may be the first sign of missing files.
            Ok(()) => self.in_place(conn),
            Err(error) => Err(self.lose(format!("log sync: {error}"))),
        }
    }

    /// Checks that the files are where they were when they were opened.
    fn in_place(&self, conn: &Connection) -> Result<(), StoreFault> {
        let Some(files) = &self.files else { return Ok(()) };
        files.place.check(|| bytes_of_pages(conn)).map_err(|displaced| self.lose(displaced.to_string()))
    }

    /// Checks whether the loop already knows that nothing can be acknowledged.
    pub(crate) fn has_lost(&self) -> bool {
        self.latch.get().is_some()
    }

    /// Returns why what was committed must not be touched any more, if it must not. Then the log must not be copied into
    /// the database: pages that did not reach the disk may read as something else by now, and other
    /// files may have the names.
    pub(crate) fn lost(&self, conn: &Connection) -> Option<StoreFault> {
        if !self.has_lost() {
            // The reason is kept, so the result is ignored.
            let _ = self.in_place(conn);
        }
        self.latch.get().cloned()
    }

    /// Writes an enter row.
    pub(crate) fn enter(
        &mut self,
        conn: &Connection,
        facts: &AuditFacts,
        event: &EnterEvent<'_>,
    ) -> Result<i64, StoreFault> {
        let writing = self.writing(conn)?;
        let mut head = writing.head(conn)?;
        let sequence_no = rows::enter(conn, facts, &mut head, event).map_err(|error| match error {
            rusqlite::Error::StatementChangedRows(0) => {
                let last = head.last_sequence_no;
                StoreFault(format!(
                    "the log does not end at row {last}, as its head says: see `colibri verify`"
                ))
            }
            other => fault(other),
        })?;
        writing.undo = Undo::Savepoint;
        writing.advance(head);
        Ok(sequence_no)
    }

    /// Closes a row.
    pub(crate) fn exit(
        &mut self,
        conn: &Connection,
        open: &OpenRow<'_>,
        closing: &Closing<'_>,
    ) -> Result<(), StoreFault> {
        let writing = self.writing(conn)?;
        let mut head = writing.head(conn)?;
        rows::close(conn, &mut head, open, closing).map_err(|error| match error {
            rusqlite::Error::StatementChangedRows(0) => {
                StoreFault(format!("audit row {} is not open", open.sequence_no))
            }
            other => fault(other),
        })?;
        writing.advance(head);
        Ok(())
    }

    /// Returns the open transaction. Without one, a savepoint would open it, and its release would commit it (measured).
    fn writing(&mut self, conn: &Connection) -> Result<&mut Writing, StoreFault> {
        match &mut self.state {
            State::Writing(writing) if !conn.is_autocommit() => Ok(writing),
            _ => Err(StoreFault("no transaction is open".into())),
        }
    }
}

impl Writing {
    fn head(&self, conn: &Connection) -> Result<Head, StoreFault> {
        self.head.map_or_else(|| rows::read_head(conn).map_err(fault), Ok)
    }

    fn advance(&mut self, head: Head) {
        self.head = Some(head);
        self.moved = true;
    }
}

/// Returns how long a file is that holds all pages of the database; `None` if SQLite does not say.
fn bytes_of_pages(conn: &Connection) -> Option<u64> {
    let number = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i64>(0)).ok();
    u64::try_from(number("PRAGMA page_count")?.checked_mul(number("PRAGMA page_size")?)?).ok()
}
