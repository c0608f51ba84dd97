//! What must hold of the work tree: rules that the compiler does not know, pages that name tests or commands, published output.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod citations;
mod engines;
mod findings;
mod formats;
mod frozen;
mod growth_page;
mod hosts;
mod promises;
mod tidy;
mod words;
