//! What a round takes from outside and tells the outside (consensus#round): time, salts and sinks.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Hash, SALT_LEN};
use crate::clock::LogicalClock;
use crate::identity::SenderId;
use crate::messages::ViewChangeReason;

/// Everything that a round needs from outside. The sinks do nothing by default.
pub trait Surroundings {
    /// Returns the time in milliseconds, from any beginning; a time that goes back counts as one that stands still.
    fn now_ms(&mut self) -> u64;

    /// Returns 32 bytes that cannot be predicted, new each time.
    fn salt(&mut self) -> [u8; SALT_LEN];

    /// Returns the node's logical clock, which all its rounds share.
    fn logical(&mut self) -> &mut LogicalClock;

    /// Takes what happened in the round.
    fn zeta(&mut self, event: ZetaEvent) {
        let _ = event;
    }

    /// Takes the report that `arbiter` promised a vote and did not reveal it.
    fn mark_liveness_fault(&mut self, arbiter: &SenderId, round_id: u64) {
        let _ = (arbiter, round_id);
    }

    /// Takes the report that the committee is divided. At most once a round.
    fn fork(&mut self, event: &ForkTriggerEvent) {
        let _ = event;
    }
}

/// The report that a committee is divided: several of its views failed, with accepted votes on more than one root. The round
/// only reports it and never creates a fork.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkTriggerEvent {
    /// The round.
    pub round_id: u64,
    /// The roots in conflict, in order.
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
    /// Returns the word for the trail's `event_type`.
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::QuorumReached { .. } => "QUORUM_REACHED",
            Self::ViewChangeAccepted { .. } => "VIEW_CHANGE_ACCEPTED",
        }
    }
}
