//! What the router remembers between calls, for the life of the process: circuits and figures (router#beside-the-loop). The
//! lock is held for bookkeeping only, never while an attempt waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::circuit::{Admission, CircuitBreaker, CircuitState, Moment};
use super::completion::{AttemptError, Blame};
use super::cost::NanoDollars;
use super::model_id::ModelId;
use super::stats::{AttemptOutcome, ModelStats, RouterStats};

/// The memory, shared by all calls.
#[derive(Debug, Default)]
pub struct RouterState {
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    circuits: CircuitBreaker,
    stats: RouterStats,
}

impl RouterState {
    /// Leave to try a model, unless its circuit refuses.
    pub fn admit(&self, model: ModelId, now: Moment) -> Option<Lease<'_>> {
        let admission = self.lock().circuits.admit(model, now)?;
        Some(Lease { state: self, admission })
    }

    /// The circuits that have been touched.
    pub fn circuits(&self) -> BTreeMap<ModelId, CircuitState> {
        self.lock().circuits.snapshot()
    }

    /// Forgets a model's circuit, or all of them. Figures stay.
    pub fn reset_circuits(&self, model: Option<ModelId>) {
        self.lock().circuits.reset(model);
    }

    /// The figures of the models that were tried.
    pub fn stats(&self) -> BTreeMap<ModelId, ModelStats> {
        self.lock().stats.snapshot()
    }

    /// Forgets a model's figures, or all of them. No tool does this.
    pub fn reset_stats(&self, model: Option<ModelId>) {
        self.lock().stats.reset(model);
    }

    /// Nothing under this lock panics half way, so what a panic elsewhere left behind is whole.
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt under way. Dropped without a word, as by a cancelled call, it leaves no trace.
#[derive(Debug)]
pub struct Lease<'a> {
    state: &'a RouterState,
    admission: Admission,
}

impl Lease<'_> {
    /// The attempt brought a completion.
    pub fn succeed(self, cost: NanoDollars, latency_ms: u64) {
        let model = self.admission.model();
        let mut memory = self.state.lock();
        memory.circuits.release(&self.admission);
        memory.circuits.record_success(model);
        memory.stats.record(model, AttemptOutcome::Success { cost, latency_ms });
    }

    /// The attempt failed; who is to blame decides what is remembered.
    pub fn fail(self, error: &AttemptError, now: Moment) {
        let model = self.admission.model();
        let mut memory = self.state.lock();
        memory.circuits.release(&self.admission);
        if error.blame == Blame::Provider {
            memory.circuits.record_failure(model, now);
        }
        if error.blame != Blame::Nobody {
            memory.stats.record(model, AttemptOutcome::Failure);
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.state.lock().circuits.release(&self.admission);
    }
}
