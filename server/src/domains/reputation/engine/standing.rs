//! A node's standing in one domain (reputation#standing): a score, its ceiling, and the epoch from which it decays.
//! Pure.

use super::domain::Domain;
use crate::rules::integer::BPS_MAX;

/// A row of `reputations`. Scores and scars are basis points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The node; never empty.
    pub node_id: String,
    /// The domain.
    pub domain: Domain,
    /// 0 to [`Standing::ceiling`]; as last written, unless decay was applied.
    pub score: i64,
    /// The permanent loss through fraud, 0 to 10000; never falls.
    pub scar_bps: i64,
    /// The first epoch without the ban; `None` if never banned.
    pub ban_until_epoch: Option<i64>,
    /// The last epoch with an event.
    pub last_activity_epoch: i64,
}

/// A stored row that no event can have produced. The catalogue has the code for clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored standing of {node_id} in {domain} has an impossible {field}")]
pub struct RowInvalid {
    /// The row's node.
    pub node_id: String,
    /// The row's domain as stored.
    pub domain: String,
    /// The first column that breaks an invariant.
    pub field: &'static str,
}

/// The columns of a stored row, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of reputation#standing, under their names.
pub(crate) struct StoredStanding {
    pub node_id: String,
    pub domain: String,
    pub score: i64,
    pub scar_bps: i64,
    pub ban_until_epoch: Option<i64>,
    pub last_activity_epoch: i64,
}

impl StoredStanding {
    /// Checks the row and returns it as a standing.
    ///
    /// # Errors
    /// [`RowInvalid`] names the first column that breaks an invariant of reputation#standing. Nothing is repaired.
    pub fn check(self) -> Result<Standing, RowInvalid> {
        let domain = match (Domain::parse(&self.domain), self.invalid_field()) {
            (Some(domain), None) => domain,
            (domain, field) => {
                let field = field.filter(|_| domain.is_some()).unwrap_or("domain");
                return Err(RowInvalid { node_id: self.node_id, domain: self.domain, field });
            }
        };
        Ok(Standing {
            node_id: self.node_id,
            domain,
            score: self.score,
            scar_bps: self.scar_bps,
            ban_until_epoch: self.ban_until_epoch,
            last_activity_epoch: self.last_activity_epoch,
        })
    }

    /// Returns the first column, apart from the domain, that breaks an invariant.
    fn invalid_field(&self) -> Option<&'static str> {
        if self.node_id.is_empty() {
            return Some("node_id");
        }
        if !(0..=BPS_MAX).contains(&self.scar_bps) {
            return Some("scar_bps");
        }
        if !(0..=BPS_MAX - self.scar_bps).contains(&self.score) {
            return Some("score");
        }
        (self.last_activity_epoch < 0).then_some("last_activity_epoch")
    }
}

impl Standing {
    /// Returns the standing of an unknown node: score 0, no scar, no ban, no idle epochs.
    pub fn unknown(node_id: &str, domain: Domain, epoch: i64) -> Self {
        Self {
            node_id: node_id.to_owned(),
            domain,
            score: 0,
            scar_bps: 0,
            ban_until_epoch: None,
            last_activity_epoch: epoch,
        }
    }

    /// Returns the highest score that the scar allows.
    pub(crate) const fn ceiling(&self) -> i64 {
        // Saturating, so that an impossible scar cannot wrap into a high ceiling.
        BPS_MAX.saturating_sub(self.scar_bps)
    }

    /// Returns whether the node is banned in this domain at `epoch`. The ban does not cover its end epoch.
    pub fn banned(&self, epoch: i64) -> bool {
        self.ban_until_epoch.is_some_and(|until| until > epoch)
    }
}
