//! Logical time (consensus#logical-time).

use colibri_consensus::clock::{ClockError, LogicalClock, MAX_CLOCK_JUMP};

#[test]
fn times_are_given_once_and_follow_what_was_observed() {
    let mut clock = LogicalClock::default();
    assert_eq!((clock.next(), clock.next()), (Ok(1), Ok(2)));
    clock.observe(10);
    clock.observe(4);
    assert_eq!(clock.next(), Ok(11));
    clock.reset();
    assert_eq!(clock.next(), Ok(1));
}

#[test]
fn times_too_far_ahead_are_refused() {
    let mut clock = LogicalClock::default();
    clock.observe(7);
    for got in [0, 7 + MAX_CLOCK_JUMP + 1, i64::MAX as u64, u64::MAX] {
        assert_eq!(clock.admit(got), Err(ClockError::ClockJump { got, at: 7 }));
    }
    for got in [1, 7, 7 + MAX_CLOCK_JUMP] {
        assert_eq!(clock.admit(got), Ok(()), "{got}");
    }
    assert_eq!(clock.now(), 7);
}

#[test]
fn the_last_time_is_that_of_the_largest_integer() {
    let mut clock = LogicalClock::default();
    clock.observe(i64::MAX as u64 - 1);
    assert_eq!(clock.next(), Ok(i64::MAX as u64));
    assert_eq!(clock.next(), Err(ClockError::Exhausted));
    assert_eq!(clock.now(), i64::MAX as u64);
    assert_eq!(
        clock.admit(i64::MAX as u64 + 1),
        Err(ClockError::ClockJump { got: 1 << 63, at: clock.now() })
    );
}
