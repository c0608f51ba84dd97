//! The database of a command that looks at it again and again.

use std::path::Path;

use colibri_store::db::Db;
use colibri_store::log::head::Head;
use colibri_store::shared_look;
use colibri_store::sqlite::look::outside::Outside;

use super::Failure;
use super::database::{Role, must_be_file, open_place, place_of};
use crate::settings::environment::Environment;
use crate::settings::place::{Place, Sharing};

/// Where it is, and how it is reached.
#[derive(Debug)]
pub struct Source {
    place: Place,
    sharing: Sharing,
}

/// What shows whether it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Of a file, how it looks from outside.
    File(Outside),
    /// Of a shared database, where the log of calls ends: without a call nothing changes.
    Shared(Head),
}

impl Seen {
    /// Returns whether two changes always look different.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}

impl Source {
    /// Returns the database that `--db` or the configuration names.
    ///
    /// # Errors
    /// As [`place_of`].
    pub fn of(env: &Environment, db: Option<&Path>) -> Result<Self, Failure> {
        let (place, sharing) = place_of(env, db)?;
        Ok(Self { place, sharing })
    }

    /// Opens it for reading, in a transaction that ends with [`Source::end`] or with the handle.
    ///
    /// # Errors
    /// As [`super::database::open_for_reading`].
    pub fn open(&self) -> Result<Db, Failure> {
        open_place(&self.place, &self.sharing, Role::Database)
    }

    /// Looks whether it has changed; `kept` is the connection to a shared one.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file is gone, storage faults.
    pub fn seen(&self, kept: Option<&Db>) -> Result<Option<Seen>, Failure> {
        match (&self.place, kept) {
            (Place::File(path), _) => match Outside::of(path) {
                Ok(outside) => Ok(Some(Seen::File(outside))),
                Err(error) => {
                    must_be_file(path, Role::Database)?;
                    Err(Failure::Failed(format!("{} cannot be read: {error}", path.display())))
                }
            },
            (Place::Shared(_), Some(db)) => Ok(Some(Seen::Shared(Head::read(db)?))),
            (Place::Shared(_), None) => Ok(None),
        }
    }

    /// Ends the transaction of a handle, and returns the handle if it is worth being kept: a connection to a server is.
    ///
    /// # Errors
    /// Storage faults.
    pub fn end(&self, db: Db) -> Result<Option<Db>, Failure> {
        match &self.place {
            Place::File(_) => Ok(None),
            Place::Shared(_) => {
                shared_look::end(&db)?;
                Ok(Some(db))
            }
        }
    }

    /// Begins a transaction on a kept handle, or opens the database.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn begin(&self, kept: Option<Db>) -> Result<Db, Failure> {
        match kept {
            Some(db) => {
                shared_look::begin_again(&db)?;
                Ok(db)
            }
            None => self.open(),
        }
    }
}
