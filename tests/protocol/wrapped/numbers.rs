//! chain#hashes: numbers in the arguments of a call. A number that 64 bits do not keep is hashed as its digits were sent.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use colibri_canonical::{HexDigest, NumberRule, canonical_json, canonical_text, keeps_numbers, sha256_hex};
use colibri_test_support::actions::actions;
use colibri_test_support::client::Launch;
use colibri_test_support::dice::Dice;
use serde_json::Value;

use super::{COLIBRI, ERAS, Era, Wrapped};

/// Numbers on both sides of what 64 bits keep.
const BORDERS: [&str; 22] = [
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "18446744073709551617",
    "-9223372036854775808",
    "-9223372036854775809",
    "-9223372036854775810",
    "12345678901234567890123",
    "12345678901234567890124",
    "1000000000000000000000000",
    "1000000000000000000000001",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "0.1",
    "0.1000000000000000055511151231257827",
    "1.5",
    "1e2",
    "1e24",
    "1.00000000000000000000000001e24",
    "1e-400",
];

#[test]
fn a_number_beyond_64_bits_has_the_same_hash_in_the_server_under_wrap_and_in_the_second_verifier() {
    let texts = BORDERS.map(|number| format!(r#"{{"wei":[{number}]}}"#));
    let verified = second_verifier(&texts);
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let mut server = Launch::new(COLIBRI).beside(&wrap.server).start();
        for (id, text) in texts.iter().enumerate() {
            let meta =
                if era == Era::Stateless { format!(r#","_meta":{}"#, wrap.meta()) } else { String::new() };
            let params = format!(r#"{{"name":"echo","arguments":{text}{meta}}}"#);
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
            wrap.server.send_line(&line);
            wrap.message();
            // No tool of Colibri's takes such a number; a call that is refused has a row, too.
            server.send_line(&line.replace("echo", "task_list"));
            server.receive();
        }
        let rows = actions(&wrap.server.sql());
        let hashes_of = |tool: &str| -> Vec<String> {
            rows.iter().filter(|row| row.tool == tool).map(|row| row.args_hash.clone()).collect()
        };
        let expected: Vec<String> = texts.iter().map(|text| hash(text)).collect();
        assert_eq!(hashes_of("odd/echo"), expected, "{era:?}");
        assert_eq!(hashes_of("task_list"), expected, "{era:?}");
        assert!(verified.as_ref().is_none_or(|verified| *verified == expected), "{verified:?}");
    }
}

/// `COLIBRI_NUMBERS` says how many numbers, `COLIBRI_NUMBERS_SEED` which.
#[test]
fn numbers_of_different_values_have_different_hashes() {
    let count = variable("COLIBRI_NUMBERS", 20_000);
    let seed = variable("COLIBRI_NUMBERS_SEED", 1);
    let dice = Dice::new(seed);
    let mut values: HashMap<[u8; 32], [u8; 32]> = HashMap::new();
    let (mut done, mut kept) = (0, 0);
    while done < count {
        let mut texts = Vec::new();
        while texts.len() < 2000 {
            let number = random_number(&dice);
            texts.push(neighbour(&dice, &number));
            texts.push(number);
        }
        let hashes: Vec<String> = texts.iter().map(|text| hash(text)).collect();
        for (text, hash) in texts.iter().zip(&hashes) {
            let value = HexDigest::of(value_of(text).as_bytes()).raw();
            let raw = HexDigest::parse(hash).expect("a hash").raw();
            assert_eq!(*values.entry(raw).or_insert(value), value, "seed {seed}: {text} shares {hash}");
            if keeps_numbers(text) {
                let before: Value = serde_json::from_str(text).expect("a number");
                let before = canonical_json(&before, NumberRule::Wire).expect("canonical");
                assert_eq!(*hash, sha256_hex(before.as_bytes()), "seed {seed}: {text}");
                kept += 1;
            }
        }
        if let Some(verified) = second_verifier(&texts) {
            for ((text, hash), verified) in texts.iter().zip(&hashes).zip(verified) {
                assert_eq!(*hash, verified, "seed {seed}: {text}");
            }
        }
        done += texts.len() as u64;
    }
    say(&format!(
        "{done} numbers from seed {seed}, of which 64 bits keep {kept}, have {} hashes",
        values.len()
    ));
    assert!(kept > done / 10 && kept < done / 2, "{kept} of {done} numbers are kept");
}

fn variable(name: &str, unset: u64) -> u64 {
    std::env::var(name).map_or(unset, |text| text.parse().expect("a number"))
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn hash(text: &str) -> String {
    sha256_hex(canonical_text(text, NumberRule::Sent).expect("canonical").as_bytes())
}

/// Returns the hashes that the second verifier computes. `None` if there is no Python.
fn second_verifier(texts: &[String]) -> Option<Vec<String>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/second_verifier/arguments.py");
    let mut python = Command::new("python3");
    let Ok(mut child) = python.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        say("not compared with the second verifier: python3 is missing");
        return None;
    };
    let mut stdin = child.stdin.take().expect("a pipe");
    let lines = texts.join("\n");
    let writing = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writing.join().expect("a thread").expect("it reads everything");
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect())
}

fn digits(dice: &Dice, count: u64) -> String {
    (0..count).fold(String::new(), |mut text, _| {
        let _ = write!(text, "{}", dice.below(10));
        text
    })
}

/// Returns a number of up to 400 digits, perhaps with a fraction or an exponent.
fn random_number(dice: &Dice) -> String {
    let sign = if dice.one_in(4) { "-" } else { "" };
    let number = match dice.below(6) {
        0 => (*dice.pick(&BORDERS)).trim_start_matches('-').to_owned(),
        1 => f64::from_bits(dice.roll() & !(1 << 63))
            .to_string()
            .replace("inf", "1e999")
            .replace("NaN", "2e999"),
        2 => (dice.roll() >> dice.below(64)).to_string(),
        _ => {
            let most = if dice.one_in(2) { 30 } else { 399 };
            let whole = format!("{}{}", 1 + dice.below(9), digits(dice, dice.below(most)));
            let fraction = if dice.one_in(2) {
                format!(".{}{}", digits(dice, dice.below(400 - whole.len() as u64)), dice.below(10))
            } else {
                String::new()
            };
            let exponent = match dice.below(4) {
                0 => format!("e{}", dice.below(400)),
                1 => format!("E-{}", dice.below(400)),
                _ => String::new(),
            };
            format!("{whole}{fraction}{exponent}")
        }
    };
    format!("{sign}{number}")
}

/// Returns the same number with another digit, another digit more, or written in another way.
fn neighbour(dice: &Dice, number: &str) -> String {
    let (mantissa, exponent) = number.find(['e', 'E']).map_or((number, ""), |at| number.split_at(at));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    match dice.below(4) {
        0 => format!("{mantissa}{point}{}{exponent}", digits(dice, 1)),
        1 => format!("{mantissa}{point}{}{exponent}", "0".repeat(dice.place(20))),
        2 if exponent.is_empty() => format!("{mantissa}e+0"),
        _ => {
            let places: Vec<usize> = mantissa
                .char_indices()
                .filter(|(_, digit)| digit.is_ascii_digit())
                .map(|(at, _)| at)
                .skip(1)
                .collect();
            let mut changed = mantissa.to_owned();
            if let Some(at) = places.last() {
                changed.replace_range(at..&(at + 1), &dice.below(10).to_string());
            }
            format!("{changed}{exponent}")
        }
    }
}

/// Returns the value of a number, in one form for each value: sign, digits and the power of ten of the last one.
fn value_of(number: &str) -> String {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut power = exponent.parse::<i64>().expect("an exponent") - fraction.len() as i64;
    let mut digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    while digits.ends_with('0') {
        digits.pop();
        power += 1;
    }
    match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => format!("{}{digits} {power}", if number.starts_with('-') { "-" } else { "" }),
    }
}
