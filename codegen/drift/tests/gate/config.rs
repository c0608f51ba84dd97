//! What a team sets: rules, profiles, `fail-on`, waivers by place, and the schema of the file.

use std::fs;
use std::process::{Command, Output};

use colibri_drift::config::{Profile, schema};
use colibri_drift::report;
use colibri_drift::{Config, RULES, Severity, Snapshot, Verdict, compare, from_tools_list, judge_by};
use serde_json::{Value, json};

use super::{golden, here, names, snapshot};

fn list(version: &str, tool: Value) -> Snapshot {
    let greeting = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "notes", "version": version } } });
    let tools = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [tool] } });
    from_tools_list(&json!([greeting, tools]).to_string()).unwrap()
}

/// A tool that lists in an order, and a change of it that breaks and needs a person.
fn states() -> (Snapshot, Snapshot) {
    let tool = |orders: Value, about: &str| {
        json!({ "name": "list_issues", "description": about, "inputSchema": {
            "type": "object", "properties": { "order": { "enum": orders }, "limit": { "type": "integer" } } } })
    };
    let old = list("1.0.0", tool(json!(["asc", "desc"]), "Lists issues."));
    (old, list("1.0.0", tool(json!(["desc"]), "Lists the issues.")))
}

fn judged(config: &str) -> Verdict {
    let (old, new) = states();
    let config = Config { today: Some("2026-11-26".to_owned()), ..Config::parse(config).unwrap() };
    judge_by(&old, &new, &config, true)
}

/// The rules of what fails, of what is waived and of what is listed.
fn rules(verdict: &Verdict) -> [Vec<&str>; 3] {
    let failing = verdict.blocking.iter().chain(&verdict.failures).map(|finding| finding.rule).collect();
    let waived = verdict.waived.iter().map(|(finding, _)| finding.rule).collect();
    [failing, waived, verdict.listed.iter().map(|finding| finding.rule).collect()]
}

#[test]
fn every_rule_can_be_set_by_name_or_id() {
    assert_eq!(rules(&judged("")), [vec!["I6", "T5", "C9"], vec![], vec![]]);
    for (config, expected) in [
        ("rules: {tool-description-changed: info}", [vec!["I6", "C9"], vec![], vec!["T5"]]),
        ("rules: {T5: 'off', version-not-bumped: 'off'}", [vec!["I6"], vec![], vec![]]),
        ("rules: {input-enum-value-removed: ack}", [vec!["T5", "I6"], vec![], vec![]]),
        ("rules: {tool-description-changed: break, I6: 'off'}", [vec!["T5", "C9"], vec![], vec![]]),
    ] {
        let verdict = judged(config);
        let mut found = rules(&verdict);
        found[0].sort_unstable();
        let mut expected = expected;
        expected[0].sort_unstable();
        assert_eq!(found, expected, "{config}");
    }
}

#[test]
fn what_is_switched_off_is_counted() {
    let verdict = judged("rules: {I6: 'off', T5: 'off'}");
    let told = "No client is known to break; 2 changes are of rules that are switched off.";
    assert_eq!(report::headline(&verdict), told);
    assert!(verdict.passes());
}

#[test]
fn fail_on_decides_what_fails_and_never_lets_security_through_unnamed() {
    for (config, failing) in [
        ("fail-on: break", vec!["I6", "T5", "C9"]),
        ("{fail-on: break, rules: {T5: info}}", vec!["I6", "C9"]),
        ("{fail-on: break, rules: {I6: ack, T5: info}}", vec![]),
        ("{fail-on: ack, rules: {I6: ack, T5: info}}", vec!["I6"]),
        ("fail-on: never", vec![]),
    ] {
        assert_eq!(rules(&judged(config))[0], failing, "{config}");
    }
    assert!(judged("fail-on: never").passes());
}

#[test]
fn a_waiver_by_place_accepts_each_finding_also_the_version() {
    let all = "waivers:
  - {rule: input-enum-value-removed, tool: list_issues, pointer: /properties/order/enum, reason: Any case is taken., expires: 2027-03-01}
  - {rule: T5, tool: list_issues, reason: I read it.}
  - {rule: version-not-bumped, reason: Versions are dates here.}
";
    let verdict = judged(all);
    assert_eq!(rules(&verdict), [vec![], vec!["I6", "T5", "C9"], vec![]]);
    assert!(verdict.passes());
    for (from, to) in [
        ("/properties/order/enum", "/input/properties/order"),
        ("/properties/order/enum", "/properties/order"),
        ("/properties/order/enum", "/inputSchema/properties/order/enum"),
        ("pointer: /properties/order/enum, ", ""),
    ] {
        assert!(judged(&all.replace(from, to)).passes(), "{to}");
    }
    for (from, to, told) in [
        ("/properties/order/enum", "/properties/limit", "(line 2) accepts nothing that changed"),
        ("/properties/order/enum", "/properties/ord", "(line 2) accepts nothing that changed"),
        ("/properties/order/enum", "/outputSchema/properties/order", "(line 2) accepts nothing that changed"),
        ("tool: list_issues, reason: I read", "reason: I read", "(line 3) accepts nothing that changed"),
        ("tool: list_issues, reason: I read", "tool: list, reason: I read", "(line 3) accepts nothing"),
        ("2027-03-01", "2026-11-26", "(line 2) counted until 2026-11-26"),
        ("reason: I read it.", "reason: ''", "(line 3) gives no reason"),
    ] {
        let verdict = judged(&all.replace(from, to));
        let wrong: Vec<&str> = verdict.failures.iter().map(|finding| finding.message.as_str()).collect();
        assert!(wrong.len() == 1 && wrong[0].contains(told), "{to}: {wrong:?}");
        assert!(!verdict.passes(), "{to}");
    }
}

#[test]
fn a_definition_is_accepted_at_each_of_its_places() {
    let state = |x: &str, y: &str, now: Value| {
        let of = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        let before = json!({ "type": "object", "properties": { "q": { "type": "string" } } });
        let schema = json!({ "type": "object", "properties": { "x": of(x), "y": of(y) }, "$defs": { "A": before, "B": now } });
        from_tools_list(
            &json!({ "tools": [{ "name": "t", "description": "d", "inputSchema": schema }] }).to_string(),
        )
        .unwrap()
    };
    let now = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] });
    let old = state("A", "A", now.clone());
    let (one, two) = (state("B", "A", now.clone()), state("B", "B", now));
    let judged = |new: &Snapshot, waivers: &str| judge_by(&old, new, &Config::parse(waivers).unwrap(), true);
    let of_one = compare(&old, &one)[0].fingerprint();
    let at = |pointer: &str| format!("  - {{rule: I1, tool: t, pointer: {pointer}, reason: It is ours.}}\n");
    let (x, y) = (at("/inputSchema/properties/x/properties/q"), at("/properties/y/properties/q"));
    let by_fingerprint = format!("  - {{rule: I1, fingerprint: {of_one}, reason: It is ours.}}\n");
    for accepted in [&x, &by_fingerprint] {
        assert!(judged(&one, &format!("waivers:\n{accepted}")).passes());
        let verdict = judged(&two, &format!("waivers:\n{accepted}"));
        assert_eq!(verdict.blocking.len(), 1, "{verdict:#?}");
        assert!(
            verdict.blocking[0].message.ends_with("; the same definition is used for `y.q`."),
            "{verdict:#?}"
        );
    }
    assert!(judged(&two, &format!("waivers:\n{x}{y}")).passes());
    assert!(judged(&two, &format!("waivers:\n{by_fingerprint}{y}")).passes());
}

#[test]
fn profiles_move_what_their_table_says_and_no_security() {
    let mut moved = std::collections::BTreeSet::new();
    for name in names(&here().join("tool")) {
        let folder = here().join("tool").join(&name);
        let old = snapshot(&folder.join("old.json"));
        for file in names(&folder).into_iter().filter(|file| file.ends_with(".json")) {
            let new = snapshot(&folder.join(file));
            let plain = compare(&old, &new);
            for profile in Profile::ALL {
                let verdict = judge_by(&old, &new, &Config { profile, ..Config::default() }, true);
                let failing = verdict.blocking.iter().filter(|finding| finding.security);
                let told: usize = failing.map(|finding| finding.also.len() + 1).sum();
                let secure = plain.iter().filter(|finding| finding.security).count();
                // Some are told as one.
                assert!(secure == told || told > 0 && profile.groups_wording(), "{name} {profile}");
                for finding in verdict.blocking.iter().chain(&verdict.listed) {
                    let same = |other: &&colibri_drift::Finding| {
                        (other.rule, &other.tool, &other.pointer)
                            == (finding.rule, &finding.tool, &finding.pointer)
                    };
                    let before = plain.iter().find(same).map(|other| other.severity);
                    if before.is_some_and(|before| before != finding.severity) {
                        moved.insert((profile.to_string(), finding.rule));
                    }
                }
            }
        }
    }
    let moved: Vec<_> = moved.iter().map(|(profile, rule)| (profile.as_str(), *rule)).collect();
    assert!(moved.contains(&("default", "I3")) && moved.contains(&("lenient", "T4")), "{moved:?}");
    assert!(
        moved.iter().all(|(_, rule)| !["T5", "T7", "T8", "T9", "T16", "I15", "I17"].contains(rule)),
        "{moved:?}"
    );
}

#[test]
fn a_default_made_required_breaks_under_strict_only() {
    let state = |required: Value| {
        from_tools_list(
            &json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object", "required": required,
            "properties": { "page": { "type": "integer", "default": 1 } } } }] })
            .to_string(),
        )
        .unwrap()
    };
    let (old, new) = (state(json!([])), state(json!(["page"])));
    let found = |profile| judge_by(&old, &new, &Config { profile, ..Config::default() }, true).blocking;
    let severities =
        Profile::ALL.map(|profile| found(profile).iter().map(|f| (f.rule, f.severity)).collect::<Vec<_>>());
    let [strict, default, lenient] = severities;
    assert_eq!(strict, [("I18", Severity::Break)]);
    assert_eq!((default, lenient), (vec![("I18", Severity::Ack)], vec![("I18", Severity::Ack)]));
}

#[test]
fn other_words_in_descriptions_are_one_finding_a_tool_by_default() {
    let state = |words: &str, more: &str| {
        let property =
            |name: &str| json!({ "type": "string", "description": format!("The {name} {words}.{more}") });
        from_tools_list(&json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object", "properties": {
            "one": property("one"), "two": property("two"), "three": { "type": "array", "items": property("three") } } } }] })
        .to_string())
        .unwrap()
    };
    let old = state("to read", "");
    let found = |new: &Snapshot, profile| {
        judge_by(&old, new, &Config { profile, ..Config::default() }, true).blocking
    };
    let new = state("that is read", "");
    let grouped = found(&new, Profile::Default);
    assert_eq!(grouped.len(), 1, "{grouped:#?}");
    assert_eq!((grouped[0].rule, grouped[0].severity, grouped[0].security), ("I17", Severity::Ack, true));
    assert_eq!(grouped[0].message, "3 descriptions changed: `one`, `three[]`, `two`.");
    assert_eq!(found(&new, Profile::Strict).len(), 3);
    let fingerprint = grouped[0].fingerprint();
    let config =
        Config::parse(&format!("waivers: [{{rule: I17, fingerprint: '{fingerprint}', reason: Read.}}]"))
            .unwrap();
    assert!(judge_by(&old, &new, &config, true).passes());
    // Commands in them are told one by one.
    assert_eq!(found(&state("to read", " You must read it first."), Profile::Default).len(), 3);
}

#[test]
fn the_schema_of_the_file_takes_what_the_gate_takes() {
    let schema = schema();
    golden(&here().join("../../../../docs/reference/mcp-drift.schema.json"), &format!("{schema:#}\n"));
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut sound = vec![
        "fail-on: never\nprofile: lenient\n".to_owned(),
        "waivers:\n  - {rule: T5, fingerprint: '0123456789abcdef', reason: Read., until: 2.0.0}\n".to_owned(),
        "waivers:\n  - {rule: T5, tool: a, pointer: /description, reason: Read., expires: '2027-03-01'}\n"
            .to_owned(),
        "{}".to_owned(),
    ];
    for rule in RULES {
        sound.push(format!("rules: {{{}: ack}}", rule.name));
        sound.push(format!("rules: {{{}: 'off'}}", rule.id));
    }
    for text in sound {
        let value: Value = serde_yaml::from_str(&text).unwrap();
        assert!(validator.is_valid(&value) && Config::parse(&text).is_ok(), "{text}");
    }
    for text in [
        "profil: strict",
        "fail-on: info",
        "profile: house",
        "rules: {no-such-rule: ack}",
        "rules: {T5: loud}",
        "waivers: [{rule: T5}]",
        "waivers: [{rule: no-such-rule, reason: Yes.}]",
        "waivers: [{rule: T5, reason: Yes., who: me}]",
        "waivers: [{rule: T5, reason: Yes., expires: soon}]",
    ] {
        let value: Value = serde_yaml::from_str(text).unwrap();
        assert!(!validator.is_valid(&value) && Config::parse(text).is_err(), "{text}");
    }
}

fn run(folder: &std::path::Path, arguments: &[&str]) -> Output {
    let (old, new) = (here().join("tool/T7/old.json"), here().join("tool/T7/new.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-drift"));
    command.arg("compare").args([old, new]).args(arguments).current_dir(folder).output().unwrap()
}

#[test]
fn the_command_reads_the_file_of_its_folder_or_the_one_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(run(at, &[]).status.code(), Some(1));
    fs::write(at.join("other.yaml"), "fail-on: never\n").unwrap();
    assert_eq!(run(at, &["--config", "other.yaml"]).status.code(), Some(0));
    fs::write(at.join("mcp-drift.yaml"), "rules:\n  read-only-hint-lost: info\n").unwrap();
    assert_eq!(run(at, &[]).status.code(), Some(0));
    fs::write(at.join("mcp-drift.yaml"), "rules:\n  read-only-hint-last: info\n").unwrap();
    let output = run(at, &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told.contains("mcp-drift.yaml: ") && told.contains("did you mean `read-only-hint-lost`? at line 2"),
        "{told}"
    );
    let both = run(at, &["--config", "other.yaml", "--waivers", "other.yaml"]);
    assert_eq!(both.status.code(), Some(2));
}
