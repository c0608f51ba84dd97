//! The handlers: the generated traits, implemented for [`Domains`], one file per domain. A handler reads the context
//! of its call ([`cx`]), calls its domain, and returns the typed result.

pub mod callers;
mod consensus;
pub mod cx;
pub mod notes;
mod proof;
mod reputation;
mod router;
mod skills;
mod system;
mod tasks;
#[cfg(test)]
mod tests;
mod trail;
mod wrap;

use self::consensus::Consensus;
use self::cx::Cx;
use crate::catalogue::Handlers;
use crate::domains::reputation::writer::Recording;

/// The handlers of every domain. Lasting state is in the database or in the context. Between calls consensus keeps
/// only its process's key, and a cache of its rows.
#[derive(Debug, Default)]
pub struct Domains {
    consensus: Consensus,
}

impl Handlers<Cx> for Domains {
    fn rolled_back(&mut self) {
        self.consensus.rolled_back();
    }
}

/// Returns how reputation records the work that the running call finishes; `None` if finished work does not feed
/// reputation.
fn recording(cx: &Cx) -> Option<Recording> {
    cx.parts.config.reputation_feed.then(|| recording_at(cx))
}

/// Returns the time and the number of the running call for reputation.
fn recording_at(cx: &Cx) -> Recording {
    Recording {
        now_ms: cx.called_ms(),
        sequence_no: cx.sequence_no(),
        epoch_seconds: cx.parts.config.epoch_seconds,
    }
}
