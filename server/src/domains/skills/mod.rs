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
mod engine;
mod loader;
mod store;

#[cfg(test)]
mod tests;

use engine::{filter, text};

pub(crate) use discovery::{MAX_FILES, PREFIX, Scan, SkillError, scan, true_root};
pub(crate) use filter::SkillFilter;
pub(crate) use loader::{Load, Loaded, path_on, root_on};
pub(crate) use store::{
    count_of, count_skills, list_skills, load_times, recorded_index, registry_digest, roots,
};
pub use text::{ParsedSkill, REASONS, Reason, Refusal, parse_skill_bytes};
