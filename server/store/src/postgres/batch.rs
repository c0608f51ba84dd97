//! The two flights of a batch (postgres#batch).

use std::time::Instant;

use colibri_runtime::chain::audit::EnterEvent;
use colibri_runtime::chain::store::StoreFault;

use crate::db::postgres::{CommitState, Handle, Limit, Lost, PgError, Session};
use crate::log::rows::AuditFacts;
use crate::postgres::backend::{PgBackend, State, Writing};
use crate::postgres::flight::{self, Lock};
use crate::postgres::mark::{self, Cover};

impl PgBackend {
    /// Sends the first flight of a batch.
    pub(super) fn enter_flight(
        &mut self,
        handle: &Handle,
        facts: &AuditFacts,
        events: &[EnterEvent<'_>],
    ) -> Result<i64, PgError> {
        let mut session = handle.session();
        let at = Instant::now();
        session.queue("BEGIN", &[])?;
        flight::lock(&mut session, Lock::Enter)?;
        if self.link.replicated {
            flight::demand(&mut session)?;
        }
        let renewing = match &self.lease {
            Some(lease) => lease.renew_if_due(&mut session)?.then_some(lease),
            None => None,
        };
        flight::enter(&mut session, facts, events)?;
        flight::note_last_number(&mut session)?;
        session.queue_commit()?;
        let entered = session.boundary();
        session.queue("BEGIN", &[])?;
        flight::lock(&mut session, Lock::Exit)?;
        let turn = flight::entered_and_tip(&mut session);
        if let Err(error) = session.wait(entered) {
            drop(session);
            self.undo(handle);
            return Err(error);
        }
        if let Some(lease) = renewing {
            lease.renewed(at);
        }
        match turn {
            Ok((last, head)) => {
                drop(session);
                if self.loss_at(&head).is_some() {
                    self.undo(handle);
                    return Err(PgError::Usage("the database has lost acknowledged calls"));
                }
                self.state = State::Turn(head);
                Ok(last)
            }
            // The calls are entered, and the turn did not come. The transaction of their effects meets the obstacle again.
            Err(error) => {
                drop(session);
                self.undo(handle);
                let mut session = handle.session();
                let sql = "SELECT CAST(current_setting('colibri.entered') AS bigint)";
                let rows = session.query(sql, &[], Limit::ONE).map_err(|_| error)?;
                flight::integer(&flight::only(&rows)?, 0).ok_or(flight::UNREADABLE)
            }
        }
    }

    /// Commits, and learns the outcome even if the connection is lost meanwhile.
    pub(super) fn commit_writing(&mut self, handle: &Handle, writing: &Writing) -> Result<(), StoreFault> {
        let queued = handle.queue_all();
        handle.forget();
        let committed = queued.and_then(|()| self.send_commit(&mut handle.session()));
        self.unsynced.marked = matches!(committed, Ok(Ok(Cover::All)));
        match committed {
            Ok(Ok(_)) => {}
            // A server that stopped after the commit may have lost it, since the mark was not answered.
            Ok(Err(PgError::Lost(lost)))
            | Err(PgError::Lost(lost @ Lost { commit: CommitState::Unknown, .. })) => {
                if !self.was_committed(handle, writing)? {
                    return Err(StoreFault(format!("STORE_UNAVAILABLE: {lost}; nothing of it is stored")));
                }
            }
            Ok(Err(error)) => return Err(self.unmarked(&error)),
            Err(error) => return Err(self.refused(handle, error)),
        }
        self.unsynced.any = true;
        if writing.exits {
            (self.unsynced.head, self.unsynced.entered) = (Some(writing.head), None);
        } else {
            self.unsynced.entered.clone_from(&writing.entered);
        }
        Ok(())
    }

    /// Sends COMMIT and the mark behind it, and waits for both. The outer result is that of the commit, the inner one that of the mark.
    fn send_commit(&mut self, session: &mut Session) -> Result<Result<Cover, PgError>, PgError> {
        session.queue_commit()?;
        let committed = session.boundary();
        let mark = match self.durable {
            true => mark::send(session, &mut self.name, &mut self.watch, self.link.replicated),
            false => session.ask_what_holds(false, self.watch.due()).map(|held| {
                self.watch.came(held.besides);
                Cover::All
            }),
        };
        // The commit may be answered although the connection was lost behind it.
        session.wait(committed)?;
        Ok(mark)
    }
}
