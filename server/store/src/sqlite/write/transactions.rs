//! The transactions behind the chain: queue, `BEGIN`, savepoints, the log's head, `COMMIT`, sync
//! (store#transactions). It knows neither context nor mode; [`crate::sqlite`] implements the runtime's trait with it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::{Access, StoreFault};
use rusqlite::{Connection, ErrorCode};

use crate::db::reason;
use crate::sqlite::log::audit::{self, AuditFacts, Closing};
use crate::sqlite::log::head::Head;
use crate::sqlite::open::identity::{Displaced, Part, Place};
use crate::sqlite::write::holder;
use crate::sqlite::write::log_file::LogFile;
use crate::sqlite::write::queue::WriteQueue;
use colibri_proof::log_row::OpenRow;

/// What undoes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Savepoint {
    /// The transaction: nothing preceded the call. Most calls come alone, and a savepoint copies each page that is
    /// changed inside it.
    Whole,
    /// A savepoint of its own.
    Named,
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

/// What one connection's transactions need besides the connection.
#[derive(Debug)]
pub(crate) struct Transactions {
    queue: Option<WriteQueue>,
    /// The connection has the turn to write and an open transaction, which no call uses yet.
    turn: bool,
    /// The connection had the place in the queue, and another program held SQLite's write lock.
    locked: bool,
    files: Option<Files>,
    read_only: bool,
    /// The head as the open transaction has it; `None` until the first row.
    head: Option<Head>,
    /// The head as this process's last commit left it.
    carried: Option<Carried>,
    /// What serves as the call's savepoint.
    savepoint: Savepoint,
    /// The head when the savepoint was opened.
    head_at_savepoint: Option<Head>,
    /// The open transaction holds something from before the savepoint.
    begun: bool,
    /// The head has moved since it was read.
    moved: bool,
    /// The open transaction may write.
    writing: bool,
    /// Something was committed since the last sync.
    unsynced: bool,
    /// Why nothing more can be acknowledged: a sync has failed, after which none is tried again, or the files are not those that
    /// were opened.
    lost: Option<StoreFault>,
}

/// How long the queue is left to others when a foreign program holds the database, before the next try.
const LOCKED_PAUSE: Duration = Duration::from_millis(5);

/// Turns SQLite's error into one that the chain may show.
fn fault(error: rusqlite::Error) -> StoreFault {
    StoreFault(reason(&error))
}

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
    pub(crate) fn new(queue: Option<WriteQueue>, files: Option<Files>, read_only: bool) -> Self {
        Self {
            queue,
            turn: false,
            locked: false,
            files,
            read_only,
            head: None,
            carried: None,
            savepoint: Savepoint::Whole,
            head_at_savepoint: None,
            begun: false,
            moved: false,
            writing: false,
            unsynced: false,
            lost: None,
        }
    }

    /// Asks for the place in the queue and SQLite's write lock; the transaction is open when the connection has both.
    pub(crate) fn poll_turn(
        &mut self,
        conn: &Connection,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), StoreFault>> {
        let Some(queue) = &mut self.queue else { return Poll::Ready(Ok(())) };
        if self.turn || !conn.is_autocommit() {
            return Poll::Ready(Ok(()));
        }
        if let Err(error) = ready!(queue.poll(cx)) {
            return Poll::Ready(Err(queue_fault(&error)));
        }
        match execute(conn, "BEGIN IMMEDIATE") {
            Ok(()) => {
                (self.turn, self.locked) = (true, false);
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
        if !self.turn && !conn.is_autocommit() {
            return Err(StoreFault("a transaction is open already".into()));
        }
        self.forget();
        if access == Access::Read {
            return run(conn, "BEGIN");
        }
        if self.read_only {
            return Err(StoreFault("the database is open for reading only".into()));
        }
        if !std::mem::take(&mut self.turn) {
            if let Some(queue) = &mut self.queue
                && !queue.enter_soon().map_err(|error| queue_fault(&error))?
            {
                return Err(self.obstacle(database));
            }
            if let Err(error) = execute(conn, "BEGIN IMMEDIATE") {
                self.locked = is_busy(&error);
                let failed = if self.locked { self.obstacle(database) } else { fault(error) };
                self.leave_queue(conn);
                return Err(failed);
            }
        }
        self.writing = true;
        self.head = self.carried.and_then(|carried| {
            (colibri_wal::data_version(conn) == Some(carried.data_version)).then_some(carried.head)
        });
        Ok(())
    }

    /// Stores the head if it has moved, and commits. No transaction stays open, even on failure.
    pub(crate) fn commit(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        if conn.is_autocommit() {
            self.forget();
            return Err(StoreFault("the transaction was rolled back by the engine".into()));
        }
        let head = self.head.filter(|_| self.moved);
        let done =
            head.map_or(Ok(()), |head| head.write(conn).map_err(fault)).and_then(|()| self.write_out(conn));
        match done {
            Ok(()) => {
                self.unsynced |= self.writing;
                if self.writing {
                    let seen = colibri_wal::data_version(conn).zip(self.head);
                    self.carried = seen.map(|(data_version, head)| Carried { data_version, head });
                }
                self.forget();
                Ok(())
            }
            Err(error) => {
                self.carried = None;
                self.roll_back(conn);
                Err(error)
            }
        }
    }

    /// Commits. If another program has cut the log, the commit fails: recovery would never reach it.
    fn write_out(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let log = self.files.as_ref().and_then(|files| files.log.as_ref()).filter(|_| self.writing);
        let end =
            log.map(LogFile::end).transpose().map_err(|error| StoreFault(format!("log end: {error}")))?;
        match colibri_wal::gathered(end, || run(conn, "COMMIT")) {
            (Err(_), true) => Err(self.lose(Displaced::Cut(Part::Log).to_string())),
            (done, _) => done,
        }
    }

    /// Stops all acknowledging from here on. The first reason is kept.
    fn lose(&mut self, reason: String) -> StoreFault {
        self.lost.get_or_insert(StoreFault(reason)).clone()
    }

    /// Undoes the transaction, if one is open.
    pub(crate) fn roll_back(&mut self, conn: &Connection) {
        if !conn.is_autocommit() {
            // What cannot be rolled back is undone by recovery.
            let _ = run(conn, "ROLLBACK");
        }
        self.forget();
    }

    /// Lets the next writer in, and stops waiting if this connection's turn had not come yet.
    pub(crate) fn leave_queue(&mut self, conn: &Connection) {
        if std::mem::take(&mut self.turn) {
            self.roll_back(conn);
        }
        if let Some(queue) = &mut self.queue {
            queue.leave();
        }
    }

    /// Opens a call's savepoint.
    pub(crate) fn savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        self.savepoint = if self.begun { Savepoint::Named } else { Savepoint::Whole };
        if self.savepoint == Savepoint::Named {
            run(conn, "SAVEPOINT call")?;
        }
        self.head_at_savepoint = self.head;
        Ok(())
    }

    /// Keeps what was done since the savepoint.
    pub(crate) fn release(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        self.begun = true;
        match self.savepoint {
            Savepoint::Whole => Ok(()),
            Savepoint::Named => run(conn, "RELEASE call"),
        }
    }

    /// Undoes what was done since the savepoint, rows of the log that were written meanwhile included.
    pub(crate) fn roll_back_to_savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        match self.savepoint {
            Savepoint::Named => run(conn, "ROLLBACK TO call")?,
            // The place in the queue is kept, so that no other process comes in between.
            Savepoint::Whole => {
                run(conn, "ROLLBACK")?;
                run(conn, if self.writing { "BEGIN IMMEDIATE" } else { "BEGIN" })?;
            }
        }
        self.head = self.head_at_savepoint;
        Ok(())
    }

    /// Makes every commit so far durable, and checks that it is where others will look for it. A reply is an
    /// acknowledgement only while the database's names lead to the files that this process has open.
    pub(crate) fn sync(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        if let Some(reason) = &self.lost {
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
    fn in_place(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        let Some(files) = &self.files else { return Ok(()) };
        files.place.check(|| bytes_of_pages(conn)).map_err(|displaced| self.lose(displaced.to_string()))
    }

    /// Checks whether the loop already knows that nothing can be acknowledged.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns why what was committed must not be touched any more, if it must not. Then the log must not be copied into
    /// the database: pages that did not reach the disk may read as something else by now, and other
    /// files may have the names.
    pub(crate) fn lost(&mut self, conn: &Connection) -> Option<StoreFault> {
        if self.lost.is_none() {
            // The reason is kept, so the result is ignored.
            let _ = self.in_place(conn);
        }
        self.lost.clone()
    }

    /// Writes an enter row.
    pub(crate) fn enter(
        &mut self,
        conn: &Connection,
        facts: &AuditFacts,
        event: &EnterEvent<'_>,
    ) -> Result<i64, StoreFault> {
        let mut head = self.head_inside(conn)?;
        let sequence_no = audit::enter(conn, facts, &mut head, event).map_err(|error| match error {
            rusqlite::Error::StatementChangedRows(0) => {
                let last = head.last_sequence_no;
                StoreFault(format!(
                    "the log does not end at row {last}, as its head says: see `colibri verify`"
                ))
            }
            other => fault(other),
        })?;
        self.begun = true;
        self.advance(head);
        Ok(sequence_no)
    }

    /// Closes a row.
    pub(crate) fn exit(
        &mut self,
        conn: &Connection,
        open: &OpenRow<'_>,
        closing: &Closing<'_>,
    ) -> Result<(), StoreFault> {
        let mut head = self.head_inside(conn)?;
        audit::close(conn, &mut head, open, closing).map_err(|error| match error {
            rusqlite::Error::StatementChangedRows(0) => {
                StoreFault(format!("audit row {} is not open", open.sequence_no))
            }
            other => fault(other),
        })?;
        self.advance(head);
        Ok(())
    }

    fn head_inside(&self, conn: &Connection) -> Result<Head, StoreFault> {
        inside(conn)?;
        self.head.map_or_else(|| Head::read(conn).map_err(fault), Ok)
    }

    fn advance(&mut self, head: Head) {
        self.head = Some(head);
        self.moved = true;
    }

    /// Forgets the transaction, except for what is carried over.
    fn forget(&mut self) {
        self.head = None;
        self.head_at_savepoint = None;
        self.begun = false;
        self.moved = false;
        self.writing = false;
    }
}

/// Returns how long a file is that holds all pages of the database; `None` if SQLite does not say.
fn bytes_of_pages(conn: &Connection) -> Option<u64> {
    let number = |pragma: &str| conn.query_row(pragma, [], |row| row.get::<_, i64>(0)).ok();
    u64::try_from(number("PRAGMA page_count")?.checked_mul(number("PRAGMA page_size")?)?).ok()
}

/// Checks that a transaction is open. Without one, a savepoint would open it, and its release would commit it (measured).
fn inside(conn: &Connection) -> Result<(), StoreFault> {
    if conn.is_autocommit() { Err(StoreFault("no transaction is open".into())) } else { Ok(()) }
}
