//! What a round takes from outside and tells the outside (consensus#round): time, salts and sinks.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Hash, SALT_LEN};
use crate::clock::LogicalClock;
use crate::identity::SenderId;
use crate::messages::ViewChangeReason;

/// All that a round does not know by itself. The sinks do nothing unless somebody listens.
pub trait Surroundings {
    /// The time in milliseconds, from any beginning; a time that goes back is taken as one that stands still.
    fn now_ms(&mut self) -> u64;

    /// 32 bytes that nobody can guess, new each time.
    fn salt(&mut self) -> [u8; SALT_LEN];

    /// The node's logical clock, which all its rounds share.
    fn logical(&mut self) -> &mut LogicalClock;

    /// Takes what happened in the round.
    fn zeta(&mut self, event: ZetaEvent) {
        let _ = event;
    }

    /// Takes note that `arbiter` promised a vote and did not reveal it.
    fn mark_liveness_fault(&mut self, arbiter: &SenderId, round_id: u64) {
        let _ = (arbiter, round_id);
    }

    /// Takes note that the committee is divided. At most once a round.
    fn fork(&mut self, event: &ForkTriggerEvent) {
        let _ = event;
    }
}

/// That a committee is divided: several of its views failed, with accepted votes on more than one root. The round only
/// signals it and never creates a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkTriggerEvent {
    /// The round.
    pub round_id: u64,
    /// The roots that stand against one another, in order.
    pub divergent_roots: BTreeSet<Hash>,
    /// The rules in force.
    pub rule_version_hash: Hash,
    /// When, in logical time.
    pub timestamp_logical: u64,
}

/// Something that happened in a round, for the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZetaEvent {
    /// The round.
    pub round_id: u64,
    /// The node's logical time.
    pub logical_clock: u64,
    /// What it was.
    pub payload: ZetaPayload,
}

/// What happened in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ZetaPayload {
    /// The node knows of a quorum.
    QuorumReached {
        /// The agreed root.
        merkle_root: Hash,
        /// The rules under which it was made.
        rule_version_hash: Hash,
        /// The node's view.
        view: u64,
        /// Who accepted.
        voters: BTreeSet<SenderId>,
    },
    /// A quorum wished to leave a view.
    ViewChangeAccepted {
        /// The node's view before.
        from_view: u64,
        /// Its view from now on.
        to_view: u64,
        /// Who led.
        old_leader: SenderId,
        /// Who leads.
        new_leader: SenderId,
        /// How often each reason was given.
        reasons: BTreeMap<ViewChangeReason, u64>,
    },
}

impl ZetaPayload {
    /// The word for the trail's `event_type`.
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::QuorumReached { .. } => "QUORUM_REACHED",
            Self::ViewChangeAccepted { .. } => "VIEW_CHANGE_ACCEPTED",
        }
    }
}
