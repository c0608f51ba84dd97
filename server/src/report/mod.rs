//! Self-contained HTML pages without scripts: the report of a session, and the [`overview`] of a database. Pure: [`model::Report`]
//! in, text out. The commands `colibri report` and `colibri overview` collect the models.
//!
//! ```text
//! model -> page -+- html     escapes: stored text cannot become markup
//!                |- frame    head and foot, for both pages
//!                |- verdict  what was verified, and what that does not prove, for both pages
//!                |- facts    session, tasks, chains
//!                |- thoughts the records in order
//!                |- foreign  the calls to other servers
//!                |- picture  the Merkle tree as SVG, folded by tree where it is large
//!                '- seal     roots, head, signature, and how to check them
//! ```

mod facts;
mod foreign;
mod frame;
pub(crate) mod html;
pub mod model;
pub(crate) mod overview;
mod page;
mod picture;
mod seal;
mod thoughts;
pub(crate) mod tree;
mod verdict;

pub use page::render;

/// What each page and each command that shows callers says below them.
pub(crate) const UNCHECKED: &str =
    "Names in quotes are as clients and agents give them; the server checks none of them.";

#[cfg(test)]
mod tests;
