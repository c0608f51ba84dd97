//! What an exit code of 0 needs, and how a file is named that was changed on its way.

use std::io::Write;
use std::process::{Command, Stdio};

use colibri_canonical::{HexDigest, NumberRule, canonical_json};
use colibri_proof::rfc9162::leaf_hash;
use colibri_test_support::shell::Run;
use serde_json::{Value, json};

use crate::auditor_export::world::{Auditor, GOLDEN, GOLDEN_KEY};

const PROOF: &str = include_str!("../../../server/proof/examples/proof.json");
const OTHER_KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// A published hash of the golden files: `head_hash`, `root_hash`, `legacy_root`.
fn published(proof: &str, name: &str) -> String {
    serde_json::from_str::<Value>(proof).unwrap()["tree_head"][name].as_str().unwrap().to_owned()
}

fn cold(proof: &str) -> String {
    let mut file: Value = serde_json::from_str(proof).unwrap();
    file["record"]["content"] = Value::Null;
    canonical_json(&file, NumberRule::Trail).unwrap() + "\n"
}

#[test]
fn an_exit_code_of_0_needs_a_key_or_a_root_that_fixes_the_record() {
    let auditor = Auditor::new();
    let (head, root, legacy) =
        (published(PROOF, "head_hash"), published(PROOF, "root_hash"), published(PROOF, "legacy_root"));
    let zeros = "0".repeat(64);
    let cold_proof = cold(PROOF);
    let cases: &[(&str, &[&str], i32)] = &[
        (PROOF, &[], 3),
        (PROOF, &["--require-key"], 1),
        (PROOF, &["--root", &head], 0),
        (PROOF, &["--root", &root], 0),
        (PROOF, &["--root", &legacy], 0),
        (PROOF, &["--root", &zeros], 1),
        (PROOF, &["--root", &head, "--require-key"], 1),
        (PROOF, &["--key", GOLDEN_KEY], 0),
        (PROOF, &["--key", GOLDEN_KEY, "--require-key"], 0),
        (PROOF, &["--key", OTHER_KEY], 1),
        (PROOF, &["--key", OTHER_KEY, "--root", &head], 1),
        (&cold_proof, &[], 3),
        (&cold_proof, &["--root", &legacy], 3),
        (&cold_proof, &["--root", &root], 0),
        (&cold_proof, &["--root", &legacy, "--key", GOLDEN_KEY], 0),
    ];
    for (file, options, code) in cases {
        auditor.put("proof.json", file);
        judged(&auditor, "check-proof", "proof.json", options, *code);
    }
    let seal: Value = serde_json::from_str(GOLDEN.lines().last().unwrap()).unwrap();
    let [head, root, legacy] = ["head_hash", "root_hash", "legacy_root"]
        .map(|name| seal["tree_head"][name].as_str().unwrap().to_owned());
    let first = GOLDEN.lines().nth(1).unwrap();
    let content = first.split_once("\"content\":").unwrap().1.split_once(",\"content_hash\"").unwrap().0;
    let cold_export = GOLDEN.replacen(content, "null", 1);
    let open = GOLDEN.lines().take(5).collect::<Vec<_>>().join("\n").replace("\"sealed\"", "\"open\"") + "\n";
    let cases: &[(&str, &[&str], i32)] = &[
        (GOLDEN, &[], 3),
        (GOLDEN, &["--require-key"], 1),
        (GOLDEN, &["--root", &head], 0),
        (GOLDEN, &["--root", &root], 0),
        (GOLDEN, &["--root", &legacy], 0),
        (GOLDEN, &["--root", &zeros], 1),
        (GOLDEN, &["--key", GOLDEN_KEY], 0),
        (GOLDEN, &["--key", OTHER_KEY], 1),
        (&cold_export, &["--root", &legacy], 3),
        (&cold_export, &["--root", &root], 0),
        (&open, &[], 3),
        (&open, &["--require-key"], 1),
    ];
    for (file, options, code) in cases {
        auditor.put("export.jsonl", file);
        judged(&auditor, "verify-export", "export.jsonl", options, *code);
    }
}

/// The exit code and the verdict of the JSON agree, and the text says so.
fn judged(auditor: &Auditor, command: &str, file: &str, options: &[&str], code: i32) -> Value {
    let arguments = [&[command, file], options].concat();
    let run = auditor.colibri(&arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {}{}", run.out, run.err);
    let json = auditor.colibri(&[&arguments[..], &["--json"]].concat());
    let verdict = json.json();
    let expected = match code {
        0 => "holds",
        1 => "fails",
        _ => "unconfirmed",
    };
    assert_eq!((json.code, &verdict["verdict"]), (Some(code), &json!(expected)), "{arguments:?}: {verdict}");
    assert_eq!(verdict["valid"], code != 1, "{arguments:?}: {verdict}");
    assert_eq!(verdict["fixed"].as_array().unwrap().contains(&json!("record")), code == 0, "{verdict}");
    assert_eq!(
        code == 1,
        run.out.contains("Nothing is proven: a check failed."),
        "{arguments:?}: {}",
        run.out
    );
    verdict
}

/// The forger knows the published root and no record of the session.
#[test]
fn a_published_legacy_root_alone_proves_no_invented_record() {
    let root = published(PROOF, "legacy_root");
    let mut file: Value = serde_json::from_str(PROOF).unwrap();
    let record = &mut file["record"];
    record["content"] = Value::Null;
    record["content_hash"] =
        json!(HexDigest::of(b"We approve the payment of 1,000,000 to Mallory.").as_str());
    record["agent_id"] = json!("the-board");
    record["timestamp"] = json!("2020-01-01T00:00:00.000Z");
    record["hash"] = json!(root);
    let mut envelope = record.clone();
    envelope.as_object_mut().unwrap().remove("content");
    envelope["v"] = json!(1);
    let leaf = leaf_hash(canonical_json(&envelope, NumberRule::Trail).unwrap().as_bytes());
    let leaf = HexDigest::from_raw(&leaf);
    file["legacy"] = json!({ "root": root, "record_count": 1, "proof": [] });
    file["rfc9162"] =
        json!({ "leaf_index": 0, "tree_size": 1, "audit_path": [], "root_hash": leaf.as_str() });
    let head = &mut file["tree_head"];
    (head["root_hash"], head["tree_size"]) = (json!(leaf.as_str()), json!(1));
    (head["signature"], head["key_id"], head["public_key"]) = (Value::Null, Value::Null, Value::Null);
    let mut message = head.clone();
    for name in ["head_hash", "signature", "key_id", "public_key"] {
        message.as_object_mut().unwrap().remove(name);
    }
    let message = format!("colibri-tree-head-v1\n{}", canonical_json(&message, NumberRule::Trail).unwrap());
    head["head_hash"] = json!(HexDigest::of(message.as_bytes()).as_str());
    let auditor = Auditor::new();
    auditor.put("proof.json", canonical_json(&file, NumberRule::Trail).unwrap() + "\n");
    let verdict = judged(&auditor, "check-proof", "proof.json", &["--root", &root], 3);
    assert_eq!(
        (&verdict["root_match"], &verdict["proven"]),
        (&json!("legacy_root"), &json!([])),
        "{verdict}"
    );
    let open = verdict["not_proven"].to_string();
    for part in [
        "is not invented",
        "who wrote the record",
        "the place of the record",
        "how many records",
        "when it was sealed",
    ] {
        assert!(open.contains(part), "{part}: {open}");
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut program = Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    program.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    program.wait_with_output().unwrap().stdout
}

fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// The lines as a program writes them that gives each value a line, in one array or one after the other.
fn formatted(text: &str, array: bool) -> String {
    let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if array {
        return serde_json::to_string(&values).unwrap();
    }
    values.iter().map(|value| serde_json::to_string_pretty(value).unwrap() + "\n").collect()
}

/// Each character beyond ASCII as an escape.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Quoted-printable, with its soft line breaks.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let units: Vec<String> = line
            .bytes()
            .map(|byte| {
                if byte == b'=' || !byte.is_ascii() {
                    format!("={byte:02X}")
                } else {
                    char::from(byte).into()
                }
            })
            .collect();
        let lines: Vec<String> = units.chunks(70).map(<[String]>::concat).collect();
        out += &(lines.join("=\n") + "\n");
    }
    out
}

#[test]
fn a_file_that_was_changed_on_its_way_is_named_as_what_it_is() {
    let auditor = Auditor::new();
    for (command, good) in [("verify-export", GOLDEN), ("check-proof", PROOF)] {
        let text = |text: String| text.into_bytes();
        let cases = [
            (text(format!("\u{feff}{good}")), 2, "the file begins with a byte order mark"),
            (utf16(good), 2, "the file was converted to UTF-16"),
            (gzip(good), 2, "the file is compressed; unpack it"),
            (text(formatted(good, true)), 2, "a program has made one JSON array of the lines"),
            (text(good.replace('\n', "\r\n")), 1, "the lines end with CRLF"),
            (text(escaped(good)), 1, "a program has written characters as \\u escapes"),
            (text(quoted(good)), 1, "the file is in the quoted-printable form of a mail"),
            (
                text(good.replacen(':', ": ", 3)),
                if command == "check-proof" { 1 } else { 2 },
                "a program has formatted the JSON",
            ),
            (
                text(formatted(good, false)),
                if command == "check-proof" { 1 } else { 2 },
                "a program has formatted the JSON",
            ),
        ];
        let shown = |words: &&str| !(good.is_ascii() && words.contains("escapes"));
        for (file, code, words) in cases.into_iter().filter(|(.., words)| shown(words)) {
            auditor.put("file", &file);
            let run = auditor.colibri(&[command, "file"]);
            assert_eq!(run.code, Some(code), "{command} {words}: {}{}", run.out, run.err);
            let said = if code == 2 { &run.err } else { &run.out };
            assert!(said.contains(words), "{command} {words}: {}{}", run.out, run.err);
            assert!(code == 1 || said.contains("use the file as it was written"), "{said}");
        }
    }
    other_files_are_named(&auditor);
}

fn other_files_are_named(auditor: &Auditor) {
    auditor.put("proof.json", PROOF);
    auditor.put("export.jsonl", GOLDEN);
    let named = |run: Run, words: &str| {
        assert!(run.code == Some(2) && run.err.contains(words), "{words}: {}{}", run.out, run.err);
    };
    named(auditor.colibri(&["verify-export", "proof.json"]), "it is a proof, which `check-proof` reads");
    named(auditor.colibri(&["check-proof", "export.jsonl"]), "it is an export, which `verify-export` reads");
}
