//! The surroundings of a simulated node's round: a clock that the simulation sets, salts, and sinks that remember.

use colibri_consensus::clock::LogicalClock;
use colibri_consensus::identity::SenderId;
use colibri_consensus::round::{ForkTriggerEvent, Surroundings, ZetaEvent, ZetaPayload};
use colibri_test_support::dice::Dice;

#[derive(Debug, Clone)]
pub struct Desk {
    /// Milliseconds since the simulation began.
    pub now: u64,
    pub logical: LogicalClock,
    pub salts: Dice,
    pub events: Vec<ZetaEvent>,
    /// The members that the round has called silent, once for each time.
    pub silent: Vec<SenderId>,
    pub forks: Vec<ForkTriggerEvent>,
}

impl Desk {
    pub fn new(salts: Dice) -> Self {
        let (events, silent, forks) = (Vec::new(), Vec::new(), Vec::new());
        Self { now: 0, logical: LogicalClock::default(), salts, events, silent, forks }
    }

    /// Returns how often the round has reported a quorum.
    pub fn quorums(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.payload, ZetaPayload::QuorumReached { .. })).count()
    }
}

impl Surroundings for Desk {
    fn now_ms(&mut self) -> u64 {
        self.now
    }

    fn salt(&mut self) -> [u8; 32] {
        self.salts.bytes()
    }

    fn logical(&mut self) -> &mut LogicalClock {
        &mut self.logical
    }

    fn zeta(&mut self, event: ZetaEvent) {
        self.events.push(event);
    }

    fn mark_liveness_fault(&mut self, arbiter: &SenderId, _round_id: u64) {
        self.silent.push(*arbiter);
    }

    fn fork(&mut self, event: &ForkTriggerEvent) {
        self.forks.push(event.clone());
    }
}
