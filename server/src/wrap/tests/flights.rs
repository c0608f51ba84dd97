//! Ids and the requests that wait under them.

use crate::wrap::flights::{Flights, Id};
use crate::wrap::limits::{ID_BYTES, IN_FLIGHT};

fn id(raw: &str) -> Id {
    Id::read(raw.as_bytes()).unwrap_or_else(|| panic!("{raw} is no id"))
}

#[test]
fn equal_json_values_are_one_id() {
    for class in [
        &["5", "5.0", "5e0", "50e-1", "0.5E+1", "0.05e2", r#""5""#, r#""\u0035""#][..],
        &["0", "-0", "0.0", "0e99", "-0.0e-7", r#""0""#, r#""-0""#],
        &["-12", "-1.2e1", r#""-12""#],
        &["9007199254740993", r#""9007199254740993""#],
        &["1e400", "10e399"],
        &[r#""a""#, r#""\u0061""#],
        &[r#""/""#, r#""\/""#],
        &[r#""\ud83d\ude00""#, r#""😀""#],
        &[r#""\ud800""#, r#""\uD800""#],
    ] {
        for (left, right) in class.iter().flat_map(|left| class.iter().map(move |right| (left, right))) {
            assert_eq!(id(left), id(right), "{left} and {right}");
        }
    }
}

#[test]
fn other_values_are_other_ids() {
    let ids = [
        "5",
        "6",
        "-5",
        "0.5",
        "50",
        r#""0x5""#,
        r#"" 5""#,
        r#""05""#,
        r#""+5""#,
        r#""5.0""#,
        r#""5e0""#,
        r#""5 ""#,
        r#""""#,
        r#""-""#,
        r#""--5""#,
        r#""null""#,
        "9007199254740992",
        "9007199254740993",
        "1e400",
        "1e401",
        r#""10000000000000000""#,
        "10000000000000000",
        r#""\ud800""#,
        r#""\udc00""#,
        r#""A""#,
        r#""a""#,
    ];
    for (left, one) in ids.iter().enumerate() {
        for (right, other) in ids.iter().enumerate() {
            assert_eq!(id(one) == id(other), left == right, "{one} and {other}");
        }
    }
}

#[test]
fn only_strings_and_numbers_of_at_most_1_kib_are_ids() {
    let longest = format!("\"{}\"", "x".repeat(ID_BYTES - 2));
    assert_eq!(id(&longest).as_str(), longest);
    let longer = format!("\"{}\"", "x".repeat(ID_BYTES - 1));
    for raw in [
        "",
        "null",
        "true",
        "{}",
        "[5]",
        "05",
        "+5",
        "5.",
        ".5",
        "5e",
        "5e+",
        "0x5",
        "NaN",
        "-",
        "- 5",
        "5 ",
        " 5",
        "--5",
        "1e99999999999999999999",
        r#"""#,
        r#""\x""#,
        r#""\u12""#,
        &longer,
    ] {
        assert!(Id::read(raw.as_bytes()).is_none(), "{raw}");
    }
    assert!(Id::read(b"\"\xff\"").is_none());
}

#[test]
fn the_oldest_of_equal_ids_is_answered_first() {
    let mut flights = Flights::default();
    let first = flights.begin(id("5"), "first");
    let other = flights.begin(id("6"), "other");
    let second = flights.begin(id(r#""5""#), "second");
    let third = flights.begin(id("5e0"), "third");
    assert_eq!(flights.oldest(&id("5.0")), Some(first));
    assert_eq!(flights.get(second).map(|(id, name)| (id.as_str(), *name)), Some((r#""5""#, "second")));
    // A request in the middle may be given up.
    assert_eq!(flights.end(second).map(|(_, name)| name), Some("second"));
    assert_eq!(flights.end(second), None);
    assert_eq!(flights.end(first).map(|(_, name)| name), Some("first"));
    assert_eq!(flights.oldest(&id("5")), Some(third));
    let left: Vec<_> = flights.iter().map(|(ticket, id, name)| (ticket, id.as_str(), *name)).collect();
    assert_eq!(left, [(other, "6", "other"), (third, "5e0", "third")]);
    flights.end(third);
    assert_eq!((flights.oldest(&id("5")), flights.len(), flights.is_empty()), (None, 1, false));
}

#[test]
fn four_thousand_and_ninety_six_requests_wait() {
    let mut flights = Flights::default();
    for number in 0..IN_FLIGHT {
        assert!(!flights.is_full(), "{number}");
        flights.begin(id("7"), number);
    }
    assert!(flights.is_full());
    let oldest = flights.oldest(&id("7")).unwrap();
    assert_eq!(flights.end(oldest).map(|(_, number)| number), Some(0));
    assert!(!flights.is_full());
}
