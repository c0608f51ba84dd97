//! Statements on a connection to PostgreSQL, as handlers see them: writes are queued, reads send the queue and wait.

use std::borrow::Cow;
use std::cell::{Cell as Flag, RefCell, RefMut};

use colibri_runtime::chain::store::StoreFault;
use colibri_runtime::handler::Fault;

use super::error::PgError;
use super::lists::{EXITS, insert_of, rows_at_once};
use super::rows::Rows;
use super::session::{Limit, Session};
use super::words::reason;
use crate::db::row::{Row, RowError};
use crate::db::value::{Bind, Value};
use crate::stop;

/// How many statements of a call are kept back before they are queued all the same.
const MOST_KEPT: usize = 256;

/// How many statements of calls are kept back. Then they are sent, so that the server works on them while further calls run.
const ENOUGH: usize = 8;

/// A connection, and what calls have done on it.
///
/// The writes of the running call are kept back until it has succeeded or reads something. So most calls that fail are undone by
/// forgetting, and none needs a savepoint. The exits of a batch become one statement, and so do equal INSERTs of calls that follow each
/// other.
#[derive(Debug)]
pub struct Handle {
    session: RefCell<Session>,
    /// The writes of calls that have succeeded.
    done: RefCell<Vec<Kept>>,
    /// The running call's writes.
    kept: RefCell<Vec<Kept>>,
    /// The values of exits, a row after the other.
    exits: RefCell<Vec<Owned>>,
    /// Writes of the running call are queued, so only the end of the transaction undoes them.
    is_queued: Flag<bool>,
    /// A read failed for a reason that lies outside of the data.
    cut_off: Flag<bool>,
}

/// A statement with its own copy of the values.
#[derive(Debug)]
struct Kept {
    sql: String,
    params: Vec<Owned>,
}

/// A [`Value`] of its own.
#[derive(Debug)]
pub(crate) enum Owned {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<Value<'_>> for Owned {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Integer(number),
            Value::Real(number) => Self::Real(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Blob(bytes) => Self::Blob(bytes.to_owned()),
        }
    }
}

impl Bind for Owned {
    fn bind(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(*number),
            Self::Real(number) => Value::Real(*number),
            Self::Text(text) => Value::Text(text),
            Self::Blob(bytes) => Value::Blob(bytes),
        }
    }
}

impl Handle {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session: RefCell::new(session),
            done: RefCell::default(),
            kept: RefCell::default(),
            exits: RefCell::default(),
            is_queued: Flag::new(false),
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
        self.forget();
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

    /// Forgets what is kept back, because the transaction ends without it.
    pub(crate) fn forget(&self) {
        self.done.borrow_mut().clear();
        self.kept.borrow_mut().clear();
        self.exits.borrow_mut().clear();
        self.is_queued.set(false);
    }

    /// Keeps the writes of a call that has succeeded with those of others.
    pub(crate) fn end_call(&self) -> Result<(), PgError> {
        self.is_queued.set(false);
        let mut done = self.done.borrow_mut();
        done.append(&mut self.kept.borrow_mut());
        if done.len() < ENOUGH {
            return Ok(());
        }
        let mut session = self.session();
        queue(&mut session, &mut done)?;
        session.send_ahead()
    }

    /// Forgets the writes of the running call; returns whether that undoes all of them.
    pub(crate) fn undo_call(&self) -> bool {
        self.kept.borrow_mut().clear();
        !self.is_queued.get()
    }

    /// Keeps the values of an exit, which become a row with those of others.
    pub(crate) fn keep_exit(&self, values: &[Value<'_>]) {
        self.exits.borrow_mut().extend(values.iter().copied().map(Owned::from));
    }

    /// Queues the writes of all calls.
    pub(crate) fn queue_writes(&self) -> Result<(), PgError> {
        let mut session = self.session();
        queue(&mut session, &mut self.done.borrow_mut())?;
        let mut kept = self.kept.borrow_mut();
        if !kept.is_empty() {
            self.is_queued.set(true);
        }
        queue(&mut session, &mut kept)
    }

    /// Queues all that is kept back: before a read, which must see it, and before the commit.
    pub(crate) fn queue_all(&self) -> Result<(), PgError> {
        self.queue_writes()?;
        let exits = std::mem::take(&mut *self.exits.borrow_mut());
        EXITS.queue(&mut self.session(), &exits)
    }

    /// Notes that a query writes, as one with RETURNING does: forgetting what is kept back does not undo it.
    fn note_write(&self, sql: &str) {
        if !["SELECT", "WITH"].iter().any(|read| sql.starts_with(read)) {
            self.is_queued.set(true);
        }
    }

    pub(crate) fn execute(&self, sql: &str, params: &[Value<'_>]) -> Result<(), Fault> {
        let params = params.iter().copied().map(Owned::from).collect();
        let count = {
            let mut kept = self.kept.borrow_mut();
            kept.push(Kept { sql: sql.to_owned(), params });
            kept.len()
        };
        if count < MOST_KEPT { Ok(()) } else { self.queue_writes().map_err(storage) }
    }

    pub(crate) fn changed(&self, sql: &str, params: &[Value<'_>]) -> Result<usize, Fault> {
        self.queue_all().map_err(storage)?;
        self.is_queued.set(true);
        let rows = self.session().query(sql, params, Limit::ALL).map_err(storage)?;
        usize::try_from(rows.changed).map_err(|_| Fault::from(RowError))
    }

    pub(crate) fn query_opt<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnOnce(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Option<T>, Fault> {
        self.queue_all().map_err(storage)?;
        self.note_write(sql);
        let rows = self.session().query(sql, params, Limit::ONE).map_err(|error| self.told(error))?;
        rows.row(0).map(|row| read(&Row::from(row))).transpose().map_err(Fault::from)
    }

    pub(crate) fn query_all<T>(
        &self,
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, Fault> {
        self.queue_all().map_err(storage)?;
        self.note_write(sql);
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
        self.queue_all().map_err(storage)?;
        self.note_write(sql);
        let (mut portal, mut rows) =
            self.session().open_portal(sql, params).map_err(|error| self.told(error))?;
        let walked = loop {
            match take_all(&rows, &mut take) {
                Ok(true) if rows.suspended() => {}
                done => break done.map(drop),
            }
            let queued = self.queue_all();
            rows = match queued.and_then(|()| self.session().fetch(&mut portal)) {
                Ok(rows) => rows,
                Err(error) => break Err(self.told(error).into()),
            };
        };
        self.session().close_portal(portal);
        walked
    }
}

/// Queues statements, and empties the list. A run of equal INSERTs becomes one statement for several rows.
fn queue(session: &mut Session, statements: &mut Vec<Kept>) -> Result<(), PgError> {
    let statements = std::mem::take(statements);
    for run in statements.chunk_by(|one, next| one.sql == next.sql && one.params.len() == next.params.len()) {
        let mut rest = run;
        while let Some((first, _)) = rest.split_first() {
            let rows = rows_at_once(rest.len());
            let list = if rows > 1 { insert_of(&first.sql, first.params.len(), rows) } else { None };
            let (sql, rows) = list.map_or((first.sql.as_str().into(), 1), |list| (Cow::from(list), rows));
            let (these, others) = rest.split_at(rows);
            let params: Vec<Value<'_>> = these.iter().flat_map(|one| &one.params).map(Bind::bind).collect();
            session.queue(&sql, &params)?;
            rest = others;
        }
    }
    Ok(())
}

/// Hands over rows until `take` has had enough; returns whether it wants more.
fn take_all<E: From<Fault>>(
    rows: &Rows,
    take: &mut impl FnMut(&Row<'_>) -> Result<bool, E>,
) -> Result<bool, E> {
    for row in rows.iter() {
        if stop::is_asked() {
            return Err(Fault::Storage("interrupted".to_owned()).into());
        }
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
