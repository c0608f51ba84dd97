//! The skill registry (skills#purpose): the declarations of the SKILL.md files below a root. It records them; it
//! grants nothing, runs nothing and never interprets a body.
//!
//! ```text
//! discovery   files below the root    (reads the disk)
//!   text      front matter | body     (pure)
//!   yaml      events -> node          (pure)
//!   frontmatter  node -> typed keys   (pure)
//! loader      scan -> one transaction
//! store       rows, listing, digest   (SQL)
//! filter                              (pure)
//! ```

mod discovery;
mod filter;
mod frontmatter;
mod loader;
mod node;
mod store;
mod text;
mod yaml;

#[cfg(test)]
mod tests;

pub use discovery::{FoundSkill, MAX_FILES, PREFIX, Scan, SkillError, scan, true_root};
pub use filter::SkillFilter;
pub use frontmatter::{CAPABILITIES, Frontmatter, GREEK_LETTERS};
pub use loader::{Load, Loaded};
pub use node::{Mapping, Node};
pub use store::{
    RecordedIndex, count_of, count_skills, list_skills, load_times, recorded_index, registry_digest, roots,
};
pub use text::{
    MAX_FILE_BYTES, MAX_FRONTMATTER_BYTES, ParsedSkill, REASONS, Reason, Refusal, parse_skill_bytes,
    parse_skill_text,
};
pub use yaml::MAX_DEPTH;
