//! The best nodes of a domain by decayed score (reputation#leaderboard), exact and in constant memory. Rows arrive by
//! stored score; the walk keeps the best ones so far and ends when no later row can be among them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Fault};
use colibri_runtime::progress::Progress;

use super::domain::Domain;
use super::fading::Fading;
use super::standing::{RowInvalid, Standing};
use super::store::{self, StandingRow};
use colibri_store::db::Db;

/// Rows between two checks of the interrupt and reports of progress: the original's `LEADERBOARD_OVERSHOOT_CAP`.
const BATCH: u64 = 200;

/// Returns the best `limit` nodes of a domain at an epoch, best first, with decayed scores. Equal scores are ordered
/// by the bytes of the node's id.
///
/// # Errors
/// [`RowInvalid`] for a row that belongs in the list; storage faults; [`Fault::Other`] if interrupted.
pub fn leaderboard(
    db: &Db,
    domain: Domain,
    current_epoch: i64,
    limit: usize,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Vec<Standing>, Failure<RowInvalid>> {
    let fading = Fading::of(domain).map_err(|error| Failure::Fault(Fault::Other(error.to_string())))?;
    let mut best = Best::new(limit, fading);
    let total = if progress.is_wanted() { store::count_of_domain(db, domain)?.unsigned_abs() } else { 0 };
    let mut walked = 0_u64;
    store::each_by_score(db, domain, |row| {
        if walked.is_multiple_of(BATCH) {
            if interrupt.is_raised() {
                return Err(Failure::Fault(Fault::Other("the leaderboard was interrupted".to_owned())));
            }
            progress.report(walked, total);
        }
        walked += 1;
        if !best.may_take(row.score) {
            return Ok(false);
        }
        best.offer(row, current_epoch).map(|()| true).map_err(Failure::Domain)
    })?;
    Ok(best.into_rows())
}

/// A listed row; a smaller one ranks higher.
#[derive(Debug, PartialEq, Eq)]
struct Ranked(Standing);

impl Ranked {
    fn key(&self) -> (i64, &str) {
        (self.0.score, &self.0.node_id)
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        by_rank(self.key(), other.key())
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Orders higher scores first, then smaller ids.
fn by_rank((score, node_id): (i64, &str), (other_score, other_id): (i64, &str)) -> Ordering {
    other_score.cmp(&score).then_with(|| node_id.cmp(other_id))
}

/// The best rows so far, with the worst of them on top.
struct Best {
    limit: usize,
    fading: Fading,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    fn new(limit: usize, fading: Fading) -> Self {
        Self { limit, fading, heap: BinaryHeap::new() }
    }

    /// Returns the worst row held, once the list is full.
    fn worst(&self) -> Option<&Ranked> {
        self.heap.peek().filter(|_| self.heap.len() >= self.limit)
    }

    /// Returns whether rows of that stored score, or a lower one, can still be among the best. Decay never raises a
    /// score. An equal score can be, because ids break ties.
    fn may_take(&self, stored_score: i64) -> bool {
        self.limit > 0 && self.worst().is_none_or(|worst| stored_score >= worst.0.score)
    }

    fn offer(&mut self, row: &StandingRow<'_>, current_epoch: i64) -> Result<(), RowInvalid> {
        let idle = current_epoch.saturating_sub(row.last_activity_epoch);
        // A score that the table lacks is out of range; the row's check reports it.
        let Some(score) = self.fading.score(row.score, idle) else { return row.check().map(drop) };
        let key = (score, row.node_id.unwrap_or_default());
        if self.worst().is_some_and(|worst| by_rank(key, worst.key()) != Ordering::Less) {
            return Ok(());
        }
        self.heap.push(Ranked(Standing { score, ..row.check()? }));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
        Ok(())
    }

    fn into_rows(self) -> Vec<Standing> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}
