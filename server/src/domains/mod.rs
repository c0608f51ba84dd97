//! What the tools do: one folder a domain, with pure engine files, its services, and its SQL in `store.rs`. The generated
//! traits are implemented above, in `tools`.

pub mod consensus;
pub mod proof;
pub mod reputation;
pub mod retention;
pub mod router;
pub mod skills;
pub mod system;
pub mod tasks;
pub mod ties;
pub mod trail;
