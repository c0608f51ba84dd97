//! The automaton against `regress`, an engine for ECMAScript's patterns that tries one way after another.

#![allow(clippy::unwrap_used, clippy::panic)]

use colibri_pattern::{Refusal, Regex, Steps};

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const ATOMS: [&str; 34] = [
    "a",
    "b",
    "c",
    "-",
    "_",
    "é",
    "😀",
    " ",
    ".",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\.",
    "\\n",
    "\\x61",
    "\\u0062",
    "\\u{63}",
    "\\ud83d\\ude00",
    "\\cA",
    "\\0",
    "\\p{L}",
    "\\P{L}",
    "\\p{Lu}",
    "\\p{Script=Greek}",
    "\\p{Alphabetic}",
    "[abc]",
    "[^a-c]",
    "[\\w.-]",
    "[^\\s\\p{L}]",
    "[\\b\\]\\^-]",
    "[]",
];
const COUNTS: [&str; 12] = ["", "", "", "", "*", "+", "?", "*?", "{2}", "{1,}", "{0,2}", "{1,3}?"];
const LETTERS: [&str; 18] = [
    "a", "b", "c", "A", "-", "_", "é", "Ω", "😀", " ", "\n", "1", ".", "\u{1}", "\0", "\u{8}", "]",
    "\u{2028}",
];

fn pattern(dice: &mut Dice, depth: usize) -> String {
    let mut out = String::new();
    for _ in 0..=dice.below(4) {
        match dice.below(if depth == 0 { 12 } else { 16 }) {
            0 => out.push_str(dice.one(&["^", "$", "\\b", "\\B"])),
            1 => out.push('|'),
            12.. => {
                let (opening, count) = (dice.one(&["(", "(?:", "(?:"]), dice.one(&COUNTS));
                // Counts of counts of counts take the judge minutes, even for short texts.
                let inner = if count.is_empty() { depth - 1 } else { 0 };
                out += &format!("{opening}{}){count}", pattern(dice, inner));
            }
            _ => out += &format!("{}{}", dice.one(&ATOMS), dice.one(&COUNTS)),
        }
    }
    out
}

fn seed() -> u64 {
    std::env::var("COLIBRI_PATTERN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_128)
}

/// `COLIBRI_PATTERN_RUNS` says how many patterns.
fn runs() -> u64 {
    std::env::var("COLIBRI_PATTERN_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1_000)
}

#[test]
fn random_patterns_match_what_ecmascript_matches() {
    let first = seed();
    for run in first..first + runs() {
        let mut dice = Dice(run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let pattern = pattern(&mut dice, 2);
        let repeat = format!("COLIBRI_PATTERN_SEED={run} COLIBRI_PATTERN_RUNS=1, /{pattern}/");
        let judge =
            regress::Regex::with_flags(&pattern, "u").unwrap_or_else(|error| panic!("{repeat}: {error}"));
        let regex = Regex::new(&pattern).unwrap_or_else(|refusal| panic!("{repeat}: {refusal}"));
        for _ in 0..20 {
            let text: String = (0..dice.below(8)).map(|_| dice.one(&LETTERS)).collect();
            let (steps, expected) = (Steps::default(), judge.find(&text).is_some());
            assert_eq!(regex.is_match(&text, &steps), Ok(expected), "{repeat} on {text:?}");
        }
    }
}

/// Texts made of pieces of patterns, most of them no pattern at all. The judge takes counted assertions, which ECMAScript does not.
#[test]
fn what_is_read_as_a_pattern_is_one() {
    const PIECES: [&str; 44] = [
        "a",
        "b",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "|",
        "*",
        "+",
        "?",
        "^",
        "$",
        ".",
        "\\",
        "-",
        ",",
        "1",
        "2",
        "(?:",
        "(?=",
        "(?<!",
        "(?<n>",
        "\\d",
        "\\bx",
        "\\-",
        "\\a",
        "\\1",
        "\\k<n>",
        "\\u{",
        "\\u00",
        "\\x",
        "\\p{L}",
        "\\p{Nope}",
        "[^",
        "[a-",
        "z-a",
        "{1}",
        "{2,1}",
        "\\0",
        "\\c",
        "é",
        "(?i:",
    ];
    let first = seed();
    let mut read = 0;
    for run in first..first + 20 * runs() {
        let mut dice = Dice(run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let text: String = (0..=dice.below(6)).map(|_| dice.one(&PIECES)).collect();
        let is_one = regress::Regex::with_flags(&text, "u").is_ok();
        match Regex::new(&text) {
            Ok(_) => {
                assert!(
                    is_one,
                    "COLIBRI_PATTERN_SEED={run}: the parser takes /{text}/, which is not a pattern"
                );
                read += 1;
            }
            Err(Refusal::Syntax(at)) => {
                assert!(!is_one, "COLIBRI_PATTERN_SEED={run}: /{text}/ is a pattern, refused at {at}");
            }
            Err(_) => {}
        }
    }
    assert!(read > 0);
}

#[test]
fn without_the_flag_what_means_nothing_else_is_a_literal() {
    let takes = |pattern: &str, text: &str| {
        let judge = regress::Regex::new(pattern).unwrap().find(text).is_some();
        assert_eq!(
            Regex::legacy(pattern).unwrap().is_match(text, &Steps::default()),
            Ok(judge),
            "{pattern} {text}"
        );
        judge
    };
    assert!(
        takes("^[a-z\\_\\-]+$", "a_-b")
            && takes("^\\-\\@$", "-@")
            && takes("^[\\w-.]+$", "a-.")
            && takes("^a]}$", "a]}")
    );
    assert!(!takes("^a\\Z", "a") && !takes("^[\\w-.]+$", "/") && takes("^\\p{L}$", "p{L}"));
    assert_eq!(Regex::legacy("(?=a)").err(), Some(Refusal::LookAhead));
}

#[test]
fn every_refusal_has_a_name() {
    for (pattern, refusal) in [
        ("^(?=.*[0-9])", Refusal::LookAhead),
        ("^(?!x)", Refusal::LookAhead),
        ("(?<=x)y", Refusal::LookBehind),
        ("(?<!x)y", Refusal::LookBehind),
        ("(a)\\1", Refusal::BackReference),
        ("(?<n>a)\\k<n>", Refusal::BackReference),
        ("(?i:a)", Refusal::Modifiers),
        ("\\p{Nope}", Refusal::Property("Nope".to_owned())),
        ("(a{9999}){9999}", Refusal::TooLarge),
        ("a**", Refusal::Syntax(3)),
        ("é[z-a]", Refusal::Syntax(6)),
        ("\\-", Refusal::Syntax(2)),
    ] {
        assert_eq!(Regex::new(pattern).err(), Some(refusal), "{pattern}");
    }
}
