//! The server's store behind the runtime's trait: one read/write connection, owned by the loop's thread and lent to handlers through
//! their context. What an engine does behind it is a [`Backend`].

use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use colibri_proof::log_row::OpenRow;
use colibri_runtime::chain::audit::{EnterEvent, ExitEvent};
use colibri_runtime::chain::store::{Access, Store, StoreFault};
use colibri_runtime::handler::Fault;

use crate::cx::{Cx, Parts, ScanCx};
use crate::db::Db;
use crate::log::rows::{AuditFacts, Closing};

/// How long the steps of a start wait that have no limit of their own: well within the default time of a start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a stop waits for its turn to sign off.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);

/// Transactions, the rows of the log and durability of one engine. Each step gets the connection that handlers use. What the
/// steps promise stands at the runtime's [`Store`].
#[allow(clippy::missing_errors_doc)] // As at the runtime's trait.
pub(crate) trait Backend: Send {
    fn poll_turn(&mut self, _: &Db, _: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        Poll::Ready(Ok(()))
    }
    fn obstacle(&self) -> StoreFault {
        StoreFault("the store cannot be written to".into())
    }
    /// Called before a read. Returns a connection to read on from now on, if the one before cannot see what was committed since.
    fn reread(&mut self) -> Result<Option<Db>, StoreFault> {
        Ok(None)
    }
    fn begin(&mut self, db: &Db, access: Access) -> Result<(), StoreFault>;
    fn commit(&mut self, db: &Db) -> Result<(), StoreFault>;
    fn postpones(&self) -> bool {
        false
    }
    fn carry_out(&mut self, _: &Db) -> Result<(), StoreFault> {
        Ok(())
    }
    fn roll_back(&mut self, db: &Db);
    fn in_transaction(&self, db: &Db) -> bool;
    fn leave_queue(&mut self, db: &Db);
    fn savepoint(&mut self, db: &Db) -> Result<(), StoreFault>;
    fn release(&mut self, db: &Db) -> Result<(), StoreFault>;
    fn roll_back_to_savepoint(&mut self, db: &Db) -> Result<(), StoreFault>;
    fn sync(&mut self, db: &Db) -> Result<(), StoreFault>;
    fn upkeep(&mut self) {}
    /// Writes the enter rows inside the open transaction; returns the first number.
    fn enter<'a>(
        &mut self,
        db: &Db,
        facts: &AuditFacts,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault>;
    /// Writes the enter rows in a transaction of their own; returns the first number.
    fn enter_batch<'a>(
        &mut self,
        db: &Db,
        facts: &AuditFacts,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        self.begin(db, Access::Enter)?;
        let first = self.enter(db, facts, events)?;
        self.commit(db)?;
        Ok(first)
    }
    fn exit(&mut self, db: &Db, open: &OpenRow<'_>, closing: &Closing<'_>) -> Result<(), StoreFault>;
    fn is_open(&mut self, db: &Db, sequence_no: i64) -> Result<bool, StoreFault>;
    /// Opens a second connection that sees the database as it is now.
    fn scan(&mut self, db: &Db) -> Result<Db, StoreFault>;
    /// Ends what runs beside the loop, and says whether the stop needs the turn to write.
    fn begin_close(&mut self, db: &Db) -> bool;
    /// Signs this process off, if it got the turn that it needs, and closes the connection.
    fn close(self: Box<Self>, db: Db, turn: Result<(), StoreFault>) -> Result<(), StoreFault>;
}

/// The store of one server. Without a database (MINIMAL, and every mode before its second phase)
/// a transaction is only a flag.
pub struct ServerStore<P> {
    cx: Cx<P>,
    facts: AuditFacts,
    backend: Option<Box<dyn Backend>>,
    /// Without a database: `begin` was called.
    pretended: bool,
}

impl<P: Parts> ServerStore<P> {
    /// Makes a store without a database. A database in `cx` is given up.
    pub fn new(mut cx: Cx<P>, facts: AuditFacts) -> Self {
        cx.db = None;
        cx.boot_id.clone_from(&facts.boot_id);
        Self { cx, facts, backend: None, pretended: false }
    }

    /// Takes over a database that boot has opened.
    ///
    /// # Errors
    /// The store has a database already, or a transaction is open; the new one is closed again.
    pub fn attach(&mut self, opened: impl Into<Box<dyn OpenedDatabase>>) -> Result<(), StoreFault> {
        if self.backend.is_some() || self.pretended {
            return Err(StoreFault("the store is in use already".into()));
        }
        let (db, backend) = opened.into().into_backend()?;
        (self.backend, self.cx.db) = (Some(backend.0), Some(db));
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

    /// A clean stop: signs this process off and closes the connection. Does nothing without a database.
    ///
    /// # Errors
    /// The first failure. The remaining steps run nevertheless, and a later boot tidies up.
    pub fn close(&mut self) -> Result<(), StoreFault> {
        self.roll_back();
        self.leave_queue();
        let needs_turn = self.parts().is_some_and(|(db, backend, _)| backend.begin_close(db));
        // Without the turn this process stays signed on, and the next start does what is left to do.
        let turn = if needs_turn { self.wait_turn(CLOSE_PATIENCE) } else { Ok(()) };
        match (self.cx.db.take(), self.backend.take()) {
            (Some(db), Some(backend)) => backend.close(db, turn),
            _ => Ok(()),
        }
    }

    /// Makes sure that the connection sees what has been committed.
    fn reread(&mut self) -> Result<(), StoreFault> {
        if let Some(backend) = &mut self.backend
            && let Some(db) = backend.reread()?
        {
            self.cx.db = Some(db);
        }
        Ok(())
    }

    /// Returns the connection, the engine behind it, and what every row says.
    fn parts(&mut self) -> Option<(&Db, &mut dyn Backend, &AuditFacts)> {
        Some((self.cx.db.as_ref()?, self.backend.as_deref_mut()?, &self.facts))
    }
}

/// A database that boot has opened.
pub trait OpenedDatabase {
    /// Returns the connection, for what boot does before the store takes over.
    fn db(&self) -> &Db;
    /// Returns the schema version that the database is at now.
    fn schema_version(&self) -> i64;
    /// Returns how many calls of dead processes this start has closed. Worth one warning when above 0 (store#process-locks).
    fn aborted(&self) -> usize;
    /// Returns what the operator should know, one sentence each.
    fn warnings(&self) -> &[String] {
        &[]
    }
    /// Splits it into the connection for handlers and the engine behind the store.
    ///
    /// # Errors
    /// The connection cannot be set up.
    fn into_backend(self: Box<Self>) -> Result<(Db, OpenBackend), StoreFault>;
}

/// An engine behind a store.
pub struct OpenBackend(pub(crate) Box<dyn Backend>);

fn no_log() -> StoreFault {
    StoreFault("no database is open to keep audit rows in".into())
}

impl<P: Parts> Store for ServerStore<P> {
    type Cx = Cx<P>;

    fn cx(&mut self) -> &mut Cx<P> {
        &mut self.cx
    }

    fn poll_turn(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        self.parts().map_or(Poll::Ready(Ok(())), |(db, backend, _)| backend.poll_turn(db, cx))
    }

    fn obstacle(&mut self) -> StoreFault {
        self.parts().map_or_else(no_log, |(_, backend, _)| backend.obstacle())
    }

    fn begin(&mut self, access: Access) -> Result<(), StoreFault> {
        if access == Access::Read {
            self.reread()?;
        }
        match self.parts() {
            Some((db, backend, _)) => backend.begin(db, access),
            None => {
                self.pretended = true;
                Ok(())
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        match self.parts() {
            Some((db, backend, _)) => backend.commit(db),
            None => {
                self.pretended = false;
                Ok(())
            }
        }
    }

    fn postpones(&self) -> bool {
        self.backend.as_ref().is_some_and(|backend| backend.postpones())
    }

    fn carry_out(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(db, backend, _)| backend.carry_out(db))
    }

    fn roll_back(&mut self) {
        match self.parts() {
            Some((db, backend, _)) => backend.roll_back(db),
            None => self.pretended = false,
        }
    }

    fn in_transaction(&self) -> bool {
        match (&self.cx.db, &self.backend) {
            (Some(db), Some(backend)) => backend.in_transaction(db),
            _ => self.pretended,
        }
    }

    fn leave_queue(&mut self) {
        if let Some((db, backend, _)) = self.parts() {
            backend.leave_queue(db);
        }
    }

    fn savepoint(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(db, backend, _)| backend.savepoint(db))
    }

    fn release(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(db, backend, _)| backend.release(db))
    }

    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(db, backend, _)| backend.roll_back_to_savepoint(db))
    }

    fn sync(&mut self) -> Result<(), StoreFault> {
        self.parts().map_or(Ok(()), |(db, backend, _)| backend.sync(db))
    }

    fn upkeep(&mut self) {
        if let Some(backend) = &mut self.backend {
            backend.upkeep();
        }
    }

    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        self.audit_enter_all(&mut std::iter::once(*event))
    }

    fn audit_enter_all<'a>(
        &mut self,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        let (db, backend, facts) = self.parts().ok_or_else(no_log)?;
        backend.enter(db, facts, events)
    }

    fn enter_batch<'a>(
        &mut self,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        let (db, backend, facts) = self.parts().ok_or_else(no_log)?;
        backend.enter_batch(db, facts, events)
    }

    fn audit_exit(
        &mut self,
        sequence_no: i64,
        enter: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault> {
        let subject = self.cx.subject.take();
        let (db, backend, facts) = self.parts().ok_or_else(no_log)?;
        backend.exit(db, &facts.open_row(sequence_no, enter), &Closing::of(exit, subject.as_deref()))
    }

    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault> {
        let (db, backend, _) = self.parts().ok_or_else(no_log)?;
        backend.is_open(db, sequence_no)
    }

    fn scan_cx(&mut self) -> Result<ScanCx<P::Scan>, StoreFault> {
        let missing = || StoreFault("database is not initialised".into());
        self.reread()?;
        let (db, backend, _) = self.parts().ok_or_else(missing)?;
        let beside = backend.scan(db)?;
        let progress = self.cx.progress().clone();
        Ok(ScanCx::new(beside, self.cx.now_ms(), progress, self.cx.parts.for_scan()))
    }
}
