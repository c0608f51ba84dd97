//! The circuit breaker on a clock that is told what time it is (router#circuits).

use crate::domains::router::circuit::{Admission, CircuitBreaker, CircuitState, Moment, Refusal};
use crate::domains::router::model_id::ModelId;

use crate::domains::router::tests::support::at;

const MODEL: ModelId = ModelId::Claude;

fn state(breaker: &CircuitBreaker) -> Option<(u32, Option<i64>)> {
    breaker.snapshot().get(&MODEL).map(|&CircuitState { failures, opened_at }| (failures, opened_at))
}

/// What a circuit with three failures says.
fn refused(wait_ms: u64) -> Result<Admission, Refusal> {
    Err(Refusal::Open { failures: 3, wait_ms })
}

/// A whole attempt that fails in a way that counts; whether it was admitted.
fn fail(breaker: &mut CircuitBreaker, began: Moment, ended: Moment) -> bool {
    let Ok(admission) = breaker.admit(MODEL, began) else { return false };
    breaker.release(&admission);
    breaker.record_failure(MODEL, ended);
    true
}

fn opened(at_ms: u64) -> CircuitBreaker {
    let mut breaker = CircuitBreaker::default();
    for _ in 0..3 {
        assert!(fail(&mut breaker, at(at_ms), at(at_ms)));
    }
    breaker
}

#[test]
fn the_chapter_s_timeline() {
    let mut breaker = CircuitBreaker::default();
    assert_eq!(state(&breaker), None);
    for (ms, failures) in [(0, 1), (10_000, 2)] {
        assert!(fail(&mut breaker, at(ms), at(ms)));
        assert_eq!(state(&breaker), Some((failures, None)));
    }
    assert!(fail(&mut breaker, at(20_000), at(20_000)));
    assert_eq!(state(&breaker), Some((3, Some(20_000))));
    assert_eq!(breaker.admit(MODEL, at(79_999)), refused(1), "59 999 ms after it opened");
    let probe = breaker.admit(MODEL, at(80_000)).unwrap();
    assert!(probe.is_probe());
    assert_eq!(state(&breaker), Some((2, None)));
    breaker.release(&probe);
    breaker.record_failure(MODEL, at(80_400));
    assert_eq!(state(&breaker), Some((3, Some(80_400))));
    assert_eq!(breaker.admit(MODEL, at(140_399)), refused(1));
    let probe = breaker.admit(MODEL, at(140_400)).unwrap();
    breaker.release(&probe);
    breaker.record_success(MODEL);
    assert_eq!(state(&breaker), Some((0, None)));
}

#[test]
fn reading_does_not_let_anybody_in() {
    let mut breaker = opened(20_000);
    assert_eq!(state(&breaker), Some((3, Some(20_000))), "at 90 s nobody has asked to be admitted");
    assert!(breaker.is_open(MODEL, at(79_999)) && !breaker.is_open(MODEL, at(80_000)));
    assert_eq!(state(&breaker), Some((3, Some(20_000))));
    assert!(!breaker.reset_if_elapsed(MODEL, at(79_999)));
    assert!(breaker.reset_if_elapsed(MODEL, at(80_000)));
    assert_eq!(state(&breaker), Some((2, None)));
}

#[test]
fn of_two_callers_at_the_half_open_moment_one_is_admitted() {
    let mut breaker = opened(0);
    let probe = breaker.admit(MODEL, at(60_000)).unwrap();
    assert_eq!(breaker.admit(MODEL, at(60_000)), Err(Refusal::Probed));
    assert_eq!(breaker.admit(MODEL, at(600_000)), Err(Refusal::Probed), "as long as the probe is under way");
    breaker.release(&probe);
    assert!(breaker.admit(MODEL, at(600_000)).is_ok());
}

#[test]
fn a_success_between_failures_keeps_the_circuit_closed() {
    let mut breaker = CircuitBreaker::default();
    for round in 0..2 {
        assert!(fail(&mut breaker, at(round), at(round)) && fail(&mut breaker, at(round), at(round)));
        assert_eq!(state(&breaker), Some((2, None)));
        if round == 0 {
            breaker.record_success(MODEL);
            assert_eq!(state(&breaker), Some((0, None)));
        }
    }
    assert!(breaker.admit(MODEL, at(2)).is_ok());
}

#[test]
fn a_wall_clock_that_is_set_back_does_not_wedge_the_circuit() {
    let mut breaker = opened(100_000);
    let later = |ms: u64| Moment { monotonic_ms: 100_000 + ms, wall_ms: 100_000 + ms as i64 - 3_600_000 };
    assert_eq!(breaker.admit(MODEL, later(59_999)), refused(1));
    assert!(breaker.admit(MODEL, later(60_000)).is_ok());
}

#[test]
fn a_reset_forgets_one_circuit_or_all() {
    let mut breaker = opened(0);
    breaker.record_failure(ModelId::KimiK2, at(0));
    breaker.reset(Some(MODEL));
    breaker.reset(Some(MODEL));
    assert_eq!(breaker.snapshot().into_keys().collect::<Vec<_>>(), [ModelId::KimiK2]);
    assert!(breaker.admit(MODEL, at(1)).is_ok());
    breaker.reset(None);
    assert!(breaker.snapshot().is_empty());
}

#[test]
fn late_results_of_attempts_that_were_under_way() {
    let mut breaker = opened(1000);
    breaker.record_failure(MODEL, at(2000));
    assert_eq!(state(&breaker), Some((4, Some(1000))), "a late failure does not make the wait longer");
    breaker.record_success(MODEL);
    assert_eq!(state(&breaker), Some((0, None)));
}

#[test]
fn a_reset_clears_the_probe_and_its_late_release_touches_nobody_s() {
    let mut breaker = opened(0);
    let old = breaker.admit(MODEL, at(60_000)).unwrap();
    breaker.reset(Some(MODEL));
    for _ in 0..3 {
        breaker.record_failure(MODEL, at(60_000));
    }
    let new = breaker.admit(MODEL, at(120_000)).unwrap();
    assert_ne!(old, new);
    breaker.release(&old);
    assert_eq!(breaker.admit(MODEL, at(120_000)), Err(Refusal::Probed), "the new probe is still under way");
}
