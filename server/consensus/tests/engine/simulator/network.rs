//! The network and the queue of what will happen, ordered by time and then by the order in which it was caused. Messages are
//! doubled and overtake one another; before the global stabilisation time they are also lost and held up.

use std::collections::BTreeMap;
use std::rc::Rc;

use colibri_consensus::messages::Vote;
use colibri_consensus::round::RoundMessage;
use colibri_test_support::dice::Dice;

const LOST_PERCENT: u64 = 30;
const DOUBLED_PERCENT: u64 = 10;
const EARLY_DELAY_MS: u64 = 40_000;
const DELAY_MS: u64 = 2_000;

/// A message on its way.
#[derive(Debug, Clone)]
pub enum Mail {
    /// A message of the round.
    Round(RoundMessage),
    /// A vote of an epoch after the round.
    Vote(Vote),
}

impl Mail {
    /// Returns bytes that tell messages apart: a node that changes a message signs it anew.
    pub fn mark(&self) -> &[u8] {
        match self {
            Self::Round(RoundMessage::Commit(commit)) => &commit.signature,
            Self::Round(RoundMessage::Reveal(reveal)) => &reveal.signature,
            Self::Round(RoundMessage::ViewChange(change)) => &change.signature,
            Self::Round(RoundMessage::Certificate(certificate)) => {
                certificate.votes.first().map_or(&[], |vote| &vote.signature)
            }
            Self::Vote(vote) => &vote.signature,
        }
    }
}

/// An event of the simulation.
#[derive(Debug, Clone)]
pub enum Event {
    /// A node begins the round.
    Start(usize),
    /// A message arrives.
    Deliver { from: usize, to: usize, mail: Rc<Mail> },
    /// A node's deadline is reached.
    Tick(usize),
    /// A faulty node does something of its own accord.
    Act(usize),
    /// An epoch of finality begins.
    Epoch(u64),
}

/// The queue and the network in front of it.
#[derive(Debug)]
pub struct Network {
    gst_ms: u64,
    dice: Dice,
    queue: BTreeMap<(u64, u64), Event>,
    caused: u64,
}

impl Network {
    pub fn new(gst_ms: u64, dice: Dice) -> Self {
        Self { gst_ms, dice, queue: BTreeMap::new(), caused: 0 }
    }

    /// Schedules an event at a time.
    pub fn at(&mut self, time: u64, event: Event) {
        self.queue.insert((time, self.caused), event);
        self.caused += 1;
    }

    /// Returns the next event, with its time.
    pub fn next(&mut self) -> Option<(u64, Event)> {
        self.queue.pop_first().map(|((time, _), event)| (time, event))
    }

    /// Sends a message, once or twice; each copy is delayed or lost by itself.
    pub fn send(&mut self, now: u64, from: usize, to: usize, mail: &Rc<Mail>) {
        let copies = if self.dice.chance(DOUBLED_PERCENT) { 2 } else { 1 };
        for _ in 0..copies {
            let early = now < self.gst_ms;
            if early && self.dice.chance(LOST_PERCENT) {
                continue;
            }
            let delay = self.dice.below(if early { EARLY_DELAY_MS } else { DELAY_MS } + 1);
            self.at(now + delay, Event::Deliver { from, to, mail: Rc::clone(mail) });
        }
    }
}
