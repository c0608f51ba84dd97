//! The parser's acceptance cases, skills#parser.

use crate::domains::skills::engine::frontmatter::GREEK_LETTERS;
use crate::domains::skills::engine::node::Node;
use crate::domains::skills::engine::yaml::MAX_DEPTH;
use crate::domains::skills::text::{MAX_FILE_BYTES, MAX_FRONTMATTER_BYTES, parse_skill_text};
use crate::domains::skills::{ParsedSkill, Reason, Refusal, parse_skill_bytes};
use serde_json::{Value, json};

/// A file with that front matter.
fn file(block: &str) -> String {
    format!("---\n{block}---\nBody\n")
}

/// The skill of a file with name, description and some lines more.
fn with(lines: &str) -> Result<ParsedSkill, Refusal> {
    parse_skill_text(&file(&format!("name: ab\ndescription: d\n{lines}")))
}

fn refused(answer: Result<ParsedSkill, Refusal>) -> Refusal {
    answer.expect_err("it must be refused")
}

fn reason_of(text: &str) -> Reason {
    refused(parse_skill_text(text)).reason
}

fn all(skill: &ParsedSkill) -> Value {
    serde_json::from_str(&skill.frontmatter.json()).unwrap()
}

#[test]
fn a_minimal_file_is_a_skill_with_bom_and_crlf_too() {
    let skill = parse_skill_text(&file("name: ab\ndescription: Does it.\n")).unwrap();
    let front = &skill.frontmatter;
    assert_eq!(
        (front.name.as_str(), front.description.as_str(), skill.body.as_str()),
        ("ab", "Does it.", "Body\n")
    );
    assert_eq!((&front.version, &front.entrypoint, &front.greek_letter), (&None, &None, &None));
    assert_eq!(front.capabilities, [] as [String; 0]);

    let odd =
        parse_skill_text("\u{FEFF}---\r\nname: ab\r\ndescription: Does it.\r\n---\r\nBody\r\n").unwrap();
    assert_eq!(odd.frontmatter, skill.frontmatter);
    assert_eq!(odd.body, "Body\r\n");
    // The parser drops one mark; a second one does not belong to an opening line.
    assert_eq!(reason_of("\u{FEFF}\u{FEFF}---\nname: ab\n---\n"), Reason::MissingFrontmatter);
}

#[test]
fn names_follow_their_pattern_to_the_true_end() {
    let named = |name: &str| {
        let quoted = serde_json::to_string(name).unwrap();
        parse_skill_text(&file(&format!("name: {quoted}\ndescription: d\n")))
    };
    for good in ["ab", "colibri-pm", "a--", "a-", "a0"] {
        assert_eq!(named(good).unwrap().frontmatter.name, good);
    }
    for bad in ["a", "A1", "1ab", "-a", "a_b", "", "ab\n", "aB", "a b", "äb", "a\u{0430}"] {
        let refusal = refused(named(bad));
        assert_eq!(refusal.reason, Reason::SchemaInvalid, "{bad:?}");
        assert!(refusal.detail.starts_with("name: must be"), "{refusal:?}");
    }
    let empty = refused(parse_skill_text(&file("name: ab\ndescription: ''\n")));
    assert_eq!(
        (empty.reason, empty.detail.as_str()),
        (Reason::SchemaInvalid, "description: must not be empty")
    );
}

#[test]
fn typed_keys_keep_to_their_types_and_words() {
    let refused_for = |lines: &str, path: &str| {
        let refusal = refused(with(lines));
        assert_eq!(refusal.reason, Reason::SchemaInvalid, "{lines}");
        assert!(refusal.detail.starts_with(path), "{lines}: {}", refusal.detail);
    };
    refused_for("capabilities: [read, execute]\n", "capabilities.1: must be one of");
    refused_for("capabilities: read\n", "capabilities: must be a list");
    refused_for("capabilities: [1]\n", "capabilities.0: must be a string, not a number");
    refused_for("capabilities: [Read]\n", "capabilities.0: ");
    for letter in ["Σ", "σ", "e", "\"e\"", "Α", "ο", "ρ", "τ", "υ", "φ", "χ", "ψ", "ω", "αα", "''"]
    {
        refused_for(&format!("greekLetter: {letter}\n"), "greekLetter: must be one of");
    }
    for letter in GREEK_LETTERS {
        let skill = with(&format!("greekLetter: {letter}\n")).unwrap();
        assert_eq!(skill.frontmatter.greek_letter.as_deref(), Some(letter));
    }
    refused_for("version: 1.0\n", "version: must be a string, not a number");
    refused_for("version: .inf\n", "version: must be a string, not a number");
    assert_eq!(with("version: \"1.0\"\n").unwrap().frontmatter.version.as_deref(), Some("1.0"));
    // What is absent may be left out; null is something else.
    for key in ["version", "entrypoint", "greekLetter"] {
        refused_for(&format!("{key}: null\n"), &format!("{key}: must be a string, not null"));
    }
    refused_for("capabilities:\n", "capabilities: must be a list, not null");
    let skill = with("entrypoint: rm -rf x\ncapabilities: [admin, read, read]\ngreek_letter: 7\n").unwrap();
    assert_eq!(skill.frontmatter.entrypoint.as_deref(), Some("rm -rf x"));
    assert_eq!(skill.frontmatter.capabilities, ["admin", "read", "read"]);
    assert_eq!(
        (&skill.frontmatter.greek_letter, &skill.frontmatter.all["greek_letter"]),
        (&None, &Node::Integer(7))
    );
}

#[test]
fn every_issue_is_listed_in_the_order_of_the_keys() {
    let refusal = refused(parse_skill_text(&file("greekLetter: 1\nname: A\ncapabilities: [fly, read, 2]\n")));
    let issues: Vec<&str> =
        refusal.detail.split("; ").filter_map(|issue| Some(issue.split_once(": ")?.0)).collect();
    assert_eq!(issues, ["name", "description", "capabilities.0", "capabilities.2", "greekLetter"]);
    assert!(refusal.detail.contains("description: is missing"), "{}", refusal.detail);
}

#[test]
fn yaml_beyond_plain_mappings_is_refused() {
    assert_eq!(
        refused(parse_skill_text(&file("name: ab\ndescription: Greek: eta\n"))).reason,
        Reason::YamlSyntax
    );
    let quoted = parse_skill_text(&file("name: ab\ndescription: 'Greek: eta'\n")).unwrap();
    assert_eq!(quoted.frontmatter.description, "Greek: eta");
    for (lines, said) in [
        ("name: cd\n", "line 4: the key \"name\" stands here a second time"),
        ("x: {a: 1, 'a': 2}\n", "the key \"a\" stands here a second time"),
        ("x: &anchor 1\n", "anchors are not allowed"),
        ("x: *anchor\n", ""),
        ("x: &a [1]\ny: *a\n", "anchors are not allowed"),
        ("x: !!tag 1\n", "tags are not allowed"),
        ("x: ! 1\n", "tags are not allowed"),
        ("x: !local {a: 1}\n", "tags are not allowed"),
        ("--- {name: cd}\n", "a second YAML document"),
        ("...\nname: cd\n", "a second YAML document"),
        ("<<: {x: 1}\n", "merge keys are not allowed"),
        ("? [a, b]\n: c\n", "a key must be a word"),
        ("? {a: b}\n: c\n", "a key must be a word"),
        ("x: [1\n", ""),
        ("x: 'open\n", ""),
        ("x: a\u{0}b\n", "U+0000 is not allowed"),
        ("x: a\u{7}b\n", "line 4: U+0007 is not allowed"),
    ] {
        let refusal = refused(with(lines));
        assert_eq!(refusal.reason, Reason::YamlSyntax, "{lines}");
        assert!(
            refusal.detail.contains(said) && refusal.detail.starts_with("line "),
            "{lines}: {}",
            refusal.detail
        );
    }
    // The root is the first level.
    let nested = |levels: usize| with(&format!("x: {}1{}\n", "[".repeat(levels), "]".repeat(levels)));
    assert!(nested(MAX_DEPTH - 1).is_ok());
    assert_eq!(refused(nested(MAX_DEPTH)).reason, Reason::YamlSyntax);
}

#[test]
fn what_is_not_a_front_matter_has_a_reason_of_its_own() {
    for (text, reason) in [
        ("", Reason::MissingFrontmatter),
        ("# Title\n", Reason::MissingFrontmatter),
        ("\n---\nname: ab\n---\n", Reason::MissingFrontmatter),
        (" ---\nname: ab\n---\n", Reason::MissingFrontmatter),
        ("---js\nprocess.exit(1)\n---\n", Reason::UnsupportedFrontmatter),
        ("---json\n{}\n---\n", Reason::UnsupportedFrontmatter),
        ("---toml\n---\n", Reason::UnsupportedFrontmatter),
        ("---yamlx\n---\n", Reason::UnsupportedFrontmatter),
        ("---YAML\n---\n", Reason::UnsupportedFrontmatter),
        ("---", Reason::UnterminatedFrontmatter),
        ("---\nname: ab\n", Reason::UnterminatedFrontmatter),
        ("---\nname: ab\n ---\n", Reason::UnterminatedFrontmatter),
        ("---\nname: ab\n----\n", Reason::UnterminatedFrontmatter),
        ("---\n---\n", Reason::NotAMapping),
        ("---\n# nothing\n\n---\n", Reason::NotAMapping),
        ("---\njust text\n---\n", Reason::NotAMapping),
        ("---\n- name\n---\n", Reason::NotAMapping),
        ("---\n~\n---\n", Reason::NotAMapping),
    ] {
        assert_eq!(reason_of(text), reason, "{text:?}");
    }
    for open in ["---yaml", "--- ", "---\t ", "---yaml \t"] {
        let text = format!("{open}\nname: ab\ndescription: d\n--- \t\n");
        assert_eq!(parse_skill_text(&text).unwrap().body, "", "{open:?}");
    }
    let not_utf8 = parse_skill_bytes(b"---\nname: a\xFF\n---\n");
    assert_eq!(refused(not_utf8).detail, "byte 12 is not UTF-8; save the file as UTF-8");
    assert_eq!(refused(parse_skill_bytes(b"\xFF")).reason, Reason::NotUtf8);
}

#[test]
fn caps_are_exact() {
    let front = "---\nname: ab\ndescription: d\n---\n";
    let largest = format!("{front}{}", "x".repeat(MAX_FILE_BYTES - front.len()));
    assert!(parse_skill_text(&largest).is_ok());
    assert_eq!(reason_of(&format!("{largest}x")), Reason::TooLarge);
    assert_eq!(refused(parse_skill_bytes(&vec![0xFF; 2 * MAX_FILE_BYTES])).reason, Reason::TooLarge);

    let block = "name: ab\ndescription: d\n#";
    let fill = |extra: usize| {
        format!("---\n{block}{}\n---\n", "x".repeat(MAX_FRONTMATTER_BYTES - block.len() - 1 + extra))
    };
    assert!(parse_skill_text(&fill(0)).is_ok());
    assert_eq!(reason_of(&fill(1)), Reason::TooLarge);
}

#[test]
fn body_and_unknown_keys_are_kept() {
    let text = "---\nname: ab\ndescription: d\nstatus: draft\nround: 3\n---\n\n---\nname: no\n---\n  end without a line feed";
    let skill = parse_skill_text(text).unwrap();
    assert_eq!(skill.body, "\n---\nname: no\n---\n  end without a line feed");
    assert_eq!(
        skill.frontmatter.json(),
        r#"{"description":"d","name":"ab","round":3,"status":"draft"}"#,
        "compact, keys sorted bytewise"
    );
    let skill = with("z: {b: [yes, 2026-11-21, ~], a: 1.50, Z: 0x10}\nhuge: 123456789012345678901\n1: one\n")
        .unwrap();
    assert_eq!(
        all(&skill),
        json!({
            "1": "one", "description": "d", "huge": "123456789012345678901", "name": "ab",
            "z": { "Z": 16, "a": 1.5, "b": ["yes", "2026-11-21", null] },
        })
    );
    assert!(skill.frontmatter.json().contains(r#""z":{"Z":16,"a":1.5,"b":"#), "sorted at every level");
}
