//! How faulty nodes behave. Each runs the honest machine and changes its messages. They know one another, and may do anything
//! except sign for honest nodes.

use std::rc::Rc;

use colibri_consensus::canonical::{Hash, MAX_INTEGER};
use colibri_consensus::messages::{Commit, Reveal, SignedMessage, Vote, commit_hash};
use colibri_consensus::round::{Outgoing, RoundMessage, Surroundings};
use colibri_test_support::dice::Dice;

use crate::simulator::keys::Key;
use crate::simulator::lies::{ROOT_E, ROOT_F, bomb, broken, creep, forged, missigned, spam, vote_on};
use crate::simulator::network::Mail;
use crate::simulator::node::Round;
use crate::simulator::plan::Behaviour;

/// How many messages a replaying node keeps, and sends again at a time.
const KEPT: usize = 64;
const REPLAYED: usize = 6;
/// By how many steps a faulty node shifts logical time.
const STEPS: u64 = 8;

/// The receivers of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    All,
    One(usize),
    /// Nodes of odd or of even number.
    Odd(bool),
}

impl To {
    pub fn includes(self, node: usize) -> bool {
        match self {
            Self::All => true,
            Self::One(one) => node == one,
            Self::Odd(odd) => (node % 2 == 1) == odd,
        }
    }
}

/// A faulty node's behaviour, and what it remembers for it.
#[derive(Debug)]
pub struct Conduct {
    pub behaviour: Behaviour,
    /// Its number among the faulty ones.
    pub place: u64,
    dice: Dice,
    kept: Vec<Rc<Mail>>,
    /// The two votes of the view, with their salt.
    double: Option<(Vote, Vote, [u8; 32])>,
}

pub type Said = Vec<(To, Mail)>;

impl Conduct {
    pub fn new(behaviour: Behaviour, place: u64, dice: Dice) -> Self {
        Self { behaviour, place, dice, kept: Vec::new(), double: None }
    }

    /// Returns what it sends in place of the honest machine's messages.
    pub fn say(&mut self, round: &mut Round, key: &Key, honest: Vec<(To, Outgoing)>) -> Said {
        let mut said = Vec::new();
        for (to, outgoing) in honest {
            self.bend(round, key, to, outgoing.message, &mut said);
        }
        said
    }

    fn bend(&mut self, round: &mut Round, key: &Key, to: To, message: RoundMessage, said: &mut Said) {
        match (self.behaviour, message) {
            (Behaviour::Silent, _) | (Behaviour::Withhold, RoundMessage::Reveal(_)) => {}
            (Behaviour::Equivocate, RoundMessage::Commit(commit)) => {
                said.extend(self.double_commit(round, key, &commit));
            }
            (Behaviour::Equivocate, RoundMessage::Reveal(reveal)) => {
                said.extend(self.double_reveal(key, &reveal));
            }
            (Behaviour::BadReveal, RoundMessage::Reveal(reveal)) => {
                said.push((to, Mail::Round(RoundMessage::Reveal(broken(reveal, key)))));
            }
            (Behaviour::BadSignature, message) => {
                let members = round.config().committee.len() as u64;
                let victim = self.dice.below(members) as usize;
                let victim = *round.config().committee.keys().nth(victim).unwrap();
                said.push((To::All, Mail::Round(forged(message.clone(), victim, key))));
                said.push((to, Mail::Round(missigned(message, key))));
            }
            (Behaviour::ClockBomb, message) => said.push((to, Mail::Round(bomb(message, key)))),
            (_, message) => said.push((to, Mail::Round(message))),
        }
    }

    /// Remembers what it receives, if it will send it again.
    pub fn hear(&mut self, mail: &Rc<Mail>) {
        if self.behaviour != Behaviour::Replay {
            return;
        }
        if self.kept.len() < KEPT {
            self.kept.push(Rc::clone(mail));
        } else if self.dice.chance(10) {
            let place = self.dice.below(KEPT as u64) as usize;
            self.kept[place] = Rc::clone(mail);
        }
    }

    /// Returns what it sends unasked; the simulation asks all the time.
    pub fn act(&mut self, round: &mut Round, key: &Key) -> Said {
        match self.behaviour {
            Behaviour::Replay => (0..REPLAYED.min(self.kept.len())).map(|_| (To::All, self.old())).collect(),
            Behaviour::VcSpam => (0..3).map(|ahead| (To::All, spam(round, key, ahead))).collect(),
            Behaviour::ClockCreep => {
                (1..=STEPS).map(|step| (To::Odd(true), creep(round, key, step))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn old(&mut self) -> Mail {
        let place = self.dice.below(self.kept.len() as u64) as usize;
        (*self.kept[place]).clone()
    }

    /// Promises one vote to odd nodes, another to even ones.
    fn double_commit(&mut self, round: &mut Round, key: &Key, commit: &Commit) -> Said {
        let desk = round.surroundings_mut();
        let salt = desk.salt();
        let mut vote = |root| vote_on(root, commit.round_id, desk.logical.next().unwrap(), key);
        let (e, f) = (vote(ROOT_E), vote(ROOT_F));
        let mut promise = |vote: &Vote, odd| {
            let timestamp_logical = desk.logical.next().unwrap();
            let commit_hash = commit_hash(vote, &salt).unwrap();
            let commit = Commit { commit_hash, timestamp_logical, ..commit.clone() };
            (To::Odd(odd), Mail::Round(RoundMessage::Commit(commit.signed_by(key).unwrap())))
        };
        let said = vec![promise(&e, true), promise(&f, false)];
        self.double = Some((e, f, salt));
        said
    }

    fn double_reveal(&self, key: &Key, reveal: &Reveal) -> Said {
        let Some((e, f, salt)) = &self.double else { return Vec::new() };
        let reveal = |vote: &Vote, odd| {
            let reveal = Reveal { vote: vote.clone(), salt: *salt, ..reveal.clone() };
            (To::Odd(odd), Mail::Round(RoundMessage::Reveal(reveal.signed_by(key).unwrap())))
        };
        vec![reveal(e, true), reveal(f, false)]
    }

    /// Returns its votes in an epoch of finality on `root`. Equivocators show two votes to all nodes, each in its own epoch, and
    /// are caught.
    pub fn epoch_votes(&mut self, round: &mut Round, key: &Key, root: Hash, epoch: u64) -> Said {
        let round_id = round.config().round_id;
        let logical = round.surroundings_mut().logical();
        let mut vote = |root| vote_on(root, round_id, logical.next().unwrap(), key);
        let mut said = match self.behaviour {
            Behaviour::Silent | Behaviour::Withhold => Vec::new(),
            Behaviour::Divergent => vec![(To::All, vote(ROOT_F))],
            Behaviour::Equivocate if epoch == 2 + self.place % 3 => {
                vec![(To::All, vote(ROOT_E)), (To::All, vote(ROOT_F))]
            }
            Behaviour::Equivocate => vec![(To::Odd(true), vote(ROOT_E)), (To::Odd(false), vote(ROOT_E))],
            _ => vec![(To::All, vote(root))],
        };
        for (_, vote) in &mut said {
            match self.behaviour {
                Behaviour::BadSignature => vote.signature[7] ^= 1,
                Behaviour::ClockBomb => {
                    vote.timestamp_logical = MAX_INTEGER;
                    *vote = vote.clone().signed_by(key).unwrap();
                }
                _ => {}
            }
        }
        said.into_iter().map(|(to, vote)| (to, Mail::Vote(vote))).collect()
    }
}
