//! The way from the handle to PostgreSQL's connection, for what only PostgreSQL does.

use colibri_runtime::chain::store::StoreFault;

use super::handle::Handle;
use super::session::Session;
use crate::db::{Db, Engine};

impl From<Session> for Db {
    fn from(session: Session) -> Self {
        Self { engine: Engine::Postgres(Box::new(Handle::new(session))) }
    }
}

impl Db {
    /// Returns PostgreSQL's connection.
    ///
    /// # Errors
    /// The database is not PostgreSQL's.
    pub(crate) fn postgres(&self) -> Result<&Handle, StoreFault> {
        match &self.engine {
            Engine::Postgres(handle) => Ok(handle),
            Engine::Sqlite(_) => Err(StoreFault("the database is not in PostgreSQL".to_owned())),
        }
    }
}
