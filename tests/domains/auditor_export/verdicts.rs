//! What a check says, and its exit code.

use serde_json::json;

use crate::auditor_export::world::{Auditor, GOLDEN, GOLDEN_KEY};

const HEAD_HASH: &str = "13fb61cea6cbb185c02e1d6a862be1444fe8cdf3064d544af95726a798399fa2";
const ROOT_HASH: &str = "41e1ee33de22d60cea5295541f98a2d847f4d103c7827a414db92ac4af052339";
const LEGACY_ROOT: &str = "d6f1ba4bb32ac97672bd748b53882e055468b67f92203ef403258b73638e4311";

#[test]
fn the_chapters_session_is_valid_by_its_key_and_by_each_of_its_roots() {
    let auditor = Auditor::new();
    auditor.put("key.pub", format!("{GOLDEN_KEY}\n"));
    for key in [GOLDEN_KEY, "key.pub"] {
        let run = auditor.verify(GOLDEN, &["--key", key]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
        assert!(run.out.contains("valid, by the given key 56475aa75463474c0285df5dbf2bcab7"), "{}", run.out);
        assert!(run.out.contains("The export is valid"), "{}", run.out);
    }
    for (root, kind) in [(HEAD_HASH, "head_hash"), (ROOT_HASH, "rfc9162_root"), (LEGACY_ROOT, "legacy_root")]
    {
        let run = auditor.verify(GOLDEN, &["--root", root, "--json"]);
        assert_eq!((run.code, &run.json()["root_match"]), (Some(0), &json!(kind)));
    }
}

#[test]
fn another_root_another_key_or_no_seal_is_not_valid() {
    let auditor = Auditor::new();
    let other_key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let open = GOLDEN.lines().take(5).collect::<Vec<_>>().join("\n").replace("\"sealed\"", "\"open\"") + "\n";
    assert_eq!(auditor.verify(&open, &[]).code, Some(3));
    let cases: [(&str, &[&str]); 5] = [
        (GOLDEN, &["--root", &"1".repeat(64)]),
        (GOLDEN, &["--key", other_key]),
        (&open, &["--root", ROOT_HASH]),
        (&open, &["--key", GOLDEN_KEY]),
        (&GOLDEN.replace("agent-7", "agent-8"), &[]),
    ];
    for (file, options) in cases {
        let run = auditor.verify(file, options);
        assert_eq!(run.code, Some(1), "{options:?}: {}{}", run.out, run.err);
        assert!(run.out.contains("FAIL") && run.out.contains("The export is not valid."), "{}", run.out);
        let json = auditor.verify(file, &[options, &["--json"]].concat());
        assert_eq!((json.code, &json.json()["valid"]), (Some(1), &json!(false)));
    }
}

#[test]
fn a_finding_is_named_by_line_and_record() {
    let run = Auditor::new().verify(GOLDEN.replace("tests green", "tests red!!"), &["--json"]);
    let verdict = run.json();
    let issue = &verdict["issues"][0];
    assert_eq!((&issue["code"], &issue["line"]), (&json!("CONTENT_LOST"), &json!(5)), "{verdict}");
    assert_eq!(issue["record_id"], json!("00000000-0000-4000-8000-000000000004"));
    assert_eq!(verdict["checks"]["record_hashes"], json!(false));
    // The seal covers the digest that stands in the file, which was left as it was.
    assert_eq!(verdict["checks"]["root_hash"], json!(true));
    let cut = GOLDEN.lines().take(6).collect::<Vec<_>>().join("\n") + "\n";
    let verdict = Auditor::new().verify(cut, &["--json"]).json();
    assert_eq!(verdict["fault"], json!({ "line": 7, "problem": "should be the tree head, and is missing" }));
}

#[test]
fn what_is_no_export_and_a_bad_command_line_end_with_2() {
    let auditor = Auditor::new();
    for file in ["", "hello\n", "{}\n", &GOLDEN.replacen("\"v\":1", "\"v\":2", 1)] {
        let run = auditor.verify(file, &[]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{file}");
        assert!(run.err.contains("is not an export of a session"), "{}", run.err);
    }
    auditor.put("export.jsonl", GOLDEN);
    let cases: [&[&str]; 5] = [
        &["verify-export"],
        &["verify-export", "nothing.jsonl"],
        &["verify-export", "."],
        &["verify-export", "export.jsonl", "--root", "abc"],
        &["verify-export", "export.jsonl", "--key", "abc"],
    ];
    for arguments in cases {
        assert_eq!(auditor.colibri(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn stored_text_does_not_drive_the_terminal() {
    let open = GOLDEN.lines().next().unwrap().replace("\"sealed\"", "\"open\"").replace(":4", ":0");
    let file = open.replace("Build the verifier", "\\u001b[31mred") + "\n";
    let run = Auditor::new().verify(file, &[]);
    assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    assert!(run.out.contains("\\u{1b}[31mred") && !run.out.contains('\u{1b}'), "{}", run.out);
}
