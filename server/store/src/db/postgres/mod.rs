//! PostgreSQL, from bytes to statements:
//!
//! 1. [`url`] says where a database is ([`parameters`] are what it may not say, [`login_files`] the files that it names), and [`dial`]
//!    reaches it; [`options`] says how.
//! 2. [`wire`] carries bytes from [`buffer`] to buffer, and [`tls`] encrypts them. [`frontend`] writes messages; [`backend`] reads them, and
//!    [`body`] their fields.
//! 3. [`startup`] logs in, by [`scram`] where there is a password.
//!    [`conditions`] are what the session rests on: it sets and compares them, by the [`question`]. [`poolers`] is what it says of these.
//! 4. [`session`] queues statements and sends them together; [`statements`] keeps them prepared, [`sql`] translates their texts.
//! 5. [`replies`] matches what comes back with what [`expect`] says, [`rows`] holds it, [`portal`] hands it out in parts, [`copy`] fills whole tables.
//! 6. [`error`] is all that can go wrong, [`words`] says it to agents.
//! 7. [`lists`] are statements of several rows. [`handle`] is what [`Db`](crate::Db) uses.

mod access;
mod backend;
mod body;
mod buffer;
mod conditions;
mod copy;
mod dial;
mod error;
mod expect;
mod frontend;
pub(crate) mod handle;
pub(crate) mod lists;
mod login_files;
mod options;
mod parameters;
mod poolers;
mod portal;
mod question;
mod replies;
mod rows;
mod scram;
mod session;
mod sql;
mod startup;
mod statements;
mod tls;
mod url;
mod wire;
mod words;

pub(crate) use conditions::Held;
pub use copy::CopyIn;
pub use error::{CommitState, Lost, PgError, ServerError};
pub(crate) use handle::Handle;
pub use options::SessionOptions;
pub use portal::Portal;
pub use rows::{PgCell, PgCellError, PgRow, Rows};
pub use session::{Boundary, Counters, Limit, Session, TransactionStatus};
pub use url::{DatabaseUrl, Target, TlsPolicy, UrlError};
pub(crate) use words::reason;

#[cfg(test)]
mod tests;
