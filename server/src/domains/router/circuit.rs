//! The circuit breaker (router#circuits): a model that keeps failing is left alone for a minute. Pure; the caller brings
//! the clock.

use std::collections::BTreeMap;

use super::model_id::ModelId;

/// Counted failures in a row that open a circuit.
pub const CIRCUIT_FAILURE_THRESHOLD: u32 = 3;
/// Milliseconds for which an open circuit admits nobody.
pub const CIRCUIT_COOLDOWN_MS: u64 = 60_000;

/// A reading of both clocks. Durations are measured on the monotonic one, so that a stepped system clock cannot
/// wedge a circuit; the other is what clients are shown.
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
    /// Since when the circuit is open, in milliseconds since the Unix epoch.
    pub opened_at: Option<i64>,
}

/// Leave to make an attempt. Whoever has it gives it back with [`CircuitBreaker::release`], whatever came of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Admission {
    model: ModelId,
    /// The number of the probe, where the circuit is half open.
    probe: Option<u64>,
}

impl Admission {
    /// The model that may be tried.
    pub fn model(&self) -> ModelId {
        self.model
    }

    /// Whether this attempt decides if the circuit closes.
    pub fn is_probe(&self) -> bool {
        self.probe.is_some()
    }
}

/// The circuits of all models; those never touched have no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CircuitBreaker {
    circuits: BTreeMap<ModelId, Circuit>,
    probes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Circuit {
    failures: u32,
    opened: Option<Moment>,
    /// The probe under way. Two failures and a probe are the half-open state.
    probe: Option<u64>,
}

impl CircuitBreaker {
    /// Whether an attempt may be made now. An open circuit that has cooled down becomes half open here and nowhere
    /// else, and admits one probe at a time.
    pub fn admit(&mut self, model: ModelId, now: Moment) -> Option<Admission> {
        let elapsed = self.reset_if_elapsed(model, now);
        let Some(circuit) = self.circuits.get_mut(&model) else {
            return Some(Admission { model, probe: None });
        };
        if circuit.opened.is_some() || circuit.probe.is_some() {
            return None;
        }
        if elapsed {
            self.probes += 1;
            circuit.probe = Some(self.probes);
        }
        Some(Admission { model, probe: circuit.probe })
    }

    /// The attempt is over, or was given up: if it was a probe, the next one may be made.
    pub fn release(&mut self, admission: &Admission) {
        let circuit = self.circuits.get_mut(&admission.model);
        if let Some(circuit) = circuit.filter(|circuit| circuit.probe == admission.probe) {
            circuit.probe = None;
        }
    }

    /// An attempt brought a completion.
    pub fn record_success(&mut self, model: ModelId) {
        self.circuits.insert(model, Circuit::default());
    }

    /// An attempt failed in a way that counts.
    pub fn record_failure(&mut self, model: ModelId, now: Moment) {
        let circuit = self.circuits.entry(model).or_default();
        circuit.failures = circuit.failures.saturating_add(1);
        if circuit.failures >= CIRCUIT_FAILURE_THRESHOLD {
            // A late failure does not make the wait longer.
            circuit.opened.get_or_insert(now);
        }
    }

    /// Whether the circuit is open and has not cooled down.
    pub fn is_open(&self, model: ModelId, now: Moment) -> bool {
        self.opened(model).is_some_and(|opened| !cooled_down(opened, now))
    }

    /// The step from open to half open, if the circuit has cooled down; whether it was taken.
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

    /// Every circuit that has been touched, as it stands: reading changes nothing, so one that has cooled down is
    /// shown open until somebody asks to be admitted.
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
    now.monotonic_ms.saturating_sub(opened.monotonic_ms) >= CIRCUIT_COOLDOWN_MS
}
