//! The forms of a report: what each must hold, and that none grows without a bound.

use std::collections::BTreeSet;

use colibri_drift::report::{self, Names};
use colibri_drift::{RULES, Snapshot, Verdict, from_tools_list, judge};
use serde_json::{Value, json};

use super::{accepted, here, names, snapshot};

fn named() -> Names {
    Names {
        old: "a b/old.json".to_owned(),
        new: "a b/new.json".to_owned(),
        version: None,
        waivers: None,
        below_drift: false,
    }
}

/// The verdicts of all fixtures.
fn verdicts() -> Vec<(String, Verdict)> {
    let mut all = Vec::new();
    for name in names(&here().join("tool")) {
        let folder = here().join("tool").join(&name);
        let old = snapshot(&folder.join("old.json"));
        for file in names(&folder) {
            let Some(case) = file.strip_suffix(".json").filter(|case| *case != "old") else { continue };
            let verdict = judge(&old, &snapshot(&folder.join(&file)), &accepted(&folder, case), true);
            all.push((format!("{name} {case}"), verdict));
        }
    }
    all
}

fn tools(number: usize, limit: u32) -> Snapshot {
    let tool = |index: usize| {
        json!({ "name": format!("tool_{index}"), "description": "Adds.", "inputSchema": { "type": "object",
            "properties": { format!("text{index}"): { "type": "string", "maxLength": limit } } } })
    };
    from_tools_list(&json!({ "tools": (0..number).map(tool).collect::<Vec<_>>() }).to_string()).unwrap()
}

#[test]
fn the_first_line_is_the_verdict_in_words() {
    let first = |old: &Snapshot, new: &Snapshot| {
        report::text(&judge(old, new, &[], true), &named()).lines().next().unwrap().to_owned()
    };
    let (old, new) = (tools(3, 9), tools(3, 8));
    assert_eq!(first(&old, &old), "Nothing changed for clients.");
    assert_eq!(first(&old, &new), "3 tools break 1 kind of clients: callers (they send arguments).");
    assert_eq!(first(&new, &old), "No client is known to break; 3 changes are harmless.");
    let mut mixed = json!({ "tools": [
        { "name": "tool_0", "description": "Adds.", "inputSchema": { "type": "object", "properties": { "text0": { "type": "string", "maxLength": 8 } } } },
        { "name": "tool_1", "description": "Adds it.", "inputSchema": { "type": "object", "properties": { "text1": { "type": "string", "maxLength": 10 } } } },
    ]});
    let two = from_tools_list(&mixed.to_string()).unwrap();
    let told = first(&old, &two);
    assert_eq!(
        told,
        "2 tools break 2 kinds of clients: callers (they send arguments) and hosts (they know tools by name, text and hints); 1 change needs a decision; 1 change is harmless."
    );
    mixed["tools"].as_array_mut().unwrap().clear();
    assert!(first(&old, &from_tools_list(&mixed.to_string()).unwrap()).starts_with("3 tools break 1 kind"));
}

#[test]
fn a_finding_has_change_reason_call_advice_and_link() {
    let text = report::text(&judge(&tools(1, 9), &tools(1, 8), &[], true), &named());
    for told in [
        "BREAK [I7] tool_0 /input/properties/text0\n",
        "  Change: maxLength: 9 → 8\n",
        "  Why it matters: calls beyond the new bound are refused",
        "  Worked before, is refused now: tool_0 {\"text0\":\"aaaaaaaaa\"}\n",
        "  To go on: ",
        "  More: https://github.com/colibri-mcp/colibri/blob/main/docs/reference/drift-rules.md#input-bound-tightened\n",
        "Put these lines into the file mcp-drift.yaml",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
}

#[test]
fn markdown_stays_short_and_counts_what_it_leaves_out() {
    for number in [40, 300, 3_000] {
        let verdict = judge(&tools(number, 9), &tools(number, 8), &[], true);
        let text = report::markdown(&verdict, &named());
        assert!(text.len() <= 60_000 && text.contains("#### How to go on"), "{number}: {}", text.len());
        assert_eq!(text.matches("```").count() % 2, 0, "{number}");
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count(), "{number}");
        let shown = text.matches("\n#### BREAK").count();
        if shown < number {
            let told = format!("\n{} findings do not fit here. The full report is in", number - shown);
            assert!(text.contains(&told), "{number}: {shown}");
        }
        let widened = report::markdown(&judge(&tools(number, 8), &tools(number, 9), &[], true), &named());
        assert!(widened.len() <= 60_000, "{number}: {}", widened.len());
        assert_eq!(
            widened.matches("\n| INFO").count() < number,
            widened.contains("not fit here"),
            "{number}"
        );
    }
}

#[test]
fn unions_are_told_by_what_they_accept() {
    let form = |kind: &str, member: &str| {
        json!({ "type": "object", "required": ["kind", member], "additionalProperties": false,
            "properties": { "kind": { "const": kind }, member: { "type": "string" } } })
    };
    let state = |forms: &[Value]| {
        from_tools_list(
            &json!({ "tools": [{ "name": "open", "inputSchema": { "type": "object",
            "properties": { "source": { "anyOf": forms } } } }] })
            .to_string(),
        )
        .unwrap()
    };
    let (url, file, text) = (form("url", "href"), form("file", "path"), form("text", "text"));
    let (three, two) = (state(&[url.clone(), file.clone(), text.clone()]), state(&[url, file]));
    let message = |old, new| judge(old, new, &[], true).blocking[0].message.clone();
    assert_eq!(
        message(&three, &two),
        "`source` no longer takes an object with `kind` `\"text\"` and `text`."
    );
    let widened = judge(&two, &three, &[], true);
    assert_eq!(
        widened.listed[0].message,
        "`source` takes an object with `kind` `\"text\"` and `text` now, too."
    );
    for (_, verdict) in verdicts() {
        let all = verdict.blocking.iter().chain(&verdict.listed);
        assert!(all.clone().all(|finding| !finding.message.contains("forms of type")));
    }
}

#[test]
fn json_states_its_format_and_the_page_lists_its_members() {
    let page =
        std::fs::read_to_string(here().join("../../../../docs/reference/mcp-drift-reports.md")).unwrap();
    for (title, verdict) in verdicts() {
        let report: Value = serde_json::from_str(&report::json(&verdict, &named())).unwrap();
        assert_eq!(report["format"], 1, "{title}");
        assert_eq!(report["verdict"], report::headline(&verdict), "{title}");
        let lists = ["blocking", "failures", "waived", "listed"].map(|list| report[list].as_array().unwrap());
        let members = lists.into_iter().flatten().flat_map(|finding| finding.as_object().unwrap().keys());
        for member in report.as_object().unwrap().keys().chain(members) {
            assert!(page.contains(&format!("| `{member}` |")), "{title}: {member}");
        }
    }
}

#[test]
fn sarif_has_the_required_structure() {
    let keys = |value: &Value| -> BTreeSet<String> { value.as_object().unwrap().keys().cloned().collect() };
    let only = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
    let mut suppressed = 0;
    for (title, verdict) in verdicts() {
        let report: Value = serde_json::from_str(&report::sarif(&verdict, &named(), &|_| None)).unwrap();
        assert_eq!(keys(&report), only(&["$schema", "version", "runs"]), "{title}");
        assert_eq!(report["version"], "2.1.0");
        let run = &report["runs"][0];
        assert_eq!(keys(run), only(&["tool", "properties", "results"]));
        let driver = &run["tool"]["driver"];
        assert_eq!(keys(driver), only(&["name", "semanticVersion", "informationUri", "rules"]));
        assert_eq!(driver["rules"].as_array().unwrap().len(), RULES.len());
        for rule in driver["rules"].as_array().unwrap() {
            let members =
                ["id", "name", "shortDescription", "fullDescription", "helpUri", "defaultConfiguration"];
            assert_eq!(keys(rule), only(&members));
            assert!(
                rule["shortDescription"]["text"].is_string()
                    && rule["helpUri"].as_str().unwrap().starts_with("https://")
            );
        }
        let found =
            verdict.blocking.len() + verdict.failures.len() + verdict.waived.len() + verdict.listed.len();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), found, "{title}");
        for result in results {
            let members =
                ["ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints", "properties"];
            let mut expected = only(&members);
            if let Some(list) = result.get("suppressions") {
                suppressed += 1;
                expected.insert("suppressions".to_owned());
                assert_eq!(keys(&list[0]), only(&["kind", "justification"]));
            }
            assert_eq!(keys(result), expected, "{title}");
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(driver["rules"][index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "a%20b/new.json");
            assert!(place["region"]["startLine"].as_u64() >= Some(1));
            assert_eq!(result["partialFingerprints"]["mcpDrift/v1"].as_str().map(str::len), Some(16));
        }
    }
    assert!(suppressed > 0);
}

/// The names of a text's elements in order, as `name` and `/name`; fails unless each ends in turn.
fn elements(xml: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap();
        assert!(
            !text.contains('>')
                && text.split('&').skip(1).all(|end| end
                    .split(';')
                    .next()
                    .is_some_and(|name| { ["amp", "lt", "gt", "quot", "#10", "#9"].contains(&name) })),
            "{text}"
        );
        if tag.starts_with('?') {
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name.clone()), "{xml}");
        } else {
            all.push(format!("{}/{name}", open.join("/")));
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty());
    all
}

#[test]
fn junit_has_its_usual_form() {
    for (title, verdict) in verdicts() {
        let text = report::junit(&verdict, &named());
        assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "), "{title}");
        let elements = elements(&text);
        let counted = |end: &str| elements.iter().filter(|name| name.ends_with(end)).count();
        let failing = verdict.blocking.len() + verdict.failures.len();
        assert_eq!(counted("testcase/failure"), failing, "{title}");
        assert_eq!(counted("testcase/skipped"), verdict.waived.len(), "{title}");
        let cases = counted("testsuite/testcase");
        assert_eq!(cases, (failing + verdict.waived.len() + verdict.listed.len()).max(1), "{title}");
        let counts = format!(
            "tests=\"{cases}\" failures=\"{failing}\" errors=\"0\" skipped=\"{}\"",
            verdict.waived.len()
        );
        assert!(text.contains(&counts), "{title}");
    }
}
