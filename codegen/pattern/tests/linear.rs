//! No text makes a pattern slow: the classic attacks on engines that try one way after another, and patterns of public schemas.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use colibri_pattern::{Exhausted, MAX_STEPS, Refusal, Regex, Steps};

/// What each text may take, also where the machine is busy. An engine that tries one way after another takes minutes to years.
const PATIENCE: Duration = Duration::from_millis(500);

/// Pattern, what the attack repeats, and what ends it.
const ATTACKS: [(&str, &str, &str); 22] = [
    ("^(a+)+$", "a", "!"),
    ("^(a*)*$", "a", "!"),
    ("^((a+)+)+$", "a", "!"),
    ("(x+x+)+y", "x", ""),
    ("^(a|a)*$", "a", "!"),
    ("^(a|aa)+$", "a", "!"),
    ("^(a|a?)+$", "a", "!"),
    ("^(\\w+\\s?)*$", "a a", "!"),
    ("^([a-zA-Z]+)*$", "aB", "1"),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a", "!"),
    ("^(.*)*$", "a", "\n"),
    ("(.*)*=.*", "a", ""),
    ("^([^,]*,?)*;$", "a,", "!"),
    ("^(?:.*a){12}$", "a", "!"),
    (".*.*=.*", "x", ""),
    ("a*a*a*a*a*a*a*a*b", "a", ""),
    ("\\s+$", " ", "x"),
    ("^[\\s\\u200c]+|[\\s\\u200c]+$", " ", "x"),
    (
        "(?:(?:\"|'|\\]|\\}|\\\\|\\d|(?:nan|true))+[)]*;?((?:\\s|-|~|!|\\{\\}|\\|\\||\\+)*.*(?:.*=.*)))",
        "x=x",
        "",
    ),
    ("^([a-z0-9_.-]+)+@([a-z0-9-]+\\.)+[a-z]{2,}$", "a.", "@"),
    ("^(?:(?:[a-z\\d]+-?)+[a-z\\d]+\\.)+$", "a", "!"),
    ("(\\b\\w+\\b\\s*)+$", "ab ", "!"),
];

fn answer(regex: &Regex, text: &str, what: &str) -> (Result<bool, Exhausted>, u32) {
    let (steps, began) = (Steps::default(), Instant::now());
    let answer = regex.is_match(text, &steps);
    assert!(began.elapsed() < PATIENCE, "{what} took {:?}", began.elapsed());
    (answer, steps.taken())
}

#[test]
fn classic_attacks_take_linear_time() {
    for (pattern, repeated, end) in ATTACKS {
        let regex = Regex::new(pattern).unwrap();
        for count in [30, 1_000, 100_000] {
            let text = repeated.repeat(count) + end;
            let what = format!("/{pattern}/ with {count} times {repeated:?}");
            let (answer, taken) = answer(&regex, &text, &what);
            assert!(answer.is_ok() && taken < 5_000, "{what}: {answer:?} after {taken} steps");
        }
    }
}

#[test]
fn a_text_that_needs_ever_new_states_is_given_up_within_the_budget() {
    // Whether an `a` stood 2,000 characters before: a state for each set of places.
    let regex = Regex::new("a[ab]{2000}c").unwrap();
    let mut random = 1_u64;
    let text: String = (0..1_000_000)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if random >> 63 == 0 { 'a' } else { 'b' }
        })
        .collect();
    let (answer, taken) = answer(&regex, &text, "a million letters");
    assert_eq!((answer, taken), (Err(Exhausted), MAX_STEPS));
    // Nothing is left of the budget for another text, and another budget is not touched.
    let steps = Steps::default();
    assert_eq!(regex.is_match(&text, &steps), Err(Exhausted));
    assert_eq!(Regex::new("b").unwrap().is_match("b", &steps), Err(Exhausted));
    assert_eq!(regex.is_match(&format!("a{}c", "b".repeat(2000)), &Steps::default()), Ok(true));
}

#[test]
fn long_counts_are_matched_or_refused() {
    assert_eq!(Regex::new("^((a{100}){100}){100}$").err(), Some(Refusal::TooLarge));
    assert_eq!(Regex::new("^a{1,4294967295}$").err(), Some(Refusal::TooLarge));
    // Empty repetitions take no room.
    assert!(
        Regex::new("^(?:){4294967295}(?:(?:){0,4294967295})*$")
            .unwrap()
            .is_match("", &Steps::default())
            .unwrap()
    );
    let regex = Regex::new("^.{1,5000}$").unwrap();
    assert_eq!(regex.is_match(&"é".repeat(5000), &Steps::default()), Ok(true));
    assert_eq!(regex.is_match(&"é".repeat(5001), &Steps::default()), Ok(false));
}

/// The patterns of `tests/public`.
fn public() -> Vec<String> {
    let files = [include_str!("public/check-jsonschema.json"), include_str!("public/cfn-lint.json")];
    let found: Vec<String> =
        files.iter().flat_map(|file| serde_json::from_str::<Vec<String>>(file).unwrap()).collect();
    assert_eq!(found.len(), 2_000);
    found
}

/// Texts that a pattern's own letters make: repeated, cut, and ended by what rarely fits.
fn hostile(pattern: &str) -> Vec<String> {
    let letters: String = pattern.chars().filter(|c| c.is_ascii_alphanumeric()).take(20).collect();
    let mut units: Vec<String> =
        ["a", "0", "A", "-", ".", "/", " ", "a.", "a-", "aA0", "\n", "é"].map(str::to_owned).to_vec();
    units.push(if letters.is_empty() { "x".to_owned() } else { letters });
    units.push(pattern.to_owned());
    units.into_iter().map(|unit| unit.repeat(4_096 / unit.len()) + "\u{1}!").collect()
}

#[test]
fn patterns_of_public_schemas_are_linear_or_refused_by_name() {
    let (mut taken, mut refused) = (0, Vec::new());
    for pattern in public() {
        let regex = match Regex::new(&pattern) {
            Ok(regex) => regex,
            Err(refusal) => {
                refused.push((pattern, refusal));
                continue;
            }
        };
        for text in hostile(&pattern) {
            let (answer, steps) = answer(&regex, &text, &pattern);
            assert!(answer.is_ok(), "/{pattern}/ gives up after {steps} steps");
            taken = taken.max(steps);
        }
    }
    let count = |kind: fn(&Refusal) -> bool| refused.iter().filter(|(_, refusal)| kind(refusal)).count();
    let counts = [
        count(|refusal| matches!(refusal, Refusal::LookAhead | Refusal::LookBehind | Refusal::BackReference)),
        count(|refusal| matches!(refusal, Refusal::Syntax(_))),
        count(|refusal| matches!(refusal, Refusal::TooLarge)),
        count(|refusal| matches!(refusal, Refusal::Modifiers | Refusal::Property(_))),
    ];
    println!("at most {taken} steps of {MAX_STEPS}; refused: {counts:?}");
    assert_eq!(counts, [83, 67, 0, 15]);
}
