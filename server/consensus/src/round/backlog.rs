//! Messages of views that the node has not reached. Bounded: one sender's flood replaces only its own messages.

use std::collections::{BTreeMap, VecDeque};

use crate::identity::SenderId;
use crate::messages::{Commit, Reveal};

/// A message that waits for its view; its signatures have been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Early {
    Commit(Commit),
    Reveal(Box<Reveal>),
}

impl Early {
    fn view(&self) -> u64 {
        match self {
            Self::Commit(commit) => commit.view,
            Self::Reveal(reveal) => reveal.view,
        }
    }

    fn sender(&self) -> SenderId {
        match self {
            Self::Commit(commit) => commit.sender_id,
            Self::Reveal(reveal) => reveal.sender_id,
        }
    }
}

/// At most as many messages a sender as the committee has members.
#[derive(Debug, Clone, Default)]
pub(super) struct Backlog {
    queues: BTreeMap<SenderId, VecDeque<Early>>,
}

impl Backlog {
    /// Keeps a message. If its sender has more than `limit`, its oldest is dropped.
    pub(super) fn keep(&mut self, message: Early, limit: usize) {
        let queue = self.queues.entry(message.sender()).or_default();
        // The network may deliver twice; a copy must not push out another message.
        if queue.contains(&message) {
            return;
        }
        queue.push_back(message);
        if queue.len() > limit {
            queue.pop_front();
        }
    }

    /// Takes out the messages of `view`, by sender and then in the order in which they came; older ones are dropped.
    pub(super) fn take(&mut self, view: u64) -> Vec<Early> {
        let mut taken = Vec::new();
        for queue in self.queues.values_mut() {
            let (due, later) = queue.drain(..).partition::<VecDeque<_>, _>(|message| message.view() <= view);
            taken.extend(due.into_iter().filter(|message| message.view() == view));
            *queue = later;
        }
        self.queues.retain(|_, queue| !queue.is_empty());
        taken
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.queues.clear();
    }

    /// Returns how many messages wait.
    pub(super) fn len(&self) -> usize {
        self.queues.values().map(VecDeque::len).sum()
    }
}
