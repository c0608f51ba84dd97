//! A session's report: one HTML page that stands alone, without scripts and without anything from elsewhere.
//! Pure: [`model::Report`] in, text out; `colibri report` gathers the model.
//!
//! ```text
//! model -> page -+- html     escapes: stored text cannot become markup
//!                |- facts    verdict, session, tasks, chains
//!                |- thoughts the records in order
//!                |- picture  the Merkle tree as SVG, folded by tree where it is large
//!                '- seal     roots, head, signature, and how to check them
//! ```

mod facts;
pub mod html;
pub mod model;
mod page;
mod picture;
mod seal;
mod thoughts;
pub mod tree;

pub use page::render;

#[cfg(test)]
mod tests;
