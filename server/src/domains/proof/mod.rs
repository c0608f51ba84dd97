//! The proof store (proof#purpose): sealed sessions, their trees, heads and signatures.
//!
//! ```text
//! record -> envelope -> rfc9162 (tree that fixes order, author and session) -+
//!        -> legacy (the original's tree, over the records' own hashes) ------+-> head -> keys (signature) -> bundle
//! ```
//!
//! The tools: `service` opens and seals sessions, `listing` lists them, `store` keeps them. [`verify_seal`] checks one session against its
//! records; [`each_session`], [`verify_sealed_records`] and [`verify_head_chain`] check all of them. [`bundle_of`]
//! exports one record with its proof. [`keyring`] holds the server's signing and trusted keys.

mod export;
mod heads;
pub mod key_file;
pub(crate) mod keyring;
mod leaves;
pub(crate) mod listing;
mod seal;
pub mod service;
mod session;
mod store;
pub(crate) mod ties;
mod tips;

pub use export::{ExportError, bundle_of};
pub(crate) use heads::any_signed_by;
pub use heads::{HeadChainReport, Signers, verify_head_chain};
pub(crate) use leaves::{each_sealed_record, envelope_of};
pub(crate) use seal::verify_seal;
pub use seal::{SealReport, SessionState, each_session, session_state, verify_sealed_records};
pub(crate) use session::{SessionNotFound, admit_record, explained};
pub(crate) use session::{SessionVerification, verify_session};
pub use store::{Root, SealedTip, Session, head_of, root, session};
pub use tips::tip_of_task_after;
pub(crate) use tips::tips_of_seal;
