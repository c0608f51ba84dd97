//! The way from the handle to PostgreSQL's connection, for what only PostgreSQL does.

use colibri_runtime::chain::store::StoreFault;
use colibri_runtime::handler::Fault;

use super::handle::Handle;
use super::options::SessionOptions;
use super::session::Session;
use super::url::DatabaseUrl;
use crate::db::{Db, Engine};

impl From<Session> for Db {
    fn from(session: Session) -> Self {
        Self { engine: Engine::Postgres(Box::new(Handle::new(session))), log_gap: None }
    }
}

impl Db {
    /// Connects to a shared database. The caller opens and ends its transactions, if it needs any.
    ///
    /// # Errors
    /// [`Fault::Storage`].
    pub fn connect(url: &DatabaseUrl, options: &SessionOptions) -> Result<Self, Fault> {
        let session = Session::establish(url, options).map_err(|error| Fault::Storage(error.to_string()))?;
        Ok(Self::from(session))
    }

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
