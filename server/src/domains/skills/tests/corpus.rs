//! Files that the fuzzer and the properties start from, and what must be true of every answer.

use crate::domains::skills::engine::frontmatter::{CAPABILITIES, GREEK_LETTERS};
use crate::domains::skills::{ParsedSkill, REASONS, Refusal, parse_skill_bytes};
use serde_json::Value;

/// Good files and bad ones, each with a feature of its own.
pub const CORPUS: [&str; 18] = [
    "---\nname: ab\ndescription: d\n---\nbody\n",
    "\u{FEFF}---\r\nname: ab\r\ndescription: d\r\n---\r\nbody\r\n",
    "---yaml\nname: 'colibri-pm'\ndescription: \"Greek: \\u03b7 \\x41\\n\"\nversion: \"1.0\"\n---\n\n---\nmore\n---\n",
    "---\nname: colibri-all\ndescription: >-\n  folded\n  text\nentrypoint: scripts/run.sh\ncapabilities: [read, write, spawn, audit, admin, read]\ngreekLetter: π\n---\n",
    "---\nname: colibri-more\ndescription: |+\n  kept\n\n\ncapabilities:\n  - read\n  - write\nstatus: {a: [1, 2.5, {b: ~}], c: !}\n---\nx",
    "---\nname: deep\ndescription: d\nx: {a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: {m: {n: [1]}}}}}}}}}}}}}}\n---\n",
    "---\nname: n\ndescription: ''\nversion: 1.0\ncapabilities: fly\ngreekLetter: Σ\n---\n",
    "---\nname: &a ab\ndescription: *a\n---\n",
    "---\nname: !!str ab\ndescription: d\n---\n",
    "---\n<<: {name: ab}\ndescription: d\n---\n",
    "---\nname: ab\nname: cd\ndescription: d\n---\n",
    "---\nname: ab\ndescription: d\n--- second\n...\n---\n",
    "---\n%YAML 1.2\n? [a]\n: b\n? {c: d}\n: e\n---\n",
    "---\n# only a comment\n---\n",
    "---\n- name\n- description\n---\n",
    "---js\nprocess.exit(1)\n---\n",
    "---\nname: ab\ndescription: Greek: eta\n\t- tab\n---\n",
    "---\nname: ab\ndescription: [unclosed, {a: 'b\nx: \"\n",
];

/// Parses and checks what holds of every answer; the answer.
pub fn judge(bytes: &[u8]) -> Result<ParsedSkill, Refusal> {
    let answer = parse_skill_bytes(bytes);
    assert_eq!(answer, parse_skill_bytes(bytes), "the same bytes give the same answer");
    match &answer {
        Ok(skill) => check_skill(bytes, skill),
        Err(refusal) => {
            assert!(!refusal.detail.is_empty(), "{refusal:?}");
            assert!(REASONS.contains(&refusal.reason), "{refusal:?}");
        }
    }
    answer
}

fn check_skill(bytes: &[u8], skill: &ParsedSkill) {
    let text = std::str::from_utf8(bytes).expect("only UTF-8 is accepted");
    let front = &skill.frontmatter;
    assert!(text.ends_with(&skill.body), "the body is the end of the file, as it is");
    assert!(front.name.len() >= 2 && front.name.starts_with(|c: char| c.is_ascii_lowercase()), "{front:?}");
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(front.name.chars().all(allowed), "{front:?}");
    assert!(!front.description.is_empty(), "{front:?}");
    assert!(front.capabilities.iter().all(|word| CAPABILITIES.contains(&word.as_str())), "{front:?}");
    assert!(front.greek_letter.iter().all(|letter| GREEK_LETTERS.contains(&letter.as_str())), "{front:?}");
    let json: Value = serde_json::from_str(&front.json()).expect("the front matter is JSON");
    assert_eq!(json["name"], front.name.as_str());
    assert_eq!(json["description"], front.description.as_str());
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert!(keys.is_sorted(), "{keys:?}");
}
