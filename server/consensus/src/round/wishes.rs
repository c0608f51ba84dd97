//! The wishes of members to leave views.
//!
//! Each sender has one entry, its highest view: a sender that wishes to leave view w does not need the views below it either, so
//! the wish counts for them too. That limits the memory to one entry a member, even if faulty members send many. It also lets a
//! node move on whose peers have already left its view and no longer repeat their wish for it.

use std::collections::BTreeMap;

use crate::identity::SenderId;
use crate::messages::ViewChangeReason;

/// The highest wish of each sender.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    highest: BTreeMap<SenderId, (u64, ViewChangeReason)>,
}

impl Wishes {
    /// Records that `sender` wishes to leave `view`.
    pub(super) fn record(&mut self, sender: SenderId, view: u64, reason: ViewChangeReason) {
        let wish = self.highest.entry(sender).or_insert((view, reason));
        if view > wish.0 {
            *wish = (view, reason);
        }
    }

    /// Returns the highest view that at least `count` senders wish to leave.
    pub(super) fn of_at_least(&self, count: usize) -> Option<u64> {
        let mut views: Vec<u64> = self.highest.values().map(|(view, _)| *view).collect();
        views.sort_unstable_by(|a, b| b.cmp(a));
        views.get(count.checked_sub(1)?).copied()
    }

    /// Returns how often each reason was given for leaving `view`.
    pub(super) fn reasons(&self, view: u64) -> BTreeMap<ViewChangeReason, u64> {
        let mut counts = BTreeMap::new();
        for (_, reason) in self.highest.values().filter(|(wish, _)| *wish >= view) {
            *counts.entry(*reason).or_default() += 1;
        }
        counts
    }

    /// Returns the reason given most often for leaving `view`; of several the first in their order.
    pub(super) fn commonest_reason(&self, view: u64) -> ViewChangeReason {
        let counts = self.reasons(view).into_iter().rev();
        counts.max_by_key(|(_, count)| *count).map_or(ViewChangeReason::Timeout, |(reason, _)| reason)
    }

    /// Returns how many senders have wished to leave a view.
    pub(super) fn len(&self) -> usize {
        self.highest.len()
    }
}
