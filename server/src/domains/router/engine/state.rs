//! The router's state between calls, for the life of the process: circuits and figures (router#beside-the-loop). The
//! lock is held for bookkeeping only, never while an attempt waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::circuit::{Admission, CircuitBreaker, CircuitState, Moment, Refusal};
use super::completion::{AttemptError, Blame};
use super::cost::NanoDollars;
use super::model_id::ModelId;
use super::stats::{AttemptOutcome, ModelStats, RouterStats};

/// The state, shared by all calls.
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
    /// Permits an attempt at a model.
    ///
    /// # Errors
    /// Its circuit refuses.
    pub fn admit(&self, model: ModelId, now: Moment) -> Result<Lease<'_>, Refusal> {
        let admission = self.lock().circuits.admit(model, now)?;
        Ok(Lease { state: self, admission })
    }

    /// Returns the used circuits.
    pub fn circuits(&self) -> BTreeMap<ModelId, CircuitState> {
        self.lock().circuits.snapshot()
    }

    /// Forgets a model's circuit, or all of them. Figures stay.
    pub fn reset_circuits(&self, model: Option<ModelId>) {
        self.lock().circuits.reset(model);
    }

    /// Returns the figures of the models that were tried.
    pub fn stats(&self) -> BTreeMap<ModelId, ModelStats> {
        self.lock().stats.snapshot()
    }

    /// Forgets a model's figures, or all of them. No tool does this.
    pub fn reset_stats(&self, model: Option<ModelId>) {
        self.lock().stats.reset(model);
    }

    /// Locks the state. No code panics halfway under this lock, so a poisoned state is still complete.
    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running attempt. Dropped without a result, as by a cancelled call, it leaves no trace.
#[derive(Debug)]
pub struct Lease<'a> {
    state: &'a RouterState,
    admission: Admission,
}

impl Lease<'_> {
    /// Records an attempt that returned a completion.
    pub fn succeed(self, cost: NanoDollars, latency_ms: u64) {
        let model = self.admission.model();
        let mut memory = self.state.lock();
        memory.circuits.release(&self.admission);
        memory.circuits.record_success(model);
        memory.stats.record(model, AttemptOutcome::Success { cost, latency_ms });
    }

    /// Records a failed attempt; the party to blame decides what is counted.
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
