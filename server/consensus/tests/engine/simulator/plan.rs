//! The plan of a simulated run: a text that names it completely, so that a failing run can be repeated from its line.

use std::fmt;
use std::str::FromStr;

use colibri_consensus::quorum::max_faulty;

use crate::simulator::keys::Scheme;

/// The tests of consensus#simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// At most f faulty.
    T1,
    /// Honest members split over two roots, f equivocators.
    T2,
    /// The same with f + 1: agreement must break.
    T3,
    /// f + 1 silent.
    T4,
    /// T1 and epochs of finality after it.
    T5,
    /// T1 without late promises.
    T6,
    /// One arbiter.
    T7,
}

/// What faulty members do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Behaviour {
    /// Nothing.
    Silent,
    /// Promises and never reveals.
    Withhold,
    /// Votes on another root.
    Divergent,
    /// Votes on one root to odd nodes, on another to even ones.
    Equivocate,
    /// Reveals what was not promised.
    BadReveal,
    /// Signs wrongly, and in others' names.
    BadSignature,
    /// Sends old messages again, its own and others'.
    Replay,
    /// Wishes to leave this view and the next two, all the time.
    VcSpam,
    /// Gives 2^63 - 1 as the logical time.
    ClockBomb,
    /// Leads odd nodes' logical time away in steps that are just accepted, so that even nodes no longer accept theirs. Not
    /// one of the chapter's nine.
    ClockCreep,
}

impl Behaviour {
    pub const ALL: [Self; 10] = [
        Self::Silent,
        Self::Withhold,
        Self::Divergent,
        Self::Equivocate,
        Self::BadReveal,
        Self::BadSignature,
        Self::Replay,
        Self::VcSpam,
        Self::ClockBomb,
        Self::ClockCreep,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Withhold => "withhold",
            Self::Divergent => "divergent",
            Self::Equivocate => "equivocate",
            Self::BadReveal => "bad_reveal",
            Self::BadSignature => "bad_signature",
            Self::Replay => "replay",
            Self::VcSpam => "vc_spam",
            Self::ClockBomb => "clock_bomb",
            Self::ClockCreep => "clock_creep",
        }
    }
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub case: Case,
    pub n: usize,
    pub behaviour: Behaviour,
    /// Until when the network may lose and hold up messages, in milliseconds.
    pub gst_ms: u64,
    pub seed: u64,
    pub scheme: Scheme,
}

impl Plan {
    /// Returns how many members are faulty.
    pub fn faulty(&self) -> usize {
        let bearable = max_faulty(self.n as u64).unwrap() as usize;
        match self.case {
            Case::T3 | Case::T4 => bearable + 1,
            _ => bearable,
        }
    }

    /// Checks whether faulty members send messages unasked.
    pub fn acts(&self) -> bool {
        matches!(self.behaviour, Behaviour::Replay | Behaviour::VcSpam | Behaviour::ClockCreep)
    }

    /// Checks whether odd and even honest members vote on different roots.
    pub fn split(&self) -> bool {
        matches!(self.case, Case::T2 | Case::T3)
    }

    /// Checks whether epochs of finality follow the round.
    pub fn finality(&self) -> bool {
        matches!(self.case, Case::T5 | Case::T7)
    }

    /// Returns the view at which an unfinished run is stopped.
    pub fn last_view(&self) -> u64 {
        match self.case {
            Case::T2 => self.n as u64 + 2,
            Case::T3 => 3,
            _ => 40,
        }
    }

    /// Returns the time at which an unfinished run is stopped, in milliseconds; only halted runs reach it.
    pub fn horizon_ms(&self) -> u64 {
        match self.case {
            Case::T4 => 20 * 60_000,
            _ => 6 * 3_600_000,
        }
    }

    /// Returns the command that repeats the run, with every event printed.
    pub fn replay(&self) -> String {
        let test = format!("{:?}", self.case).to_lowercase();
        format!(
            "COLIBRI_SIM_SEED={self} cargo test -p colibri-consensus --test engine ::{test}_ -- --nocapture"
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, n, behaviour, gst_ms, seed, scheme } = self;
        let behaviour = behaviour.as_str();
        let text = format!("{case:?}:n={n}:{behaviour}:gst={gst_ms}:seed={seed}:{scheme:?}");
        f.write_str(&text.to_lowercase())
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("COLIBRI_SIM_SEED: `{text}` is not what a failing run printed");
        let parts: Vec<&str> = text.split(':').collect();
        let [case, n, behaviour, gst, seed, scheme] = parts.as_slice() else { return Err(wrong()) };
        let cases = [Case::T1, Case::T2, Case::T3, Case::T4, Case::T5, Case::T6, Case::T7];
        let named = |found: &str, value: &dyn fmt::Debug| format!("{value:?}").to_lowercase() == found;
        let number = |part: &str, key: &str| part.strip_prefix(key)?.parse::<u64>().ok();
        let plan = || {
            Some(Self {
                case: cases.into_iter().find(|value| named(case, value))?,
                n: usize::try_from(number(n, "n=")?).ok()?,
                behaviour: Behaviour::ALL.into_iter().find(|value| value.as_str() == *behaviour)?,
                gst_ms: number(gst, "gst=")?,
                seed: number(seed, "seed=")?,
                scheme: [Scheme::Symbolic, Scheme::Ed25519].into_iter().find(|value| named(scheme, value))?,
            })
        };
        plan().ok_or_else(wrong)
    }
}
