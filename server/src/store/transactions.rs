//! The transactions behind the chain: queue, `BEGIN`, savepoints, the log's head, `COMMIT`, sync
//! (design §3). Knows no context and no mode; [`super::sqlite`] puts it behind the runtime's trait.

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::{Access, StoreFault};
use rusqlite::Connection;

use super::audit::{self, AuditFacts, Closing};
use super::db::reason;
use super::head::Head;
use super::log_file::LogFile;
use super::queue::WriteQueue;
use super::row_hash::OpenRow;

/// What undoes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Savepoint {
    /// The transaction: nothing came before the call. Most calls come alone, and a savepoint copies each page that is
    /// changed inside it.
    Whole,
    /// A savepoint of its own.
    Named,
}

/// The head after a commit. It holds in a later transaction of the same connection that sees the same data version: then nobody
/// has written meanwhile, no other process and no foreign program.
#[derive(Debug, Clone, Copy)]
struct Carried {
    data_version: u32,
    head: Head,
}

/// What one connection's transactions need beside the connection.
#[derive(Debug)]
pub(super) struct Transactions {
    queue: Option<WriteQueue>,
    log: Option<LogFile>,
    read_only: bool,
    /// The head as the open transaction has it; `None` until the first row.
    head: Option<Head>,
    /// The head as this process's last commit left it.
    carried: Option<Carried>,
    /// What stands for the call's savepoint.
    savepoint: Savepoint,
    /// The head when the savepoint was opened.
    head_at_savepoint: Option<Head>,
    /// The open transaction holds something that came before the savepoint.
    begun: bool,
    /// The head has moved since it was read.
    moved: bool,
    /// The open transaction may write.
    writing: bool,
    /// Something was committed since the last sync.
    unsynced: bool,
    /// A sync has failed; none is tried again.
    sync_failed: bool,
}

/// The engine's error as the chain may show it.
fn fault(error: rusqlite::Error) -> StoreFault {
    StoreFault(reason(&error))
}

/// Runs a statement without parameters or rows.
fn run(conn: &Connection, sql: &str) -> Result<(), StoreFault> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute([])).map(drop).map_err(fault)
}

impl Transactions {
    pub(super) fn new(queue: Option<WriteQueue>, log: Option<LogFile>, read_only: bool) -> Self {
        Self {
            queue,
            log,
            read_only,
            head: None,
            carried: None,
            savepoint: Savepoint::Whole,
            head_at_savepoint: None,
            begun: false,
            moved: false,
            writing: false,
            unsynced: false,
            sync_failed: false,
        }
    }

    /// Waits in the queue and opens a transaction.
    pub(super) fn begin(&mut self, conn: &Connection, access: Access) -> Result<(), StoreFault> {
        if !conn.is_autocommit() {
            return Err(StoreFault("a transaction is open already".into()));
        }
        self.forget();
        if access == Access::Read {
            return run(conn, "BEGIN");
        }
        if self.read_only {
            return Err(StoreFault("the database is open for reading only".into()));
        }
        if let Some(queue) = &mut self.queue {
            queue.enter().map_err(|error| StoreFault(format!("write queue: {}", error.kind())))?;
        }
        run(conn, "BEGIN IMMEDIATE").inspect_err(|_| self.leave_queue())?;
        self.writing = true;
        self.head = self.carried.and_then(|carried| {
            (colibri_wal::data_version(conn) == Some(carried.data_version)).then_some(carried.head)
        });
        Ok(())
    }

    /// Stores the head if it has moved, and commits. Whatever fails, no transaction stays open.
    pub(super) fn commit(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        if conn.is_autocommit() {
            self.forget();
            return Err(StoreFault("the transaction was rolled back by the engine".into()));
        }
        let head = self.head.filter(|_| self.moved);
        let done = head
            .map_or(Ok(()), |head| head.write(conn).map_err(fault))
            .and_then(|()| colibri_wal::gathered(|| run(conn, "COMMIT")));
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

    /// Undoes the transaction, if there is one.
    pub(super) fn roll_back(&mut self, conn: &Connection) {
        if !conn.is_autocommit() {
            // What cannot be rolled back is undone by recovery.
            let _ = run(conn, "ROLLBACK");
        }
        self.forget();
    }

    /// Lets the next writer in.
    pub(super) fn leave_queue(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.leave();
        }
    }

    /// Opens a call's savepoint.
    pub(super) fn savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        self.savepoint = if self.begun { Savepoint::Named } else { Savepoint::Whole };
        if self.savepoint == Savepoint::Named {
            run(conn, "SAVEPOINT call")?;
        }
        self.head_at_savepoint = self.head;
        Ok(())
    }

    /// Keeps what was done since.
    pub(super) fn release(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        self.begun = true;
        match self.savepoint {
            Savepoint::Whole => Ok(()),
            Savepoint::Named => run(conn, "RELEASE call"),
        }
    }

    /// Undoes what was done since; rows of the log that were written meanwhile are gone with it.
    pub(super) fn roll_back_to_savepoint(&mut self, conn: &Connection) -> Result<(), StoreFault> {
        inside(conn)?;
        match self.savepoint {
            Savepoint::Named => run(conn, "ROLLBACK TO call")?,
            // The place in the queue is kept, so that nobody comes in between.
            Savepoint::Whole => {
                run(conn, "ROLLBACK")?;
                run(conn, if self.writing { "BEGIN IMMEDIATE" } else { "BEGIN" })?;
            }
        }
        self.head = self.head_at_savepoint;
        Ok(())
    }

    /// Makes every commit so far durable.
    pub(super) fn sync(&mut self) -> Result<(), StoreFault> {
        if self.sync_failed {
            return Err(StoreFault("an earlier log sync failed".into()));
        }
        if !std::mem::take(&mut self.unsynced) {
            return Ok(());
        }
        let synced = self.log.as_mut().map_or(Ok(()), LogFile::sync);
        self.sync_failed = synced.is_err();
        synced.map_err(|error| StoreFault(format!("log sync: {error}")))
    }

    /// Whether a sync has failed. What the log holds must not be copied into the database then: pages that
    /// did not reach the disk may read as something else by now.
    pub(super) fn has_sync_failed(&self) -> bool {
        self.sync_failed
    }

    /// Writes an enter row.
    pub(super) fn enter(
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
    pub(super) fn exit(
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

    /// Nothing of a transaction is remembered but what is carried over.
    fn forget(&mut self) {
        self.head = None;
        self.head_at_savepoint = None;
        self.begun = false;
        self.moved = false;
        self.writing = false;
    }
}

/// Outside a transaction a savepoint would open one, and its release would commit it (measured).
fn inside(conn: &Connection) -> Result<(), StoreFault> {
    if conn.is_autocommit() { Err(StoreFault("no transaction is open".into())) } else { Ok(()) }
}
