//! How a run begins: the members, the faulty ones among them, and the first events.

use std::collections::BTreeSet;

use colibri_consensus::canonical::Hash;
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{VoteGroup, VoteType};
use colibri_consensus::round::{Round, RoundConfig, committee_of};
use colibri_consensus::signing::Signer;
use colibri_test_support::dice::Dice;

use crate::simulator::checker::Checker;
use crate::simulator::conduct::Conduct;
use crate::simulator::desk::Desk;
use crate::simulator::keys::Key;
use crate::simulator::lies::{ROOT_E, ROOT_F, RULES};
use crate::simulator::network::{Event, Network};
use crate::simulator::node::Node;
use crate::simulator::plan::{Behaviour, Plan};

pub const ROUND: u64 = 1;
/// Nodes begin within this time.
const START_MS: u64 = 1_000;

/// Makes all nodes, at time 0.
pub fn nodes(plan: &Plan, dice: &Dice) -> Vec<Node> {
    let seeds = dice.stream(1);
    let keys: Vec<Key> = (0..plan.n).map(|_| plan.scheme.key(seeds.bytes())).collect();
    let public_keys: Vec<_> = keys.iter().map(Signer::public_key).collect();
    let faulty = dice.stream(2).choose(plan.faulty(), plan.n);
    let node = |(index, key): (usize, &Key)| {
        let place = faulty.iter().position(|faulty| *faulty == index);
        let root = root_of(plan, index, place.is_some());
        let config = RoundConfig {
            round_id: ROUND,
            committee: committee_of(&public_keys),
            arbiter_id: key.sender_id(),
            leader: keys[0].sender_id(),
            prev_merkle_root: [0; 32],
            tuple: VoteGroup { round_id: ROUND, merkle_root: root, rule_version_hash: RULES },
            vote_type: VoteType::Accept,
        };
        let desk = Desk::new(dice.stream(1_000 + index as u64));
        let round = Round::new(config, key.clone(), plan.scheme, desk).unwrap();
        let draws = dice.stream(2_000 + index as u64);
        let conduct = place.map(|place| Conduct::new(plan.behaviour, place as u64, draws));
        Node { round, key: key.clone(), conduct, finality: None, queued: None }
    };
    keys.iter().enumerate().map(node).collect()
}

/// Makes the network, with each node's beginning queued.
pub fn network(plan: &Plan, dice: &Dice, nodes: &[Node]) -> Network {
    let mut network = Network::new(plan.gst_ms, dice.stream(3));
    let starts = dice.stream(4);
    for (index, node) in nodes.iter().enumerate() {
        network.at(starts.below(START_MS), Event::Start(index));
        if plan.acts() && node.conduct.is_some() {
            network.at(0, Event::Act(index));
        }
    }
    network
}

/// Makes the checker, which alone knows the honest nodes.
pub fn checker(plan: &Plan, nodes: &[Node]) -> Checker {
    let public_keys: Vec<_> = nodes.iter().map(|node| node.key.public_key()).collect();
    let honest = nodes.iter().filter(|node| node.conduct.is_none());
    let honest: BTreeSet<SenderId> = honest.map(|node| node.key.sender_id()).collect();
    Checker::new(plan.scheme, committee_of(&public_keys), honest)
}

/// Returns the root that a node votes on.
fn root_of(plan: &Plan, index: usize, faulty: bool) -> Hash {
    let divergent = faulty && plan.behaviour == Behaviour::Divergent;
    let other_side = !faulty && plan.split() && index.is_multiple_of(2);
    if divergent || other_side { ROOT_F } else { ROOT_E }
}
