//! The pure code of skills: from the bytes of a file to typed front matter, and the filter of listings. Same input, same output.

pub(super) mod filter;
pub(super) mod frontmatter;
pub(super) mod node;
pub(super) mod text;
pub(super) mod yaml;
