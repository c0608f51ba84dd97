//! The handlers: the generated traits, implemented for [`Domains`], one file a domain. A handler reads what it needs from the
//! context of its call ([`cx`]), calls its domain, and gives back the typed result.

mod consensus;
pub mod cx;
mod proof;
mod reputation;
pub mod retention;
mod router;
mod skills;
mod system;
mod tasks;
#[cfg(test)]
mod tests;
mod trail;

use self::consensus::Consensus;
use self::cx::Cx;
use crate::catalogue::Handlers;
use crate::domains::reputation::writer::Recording;

/// The handlers of every domain. What lasts is in the database, or in the context; what consensus keeps between calls is
/// its process's key, and what it need not read again.
#[derive(Debug, Default)]
pub struct Domains {
    consensus: Consensus,
}

impl Handlers<Cx> for Domains {
    fn rolled_back(&mut self) {
        self.consensus.rolled_back();
    }
}

/// How reputation records what the running call has finished; `None` where finished work does not feed reputation.
fn recording(cx: &Cx) -> Option<Recording> {
    cx.config().reputation_feed.then(|| recording_at(cx))
}

/// The time and the number of the running call, as reputation records them.
fn recording_at(cx: &Cx) -> Recording {
    Recording {
        now_ms: cx.called_ms(),
        sequence_no: cx.sequence_no(),
        epoch_seconds: cx.config().epoch_seconds,
    }
}
