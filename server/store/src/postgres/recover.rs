//! What happens when a connection is lost: another one is opened, the old one ended, and the outcome looked up
//! (postgres#lost). What cannot be learned is never acknowledged and never repeated.

use std::cell::RefMut;
use std::time::Instant;

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::StoreFault;

use crate::db::postgres::handle::fault;
use crate::db::postgres::{Handle, PgError, Session};
use crate::postgres::backend::{PgBackend, State, Writing, settle};
use crate::postgres::flight::{self, Lock};
use crate::postgres::link;
use crate::postgres::witness;

/// How many calls may be between the last number that this process has seen and one that it looks up.
const FAR: i64 = 100_000;

impl PgBackend {
    /// Ends all acknowledging. The first reason is kept.
    pub(super) fn lose(&mut self, reason: String) -> StoreFault {
        self.latch.get_or_insert(StoreFault(reason)).clone()
    }

    /// Returns the session; a lost one is replaced.
    pub(super) fn connected<'a>(&mut self, handle: &'a Handle) -> Result<RefMut<'a, Session>, StoreFault> {
        let session = handle.session();
        if session.lost().is_none() {
            return Ok(session);
        }
        drop(session);
        self.connect_anew(handle, Instant::now() + self.link.patience)?;
        Ok(handle.session())
    }

    /// Replaces a lost connection, and ends what is left of it on the server. Then compares the database with what this process has
    /// acknowledged.
    pub(super) fn connect_anew(&mut self, handle: &Handle, until: Instant) -> Result<(), StoreFault> {
        let unavailable = |error: PgError| StoreFault(format!("STORE_UNAVAILABLE: {error}"));
        let (mut session, name) = self.link.connect_until(until).map_err(unavailable)?;
        link::end(&mut session, &self.name).map_err(unavailable)?;
        if let Some(head) = self.witness.seen
            && !flight::holds_exit(&mut session, &head).map_err(unavailable)?
        {
            return Err(self.lose(witness::loss(&head)));
        }
        self.name = name;
        handle.replace(session);
        (self.state, self.unsynced.mark) = (State::Idle, None);
        Ok(())
    }

    /// Finds out on a new connection whether a transaction was committed. The old one is ended first, and its locks are waited for, so
    /// the answer is final.
    pub(super) fn was_committed(&mut self, handle: &Handle, writing: &Writing) -> Result<bool, StoreFault> {
        let until = Instant::now() + self.link.patience + self.link.patience;
        let found = self.connect_anew(handle, until).and_then(|()| {
            let mut session = handle.session();
            look_up(&mut session, writing).map_err(fault)
        });
        match found {
            Ok(Some(committed)) => Ok(committed),
            Ok(None) => Err(self.lose(
                "the connection was lost during a commit of which no row tells the outcome".to_owned(),
            )),
            Err(reason) => Err(self.lose(format!("the outcome of a commit cannot be learned: {reason}"))),
        }
    }

    /// Looks for calls whose enter flight was lost. Returns the last one's number if they are entered.
    pub(super) fn entered_before(
        &mut self,
        handle: &Handle,
        last: &EnterEvent<'_>,
    ) -> Result<Option<i64>, StoreFault> {
        self.connect_anew(handle, Instant::now() + self.link.patience)?;
        let after = self.last_number.saturating_sub(FAR);
        let found = flight::number_of(&mut handle.session(), last.correlation_id, after);
        found.map_err(fault)
    }

    /// Connects anew after a mark whose answer was lost, and looks whether what it covers is still there.
    pub(super) fn look_again(&mut self, handle: &Handle, until: Instant) -> Result<(), StoreFault> {
        if let Err(reason) = self.connect_anew(handle, until) {
            return Err(self.lose(format!("the server did not confirm that all is durable: {reason}")));
        }
        let Some(head) = self.unsynced.head else { return Ok(()) };
        let holds = flight::holds_exit(&mut handle.session(), &head);
        match holds {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.lose(witness::loss(&head))),
            Err(error) => Err(self.lose(format!("the server did not confirm that all is durable: {error}"))),
        }
    }
}

/// Returns whether a transaction's rows are there; `None` if it had none in the log.
fn look_up(session: &mut Session, writing: &Writing) -> Result<Option<bool>, PgError> {
    session.queue("BEGIN", &[])?;
    if writing.enters {
        flight::lock(session, Lock::Enter)?;
    }
    flight::lock(session, Lock::Exit)?;
    let found = match &writing.entered {
        _ if writing.exits => Some(flight::holds_exit(session, &writing.head)?),
        Some((number, correlation_id)) => {
            Some(flight::number_of(session, correlation_id, number - 1)? == Some(*number))
        }
        None => None,
    };
    session.queue("ROLLBACK", &[])?;
    settle(session)?;
    Ok(found)
}
