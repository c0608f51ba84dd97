//! Decay for walks over a whole domain (reputation#decay). A table gives the same numbers as [`decay`](super::decay),
//! which would take hundreds of steps for a row that was idle for long. Pure.

use super::decay::rate_for;
use super::domain::Domain;
use crate::rules::integer::{BPS_MAX, IntegerError, decay};

/// Scores settle within this many doublings: 2^10 - 1 epochs exceed the 516 that any score needs.
const DOUBLINGS: usize = 10;
/// Further idle epochs change nothing.
const LAST_EPOCH: i64 = (1 << DOUBLINGS) - 1;

/// The decay of every score of a domain.
#[derive(Debug, Clone)]
pub struct Fading {
    /// Element `k` holds each score after 2^k idle epochs.
    after: Vec<Vec<u16>>,
}

impl Fading {
    /// Builds the table of a domain.
    ///
    /// # Errors
    /// Never for a domain's rate.
    pub fn of(domain: Domain) -> Result<Self, IntegerError> {
        let rate = rate_for(domain);
        let once =
            (0..=BPS_MAX).map(|score| decay(score, rate, 1).map(|rest| u16::try_from(rest).unwrap_or(0)));
        let mut after = vec![once.collect::<Result<Vec<_>, _>>()?];
        while after.len() < DOUBLINGS {
            let Some(half) = after.last() else { break };
            let whole = half.iter().map(|rest| half.get(usize::from(*rest)).copied().unwrap_or(0)).collect();
            after.push(whole);
        }
        Ok(Self { after })
    }

    /// Returns a score after a number of idle epochs, where a negative number counts as 0; `None` for a score outside
    /// 0..=10000.
    pub fn score(&self, score: i64, idle_epochs: i64) -> Option<i64> {
        let mut rest = u16::try_from(score).ok().filter(|_| score <= BPS_MAX)?;
        let idle = idle_epochs.clamp(0, LAST_EPOCH);
        for (doubling, after) in self.after.iter().enumerate() {
            if idle >> doubling & 1 == 1 {
                rest = *after.get(usize::from(rest))?;
            }
        }
        Some(i64::from(rest))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{BPS_MAX, DOUBLINGS, Fading, LAST_EPOCH};
    use crate::domains::reputation::decay::{rate_for, settle};
    use crate::domains::reputation::domain::DOMAINS;
    use crate::rules::integer::bps_mul;

    #[test]
    fn every_score_fades_as_it_does_step_by_step() {
        for domain in DOMAINS {
            let fading = Fading::of(domain).unwrap();
            for score in 0..=BPS_MAX {
                let mut rest = score;
                for idle in 0..=517 {
                    // Every epoch for some scores, the corner cases for all.
                    if score % 97 == 0 || !(2..=514).contains(&idle) {
                        assert_eq!(fading.score(score, idle), Some(rest), "{domain} {score} after {idle}");
                    }
                    rest -= bps_mul(rest, rate_for(domain)).unwrap();
                }
            }
            for idle in [-1, i64::MIN, LAST_EPOCH, LAST_EPOCH + 1, 10_001, i64::MAX] {
                assert_eq!(
                    fading.score(10_000, idle),
                    settle(10_000, domain, idle).ok(),
                    "{domain} after {idle}"
                );
            }
            for score in [-1, 10_001, 65_535, 65_536, i64::MAX, i64::MIN] {
                assert_eq!(fading.score(score, 1), None, "{score}");
            }
            assert_eq!(fading.after.len(), DOUBLINGS);
        }
    }
}
