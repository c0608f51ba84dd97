//! How far a node's logical time follows that of others.
//!
//! A message may lead by 2^32 and still be accepted (consensus#logical-time). If nodes followed each such message, a single faulty
//! member could lead some honest nodes away, step by step, until the others accept none of their messages any more. So a node
//! follows the time that f + 1 members have shown: at least one of them is honest. With f = 0 it follows every message.

use std::collections::BTreeMap;

use crate::identity::SenderId;

/// The latest time that each member has shown.
#[derive(Debug, Clone, Default)]
pub(super) struct PeerTimes {
    latest: BTreeMap<SenderId, u64>,
}

impl PeerTimes {
    /// Records a member's time; returns the latest that more than `faulty` members have shown.
    pub(super) fn shown(&mut self, sender: SenderId, logical: u64, faulty: usize) -> Option<u64> {
        let latest = self.latest.entry(sender).or_default();
        *latest = logical.max(*latest);
        let mut times: Vec<u64> = self.latest.values().copied().collect();
        times.sort_unstable_by(|a, b| b.cmp(a));
        times.get(faulty).copied()
    }
}
