//! One run: the real machines of all nodes, a network between them, and the checker over them. Everything follows from the plan;
//! the log's hash shows it.

use std::collections::BTreeMap;
use std::rc::Rc;

use colibri_canonical::hex;
use colibri_consensus::identity::SenderId;
use colibri_consensus::round::{Entries, Outgoing, RoundMessage, RoundState};
use colibri_consensus::signing::Signer;
use colibri_test_support::dice::Dice;
use sha2::{Digest, Sha256};

use crate::simulator::checker::Checker;
use crate::simulator::conduct::{Said, To};
use crate::simulator::lies::{ROOT_E, vote_on};
use crate::simulator::network::{Event, Mail, Network};
use crate::simulator::node::{Finality, Node};
use crate::simulator::plan::{Behaviour, Case, Plan};
use crate::simulator::setup;

/// How often faulty nodes act without being asked.
const ACT_MS: u64 = 5_000;
/// The length of an epoch: longer than any message takes once the network is timely.
const EPOCH_MS: u64 = 10_000;
/// The last epoch of finality: equivocators are caught in epochs 2 to 4, and two more are promised to be enough.
const LAST_EPOCH: u64 = 7;

/// The result of a run.
#[derive(Debug)]
pub struct Report {
    /// The log's hash in hex.
    pub log: String,
    pub events: u64,
    pub honest: usize,
    /// The view in which each honest node completed.
    pub completions: BTreeMap<usize, u64>,
    /// The highest view of an honest node.
    pub view: u64,
    pub disagreements: Vec<usize>,
    pub violations: Vec<String>,
    /// How often each honest node has called the fork hook.
    pub forks: Vec<usize>,
    /// The phases that each honest node entered.
    pub entries: Vec<Entries>,
    /// Finality of each honest node: its epoch of HARD, the last proof before, whether it was sealed in time.
    pub finality: Vec<(Option<u64>, Option<u64>, bool)>,
}

/// A running simulation.
struct Simulation {
    plan: Plan,
    network: Network,
    nodes: Vec<Node>,
    numbers: BTreeMap<SenderId, usize>,
    checker: Checker,
    log: Sha256,
    events: u64,
    /// All honest nodes have completed: messages under way arrive, and no new ones are sent.
    closing: bool,
    /// The run has reached the last view of its plan.
    given_up: bool,
    traced: bool,
}

/// Runs a plan to its end; `traced` prints every event.
pub fn run(plan: &Plan, traced: bool) -> Report {
    let mut simulation = Simulation::new(*plan, traced);
    while let Some((now, event)) = simulation.network.next() {
        simulation.happen(now, &event);
        if now > plan.horizon_ms() || simulation.given_up {
            break;
        }
    }
    simulation.report()
}

impl Simulation {
    fn new(plan: Plan, traced: bool) -> Self {
        let dice = Dice::new(plan.seed);
        let nodes = setup::nodes(&plan, &dice);
        let (network, checker) = (setup::network(&plan, &dice, &nodes), setup::checker(&plan, &nodes));
        let numbers = nodes.iter().enumerate().map(|(number, node)| (node.key.sender_id(), number)).collect();
        Self {
            plan,
            network,
            nodes,
            numbers,
            checker,
            log: Sha256::new(),
            events: 0,
            closing: false,
            given_up: false,
            traced,
        }
    }

    fn happen(&mut self, now: u64, event: &Event) {
        self.events += 1;
        match event {
            Event::Start(index) => self.touch(now, *index, |node| {
                // If others have made a node leave view 0 before its start, it has begun the next view by itself.
                let _ = node.round.begin();
            }),
            Event::Tick(index) => {
                let node = &mut self.nodes[*index];
                node.queued = None;
                if node.conduct.is_none() || !self.closing {
                    self.touch(now, *index, |node| node.round.tick().unwrap());
                }
            }
            Event::Deliver { from, to, mail } => self.deliver(now, *from, *to, mail),
            Event::Act(index) => self.act(now, *index),
            Event::Epoch(epoch) => self.epoch(now, *epoch),
        }
        if !self.closing && self.all_completed() {
            self.closing = true;
            if self.plan.finality() {
                // Finality's promises hold for a timely network.
                self.network.at(now.max(self.plan.gst_ms) + EPOCH_MS, Event::Epoch(2));
            }
        }
    }

    fn all_completed(&self) -> bool {
        let honest = |node: &&Node| node.conduct.is_none();
        self.nodes.iter().filter(honest).all(|node| node.round.state() == RoundState::Completed)
    }

    fn deliver(&mut self, now: u64, from: usize, to: usize, mail: &Rc<Mail>) {
        if let Some(conduct) = &mut self.nodes[to].conduct {
            if conduct.behaviour == Behaviour::Silent {
                return;
            }
            conduct.hear(mail);
        }
        self.note(now, to, from, mail.mark());
        let (scheme, drops_late_commits) = (self.plan.scheme, self.plan.case == Case::T6);
        self.touch(now, to, |node| match &**mail {
            Mail::Round(RoundMessage::Commit(_))
                if drops_late_commits && node.round.state() == RoundState::RevealPhase => {}
            // A refusal concerns the sender only; the checker examines the node afterwards.
            Mail::Round(message) => drop(node.round.receive(message)),
            Mail::Vote(vote) => {
                if let Some(finality) = &mut node.finality {
                    finality.receive(vote, &mut node.round, scheme);
                }
            }
        });
    }

    fn act(&mut self, now: u64, index: usize) {
        if self.closing {
            return;
        }
        let node = &mut self.nodes[index];
        node.round.surroundings_mut().now = now;
        let said = match &mut node.conduct {
            Some(conduct) => conduct.act(&mut node.round, &node.key),
            None => Vec::new(),
        };
        self.send(now, index, said);
        self.network.at(now + ACT_MS, Event::Act(index));
    }

    /// Lets a node act at a time, sends its messages, and checks it.
    fn touch(&mut self, now: u64, index: usize, what: impl FnOnce(&mut Node)) {
        let node = &mut self.nodes[index];
        node.round.surroundings_mut().now = now;
        what(node);
        let outgoing: Vec<(To, Outgoing)> = node
            .round
            .take_outgoing()
            .into_iter()
            .map(|outgoing| (outgoing.to.map_or(To::All, |to| To::One(self.numbers[&to])), outgoing))
            .collect();
        let said = match &mut node.conduct {
            Some(conduct) => conduct.say(&mut node.round, &node.key, outgoing),
            None => outgoing.into_iter().map(|(to, outgoing)| (to, Mail::Round(outgoing.message))).collect(),
        };
        self.send(now, index, said);
        self.settle(now, index);
    }

    /// Finishes an event: finality follows the round, the next deadline is queued, the invariants are checked.
    fn settle(&mut self, now: u64, index: usize) {
        let node = &mut self.nodes[index];
        let deadline = node.round.next_deadline();
        if deadline != node.queued {
            node.queued = deadline;
            if let Some(deadline) = deadline {
                self.network.at(deadline.max(now), Event::Tick(index));
            }
        }
        if node.conduct.is_none() {
            if node.round.outcome().is_some() {
                match &mut node.finality {
                    None => node.finality = Some(Finality::begin(&node.round)),
                    Some(finality) => finality.heed(&node.round),
                }
            }
            self.given_up |= node.round.view() >= self.plan.last_view();
            self.checker.after(index, &self.nodes[index]);
        }
        let round = &self.nodes[index].round;
        let state = [round.state() as u8, round.outcome().is_some().into()];
        let view = round.view();
        self.note(now, index, usize::MAX, &[&state[..], &view.to_be_bytes()].concat());
    }

    fn send(&mut self, now: u64, from: usize, said: Said) {
        let honest = self.nodes[from].conduct.is_none();
        for (to, mail) in said {
            if honest {
                self.checker.sent(from, &mail);
            }
            let mail = Rc::new(mail);
            for number in (0..self.nodes.len()).filter(|number| *number != from && to.includes(*number)) {
                self.network.send(now, from, number, &mail);
            }
        }
    }

    /// Begins an epoch of finality: all nodes vote again on what was agreed.
    fn epoch(&mut self, now: u64, epoch: u64) {
        for index in 0..self.nodes.len() {
            let node = &mut self.nodes[index];
            let root = node.round.outcome().map_or(ROOT_E, |outcome| outcome.tuple.merkle_root);
            let said = match (&mut node.conduct, &mut node.finality) {
                (Some(conduct), _) => conduct.epoch_votes(&mut node.round, &node.key, root, epoch),
                (None, Some(finality)) => {
                    finality.epoch = epoch;
                    let time = node.round.surroundings_mut().logical.next().unwrap();
                    let vote = vote_on(root, setup::ROUND, time, &node.key);
                    finality.feed(&vote);
                    vec![(To::All, Mail::Vote(vote))]
                }
                (None, None) => Vec::new(),
            };
            self.send(now, index, said);
            if let Some(Behaviour::Replay) =
                self.nodes[index].conduct.as_ref().map(|conduct| conduct.behaviour)
            {
                let node = &mut self.nodes[index];
                let said = node.conduct.as_mut().map(|conduct| conduct.act(&mut node.round, &node.key));
                self.send(now, index, said.unwrap_or_default());
            }
            self.settle(now, index);
        }
        if epoch < LAST_EPOCH {
            self.network.at(now + EPOCH_MS, Event::Epoch(epoch + 1));
        }
    }

    /// Puts an event into the log.
    fn note(&mut self, now: u64, node: usize, from: usize, what: &[u8]) {
        for number in [now, node as u64, from as u64, what.len() as u64] {
            self.log.update(number.to_be_bytes());
        }
        self.log.update(what);
        if self.traced {
            self.trace(now, node, from);
        }
    }

    fn trace(&self, now: u64, node: usize, from: usize) {
        let Node { round, conduct, finality, .. } = &self.nodes[node];
        let manner = conduct.as_ref().map(|conduct| conduct.behaviour);
        if from == usize::MAX {
            let level = finality.as_ref().map(|finality| finality.machine.current());
            println!(
                "{now:>9} ms  node {node:>3} {manner:?} {} view {} {level:?}",
                round.state(),
                round.view()
            );
        } else {
            println!("{now:>9} ms  node {node:>3} hears node {from}");
        }
    }

    fn report(mut self) -> Report {
        let honest = |node: &&mut Node| node.conduct.is_none();
        let mut finality = Vec::new();
        let (mut forks, mut entries, mut view) = (Vec::new(), Vec::new(), 0);
        for node in self.nodes.iter_mut().filter(honest) {
            view = view.max(node.round.view());
            forks.push(node.round.surroundings().forks.len());
            entries.push(node.round.entries());
            if let Some(state) = node.finality.as_mut().filter(|_| self.plan.finality()) {
                let sealed = state.seals_in_time();
                finality.push((state.hard_epoch(), state.last_proof_before_hard, sealed));
            }
        }
        Report {
            log: hex::encode(&self.log.finalize()),
            events: self.events,
            honest: forks.len(),
            completions: self.checker.completions(),
            view,
            disagreements: self.checker.disagreements,
            violations: self.checker.violations,
            forks,
            entries,
            finality,
        }
    }
}
