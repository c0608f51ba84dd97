//! A file has one form; the check names the line of any departure from it.

use colibri_proof::session_export::{MAX_LINE_BYTES, NotAnExport};

use crate::exports::support::{GOLDEN, chain, check, fault, is_valid, open};

#[test]
fn other_files_are_no_exports() {
    assert_eq!(check(b""), Err(NotAnExport::Empty));
    for other in [
        "\n",
        "{}\n",
        "\u{feff}{\"format\":",
        " {\"format\":\"colibri-session-export\",",
        "SQLite format 3\0",
    ] {
        assert_eq!(check(other.as_bytes()), Err(NotAnExport::OtherFile), "{other:?}");
    }
    let later = GOLDEN.replacen("\"state\":\"sealed\",\"v\":1", "\"new\":[],\"state\":\"sealed\",\"v\":2", 1);
    assert_eq!(check(later.as_bytes()), Err(NotAnExport::OtherVersion(2)));
}

/// What is changed in the chapter's export, into what, and how the fault begins.
const DEPARTURES: [(&str, &str, &str); 17] = [
    (
        "\"record_count\":4",
        "\"record_count\":5",
        "line 6 should be a record, and is not: unknown field `tips`",
    ),
    (
        "\"record_count\":4",
        "\"record_count\":3",
        "line 5 should be the chain tips, and is not: unknown field `record`",
    ),
    (
        "\"record_count\":4",
        "\"record_count\":0",
        "line 1 should be the header, and is not: its number of records",
    ),
    (
        "\"record_count\":4",
        "\"record_count\":-4",
        "line 1 should be the header, and is not: its number of records",
    ),
    ("\"record_count\":4", "\"record_count\":4.0", "line 1 should be the header, and is not: invalid type"),
    (
        "\"record_count\":4",
        "\"record_count\":9007199254740992",
        "line 1 should be the header, and is not: a number",
    ),
    ("\"state\":\"sealed\"", "\"state\":\"open\"", "line 6 stands behind the end of the export"),
    (
        "\"state\":\"sealed\"",
        "\"state\":\"shut\"",
        "line 1 should be the header, and is not: unknown variant `shut`",
    ),
    (
        "\"state\":\"sealed\"",
        "\"state\":\"sealed\",\"more\":1",
        "line 1 should be the header, and is not: unknown field",
    ),
    ("\"record_count\":4,", "", "line 1 should be the header, and is not: missing field `record_count`"),
    ("\"task_id\":\"11111111-1111-4111-8111-111111111111\"},", "\"x\":1},", "line 1 should be the header"),
    (
        "{\"record\":{\"agent_id\"",
        "{\"record\": {\"agent_id\"",
        "line 2 is not as it was written: a program has formatted the JSON",
    ),
    ("\"agent_id\":\"agent-7\",", "", "line 2 should be a record, and is not: missing field `agent_id`"),
    (
        "\"agent_id\":\"agent-7\",",
        "\"agent_id\":\"agent\\u002d7\",",
        "line 2 is not in canonical form from byte 28 on",
    ),
    ("\"chain_length\":4", "\"chain_length\":0", "line 6 should be the chain tips, and is not: a chain"),
    ("\"head_index\":0", "\"head_index\":-1", "line 7 should be the tree head, and is not: a number"),
    (
        "\"log_exit_no\":6",
        "\"log_exit_no\":9007199254740993",
        "line 7 should be the tree head, and is not: a number",
    ),
];

#[test]
fn each_departure_from_the_form_is_named_with_its_line() {
    let first = GOLDEN.lines().next().unwrap();
    for (from, to, said) in DEPARTURES {
        let changed = GOLDEN.replacen(from, to, 1);
        assert_ne!(changed, GOLDEN, "{from}");
        let fault = fault(changed.as_bytes());
        assert!(fault.starts_with(said), "{to}: {fault}");
    }
    let reordered = GOLDEN.replacen(
        first,
        &first.replace(",\"v\":1", "").replace("\"record_count\"", "\"v\":1,\"record_count\""),
        1,
    );
    assert_eq!(fault(reordered.as_bytes()), "line 1 is not in canonical form from byte 36 on");
}

#[test]
fn keys_twice_null_for_text_and_text_for_null_are_found() {
    let changes = [
        ("\"agent_id\":\"agent-7\"", "\"agent_id\":\"agent-7\",\"agent_id\":\"agent-7\""),
        ("\"agent_id\":\"agent-7\"", "\"agent_id\":null"),
        ("\"content\":\"Plan: build the ζ verifier\"", "\"content\":\"null\""),
        ("\"content\":\"Plan: build the ζ verifier\",", ""),
        ("\"signature\":\"", "\"signature\":null,\"x\":\""),
        ("\"v\":1}}", "\"v\":1.0}}"),
    ];
    for (from, to) in changes {
        assert!(GOLDEN.contains(from), "{from}");
        assert!(!is_valid(GOLDEN.replacen(from, to, 1).as_bytes()), "{to}");
    }
}

#[test]
fn a_line_may_be_8_mib_and_no_byte_more() {
    // An open session, so that nothing but the length can be wrong.
    let mut records = chain(1, "T", crate::exports::links::ZERO, 1);
    let short = open(&records).split(|byte| *byte == b'\n').nth(1).unwrap().len();
    for (length, said) in [(MAX_LINE_BYTES, None), (MAX_LINE_BYTES + 1, Some("line 2 is longer than 8 MiB"))]
    {
        let content = "a".repeat(length - short + "step 1".len());
        records[0] = crate::exports::support::record(1, "T", crate::exports::links::ZERO, &content);
        let file = open(&records);
        match said {
            None => assert!(is_valid(&file)),
            Some(said) => assert_eq!(fault(&file), said),
        }
    }
}

#[test]
fn blank_lines_carriage_returns_and_a_missing_line_end_are_found() {
    assert_eq!(fault(GOLDEN.trim_end().as_bytes()), "line 7 has no line end");
    assert_eq!(fault(format!("{GOLDEN}\n").as_bytes()), "line 8 stands behind the end of the export");
    assert_eq!(fault(format!("{GOLDEN}x").as_bytes()), "line 8 has no line end");
    let crlf = GOLDEN.replace('\n', "\r\n");
    assert!(
        fault(crlf.as_bytes()).starts_with("line 1 is not as it was written: the lines end with CRLF"),
        "{}",
        fault(crlf.as_bytes())
    );
    for line in 0..7 {
        let mut lines: Vec<String> = GOLDEN.lines().map(|line| format!("{line}\n")).collect();
        lines[line] = lines[line].replace('\n', "\r\n");
        assert!(fault(lines.concat().as_bytes()).starts_with(&format!("line {} is not", line + 1)));
        lines[line] = "\n".to_owned();
        if line > 0 {
            assert!(fault(lines.concat().as_bytes()).starts_with(&format!("line {} should be", line + 1)));
        }
    }
}
