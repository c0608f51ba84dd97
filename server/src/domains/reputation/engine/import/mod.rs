//! An import: its text, and the plan made of it.

pub(crate) mod plan;
pub(crate) mod text;
