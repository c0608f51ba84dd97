//! What happens when a connection is lost: another one is opened, the old one ended, and the outcome looked up
//! (postgres#lost). What cannot be learned is never acknowledged and never repeated.

use std::cell::RefMut;
use std::time::{Duration, Instant};

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::StoreFault;

use crate::db::postgres::{Handle, PgError, Session};
use crate::postgres::backend::{PgBackend, State, Writing};
use crate::postgres::flight::{self, Lock, settle};
use crate::postgres::link::{self, NO_STANDBY, Name};
use crate::postgres::mark::{self, Cover};

/// How many calls may be between the last number that this process has seen and one that it looks up.
const FAR: i64 = 100_000;

/// How long a process waits before it asks again whether the server has a standby.
const PAUSE: Duration = Duration::from_millis(200);

impl PgBackend {
    /// Ends all acknowledging. The first reason is kept.
    pub(super) fn lose(&mut self, reason: String) -> StoreFault {
        self.latch.get_or_insert(StoreFault(reason)).clone()
    }

    /// Ends all acknowledging because a mark was refused.
    pub(super) fn unmarked(&mut self, error: &PgError) -> StoreFault {
        self.lose(format!("the server did not confirm that all is durable: {error}"))
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
        loop {
            match self.try_anew(until) {
                Ok((session, name)) => {
                    self.name = name;
                    handle.replace(session);
                    self.state = State::Idle;
                    return self.check();
                }
                Err(PgError::Lost(_)) if Instant::now() < until => {}
                Err(error) => return Err(link::unavailable(&error)),
            }
        }
    }

    /// Does it once. A loss of acknowledged calls shows in the latch.
    fn try_anew(&mut self, until: Instant) -> Result<(Session, Name), PgError> {
        let (mut session, name) = self.link.connect_until(until)?;
        link::end(&mut session, &self.name)?;
        if let Some(loss) = self.witness.loss_in(&mut session, self.read_only)? {
            self.lose(loss);
        }
        Ok((session, name))
    }

    /// Runs a look-up on a new connection, again while that one is lost or has to wait for a lock.
    fn look<T>(
        &mut self,
        handle: &Handle,
        until: Instant,
        look_up: impl Fn(&mut Session) -> Result<T, PgError>,
    ) -> Result<T, StoreFault> {
        loop {
            self.connect_anew(handle, until)?;
            let found = look_up(&mut handle.session());
            match found {
                Err(PgError::Lost(_) | PgError::Server(_)) if Instant::now() < until => {}
                found => return found.map_err(|error| link::unavailable(&error)),
            }
        }
    }

    /// Finds out on a new connection whether a transaction was committed. The old one is ended first, and its locks are waited for, so
    /// the answer is final.
    pub(super) fn was_committed(&mut self, handle: &Handle, writing: &Writing) -> Result<bool, StoreFault> {
        let until = Instant::now() + self.link.patience + self.link.patience;
        match self.look(handle, until, |session| look_up(session, writing)) {
            Ok(Some(committed)) => Ok(committed),
            Ok(None) => Err(self.lose(
                "the connection was lost during a commit of which no row tells the outcome".to_owned(),
            )),
            Err(reason) => Err(self.lose(format!("the outcome of a commit cannot be learned: {reason}"))),
        }
    }

    /// Looks for calls whose enter flight was lost. Returns the last one's number if they are entered. The lock of the old connection is
    /// waited for, so the answer is final.
    pub(super) fn entered_before(
        &mut self,
        handle: &Handle,
        last: &EnterEvent<'_>,
    ) -> Result<Option<i64>, StoreFault> {
        let until = Instant::now() + self.link.patience;
        let after = self.last_number.saturating_sub(FAR);
        self.look(handle, until, |session| {
            session.queue("BEGIN", &[])?;
            flight::lock(session, Lock::Enter)?;
            let found = flight::number_of(session, last.correlation_id, after)?;
            session.queue("ROLLBACK", &[])?;
            settle(session)?;
            Ok(found)
        })
    }

    /// Sets marks until one covers what is committed.
    pub(super) fn mark(&mut self, handle: &Handle) -> Result<(), StoreFault> {
        let mut until = None;
        let mut over = |patience| Instant::now() >= *until.get_or_insert_with(|| Instant::now() + patience);
        while self.durable && !self.unsynced.marked {
            let marked = {
                let mut session = handle.session();
                let replicated = self.link.replicated;
                settle(&mut session)
                    .and_then(|()| mark::send(&mut session, &mut self.name, &mut self.watch, replicated))
            };
            match marked {
                Ok(Cover::All) => self.unsynced.marked = true,
                Ok(Cover::Unknown) => {}
                Ok(Cover::OneServer) if over(self.link.patience) => {
                    return Err(self.lose(format!("a commit has waited for no standby: {NO_STANDBY}")));
                }
                Ok(Cover::OneServer) => std::thread::sleep(PAUSE),
                // The commit is known. A new connection looks whether it is still there, and sets a mark behind it.
                Err(PgError::Lost(lost)) => {
                    if over(self.link.patience) {
                        return Err(self.unmarked(&PgError::Lost(lost)));
                    }
                    self.look_again(handle, Instant::now() + self.link.patience)?;
                }
                Err(error) => return Err(self.unmarked(&error)),
            }
        }
        Ok(())
    }

    /// Connects anew after a mark whose answer was lost, and looks whether what it covers is still there.
    pub(super) fn look_again(&mut self, handle: &Handle, until: Instant) -> Result<(), StoreFault> {
        if let Err(reason) = self.connect_anew(handle, until) {
            return Err(self.lose(format!("the server did not confirm that all is durable: {reason}")));
        }
        let held = self.holds_unsynced(&mut handle.session());
        match held {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.lose(
                "the server stopped before the last calls were durable; nothing of them is stored".to_owned(),
            )),
            // The next mark meets the obstacle again.
            Err(PgError::Lost(_)) => Ok(()),
            Err(error) => Err(self.unmarked(&error)),
        }
    }

    /// Returns whether the database holds what was committed and not yet acknowledged.
    fn holds_unsynced(&self, session: &mut Session) -> Result<bool, PgError> {
        if let Some((number, correlation_id)) = &self.unsynced.entered
            && flight::number_of(session, correlation_id, number - 1)? != Some(*number)
        {
            return Ok(false);
        }
        self.unsynced.head.map_or(Ok(true), |head| flight::holds_exit(session, &head))
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
