//! What the chain asks of a store. The server brings the SQLite one; [`crate::memory::MemoryStore`] is for
//! servers that keep nothing.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::chain::audit::{EnterEvent, ExitEvent};
use crate::handler::Context;

/// A store failed; the text carries no SQL and no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreFault(pub String);

impl From<std::io::Error> for StoreFault {
    /// The operating system refused something; its text names no file.
    fn from(error: std::io::Error) -> Self {
        Self(error.kind().to_string())
    }
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads and writes; new rows of the log among them, which an engine with a lock of its own for them takes first.
    Enter,
    /// Reads and writes, but enters no call.
    Write,
    /// Reads only.
    Read,
}

/// Transactions, savepoints and durability behind the five stages (chain#two-transactions).
///
/// The chain is the only caller, except that the loop takes the turn before it passes work on. Order of calls in a
/// batch: `poll_turn`, `enter_batch`, `begin`, then for each call `savepoint`, the handler, `release` or `roll_back`, then `commit`, and
/// `sync` once after the last commit.
pub trait Store {
    /// What handlers receive.
    type Cx: Context;

    /// Returns the context of the call that runs now.
    fn cx(&mut self) -> &mut Self::Cx;

    /// Asks for the turn to write: the place at the head of the write queue. While it is pending, `cx` is woken when the turn
    /// may have come; [`Store::leave_queue`] withdraws the request. Never waits long; a store without a queue is always ready.
    fn poll_turn(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), StoreFault>> {
        Poll::Ready(Ok(()))
    }

    /// Returns what holds up the turn, and which process it is. The chain asks when a wait has become long.
    fn obstacle(&mut self) -> StoreFault {
        StoreFault("the store cannot be written to".to_owned())
    }

    /// Waits for the turn on this thread; for callers that serve no client meanwhile.
    ///
    /// # Errors
    /// The turn did not come within `limit`, or cannot be asked for.
    fn wait_turn(&mut self, limit: Duration) -> Result<(), StoreFault> {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let began = Instant::now();
        loop {
            if let Poll::Ready(turn) = self.poll_turn(&mut TaskContext::from_waker(&waker)) {
                return turn;
            }
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                let obstacle = self.obstacle();
                self.leave_queue();
                return Err(obstacle);
            }
            std::thread::park_timeout(left);
        }
    }

    /// Opens a transaction. One that writes uses the turn; without a turn it fails unless the turn is free at once.
    ///
    /// # Errors
    /// The transaction could not be opened; none is open then.
    fn begin(&mut self, access: Access) -> Result<(), StoreFault>;

    /// Commits.
    ///
    /// # Errors
    /// Nothing of the transaction is stored; none is open then.
    fn commit(&mut self) -> Result<(), StoreFault>;

    /// Returns whether the engine postpones statements up to the commit, and waits there until all is durable. A refused commit may be
    /// one call's alone, and stores nothing: so each call may run again in a transaction of its own.
    fn postpones(&self) -> bool {
        false
    }

    /// Carries out what an engine has postponed, so that its refusal is known before the commit.
    ///
    /// # Errors
    /// The refusal. The transaction is lost.
    fn carry_out(&mut self) -> Result<(), StoreFault> {
        Ok(())
    }

    /// Undoes the whole transaction, if there is one. Never fails: recovery undoes what cannot be rolled
    /// back here.
    fn roll_back(&mut self);

    /// Returns whether the transaction is still there. An engine may drop it by itself (full disk, I/O error).
    fn in_transaction(&self) -> bool;

    /// Leaves the write queue, if this store is in it or waits for its turn.
    fn leave_queue(&mut self);

    /// Opens a call's savepoint.
    ///
    /// # Errors
    /// None was opened.
    fn savepoint(&mut self) -> Result<(), StoreFault>;

    /// Keeps what was done since the savepoint.
    ///
    /// # Errors
    /// The savepoint could not be released.
    fn release(&mut self) -> Result<(), StoreFault>;

    /// Undoes what was done since the savepoint; the savepoint stays open.
    ///
    /// # Errors
    /// The savepoint is gone.
    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault>;

    /// Makes every commit so far durable. Called after the queue was left.
    ///
    /// # Errors
    /// Fatal: the chain answers and the process ends, a sync is never retried.
    fn sync(&mut self) -> Result<(), StoreFault>;

    /// Does work that no client waits for, once replies have left.
    fn upkeep(&mut self);

    /// Writes a call's enter row inside the open transaction, and returns the row's sequence number.
    ///
    /// # Errors
    /// The row is not there.
    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault>;

    /// Writes the enter rows of several calls inside the open transaction. Returns the first row's number; the others follow without
    /// gaps. An engine across a network needs one round trip for all of them.
    ///
    /// # Errors
    /// No row is there, or the transaction is lost.
    fn audit_enter_all<'a>(
        &mut self,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        let mut first = None;
        for event in events {
            let number = self.audit_enter(&event)?;
            first.get_or_insert(number);
        }
        first.ok_or_else(|| StoreFault("no call is to be entered".to_owned()))
    }

    /// Writes the enter rows of a batch in a transaction of their own, and commits it; returns as [`Store::audit_enter_all`]. An engine
    /// across a network may open the transaction of the batch's effects in the same round trip: then the store has the turn
    /// until [`Store::begin`] or [`Store::leave_queue`].
    ///
    /// # Errors
    /// No row is there. A transaction may still be open, to be rolled back.
    fn enter_batch<'a>(
        &mut self,
        events: &mut dyn Iterator<Item = EnterEvent<'a>>,
    ) -> Result<i64, StoreFault> {
        self.begin(Access::Enter)?;
        let first = self.audit_enter_all(events)?;
        self.commit()?;
        Ok(first)
    }

    /// Closes the row inside the open transaction. `enter` holds the values it was entered with, so that a store that commits
    /// to the whole row need not read it back; its `args` are gone by then.
    ///
    /// # Errors
    /// The row is as it was.
    fn audit_exit(
        &mut self,
        sequence_no: i64,
        enter: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault>;

    /// Returns whether the row is there and not closed, as the open transaction sees it.
    ///
    /// # Errors
    /// The row could not be read.
    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault>;

    /// Returns a context for a scan tool's helper thread, on a read transaction of its own.
    ///
    /// # Errors
    /// The store is missing, or the second connection could not be opened.
    fn scan_cx(&mut self) -> Result<<Self::Cx as Context>::Scan, StoreFault>;
}

/// Wakes a thread that waits for its turn.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
