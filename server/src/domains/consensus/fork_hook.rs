//! Who is told that a committee is divided (theta §12). Consensus only signals: it never creates a fork. Pure.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::canonical::Hash;

/// Why a fork is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkReason {
    /// A round has more than one root with support that cannot be reconciled.
    ConsensusSplit,
    /// Two parts of the network meet again with different histories.
    PartitionRecovery,
}

impl ForkReason {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConsensusSplit => "CONSENSUS_SPLIT",
            Self::PartitionRecovery => "PARTITION_RECOVERY",
        }
    }
}

/// That a committee is divided, and over what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkTriggerEvent {
    /// The round.
    pub round_id: u64,
    /// The roots that stand against one another, in order.
    pub divergent_roots: BTreeSet<Hash>,
    /// Why.
    pub reason: ForkReason,
    /// The rules in force.
    pub rule_version_hash: Hash,
    /// When, in logical time.
    pub timestamp_logical: u64,
}

/// What a handler may fail with; the registry passes its text on.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// Somebody who is told.
pub type ForkHandler = Arc<dyn Fn(&ForkTriggerEvent) -> Result<(), HandlerError> + Send + Sync>;

/// A handler that failed: which one, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedHandler {
    /// Its place in the order of registration, from 0.
    pub place: usize,
    /// Its error's text, or that it panicked.
    pub what: String,
}

/// The handlers, in the order in which they were registered. A default registry has one that does nothing.
#[derive(Clone)]
pub struct ForkHookRegistry(Vec<ForkHandler>);

impl Default for ForkHookRegistry {
    fn default() -> Self {
        Self(vec![Arc::new(|_| Ok(()))])
    }
}

impl ForkHookRegistry {
    /// A registry without handlers.
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// Adds a handler; one that is added twice is called twice.
    pub fn register(&mut self, handler: ForkHandler) {
        self.0.push(handler);
    }

    /// The handlers, in the order in which they are called.
    pub fn handlers(&self) -> &[ForkHandler] {
        &self.0
    }

    /// Removes all handlers.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Calls every handler. One that fails or panics does not keep the others from being called; all such are returned.
    pub fn fire(&self, event: &ForkTriggerEvent) -> Vec<FailedHandler> {
        let call = |handler: &ForkHandler| match catch_unwind(AssertUnwindSafe(|| handler(event))) {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("panicked".to_owned()),
        };
        let called = self.0.iter().enumerate();
        called.filter_map(|(place, handler)| Some(FailedHandler { place, what: call(handler)? })).collect()
    }
}

impl fmt::Debug for ForkHookRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForkHookRegistry({} handlers)", self.0.len())
    }
}
