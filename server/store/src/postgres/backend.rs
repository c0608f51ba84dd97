//! A batch in two round trips (postgres#batch). The first flight enters the calls, commits without waiting for the disk, and opens the
//! transaction of the effects. The second holds effects, exits and COMMIT, and behind it the mark, whose answer means that all is durable.

use std::time::Instant;

use colibri_proof::log_row::OpenRow;
use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::{Access, StoreFault};

use crate::db::Db;
use crate::db::postgres::handle::fault;
use crate::db::postgres::{Handle, PgError, Session, TransactionStatus};
use crate::log::head::Head;
use crate::log::rows::{AuditFacts, Closing};
use crate::postgres::flight::{self, Lock, settle};
use crate::postgres::lease::{self, Lease};
use crate::postgres::link::{self, Link, NO_STANDBY, Name};
use crate::postgres::watch::Watch;
use crate::postgres::witness::Witness;
use crate::store::Backend;

/// What a server has behind its connection.
#[derive(Debug)]
pub(super) struct PgBackend {
    pub link: Link,
    pub name: Name,
    pub lease: Option<Lease>,
    pub witness: Witness,
    pub watch: Watch,
    /// Replies wait for the mark.
    pub durable: bool,
    pub read_only: bool,
    pub state: State,
    /// The last number that was given to a call of this process.
    pub last_number: i64,
    pub unsynced: Unsynced,
    /// Why nothing more can be acknowledged. Never cleared.
    pub latch: Option<StoreFault>,
}

/// What is committed and not yet known to be durable.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    /// Something was committed that is not acknowledged yet.
    pub any: bool,
    /// A mark behind all of it was answered.
    pub marked: bool,
    /// The last call that was entered and has not ended: its number and correlation id.
    pub entered: Option<(i64, String)>,
    /// Where the log ends with it.
    pub head: Option<Head>,
}

impl Unsynced {
    /// Forgets the calls that are entered, because their effects cannot be stored. Their replies say so, and promise nothing of their
    /// enter rows: these may be lost with the server, and need no mark.
    fn forget_entered(&mut self) {
        if self.head.is_none() {
            *self = Self::default();
        }
    }
}

/// The transaction that is open, as far as this process knows.
#[derive(Debug)]
pub(super) enum State {
    Idle,
    /// It holds the lock of exits, and no call has used it yet.
    Turn(Head),
    Writing(Writing),
    Reading,
}

#[derive(Debug)]
pub(super) struct Writing {
    pub head: Head,
    /// It holds the lock of enters, too.
    pub enters: bool,
    /// The last call that it has entered: its number and correlation id.
    pub entered: Option<(i64, String)>,
    /// It has closed a call.
    pub exits: bool,
    /// Something was done in it already, so that no other transaction can take its place.
    used: bool,
    /// The head before the call that runs now.
    before: Head,
}

impl Writing {
    fn at(head: Head, enters: bool) -> Self {
        Self { head, enters, entered: None, exits: false, used: false, before: head }
    }
}

/// Why a call cannot end whose enter row is gone.
const FORGOTTEN: &str = "the database server stopped before it had stored that the call began; nothing of the call is stored, call again";
/// Why a call cannot end that has ended.
const CLOSED: &str = "another process has closed this call as aborted, since this one gave no sign of life for longer than its lease; \
                      nothing of the call is stored, call again";

impl PgBackend {
    /// Returns why nothing more may be begun.
    pub(super) fn check(&self) -> Result<(), StoreFault> {
        self.latch.clone().map_or(Ok(()), Err)
    }

    /// Ends all acknowledging if the log ends before what this process has acknowledged: someone has erased its end.
    pub(super) fn loss_at(&mut self, end: &Head) -> Option<StoreFault> {
        // Who only reads may read a standby, which may be behind.
        let loss = self.witness.loss_at(end).filter(|_| !self.read_only)?;
        Some(self.lose(loss))
    }

    /// Opens a transaction with its locks; returns where the log ends.
    fn open(&mut self, handle: &Handle, access: Access) -> Result<Head, StoreFault> {
        let until = Instant::now() + self.link.patience;
        loop {
            let mut session = self.connected(handle)?;
            match begin(&mut session, access, self.link.replicated) {
                Ok(head) => {
                    let Some(loss) = self.loss_at(&head) else { return Ok(head) };
                    drop(session);
                    self.undo(handle);
                    return Err(loss);
                }
                // Nothing was done yet, so another connection may do it.
                Err(PgError::Lost(_)) if Instant::now() < until => {}
                Err(error) => {
                    drop(session);
                    return Err(self.refused(handle, error));
                }
            }
        }
    }

    /// Ends a transaction that the server has refused, and returns the reason. A lock that did not come names its holder.
    pub(super) fn refused(&mut self, handle: &Handle, error: PgError) -> StoreFault {
        self.undo(handle);
        if flight::is_refused_demand(&error) {
            return StoreFault(format!("STORE_UNAVAILABLE: {NO_STANDBY}"));
        }
        match error.server().map(|server| (server.code.as_str(), server.table.as_deref())) {
            None if error.is_lost() => return link::unavailable(&error),
            Some(("55P03", _)) => {}
            Some(("23502", Some("exits"))) => return StoreFault(FORGOTTEN.to_owned()),
            Some(("23505", Some("exits"))) => return StoreFault(CLOSED.to_owned()),
            _ => return fault(error),
        }
        StoreFault(flight::kept(&mut handle.session(), self.link.patience))
    }

    /// Rolls back what is open.
    pub(super) fn undo(&mut self, handle: &Handle) {
        self.state = State::Idle;
        handle.forget();
        let mut session = handle.session();
        if session.lost().is_none() {
            // A connection that is lost meanwhile has rolled back, too.
            let _ = session.queue("ROLLBACK", &[]).and_then(|()| settle(&mut session));
        }
    }

    /// Does what is due now and then, before calls are acknowledged: looks whether the schema is what it was, and closes calls of processes
    /// that are gone. An answer that does not come is for the next time.
    fn look_around(&mut self, handle: &Handle) -> Result<(), StoreFault> {
        if !matches!(self.state, State::Idle) || self.read_only {
            return Ok(());
        }
        let mut session = handle.session();
        if let Ok(Some(refusal)) = self.watch.refusal(&mut session) {
            drop(session);
            return Err(self.lose(refusal));
        }
        if let Some(lease) = &self.lease {
            lease.sweep_if_due(&mut session);
        }
        Ok(())
    }

    fn writing(&mut self, handle: &Handle) -> Result<&mut Writing, StoreFault> {
        let session = handle.session();
        let is_open = session.lost().is_none() && session.status() == TransactionStatus::Open;
        match &mut self.state {
            State::Writing(writing) if is_open => Ok(writing),
            _ => Err(StoreFault("no transaction is open".into())),
        }
    }
}

/// Opens a transaction, in one round trip.
fn begin(session: &mut Session, access: Access, replicated: bool) -> Result<Head, PgError> {
    match access {
        Access::Read => session.queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", &[])?,
        Access::Enter | Access::Write => session.queue("BEGIN", &[])?,
    }
    if access == Access::Enter {
        flight::lock(session, Lock::Enter)?;
    }
    if access != Access::Read {
        flight::lock(session, Lock::Exit)?;
        if replicated {
            flight::demand(session)?;
        }
    }
    flight::tip(session)
}

impl Backend for PgBackend {
    fn begin(&mut self, db: &Db, access: Access) -> Result<(), StoreFault> {
        self.check()?;
        let handle = db.postgres()?;
        if access != Access::Read && self.read_only {
            return Err(StoreFault("the database is open for reading only".into()));
        }
        let head = match std::mem::replace(&mut self.state, State::Idle) {
            State::Turn(head) if access == Access::Write && handle.session().lost().is_none() => head,
            was @ (State::Idle | State::Turn(_)) => {
                if matches!(was, State::Turn(_)) {
                    self.undo(handle);
                }
                let opened = self.open(handle, access);
                if opened.is_err() && access == Access::Write {
                    self.unsynced.forget_entered();
                }
                opened?
            }
            open => {
                self.state = open;
                return Err(StoreFault("a transaction is open already".into()));
            }
        };
        self.state = match access {
            Access::Read => State::Reading,
            Access::Enter | Access::Write => State::Writing(Writing::at(head, access == Access::Enter)),
        };
        Ok(())
    }

    fn commit(&mut self, db: &Db) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Writing(writing) => {
                let committed = self.commit_writing(handle, &writing);
                if committed.is_err() {
                    self.unsynced.forget_entered();
                }
                committed
            }
            State::Reading => {
                self.undo(handle);
                Ok(())
            }
            State::Turn(_) => {
                self.undo(handle);
                Err(StoreFault("no transaction is open".into()))
            }
            State::Idle => Err(StoreFault("no transaction is open".into())),
        }
    }

    fn postpones(&self) -> bool {
        true
    }

    fn carry_out(&mut self, db: &Db) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        let queued = handle.end_call().and_then(|()| handle.queue_writes());
        let carried = queued.and_then(|()| settle(&mut handle.session()));
        carried.map_err(fault)
    }

    fn roll_back(&mut self, db: &Db) {
        if !matches!(self.state, State::Idle)
            && let Ok(handle) = db.postgres()
        {
            self.undo(handle);
        }
    }

    fn in_transaction(&self, db: &Db) -> bool {
        let Ok(handle) = db.postgres() else { return false };
        let session = handle.session();
        !matches!(self.state, State::Idle)
            && session.lost().is_none()
            && session.status() == TransactionStatus::Open
    }

    fn leave_queue(&mut self, db: &Db) {
        if matches!(self.state, State::Turn(_)) {
            self.roll_back(db);
        }
    }

    fn savepoint(&mut self, db: &Db) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        let writing = self.writing(handle)?;
        writing.before = writing.head;
        handle.end_call().map_err(fault)
    }

    fn release(&mut self, db: &Db) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        self.writing(handle)?.used = true;
        handle.end_call().map_err(fault)
    }

    fn roll_back_to_savepoint(&mut self, db: &Db) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        let writing = self.writing(handle)?;
        let (used, enters) = (writing.used, writing.enters);
        writing.head = writing.before;
        if handle.undo_call() {
            return Ok(());
        }
        if used {
            return Err(StoreFault("the call is undone with its whole transaction".to_owned()));
        }
        // It was the first: another transaction is opened.
        self.undo(handle);
        let access = if enters { Access::Enter } else { Access::Write };
        let head = self.open(handle, access)?;
        self.state = State::Writing(Writing::at(head, enters));
        Ok(())
    }

    fn sync(&mut self, db: &Db) -> Result<(), StoreFault> {
        self.check()?;
        if !self.unsynced.any {
            return Ok(());
        }
        let handle = db.postgres()?;
        self.mark(handle)?;
        self.look_around(handle)?;
        let unsynced = std::mem::take(&mut self.unsynced);
        if let Some(head) = unsynced.head {
            let noted = self.witness.acknowledge(head, &mut handle.session());
            noted.map_err(|reason| self.lose(reason))?;
        }
        if let Some(lease) = &self.lease {
            lease.closed();
        }
        Ok(())
    }

    fn enter<'a>(
        &mut self,
        db: &Db,
        facts: &AuditFacts,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        let handle = db.postgres()?;
        // The lease of a process that was idle may have ended.
        if let Some(lease) = &self.lease {
            lease.renew_if_due(&mut handle.session()).map_err(fault)?;
        }
        let writing = self.writing(handle)?;
        if !writing.enters {
            return Err(StoreFault("the transaction is not one for new calls".into()));
        }
        let first = writing.head.last_sequence_no + 1;
        let events: Vec<EnterEvent<'a>> = events.collect();
        handle
            .queue_all()
            .and_then(|()| flight::enter(&mut handle.session(), facts, &events))
            .map_err(fault)?;
        for event in &events {
            writing.head.last_sequence_no += 1;
            writing.entered = Some((writing.head.last_sequence_no, event.correlation_id.to_owned()));
        }
        writing.used = true;
        self.last_number = writing.head.last_sequence_no;
        if let Some(lease) = &self.lease {
            lease.opened(first..=self.last_number);
        }
        Ok(first)
    }

    fn enter_batch<'a>(
        &mut self,
        db: &Db,
        facts: &AuditFacts,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        self.check()?;
        let handle = db.postgres()?;
        if self.read_only {
            return Err(StoreFault("the database is open for reading only".into()));
        }
        let events: Vec<EnterEvent<'a>> = events.collect();
        let Some(last_event) = events.last() else {
            return Err(StoreFault("no call is to be entered".into()));
        };
        self.roll_back(db);
        let until = Instant::now() + self.link.patience;
        drop(self.connected(handle)?);
        let last = loop {
            match self.enter_flight(handle, facts, &events) {
                Ok(last) => break last,
                Err(PgError::Lost(lost)) => {
                    if let Some(last) = self.entered_before(handle, last_event)? {
                        break last;
                    }
                    if Instant::now() >= until {
                        return Err(self.refused(handle, PgError::Lost(lost)));
                    }
                }
                Err(error) => return Err(self.refused(handle, error)),
            }
        };
        (self.unsynced.any, self.unsynced.marked) = (true, false);
        self.unsynced.entered = Some((last, last_event.correlation_id.to_owned()));
        self.last_number = last;
        let first = i64::try_from(events.len()).map(|count| last - count + 1);
        let first = first.map_err(|_| fault(flight::UNREADABLE))?;
        if let Some(lease) = &self.lease {
            lease.opened(first..=last);
        }
        Ok(first)
    }

    fn exit(&mut self, db: &Db, open: &OpenRow<'_>, closing: &Closing<'_>) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        let writing = self.writing(handle)?;
        flight::exit(|values| handle.keep_exit(values), &mut writing.head, open, closing).map_err(fault)?;
        writing.exits = true;
        if let Some(lease) = &self.lease {
            lease.closing(open.sequence_no);
        }
        Ok(())
    }

    fn is_open(&mut self, db: &Db, sequence_no: i64) -> Result<bool, StoreFault> {
        // A process without a lease enters no calls.
        let Some(lease) = &self.lease else { return Ok(false) };
        let handle = db.postgres()?;
        // The call's exit may be kept back.
        handle.queue_all().map_err(fault)?;
        flight::is_open(&mut handle.session(), sequence_no, &lease.tenant().boot_id).map_err(fault)
    }

    fn scan(&mut self, _: &Db) -> Result<Db, StoreFault> {
        let (mut session, _) = self.link.connect().map_err(fault)?;
        // The first statement fixes what the transaction sees, so it is run here, in arrival order.
        begin(&mut session, Access::Read, false).map_err(fault)?;
        Ok(Db::from(session))
    }

    fn begin_close(&mut self, _: &Db) -> bool {
        if let Some(lease) = &mut self.lease {
            lease.end();
        }
        false
    }

    fn close(self: Box<Self>, db: Db, _: Result<(), StoreFault>) -> Result<(), StoreFault> {
        let handle = db.postgres()?;
        let mut session = handle.session();
        match &self.lease {
            // Rows that are still open are closed by others, since their process has no lease any more.
            Some(lease) if self.latch.is_none() && session.lost().is_none() => {
                lease::sign_off(&mut session, lease.tenant())
                    .and_then(|()| settle(&mut session))
                    .map_err(fault)
            }
            _ => Ok(()),
        }
    }
}
