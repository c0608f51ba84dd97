//! The filter of theta §10.3 (case 56).

use colibri::domains::consensus::bloom::{
    BLOOM_DEFAULT_N, BLOOM_DEFAULT_P, BloomError, BloomFilter, size_filter,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn default() -> BloomFilter {
    BloomFilter::new(BLOOM_DEFAULT_N, BLOOM_DEFAULT_P).unwrap()
}

fn numbered(name: &str, number: u64) -> Vec<u8> {
    [name.as_bytes(), &number.to_be_bytes()].concat()
}

#[test]
fn theta_56_sizes() {
    for (n, p, m, k) in [
        (1_000, 0.01, 9_586, 7),
        (1, 0.01, 10, 7),
        (10, 0.01, 96, 7),
        (100, 0.001, 1_438, 10),
        (10_000, 0.01, 95_851, 7),
        // Beyond the chapter: few bits an event are still one hash.
        (100, 0.99, 3, 1),
    ] {
        assert_eq!(size_filter(n, p), Ok((m, k)), "{n} events, {p}");
    }
    assert_eq!(size_filter(0, 0.01), Err(BloomError::Events(0)));
    for p in [0.0, 1.0, -0.5, 1.5, f64::INFINITY] {
        assert_eq!(size_filter(10, p), Err(BloomError::Share(p)));
    }
    assert!(matches!(size_filter(10, f64::NAN), Err(BloomError::Share(p)) if p.is_nan()));
    assert_eq!(size_filter(u64::MAX, 0.01), Err(BloomError::TooLarge { n: u64::MAX, p: 0.01 }));
}

#[test]
fn theta_56_positions_and_wrong_answers() {
    let mut filter = default();
    let positions: Vec<_> = filter.positions(&[1; 32]).collect();
    assert_eq!(positions, [4165, 7978, 2205, 6018, 245, 4058, 7871]);

    (0..1_000).for_each(|number| filter.insert(&numbered("in", number)));
    let stats = filter.stats();
    assert_eq!((stats.m, stats.k, stats.set_bits), (9_586, 7, 4_972));
    assert!((stats.occupancy - 4_972.0 / 9_586.0).abs() < 1e-12);
    assert!((0..1_000).all(|number| filter.might_contain(&numbered("in", number))), "never a wrong no");
    let wrong = (0..10_000).filter(|number| filter.might_contain(&numbered("out", *number))).count();
    assert_eq!(wrong, 102, "of 10,000");

    filter.reset();
    assert_eq!(filter, default());
    assert_eq!(filter.stats().set_bits, 0);
    assert!(!filter.might_contain(&numbered("in", 0)));
}

proptest! {
    #[test]
    fn theta_56_never_a_wrong_no(
        n in 1..200_u64,
        p in 0.0001..0.999_f64,
        events in vec(vec(any::<u8>(), 0..40), 0..100),
    ) {
        let mut filter = BloomFilter::new(n, p).unwrap();
        for event in &events {
            filter.insert(event);
            prop_assert!(filter.positions(event).all(|position| position < filter.stats().m));
        }
        prop_assert!(events.iter().all(|event| filter.might_contain(event)));
    }
}
