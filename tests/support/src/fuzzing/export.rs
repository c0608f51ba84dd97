//! Exports of sessions: what the signer's key vouches for is what was exported, line by line.

use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_proof::session_export::{ExportCheck, ExportVerdict, NotAnExport};
use serde_json::Value;

use super::command::judge;
use super::genuine::{EXPORT, TRUSTED};
use crate::dice::Dice;

/// Members and values of an export.
pub const TOKENS: &[&str] = &[
    "\n",
    "null",
    "0",
    "1",
    "4",
    "-1",
    "\"open\"",
    "\"sealed\"",
    "[]",
    "{}",
    ",",
    "\"",
    "\\u001b",
    "\u{202e}",
    "\"content\":null,",
    "\"content\":\"\",",
    "\"record_count\":0",
    "\"record_count\":3",
    "\"v\":2",
    "\"plan\"",
    "{\"tips\":[]}\n",
    "\"chain_length\":1",
    "\"signature\":null,",
    "\"S-1\"",
    " ",
    "0000000000000000000000000000000000000000000000000000000000000000",
];

/// Hands the lines to the check, with the signer's key and without any.
pub fn check(bytes: &[u8]) -> bool {
    let alone = verdict(bytes, &TrustedKeys::default());
    let trusting = verdict(bytes, &TRUSTED);
    let valid = trusting.as_ref().is_ok_and(|verdict| verdict.valid);
    let dice = Dice::of(bytes);
    if valid || dice.one_in(20) {
        let code = judge("verify-export", bytes, dice.one_in(2));
        let expected = if trusting.is_err() { 2 } else { u8::from(!valid) };
        assert_eq!(code, expected);
    }
    let (Ok(alone), Ok(trusting)) = (&alone, &trusting) else {
        assert_eq!(alone.is_err(), trusting.is_err(), "what is an export does not depend on keys");
        return false;
    };
    sensible(bytes, alone);
    sensible(bytes, trusting);
    assert!(alone.valid || !valid, "a key makes no export better");
    if valid {
        assert_eq!(trusting.signature, Some(SignatureStatus::Valid));
        assert!(is_genuine(bytes), "it says something that nobody has signed");
    }
    valid
}

fn verdict(file: &[u8], trusted: &TrustedKeys) -> Result<ExportVerdict, NotAnExport> {
    let mut check = ExportCheck::new(trusted);
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        if !check.line(line)? {
            assert_eq!(check.line(b"more\n"), Ok(false), "nothing more is wanted");
            break;
        }
    }
    check.finish()
}

/// What a verdict says fits together and into the file.
fn sensible(file: &[u8], verdict: &ExportVerdict) {
    let lines = file.split_inclusive(|byte| *byte == b'\n').count() as u64;
    let listed = verdict.issues.len() as u64;
    assert!(listed <= 100 && listed <= verdict.issue_count && (listed > 0) == (verdict.issue_count > 0));
    assert!(!verdict.checks.form || verdict.fault.is_none(), "{:?}", verdict.fault);
    assert!(!verdict.valid || verdict.checks.form && verdict.issue_count == 0);
    let records = u64::try_from(verdict.record_count).expect("a count");
    assert!(records <= lines && verdict.cold_count <= verdict.record_count);
    assert!(verdict.links_inside + verdict.links_outside <= verdict.record_count);
    if let Some(fault) = &verdict.fault {
        assert!((1..=lines + 1).contains(&fault.line), "{fault} of {lines} lines");
    }
}

/// Whether each line is the one that was exported, or the same record without its content, which is a smaller claim.
fn is_genuine(file: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(file) else { return false };
    let (lines, genuine): (Vec<&str>, Vec<&str>) = (text.lines().collect(), EXPORT.lines().collect());
    lines.len() == genuine.len()
        && lines.iter().zip(genuine).all(|(line, genuine)| *line == genuine || *line == cold(genuine))
}

/// A line as it is when retention has dropped the record's content.
fn cold(line: &str) -> String {
    let mut value: Value = serde_json::from_str(line).expect("JSON");
    if let Some(content) = value.pointer_mut("/record/content") {
        *content = Value::Null;
    }
    value.to_string()
}
