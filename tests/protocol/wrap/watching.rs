//! A server's lists held against its pin and the policy of the run.

use colibri::wrap::answer::Refusal;
use colibri::wrap::extents::cut;
use colibri::wrap::findings::Comparison;
use colibri::wrap::limits::NOTES_A_RUN;
use colibri::wrap::pin::{Pin, SeenList};
use colibri::wrap::policy::Policy;
use colibri::wrap::watch::{Compared, Decision, PinMode, Watch};
use colibri_runtime::chain::log::Level;
use serde_json::{Value, json};

use super::{answer, list};

const NOW: &str = "2026-10-02T08:00:00.113Z";

fn tool(name: &str, text: &str) -> Value {
    json!({"name": name, "description": text, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": name.starts_with("get")}})
}

fn watch(mode: PinMode, policy: Policy, pinned: Option<&[Value]>) -> Watch {
    let pin = pinned.map(|tools| {
        let mut pin = Pin::default();
        pin.lay(&SeenList { list: list(tools), instructions: Some("Hi.".to_owned()) }, NOW);
        pin
    });
    Watch::new("github".parse().unwrap(), mode, policy, pin)
}

/// The server answers the client's `tools/list` in one page; returns what follows, and the line that is handed over.
fn listed(watch: &mut Watch, tools: &[Value]) -> (Compared, String) {
    let (line, place) = answer(&json!({ "tools": tools }).to_string());
    let asked = watch.asked(false, None);
    let (page, list) = watch.page(&asked, &line, &place).unwrap();
    let compared = list.map(|list| watch.compare(list, NOW)).unwrap_or_default();
    (compared, String::from_utf8(cut(&line, &watch.withheld(&page))).unwrap())
}

fn left(line: &str) -> Vec<String> {
    let line: Value = serde_json::from_str(line).unwrap();
    line["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()).collect()
}

fn texts(compared: &Compared) -> Vec<&str> {
    compared.lines.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn the_first_list_is_pinned_whatever_the_mode() {
    for mode in [PinMode::Warn, PinMode::Refuse] {
        let mut watch = watch(mode, Policy::default(), None);
        assert!(watch.asks() && watch.is_stale() && watch.waits() == (mode == PinMode::Refuse));
        let (compared, line) = listed(&mut watch, &[tool("a", "1"), tool("b", "1")]);
        assert_eq!(left(&line), ["\"a\"", "\"b\""]);
        let note = compared.note.as_ref().unwrap();
        assert_eq!(
            texts(&compared),
            [format!("[wrap] github: pinned 2 tools (list {})", &note.hash().as_str()[..12])]
        );
        assert_eq!(compared.lines[0].0, Level::Info);
        assert!(compared.meaning.unwrap().lines().is_empty());
        assert_eq!((watch.admit("a"), watch.is_stale()), (Decision::Pass, false));
        // The same list again, in another order, says and stores nothing.
        let (again, _) = listed(&mut watch, &[tool("b", "1"), tool("a", "1")]);
        assert!(again.lines.is_empty() && again.note.is_none() && again.meaning.is_none());
    }
}

#[test]
fn a_first_list_is_told_for_its_signs() {
    let mut watch = watch(PinMode::Warn, Policy::default(), None);
    let (line, place) = answer(r#"{"instructions":"You must call a first.","serverInfo":{"name":"x"}}"#);
    assert_eq!(watch.greeted(&line, &place), (Vec::new(), None));
    let (compared, _) = listed(&mut watch, &[tool("a", "See https://a.example."), tool("b\u{200b}", "1")]);
    let lines: Vec<String> = compared.meaning.unwrap().lines().into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        lines,
        [
            "[wrap] github: security [T16] b\u{200b} /name: A text holds the invisible character U+200B.",
            "[wrap] github: security [C3] /instructions: The text of the instructions tells the model what to do (\"you must\").",
            "[wrap] github: security [T5] a /description: The description of this new tool holds a URL.",
        ]
    );
}

#[test]
fn with_warn_a_difference_is_told_recorded_and_passed() {
    let mut watch = watch(PinMode::Warn, Policy::default(), Some(&[tool("a", "1"), tool("b", "1")]));
    assert!(!watch.cuts());
    let (compared, line) = listed(&mut watch, &[tool("a", "You must."), tool("c", "1")]);
    assert_eq!(left(&line), ["\"a\"", "\"c\""]);
    let hash = compared.note.as_ref().unwrap().hash();
    let short = &hash.as_str()[..12];
    assert_eq!(
        texts(&compared),
        [format!(
            "[wrap] github: 1 tool changed, 1 is new since {NOW}; look: colibri pins diff github --list {short}"
        )]
    );
    assert_eq!(compared.lines[0].0, Level::Warn);
    let lines = compared.meaning.unwrap().lines();
    let warned: Vec<&str> =
        lines.iter().filter(|(level, _)| *level == Level::Warn).map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        warned,
        [
            "[wrap] github: security [T5] a /description: The description changed. It now tells the model what to do (\"you must\")."
        ]
    );
    assert!(
        lines.contains(&(Level::Info, "[wrap] github: break [T1] b: The tool `b` is gone.".to_owned())),
        "{lines:?}"
    );
    assert_eq!(
        (watch.admit("a"), watch.admit("c"), watch.admit("unheard")),
        (Decision::Pass, Decision::Pass, Decision::Pass)
    );
    let (again, _) = listed(&mut watch, &[tool("c", "1"), tool("a", "You must.")]);
    assert!(again.lines.is_empty() && again.note.is_none());
}

#[test]
fn with_refuse_changed_new_and_doubtful_tools_are_withheld() {
    let pinned = [tool("a", "1"), tool("b", "1"), tool("c", "1")];
    let cases = [
        (vec![tool("a", "2"), tool("b", "1"), tool("c", "1")], vec!["b", "c"]),
        (vec![tool("a", "1"), tool("b", "2"), tool("c", "1")], vec!["a", "c"]),
        (vec![tool("a", "1"), tool("b", "1"), tool("c", "2")], vec!["a", "b"]),
        (vec![tool("a", "2"), tool("b", "2"), tool("c", "2")], vec![]),
        (vec![tool("a", "1"), tool("renamed", "1")], vec!["a"]),
        (vec![tool("b", "1"), tool("a", "1"), tool("b", "1"), json!({"x": 1}), json!(7)], vec!["a"]),
        (vec![tool("c", "1")], vec!["c"]),
    ];
    for (tools, kept) in cases {
        let mut watch = watch(PinMode::Refuse, Policy::default(), Some(&pinned));
        assert!(watch.cuts() && watch.admit("a") == Decision::Wait);
        let (_, line) = listed(&mut watch, &tools);
        let quoted: Vec<String> = kept.iter().map(|name| format!("\"{name}\"")).collect();
        assert_eq!(left(&line), quoted, "{tools:?}");
        for name in ["a", "b", "c", "renamed"] {
            let twice = tools.iter().filter(|tool| tool["name"] == name).count() > 1;
            let text = tools.iter().find(|tool| tool["name"] == name).map(|tool| &tool["description"]);
            let expected = match (name, text) {
                ("renamed", Some(_)) => Decision::Refuse(Refusal::ToolNew),
                ("renamed", None) => Decision::Refuse(Refusal::ToolUnlisted),
                (_, Some(text)) if twice || text != "1" => Decision::Refuse(Refusal::ToolChanged),
                // A pinned tool that is not listed does not count as a difference.
                _ => Decision::Pass,
            };
            assert_eq!(watch.admit(name), expected, "{name} {tools:?}");
        }
        watch.changed();
        assert_eq!(watch.admit("a"), Decision::Wait);
    }
}

#[test]
fn an_accepted_tool_works_at_once() {
    let mut watch = watch(PinMode::Refuse, Policy::default(), Some(&[tool("a", "1")]));
    let (compared, _) = listed(&mut watch, &[tool("a", "2")]);
    assert_eq!(watch.admit("a"), Decision::Refuse(Refusal::ToolChanged));
    let mut accepted = Pin::default();
    accepted.lay(&compared.note.unwrap(), NOW);
    watch.renew(Some(accepted));
    assert_eq!(watch.admit("a"), Decision::Pass);
    watch.renew(None);
    assert_eq!(watch.admit("a"), Decision::Pass);
}

#[test]
fn other_instructions_are_cut_with_refuse_in_whichever_place() {
    let pinned = [tool("a", "1")];
    for (result, cut_to) in [
        (r#"{"instructions":"Ho.","a":1}"#, Some(r#"{"a":1}"#)),
        (r#"{"a":1 , "instructions" : "Ho." }"#, Some(r#"{"a":1   }"#)),
        (r#"{"a":1,"instruct\u0069ons":"Ho.","b":2}"#, Some(r#"{"a":1,"b":2}"#)),
        (r#"{"instructions":"Hi.","a":1,"instructions":"Ho."}"#, Some(r#"{"a":1}"#)),
        (r#"{"instructions":"\ud800","a":1}"#, Some(r#"{"a":1}"#)),
        (r#"{"instructions":["Ho."]}"#, Some("{}")),
        (r#"{"instructions":"Hi.","a":1}"#, None),
        (r#"{"a":1}"#, None),
        ("[]", None),
    ] {
        for mode in [PinMode::Refuse, PinMode::Warn] {
            let mut watch = watch(mode, Policy::default(), Some(&pinned));
            let (line, place) = answer(result);
            let (pieces, _) = watch.greeted(&line, &place);
            let expected = cut_to.filter(|_| mode == PinMode::Refuse).unwrap_or(result);
            assert_eq!(cut(&line, &pieces), answer(expected).0, "{result}");
        }
    }
}

#[test]
fn instructions_that_come_after_the_list_are_compared_too() {
    let mut watch = watch(PinMode::Warn, Policy::default(), Some(&[tool("a", "1")]));
    assert!(listed(&mut watch, &[tool("a", "1")]).0.note.is_none());
    let (line, place) = answer(r#"{"instructions":"Ho."}"#);
    let (_, list) = watch.greeted(&line, &place);
    let compared = watch.compare(list.unwrap(), NOW);
    assert!(
        texts(&compared)[0].starts_with("[wrap] github: the instructions changed since "),
        "{compared:?}"
    );
    assert_eq!(compared.note.unwrap().instructions.as_deref(), Some("Ho."));
}

#[test]
fn read_only_takes_the_pinned_and_the_present_hint() {
    let policy = || Policy::new(Vec::new(), Vec::new(), true).unwrap();
    let hinted = |name: &str, hint: bool| json!({"name": name, "annotations": {"readOnlyHint": hint}});
    let pinned = [hinted("both", true), hinted("once", true), hinted("later", false)];
    let present = [hinted("both", true), hinted("once", false), hinted("later", true), hinted("new", true)];
    for (mode, admitted) in [(PinMode::Warn, vec!["both"]), (PinMode::Refuse, vec!["both"])] {
        let mut watch = watch(mode, policy(), Some(&pinned));
        assert!(watch.cuts() && watch.waits() && watch.admit("both") == Decision::Wait);
        let (_, line) = listed(&mut watch, &present);
        assert_eq!(left(&line), admitted.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>());
        assert_eq!(watch.admit("both"), Decision::Pass);
        for name in ["once", "unheard"] {
            assert_eq!(watch.admit(name), Decision::Refuse(Refusal::NotReadOnly), "{name}");
        }
        for name in ["later", "new"] {
            assert_eq!(watch.admit(name), Decision::Refuse(Refusal::ReadOnlySince), "{name}");
        }
    }
    let mut off = watch(PinMode::Off, policy(), None);
    let (compared, line) = listed(&mut off, &present);
    assert!(compared.note.is_none() && compared.lines.is_empty());
    assert_eq!(left(&line), ["\"both\"", "\"later\"", "\"new\""]);
    assert_eq!(
        (off.admit("later"), off.admit("once")),
        (Decision::Pass, Decision::Refuse(Refusal::NotReadOnly))
    );
}

#[test]
fn patterns_cut_lists_and_refuse_calls_in_every_mode() {
    for mode in [PinMode::Warn, PinMode::Refuse, PinMode::Off] {
        let policy =
            Policy::new(vec!["get*".parse().unwrap()], vec!["get-env".parse().unwrap()], false).unwrap();
        let tools = [tool("get-a", "1"), tool("get-env", "1"), tool("add", "1")];
        let mut watch = watch(mode, policy, None);
        let (compared, line) = listed(&mut watch, &tools);
        assert_eq!(left(&line), ["\"get-a\""]);
        // The pin is of the uncut list.
        assert_eq!(compared.note.map(|seen| seen.list.tools.len()), (mode != PinMode::Off).then_some(3));
        assert_eq!(watch.admit("get-a"), Decision::Pass);
        for refused in ["get-env", "add", "Get-a"] {
            assert_eq!(watch.admit(refused), Decision::Refuse(Refusal::Denied));
        }
    }
    assert_eq!("refuse".parse(), Ok(PinMode::Refuse));
    assert!("Off".parse::<PinMode>().is_err() && PinMode::default().word() == "warn");
}

#[test]
fn a_list_that_changes_with_every_call_is_recorded_eight_times() {
    let mut watch = watch(PinMode::Warn, Policy::default(), Some(&[tool("a", "0")]));
    let (mut notes, mut lines) = (0, 0);
    for number in 1..=1000 {
        watch.changed();
        let (compared, _) = listed(&mut watch, &[tool("a", &number.to_string())]);
        notes += usize::from(compared.note.is_some());
        lines += compared.lines.len();
    }
    assert_eq!((notes, lines), (NOTES_A_RUN, NOTES_A_RUN + 1));
    let told = format!("[wrap] github: {} more lists differed and were not recorded", 1000 - NOTES_A_RUN);
    assert_eq!(watch.unrecorded(), Some((Level::Warn, told)));
}

#[test]
fn that_a_server_is_back_at_a_list_is_recorded() {
    let [first, second, third] = ["1", "2", "3"].map(|text| [tool("a", text)]);
    let mut watch = watch(PinMode::Warn, Policy::default(), Some(&first));
    let mut pin = Pin::default();
    pin.lay(&SeenList { list: list(&first), instructions: None }, NOW);
    pin.has_others = true;
    watch.renew(Some(pin.clone()));
    let lists = |watch: &mut Watch, tools: &[Value]| {
        let (compared, _) = listed(watch, tools);
        (compared.note.is_some(), compared.lines.len())
    };
    // The first list is recorded anew, so that the others are known for left.
    assert_eq!(lists(&mut watch, &first), (true, 0));
    assert_eq!(lists(&mut watch, &first), (false, 0));
    assert_eq!((lists(&mut watch, &second), lists(&mut watch, &third)), ((true, 1), (true, 1)));
    assert_eq!(lists(&mut watch, &second), (true, 0), "told already, and the newest again");
    assert_eq!(lists(&mut watch, &second), (false, 0));
    assert_eq!(lists(&mut watch, &first), (true, 0));
    // What was the pin is news after another list was accepted.
    pin.lay(&SeenList { list: list(&second), instructions: None }, NOW);
    watch.renew(Some(pin));
    assert_eq!(lists(&mut watch, &first), (true, 1));
    assert!(watch.waiting().is_some());
    // It stays bounded, and the last record is not of a pinned list.
    let (mut last, mut count) = (false, 0);
    for _ in 0..20 {
        for (tools, is_pinned) in [(&second, true), (&third, false)] {
            if lists(&mut watch, tools).0 {
                (last, count) = (is_pinned, count + 1);
            }
        }
    }
    assert!(!last && count <= NOTES_A_RUN + 1, "{count}");
}

#[test]
fn a_pattern_that_fits_no_tool_is_told_once() {
    for mode in [PinMode::Warn, PinMode::Off] {
        let patterns = ["get*", "nosuch", "no\u{202e}ne"].map(|pattern| pattern.parse().unwrap());
        let mut watch = watch(mode, Policy::new(patterns.to_vec(), Vec::new(), false).unwrap(), None);
        let (compared, _) = listed(&mut watch, &[tool("get-a", "1")]);
        let told = "[wrap] github: the server lists no tool that fits --allow nosuch --allow no\\u{202e}ne";
        assert_eq!(compared.lines[0], (Level::Warn, told.to_owned()));
        assert!(listed(&mut watch, &[tool("get-a", "1")]).0.lines.is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_told_and_leaves_the_list_stale() {
    let mut watch = watch(PinMode::Refuse, Policy::default(), Some(&[tool("a", "1")]));
    listed(&mut watch, &[tool("a", "1")]);
    let asked = watch.asked(false, None);
    let (line, place) = answer(r#"{"tools":5}"#);
    let why = watch.page(&asked, &line, &place).unwrap_err();
    assert!(watch.is_stale() && watch.admit("a") == Decision::Wait);
    let told = "[wrap] github: the list of tools has no array of tools, or several; it is not compared";
    assert_eq!(watch.unreadable(why), Some((Level::Warn, told.to_owned())));
    assert_eq!(watch.unreadable(why), None);
    let (compared, _) = listed(&mut watch, &[tool("a", "1"), tool("b", "1"), tool("b", "1"), json!({})]);
    assert_eq!(
        texts(&compared),
        [
            "[wrap] github: these tools cannot be pinned: \"b\", listed twice or without one form; 1 entry without a name"
        ]
    );
}

#[test]
fn what_no_rule_tells_is_told_by_name_and_hash() {
    let old = [tool("a", "1"), json!({"name": "b"}), json!({"name": "c", "inputSchema": {"type": "object"}})];
    let new = [
        tool("a", "1"),
        json!({"name": "b", "description": "No schema, so the rules cannot read it."}),
        json!({"name": "c", "inputSchema": {"type": "object", "minProperties": 0}}),
    ];
    let mut pin = Pin::default();
    pin.lay(&SeenList { list: list(&old), instructions: None }, NOW);
    let seen = SeenList { list: list(&new), instructions: None };
    let hash = |name: &str| seen.list.tools[name].hash;
    let meaning = Comparison::new("x".parse().unwrap(), Some(pin), seen.clone()).meaning();
    assert_eq!(meaning.findings, []);
    assert_eq!(meaning.untold, [("b".to_owned(), hash("b")), ("c".to_owned(), hash("c"))]);
}

#[test]
fn twenty_findings_are_logged() {
    let old: Vec<Value> = (0..30).map(|number| tool(&format!("t{number}"), "1")).collect();
    let new: Vec<Value> = (0..30).map(|number| tool(&format!("t{number}"), "2")).collect();
    let mut pin = Pin::default();
    pin.lay(&SeenList { list: list(&old), instructions: None }, NOW);
    let seen = SeenList { list: list(&new), instructions: None };
    let hash = seen.hash();
    let comparison = Comparison::new("x".parse().unwrap(), Some(pin), seen);
    let lines = comparison.lines();
    assert_eq!((lines.len(), comparison.meaning().findings.len()), (21, 30));
    let look = format!("colibri pins diff x --list {}", &hash.as_str()[..12]);
    assert_eq!(lines[20].1, format!("[wrap] x: 10 more; look: {look}"));
}
