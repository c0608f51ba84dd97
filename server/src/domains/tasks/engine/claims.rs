//! The rules of claims (tasks#claims): which time a call goes by, whether a claim is live, and who may have or change a task.
//!
//! The number of a claim protects a task even where time misleads: from the next claim on, the former number is refused.

use colibri_runtime::kernel::{ms_of_rfc3339, rfc3339_ms};

/// The longest lease, in milliseconds. A lease that ends later, and a clock that is further ahead, come from a wrong clock.
pub const LONGEST_LEASE_MS: i64 = 86_400_000;

/// The time that a call goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds since the Unix epoch.
    pub ms: i64,
    /// The latest stored time is so far ahead that a wrong clock wrote it.
    pub set_back: bool,
}

impl Time {
    /// Returns the later one of the call's entry and the latest time that is stored, so that a clock which was set back revives
    /// no lease. A time further ahead than any lease lasts does not count.
    pub fn of_call(entered_ms: i64, latest: Option<&str>) -> Self {
        match latest.and_then(ms_of_rfc3339) {
            Some(latest) if latest > entered_ms.saturating_add(LONGEST_LEASE_MS) => {
                Self { ms: entered_ms, set_back: true }
            }
            Some(latest) => Self { ms: latest.max(entered_ms), set_back: false },
            None => Self { ms: entered_ms, set_back: false },
        }
    }

    /// Returns the time as rows store it.
    pub fn text(self) -> String {
        rfc3339_ms(self.ms)
    }

    /// Returns the texts between which a live claim's lease ends: after the first, and not after the second.
    pub fn live_between(self) -> [String; 2] {
        [self.text(), rfc3339_ms(self.ms.saturating_add(LONGEST_LEASE_MS))]
    }

    /// Returns the end of a lease that begins now.
    pub fn lease(self, seconds: i64) -> String {
        rfc3339_ms(self.ms.saturating_add(seconds.saturating_mul(1_000)))
    }
}

/// A task's newest claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its number within the task.
    pub no: i64,
    /// The agent that holds the task, as it calls itself.
    pub agent_id: String,
    /// The caller that made the claim.
    pub caller_no: i64,
    /// When it was made.
    pub claimed_at: String,
    /// When its lease ends.
    pub lease_until: String,
    /// When it was released or its task finished.
    pub released_at: Option<String>,
    /// The call that last changed it.
    pub sequence_no: i64,
}

impl Claim {
    /// Returns whether the claim keeps others from claiming the task.
    pub fn is_live(&self, now: Time) -> bool {
        let [_, last] = now.live_between();
        self.runs(now) && self.lease_until <= last
    }

    /// Returns whether the lease has not ended. If it ends later than any lease lasts, this call's clock may be the wrong one.
    fn runs(&self, now: Time) -> bool {
        self.released_at.is_none() && self.lease_until > now.text()
    }
}

/// Why a call may not have or change a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Another agent has a live claim.
    Held {
        /// The agent.
        by: String,
        /// The end of its lease.
        until: String,
    },
    /// The number is not the newest.
    Stale {
        /// The newest number, if the task was ever claimed.
        newest: Option<i64>,
    },
}

/// What a claim becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// The newest claim lasts longer.
    Renewed,
    /// A new claim with this number.
    New {
        /// The number.
        no: i64,
        /// The agent whose claim ran out unreleased.
        taken_over_from: Option<String>,
    },
}

/// Decides a claim of a task by number, or by an agent. `same_caller` says whether the caller is the one that made the newest.
///
/// # Errors
/// [`Refusal`].
pub fn decide(
    newest: Option<&Claim>,
    number: Option<i64>,
    (agent_id, same_caller): (&str, bool),
    now: Time,
) -> Result<Grant, Refusal> {
    if let Some(number) = number {
        return match newest {
            // Even if it has run out: no other agent has had the task since.
            Some(claim) if claim.no == number && claim.released_at.is_none() => Ok(Grant::Renewed),
            other => Err(Refusal::Stale { newest: other.map(|claim| claim.no) }),
        };
    }
    match newest {
        Some(claim) if claim.is_live(now) => {
            // An agent that has lost the number goes on.
            if claim.agent_id == agent_id && same_caller {
                return Ok(Grant::Renewed);
            }
            Err(Refusal::Held { by: claim.agent_id.clone(), until: claim.lease_until.clone() })
        }
        Some(claim) => Ok(Grant::New {
            no: claim.no.saturating_add(1),
            taken_over_from: claim.released_at.is_none().then(|| claim.agent_id.clone()),
        }),
        None => Ok(Grant::New { no: 1, taken_over_from: None }),
    }
}

/// Decides whether a call that names this number may change a task.
///
/// # Errors
/// [`Refusal`].
pub fn may_change(newest: Option<&Claim>, number: Option<i64>, now: Time) -> Result<(), Refusal> {
    match (number, newest) {
        // The newest number passes even if it has run out: no other agent has had the task since.
        (Some(number), Some(claim)) if claim.no == number => Ok(()),
        (Some(_), newest) => Err(Refusal::Stale { newest: newest.map(|claim| claim.no) }),
        (None, Some(claim)) if claim.runs(now) => {
            Err(Refusal::Held { by: claim.agent_id.clone(), until: claim.lease_until.clone() })
        }
        (None, _) => Ok(()),
    }
}
