//! Statements on a connection to PostgreSQL, as handlers see them: writes are queued, reads send the queue and wait.

use std::cell::{Cell as Flag, RefCell, RefMut};

use colibri_runtime::chain::store::StoreFault;
use colibri_runtime::handler::Fault;

use super::error::PgError;
use super::rows::Rows;
use super::session::{Limit, Session};
use super::words::reason;
use crate::db::row::{Row, RowError};
use crate::db::value::Value;

/// A connection, and what the call that runs now has done on it.
#[derive(Debug)]
pub struct Handle {
    session: RefCell<Session>,
    /// What is queued before the call's first write, so that the call can be undone by itself.
    savepoint: Flag<Option<&'static str>>,
    /// It was queued.
    has_savepoint: Flag<bool>,
    has_written: Flag<bool>,
    /// A read failed for a reason that lies outside of the data.
    cut_off: Flag<bool>,
}

impl Handle {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session: RefCell::new(session),
            savepoint: Flag::new(None),
            has_savepoint: Flag::new(false),
            has_written: Flag::new(false),
            cut_off: Flag::new(false),
        }
    }

    /// Returns the connection, for moments: a statement of a handler meanwhile would panic.
    pub(crate) fn session(&self) -> RefMut<'_, Session> {
        self.session.borrow_mut()
    }

    /// Puts another connection in the place of a lost one.
    pub(crate) fn replace(&self, session: Session) {
        *self.session.borrow_mut() = session;
        self.forget_call();
    }

    /// Begins a call. The savepoint is queued before its first write.
    pub(crate) fn begin_call(&self, savepoint: Option<&'static str>) {
        self.forget_call();
        self.savepoint.set(savepoint);
    }

    /// Returns whether a failure of a read said nothing about the data.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.get() || self.session().lost().is_some()
    }

    /// Turns a read's failure into the fault that a client may see. Notes one that says nothing about the data: a conflict with
    /// recovery on a standby, no memory, an operator's intervention.
    fn told(&self, error: PgError) -> Fault {
        let class = error.sqlstate().and_then(|code| code.get(..2));
        if matches!(class, Some("40" | "53" | "57" | "58")) {
            self.cut_off.set(true);
        }
        storage(error)
    }

    /// Asks the server something that only PostgreSQL knows.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&mut Session) -> Result<T, PgError>) -> Result<T, Fault> {
        ask(&mut self.session()).map_err(|error| self.told(error))
    }

    /// Runs a part of a read, so that its failure does not end the transaction with the others.
    pub(crate) fn apart<T, E>(&self, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        // A failure here shows at the part's own statements.
        let _failed = self.session().simple("SAVEPOINT part");
        let result = read();
        let end = if result.is_ok() { "RELEASE part" } else { "ROLLBACK TO part" };
        let _failed = self.session().simple(end);
        result
    }

    /// Forgets the call. Its savepoint ends with the transaction.
    pub(crate) fn forget_call(&self) {
        self.savepoint.set(None);
        self.has_savepoint.set(false);
        self.has_written.set(false);
    }

    /// Returns whether the call's savepoint was queued.
    pub(crate) fn has_savepoint(&self) -> bool {
        self.has_savepoint.get()
    }

    /// Returns whether the call has written something.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.get()
    }

    fn before_write(&self) -> Result<(), PgError> {
        self.has_written.set(true);
        match self.savepoint.take() {
            Some(savepoint) => {
                self.has_savepoint.set(true);
                self.session().queue(savepoint, &[])
            }
            None => Ok(()),
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<(), Fault> {
        self.before_write().and_then(|()| self.session().queue(sql, params)).map_err(storage)
    }

    pub(crate) fn changed(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, Fault> {
        self.before_write().map_err(storage)?;
        let rows = self.session().query(sql, params, Limit::ALL).map_err(storage)?;
        usize::try_from(rows.changed).map_err(|_| Fault::from(RowError))
    }

    pub(crate) fn query_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        let rows = self.session().query(sql, params, Limit::ONE).map_err(|error| self.told(error))?;
        rows.row(0).map(|row| read(&Row::from(row))).transpose().map_err(Fault::from)
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, Fault> {
        let rows = self.session().query(sql, params, Limit::ALL).map_err(|error| self.told(error))?;
        rows.iter().map(|row| read(&Row::from(row))).collect::<Result<_, _>>().map_err(Fault::from)
    }

    /// Walks in parts. Between two parts the connection is free, so `take` may run statements of its own.
    pub(crate) fn walk<E: From<Fault>>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut take: impl FnMut(&Row<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let (mut portal, mut rows) =
            self.session().open_portal(sql, params).map_err(|error| self.told(error))?;
        let walked = loop {
            match take_all(&rows, &mut take) {
                Ok(true) if rows.suspended() => {}
                done => break done.map(drop),
            }
            rows = match self.session().fetch(&mut portal) {
                Ok(rows) => rows,
                Err(error) => break Err(self.told(error).into()),
            };
        };
        self.session().close_portal(portal);
        walked
    }
}

/// Hands over rows until `take` has had enough; returns whether it wants more.
fn take_all<E: From<Fault>>(
    rows: &Rows,
    take: &mut impl FnMut(&Row<'_>) -> Result<bool, E>,
) -> Result<bool, E> {
    for row in rows.iter() {
        if !take(&Row::from(row))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Turns a failure into the fault that a client may see.
pub(crate) fn storage(error: PgError) -> Fault {
    Fault::Storage(reason(&error))
}

/// Turns a failure into one that the chain may show.
pub(crate) fn fault(error: PgError) -> StoreFault {
    StoreFault(reason(&error))
}
