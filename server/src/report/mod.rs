//! A session's report: one self-contained HTML page without scripts. Pure: [`model::Report`] in, text out. The command
//! `colibri report` collects the model.
//!
//! ```text
//! model -> page -+- html     escapes: stored text cannot become markup
//!                |- facts    verdict, session, tasks, chains
//!                |- thoughts the records in order
//!                |- picture  the Merkle tree as SVG, folded by tree where it is large
//!                '- seal     roots, head, signature, and how to check them
//! ```

mod facts;
pub(crate) mod html;
pub mod model;
mod page;
mod picture;
mod seal;
mod thoughts;
pub(crate) mod tree;

pub use page::render;

#[cfg(test)]
mod tests;
