//! SQLite behind the server's store.

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use colibri_proof::log_row::OpenRow;
use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::{Access, StoreFault};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::db::Db;
use crate::db::sqlite::handle::fault;
use crate::log::rows::{AuditFacts, Closing};
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::process::ProcessLock;
use crate::sqlite::open::{Opened, StoreOptions, init_db};
use crate::sqlite::write::checkpoint::Checkpoints;
use crate::sqlite::write::queue::ORDINARY_WAIT;
use crate::sqlite::write::rows;
use crate::sqlite::write::transactions::{Latch, Transactions};
use crate::store::{Backend, OpenBackend, OpenedDatabase};

/// How long a stop waits for other processes' readers to leave the log.
const FOLD_TIMEOUT: Duration = Duration::from_millis(100);

/// What belongs to a connection; handlers have the connection itself.
struct Attached {
    transactions: Transactions,
    location: Location,
    process: Option<ProcessLock>,
    checkpoints: Option<Checkpoints>,
    /// How a database that is only read is opened again.
    options: Option<StoreOptions>,
}

impl From<Opened> for Box<dyn OpenedDatabase> {
    fn from(opened: Opened) -> Self {
        Box::new(opened)
    }
}

impl OpenedDatabase for Opened {
    fn db(&self) -> &Db {
        &self.db
    }

    fn schema_version(&self) -> i64 {
        self.schema_version
    }

    fn aborted(&self) -> usize {
        self.aborted
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn into_backend(mut self: Box<Self>) -> Result<(Db, OpenBackend), StoreFault> {
        let is_read_only = self.read_only.is_some();
        if !is_read_only {
            // The loop waits for its turn elsewhere. Only other programs that come in between for a moment are left.
            self.db.sqlite().and_then(|conn| conn.busy_timeout(ORDINARY_WAIT)).map_err(fault)?;
        }
        let latch = Latch::default();
        let checkpoints = match is_read_only {
            true => None,
            false => self
                .db
                .sqlite_mut()
                .and_then(|conn| Checkpoints::of(conn, &self.location, self.files.as_ref(), &latch))
                .map_err(fault)?,
        };
        let attached = Attached {
            transactions: Transactions::new(self.queue, self.files, is_read_only, latch),
            location: self.location,
            process: self.process,
            checkpoints,
            options: self.read_only,
        };
        Ok((self.db, OpenBackend(Box::new(attached))))
    }
}

fn conn(db: &Db) -> Result<&Connection, StoreFault> {
    db.sqlite().map_err(fault)
}

impl Backend for Attached {
    fn reread(&mut self) -> Result<Option<Db>, StoreFault> {
        let (Location::Copy(copy), Some(options)) = (&self.location, &self.options) else { return Ok(None) };
        if copy.is_current() {
            return Ok(None);
        }
        let opened = init_db(options).map_err(|error| StoreFault(error.to_string()))?;
        self.location = opened.location;
        self.transactions.move_to(opened.files);
        Ok(Some(opened.db))
    }

    fn poll_turn(&mut self, db: &Db, cx: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        match conn(db) {
            Ok(conn) => self.transactions.poll_turn(conn, cx),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }

    fn obstacle(&self) -> StoreFault {
        self.transactions.obstacle(self.location.file())
    }

    fn begin(&mut self, db: &Db, access: Access) -> Result<(), StoreFault> {
        self.transactions.begin(conn(db)?, access, self.location.file())
    }

    fn commit(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.transactions.commit(conn(db)?)
    }

    fn roll_back(&mut self, db: &Db) {
        if let Ok(conn) = conn(db) {
            self.transactions.roll_back(conn);
        }
    }

    fn in_transaction(&self, db: &Db) -> bool {
        conn(db).is_ok_and(|conn| !conn.is_autocommit())
    }

    fn leave_queue(&mut self, db: &Db) {
        if let Ok(conn) = conn(db) {
            self.transactions.leave_queue(conn);
        }
    }

    fn savepoint(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.transactions.savepoint(conn(db)?)
    }

    fn release(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.transactions.release(conn(db)?)
    }

    fn roll_back_to_savepoint(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.transactions.roll_back_to_savepoint(conn(db)?)
    }

    fn sync(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.transactions.sync(conn(db)?)
    }

    fn upkeep(&mut self) {
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.wish_if_due();
        }
    }

    fn enter<'a>(
        &mut self,
        db: &Db,
        facts: &AuditFacts,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        let conn = conn(db)?;
        let mut first = None;
        for event in events {
            let number = self.transactions.enter(conn, facts, &event)?;
            first.get_or_insert(number);
        }
        first.ok_or_else(|| StoreFault("no call is to be entered".to_owned()))
    }

    fn exit(&mut self, db: &Db, open: &OpenRow<'_>, closing: &Closing<'_>) -> Result<(), StoreFault> {
        self.transactions.exit(conn(db)?, open, closing)
    }

    fn is_open(&mut self, db: &Db, sequence_no: i64) -> Result<bool, StoreFault> {
        rows::is_open(conn(db)?, sequence_no).map_err(fault)
    }

    fn scan(&mut self, _: &Db) -> Result<Db, StoreFault> {
        if matches!(self.location, Location::Memory) {
            return Err(StoreFault("a database in memory has no second connection".into()));
        }
        let beside = connection::read_only(&self.location).map_err(fault)?;
        let conn = beside.sqlite().map_err(fault)?;
        // The opened file has the right content only if the name still leads to it.
        if let Some(displaced) = self.transactions.lost(conn) {
            return Err(displaced);
        }
        // The first read fixes what the transaction sees, so it happens here, in arrival order.
        conn.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1;").map_err(fault)?;
        Ok(beside)
    }

    fn begin_close(&mut self, _: &Db) -> bool {
        // The thread that copies the log may be waiting for the turn, which this process holds.
        self.checkpoints = None;
        self.process.is_some() && !self.transactions.has_lost()
    }

    fn close(mut self: Box<Self>, db: Db, turn: Result<(), StoreFault>) -> Result<(), StoreFault> {
        let conn = db.into_sqlite().map_err(fault)?;
        let transactions = &mut self.transactions;
        if transactions.has_lost() {
            return abandon(conn);
        }
        if let Some(reason) = transactions.lost(&conn) {
            // No call was acknowledged since, so only the stop can report it.
            return abandon(conn).and(Err(reason));
        }
        let signed_off = self.process.take().map_or(Ok(()), |process| {
            turn?;
            transactions.begin(&conn, Access::Write, self.location.file())?;
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
}

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
