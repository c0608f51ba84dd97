//! The server's store behind the runtime's trait: one read/write connection, owned by the loop's
//! thread and lent to handlers through their context.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use colibri_runtime::chain::audit::{EnterEvent, ExitEvent};
use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::handler::Fault;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::cx::{Cx, Parts, ScanCx};
use crate::db::Db;
use crate::db::sqlite::handle::fault;
use crate::log::rows::{AuditFacts, Closing};
use crate::sqlite::open::Opened;
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::process::ProcessLock;
use crate::sqlite::write::checkpoint::Checkpoints;
use crate::sqlite::write::queue::{ORDINARY_WAIT, PATIENCE};
use crate::sqlite::write::rows;
use crate::sqlite::write::transactions::{Latch, Transactions};

/// The store of one server. Without a database (MINIMAL, and every mode before its second phase)
/// a transaction is only a flag.
pub struct SqliteStore<P> {
    cx: Cx<P>,
    facts: AuditFacts,
    attached: Option<Attached>,
    /// Without a database: `begin` was called.
    pretended: bool,
}

/// State of the connection; the connection itself is in the context.
struct Attached {
    transactions: Transactions,
    location: Location,
    process: Option<ProcessLock>,
    checkpoints: Option<Checkpoints>,
}

impl<P: Parts> SqliteStore<P> {
    /// Makes a store without a database. A database in `cx` is given up.
    pub fn new(mut cx: Cx<P>, facts: AuditFacts) -> Self {
        cx.db = None;
        cx.boot_id.clone_from(&facts.boot_id);
        Self { cx, facts, attached: None, pretended: false }
    }

    /// Takes over a database that boot has opened.
    ///
    /// # Errors
    /// The store has a database already, or a transaction is open; the new one is closed again.
    pub fn attach(&mut self, mut opened: Opened) -> Result<(), StoreFault> {
        if self.attached.is_some() || self.pretended {
            return Err(StoreFault("the store is in use already".into()));
        }
        if !opened.read_only {
            // The loop waits for its turn elsewhere. Only other programs that come in between for a moment are left.
            opened.db.sqlite().and_then(|conn| conn.busy_timeout(ORDINARY_WAIT)).map_err(fault)?;
        }
        let latch = Latch::default();
        let checkpoints = match opened.read_only {
            true => None,
            false => opened
                .db
                .sqlite_mut()
                .and_then(|conn| Checkpoints::of(conn, &opened.location, opened.files.as_ref(), &latch))
                .map_err(fault)?,
        };
        self.attached = Some(Attached {
            transactions: Transactions::new(opened.queue, opened.files, opened.read_only, latch),
            location: opened.location,
            process: opened.process,
            checkpoints,
        });
        self.cx.db = Some(opened.db);
        Ok(())
    }

    /// Runs boot's own work in one write transaction, which waits in the queue like every other. Commits if
    /// the work succeeds, and leaves no trace if it fails. Its rows are synced with those of the first call.
    ///
    /// # Errors
    /// The store's error, or that of the work.
    pub fn write_at_boot<T>(&mut self, work: impl FnOnce(&Db) -> Result<T, Fault>) -> Result<T, StoreFault> {
        self.wait_turn(PATIENCE)?;
        self.begin(Access::Write)?;
        let done = self.cx.db().and_then(work).map_err(|fault| StoreFault(fault.to_string()));
        let done = match done {
            Ok(done) => self.commit().map(|()| done),
            Err(fault) => {
                self.roll_back();
                Err(fault)
            }
        };
        self.leave_queue();
        done
    }

    /// A clean stop: signs this process off, folds the log into the file and closes the connection.
    /// Does nothing without a database.
    ///
    /// # Errors
    /// The first failure. The remaining steps run nevertheless, and a later boot tidies up.
    pub fn close(&mut self) -> Result<(), StoreFault> {
        if self.attached.is_some() {
            self.roll_back();
            self.leave_queue();
        }
        // The thread that copies the log may be waiting for the turn, which this process holds.
        if let Some(attached) = &mut self.attached {
            attached.checkpoints = None;
        }
        let turn = match &self.attached {
            // Without the turn this process stays signed on, and the next start does what is left to do.
            Some(attached) if attached.process.is_some() && !attached.transactions.has_lost() => {
                self.wait_turn(CLOSE_PATIENCE)
            }
            _ => Ok(()),
        };
        let (Some(db), Some(attached)) = (self.cx.db.take(), self.attached.take()) else { return Ok(()) };
        let conn = db.into_sqlite().map_err(fault)?;
        let Attached { mut transactions, process, location, .. } = attached;
        if transactions.has_lost() {
            return abandon(conn);
        }
        if let Some(reason) = transactions.lost(&conn) {
            // No call was acknowledged since, so only the stop can report it.
            return abandon(conn).and(Err(reason));
        }
        let signed_off = process.map_or(Ok(()), |process| {
            turn?;
            transactions.begin(&conn, Access::Write, location.file())?;
            let removed =
                process.remove().map_err(|error| StoreFault(format!("process lock file: {}", error.kind())));
            let committed = transactions.commit(&conn);
            removed.and(committed)
        });
        transactions.leave_queue(&conn);
        let folded = if conn.is_readonly("main").unwrap_or(true) { Ok(()) } else { fold(&conn) };
        let closed = conn.close().map_err(|(_, error)| fault(error));
        signed_off.and(folded).and(closed)
    }

    /// Returns the connection and its state.
    fn parts(&mut self) -> Option<(&Connection, &mut Transactions, &Location, &AuditFacts)> {
        let db = self.cx.db.as_ref()?;
        let attached = self.attached.as_mut()?;
        Some((db.sqlite().ok()?, &mut attached.transactions, &attached.location, &self.facts))
    }
}

/// How long a stop waits for its turn to sign off.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);
/// How long a stop waits for other processes' readers to leave the log.
const FOLD_TIMEOUT: Duration = Duration::from_millis(100);

/// Closes as a crash would, when nothing can be acknowledged any more. The log stays as it is, and the lock file of this process
/// tells the next boot to check closely.
fn abandon(conn: Connection) -> Result<(), StoreFault> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fault)?;
    conn.close().map_err(|(_, error)| fault(error))
}

/// Copies the log into the file and empties it, as far as other processes permit.
fn fold(conn: &Connection) -> Result<(), StoreFault> {
    conn.busy_timeout(FOLD_TIMEOUT).map_err(fault)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(fault)
}

fn no_log() -> StoreFault {
    StoreFault("no database is open to keep audit rows in".into())
}

impl<P: Parts> Store for SqliteStore<P> {
    type Cx = Cx<P>;

    fn cx(&mut self) -> &mut Cx<P> {
        &mut self.cx
    }

    fn poll_turn(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        match self.parts() {
            Some((conn, transactions, ..)) => transactions.poll_turn(conn, cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn obstacle(&mut self) -> StoreFault {
        self.parts()
            .map_or_else(no_log, |(_, transactions, location, _)| transactions.obstacle(location.file()))
    }

    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        match self.parts() {
            Some((conn, transactions, location, _)) => transactions.begin(conn, access, location.file()),
            None => {
                self.pretended = true;
                Ok(())
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        match self.parts() {
            Some((conn, transactions, ..)) => transactions.commit(conn),
            None => {
                self.pretended = false;
                Ok(())
            }
        }
    }

    fn roll_back(&mut self) {
        match self.parts() {
            Some((conn, transactions, ..)) => transactions.roll_back(conn),
            None => self.pretended = false,
        }
    }

    fn in_transaction(&self) -> bool {
        match &self.cx.db {
            Some(db) => db.sqlite().is_ok_and(|conn| !conn.is_autocommit()),
            None => self.pretended,
        }
    }

    fn leave_queue(&mut self) {
        if let Some((conn, transactions, ..)) = self.parts() {
            transactions.leave_queue(conn);
        }
    }

    fn savepoint(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(conn, transactions, ..)| transactions.savepoint(conn))
    }

    fn release(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(conn, transactions, ..)| transactions.release(conn))
    }

    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(conn, transactions, ..)| transactions.roll_back_to_savepoint(conn))
    }

    fn sync(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(conn, transactions, ..)| transactions.sync(conn))
    }

    fn upkeep(&mut self) {
        let Some(attached) = &mut self.attached else { return };
        if let Some(checkpoints) = &mut attached.checkpoints {
            checkpoints.wish_if_due();
        }
    }

    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        let (conn, transactions, _, facts) = self.parts().ok_or_else(no_log)?;
        transactions.enter(conn, facts, event)
    }

    fn audit_exit(
        &mut self,
        sequence_no: i64,
        enter: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault> {
        let subject = self.cx.subject.take();
        let (conn, transactions, _, facts) = self.parts().ok_or_else(no_log)?;
        transactions.exit(conn, &facts.open_row(sequence_no, enter), &Closing::of(exit, subject.as_deref()))
    }

    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault> {
        let (conn, ..) = self.parts().ok_or_else(no_log)?;
        rows::is_open(conn, sequence_no).map_err(fault)
    }

    fn scan_cx(&mut self) -> Result<ScanCx<P::Scan>, StoreFault> {
        let attached =
            self.attached.as_mut().ok_or_else(|| StoreFault("database is not initialised".into()))?;
        if attached.location == Location::Memory {
            return Err(StoreFault("a database in memory has no second connection".into()));
        }
        let conn = connection::read_only(&attached.location).map_err(fault)?;
        // The opened file has the right content only if the name still leads to it.
        if let Some(displaced) = attached.transactions.lost(&conn) {
            return Err(displaced);
        }
        // The first read fixes what the transaction sees, so it happens here, in arrival order.
        conn.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1;").map_err(fault)?;
        let progress = self.cx.progress().clone();
        Ok(ScanCx::new(Db::new(conn), self.cx.now_ms(), progress, self.cx.parts.for_scan()))
    }
}
