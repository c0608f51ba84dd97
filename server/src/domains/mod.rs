//! What the tools do: one folder a domain, each with the generated trait's implementation in `mod.rs`,
//! pure engine files, and its SQL in `store.rs`.

pub mod consensus;
pub mod proof;
pub mod reputation;
pub mod router;
pub mod skills;
pub mod system;
pub mod tasks;
pub mod ties;
pub mod trail;

use crate::catalogue::Handlers;
use crate::context::Cx;

/// The handlers of every domain. What lasts is in the database, or in the context; what consensus keeps between calls is
/// its process's key, and what it need not read again.
#[derive(Debug, Default)]
pub struct Domains {
    consensus: consensus::Consensus,
}

impl Handlers<Cx> for Domains {
    fn rolled_back(&mut self) {
        self.consensus.rolled_back();
    }
}
