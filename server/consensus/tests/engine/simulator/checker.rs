//! The invariants of consensus#simulator, checked after every event for the node that it touched.

use std::collections::{BTreeMap, BTreeSet};

use colibri_consensus::equivocation::{build_equivocation_proof, verify_equivocation_proof};
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{Vote, VoteGroup};
use colibri_consensus::round::{Committee, RoundMessage, RoundState};

use crate::simulator::keys::Scheme;
use crate::simulator::network::Mail;
use crate::simulator::node::Node;

/// What is known of one honest node.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The tuple that it has signed.
    signed: Option<VoteGroup>,
    completed: Option<(VoteGroup, u64)>,
    view: u64,
    level: Option<FinalityLevel>,
    proofs: usize,
}

/// What is known of the whole run.
#[derive(Debug)]
pub struct Checker {
    scheme: Scheme,
    committee: Committee,
    /// Honest members, by id.
    honest: BTreeSet<SenderId>,
    known: Vec<Known>,
    /// Tuples that honest nodes have revealed.
    revealed: BTreeSet<VoteGroup>,
    /// The first completed tuple, with the votes that showed it.
    agreed: Option<(VoteGroup, Vec<Vote>)>,
    /// For each completion on another tuple than the first, how many arbiters are provably guilty of it.
    pub disagreements: Vec<usize>,
    /// Violations of all other invariants.
    pub violations: Vec<String>,
}

impl Checker {
    pub fn new(scheme: Scheme, committee: Committee, honest: BTreeSet<SenderId>) -> Self {
        let known = vec![Known::default(); committee.len()];
        let (revealed, agreed) = (BTreeSet::new(), None);
        let (disagreements, violations) = (Vec::new(), Vec::new());
        Self { scheme, committee, honest, known, revealed, agreed, disagreements, violations }
    }

    fn violated(&mut self, index: usize, what: &str) {
        self.violations.push(format!("node {index}: {what}"));
    }

    /// Checks what an honest node sends. Vote lock: one tuple a round.
    pub fn sent(&mut self, index: usize, mail: &Mail) {
        let vote = match mail {
            Mail::Round(RoundMessage::Reveal(reveal)) => {
                self.revealed.insert(reveal.vote.group());
                &reveal.vote
            }
            Mail::Vote(vote) => vote,
            Mail::Round(_) => return,
        };
        let group = vote.group();
        if *self.known[index].signed.get_or_insert(group) != group {
            self.violated(index, "vote lock: it has signed two tuples");
        }
    }

    /// Checks an honest node after an event.
    pub fn after(&mut self, index: usize, node: &Node) {
        self.completion(index, node);
        self.proofs(index, node);
        self.bounds(index, node);
        let certified = node.finality.as_ref().and_then(|finality| finality.machine.anchor_group());
        if certified.is_some() && certified != self.known[index].completed.map(|(tuple, _)| tuple) {
            self.violated(index, "finality follows another tuple than the round's");
        }
        let known = &mut self.known[index];
        let level = node.finality.as_ref().map(|finality| finality.machine.current());
        let falls = level < known.level;
        let goes_back = node.round.view() < known.view;
        (known.level, known.view) = (level, node.round.view());
        if falls || goes_back {
            self.violated(index, "monotonicity: a level or a view went down");
        }
    }

    /// Checks agreement and validity.
    fn completion(&mut self, index: usize, node: &Node) {
        let now = node.round.outcome().map(|outcome| (outcome.tuple, outcome.view));
        let before = self.known[index].completed;
        if now == before {
            return;
        }
        let (Some(outcome), None) = (node.round.outcome(), before) else {
            return self.violated(index, "a completed round changed");
        };
        self.known[index].completed = now;
        if node.round.state() != RoundState::Completed || node.round.surroundings().quorums() != 1 {
            self.violated(index, "completion is not a state told of once");
        }
        if !self.revealed.contains(&outcome.tuple) {
            self.violated(index, "validity: no honest node has revealed the tuple");
        }
        let (agreed, votes) = self.agreed.get_or_insert_with(|| (outcome.tuple, outcome.votes.clone()));
        if *agreed != outcome.tuple {
            let guilty = guilty(votes, &outcome.votes, &self.committee, self.scheme);
            self.disagreements.push(guilty);
        }
    }

    /// Checks that no accusation is false: every proven equivocator is faulty, and its proof is valid.
    fn proofs(&mut self, index: usize, node: &Node) {
        let proofs = node.round.equivocations().proofs();
        if proofs.len() == self.known[index].proofs {
            return;
        }
        self.known[index].proofs = proofs.len();
        for (arbiter, proof) in proofs {
            let valid = verify_equivocation_proof(proof, &self.committee[arbiter], &self.scheme);
            if valid.is_err() || self.honest.contains(arbiter) {
                self.violated(index, "false accusation");
            }
        }
    }

    /// Checks that buffers are bounded.
    fn bounds(&mut self, index: usize, node: &Node) {
        let (held, n) = (node.round.held(), self.committee.len());
        let within = held.ballots <= 3 * n && held.backlog <= n * n && held.wishes <= n && held.proofs <= n;
        if !within {
            self.violated(index, &format!("bounded buffers: {held:?}"));
        }
    }

    /// Returns the views in which honest nodes have completed, by node.
    pub fn completions(&self) -> BTreeMap<usize, u64> {
        let known = self.known.iter().enumerate();
        known.filter_map(|(index, known)| Some((index, known.completed?.1))).collect()
    }
}

/// Counts, for accountability, the arbiters that have signed both of two quorums, proven by their own votes.
fn guilty(a: &[Vote], b: &[Vote], committee: &Committee, scheme: Scheme) -> usize {
    let others: BTreeMap<SenderId, &Vote> = b.iter().map(|vote| (vote.sender_id, vote)).collect();
    let pairs = a.iter().filter_map(|vote| Some((vote, *others.get(&vote.sender_id)?)));
    let proven = pairs.filter(|(vote, other)| {
        let proof = build_equivocation_proof(vote, other, FinalityLevel::Quorum).unwrap();
        verify_equivocation_proof(&proof, &committee[&vote.sender_id], &scheme).is_ok()
    });
    proven.count()
}
