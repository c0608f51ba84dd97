//! The circuit breaker (router#circuits): the router leaves a failing model alone for a minute. Pure; the caller
//! provides the clock.

use std::collections::BTreeMap;

use super::model_id::ModelId;

/// Counted failures in a row after which a circuit opens.
pub const CIRCUIT_FAILURE_THRESHOLD: u32 = 3;
/// Milliseconds during which an open circuit rejects every attempt.
pub const CIRCUIT_COOLDOWN_MS: u64 = 60_000;

/// A reading of both clocks. Durations use the monotonic one, so that a change of the system clock cannot block a
/// circuit. Clients see the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Monotonic milliseconds.
    pub monotonic_ms: u64,
    /// Milliseconds since the Unix epoch.
    pub wall_ms: i64,
}

/// A model's circuit as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CircuitState {
    /// Counted failures in a row.
    pub failures: u32,
    /// The time at which the circuit opened, in milliseconds since the Unix epoch; `None` while it is closed.
    pub opened_at: Option<i64>,
}

/// Why a circuit refuses an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is open.
    Open {
        /// Counted failures in a row.
        failures: u32,
        /// Milliseconds until it admits a probe.
        wait_ms: u64,
    },
    /// It is half open, and a probe is under way.
    Probed,
}

/// Permission for one attempt. Its holder must return it with [`CircuitBreaker::release`], after any outcome.
#[derive(Debug, PartialEq, Eq)]
pub struct Admission {
    model: ModelId,
    /// The number of the probe, if the circuit is half open.
    probe: Option<u64>,
}

impl Admission {
    /// Returns the model that may be tried.
    pub fn model(&self) -> ModelId {
        self.model
    }

    /// Returns whether this attempt decides if the circuit closes.
    #[cfg(test)]
    pub fn is_probe(&self) -> bool {
        self.probe.is_some()
    }
}

/// The circuits of all models; an unused model has no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    circuits: BTreeMap<ModelId, Circuit>,
    probes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Circuit {
    failures: u32,
    opened: Option<Moment>,
    /// The running probe. Two failures and a probe are the half-open state.
    probe: Option<u64>,
}

impl CircuitBreaker {
    /// Admits an attempt. Only this function makes an open circuit half open once it has cooled down; it then admits
    /// one probe at a time.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn admit(&mut self, model: ModelId, now: Moment) -> Result<Admission, Refusal> {
        let elapsed = self.reset_if_elapsed(model, now);
        let Some(circuit) = self.circuits.get_mut(&model) else {
            return Ok(Admission { model, probe: None });
        };
        if let Some(opened) = circuit.opened {
            let wait_ms = CIRCUIT_COOLDOWN_MS.saturating_sub(open_for(opened, now));
            return Err(Refusal::Open { failures: circuit.failures, wait_ms });
        }
        if circuit.probe.is_some() {
            return Err(Refusal::Probed);
        }
        if elapsed {
            self.probes += 1;
            circuit.probe = Some(self.probes);
        }
        Ok(Admission { model, probe: circuit.probe })
    }

    /// Ends an attempt, finished or dropped. If it was a probe, the next one may start.
    pub fn release(&mut self, admission: &Admission) {
        let circuit = self.circuits.get_mut(&admission.model);
        if let Some(circuit) = circuit.filter(|circuit| circuit.probe == admission.probe) {
            circuit.probe = None;
        }
    }

    /// Records an attempt that returned a completion.
    pub fn record_success(&mut self, model: ModelId) {
        self.circuits.insert(model, Circuit::default());
    }

    /// Records an attempt that failed in a way that counts.
    pub fn record_failure(&mut self, model: ModelId, now: Moment) {
        let circuit = self.circuits.entry(model).or_default();
        circuit.failures = circuit.failures.saturating_add(1);
        if circuit.failures >= CIRCUIT_FAILURE_THRESHOLD {
            // A late failure does not prolong the wait.
            circuit.opened.get_or_insert(now);
        }
    }

    /// Returns whether the circuit is open and has not cooled down.
    #[cfg(test)]
    pub fn is_open(&self, model: ModelId, now: Moment) -> bool {
        self.opened(model).is_some_and(|opened| !cooled_down(opened, now))
    }

    /// Moves an open circuit that has cooled down to half open, and returns whether it did.
    pub fn reset_if_elapsed(&mut self, model: ModelId, now: Moment) -> bool {
        let elapsed = self.opened(model).is_some_and(|opened| cooled_down(opened, now));
        if elapsed && let Some(circuit) = self.circuits.get_mut(&model) {
            circuit.failures = CIRCUIT_FAILURE_THRESHOLD - 1;
            circuit.opened = None;
        }
        elapsed
    }

    /// Forgets a model's circuit, or all of them.
    pub fn reset(&mut self, model: Option<ModelId>) {
        match model {
            Some(model) => drop(self.circuits.remove(&model)),
            None => self.circuits.clear(),
        }
    }

    /// Returns every used circuit. Reading changes nothing, so a circuit that has cooled down is shown open until the
    /// next attempt.
    pub fn snapshot(&self) -> BTreeMap<ModelId, CircuitState> {
        let states = self.circuits.iter().map(|(&model, circuit)| {
            let opened_at = circuit.opened.map(|opened| opened.wall_ms);
            (model, CircuitState { failures: circuit.failures, opened_at })
        });
        states.collect()
    }

    fn opened(&self, model: ModelId) -> Option<Moment> {
        self.circuits.get(&model)?.opened
    }
}

fn cooled_down(opened: Moment, now: Moment) -> bool {
    open_for(opened, now) >= CIRCUIT_COOLDOWN_MS
}

fn open_for(opened: Moment, now: Moment) -> u64 {
    now.monotonic_ms.saturating_sub(opened.monotonic_ms)
}
