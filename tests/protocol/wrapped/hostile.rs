//! Servers that mean harm: lists without end, lists that no reader takes, and texts that a person cannot see.

use std::time::Instant;

use colibri_test_support::client::PATIENCE;
use serde_json::{Value, json};

use super::place::{Place, answer, names, tool};
use super::{ERAS, Era, Setup, Wrapped, result};

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// How many calls are made, each of which another list follows.
const CALLS: usize = 1000;

#[test]
fn wrap_53_of_a_list_that_changes_with_each_call_eight_are_stored() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("play", "Plays a script."), tool("moves", "Version ${n}.")]);
        let setup = Setup::new(era).with(&["--pin", "refuse"]).env("COLIBRI_DURABILITY", "normal");
        let (mut wrap, _) = place.greeted(setup);
        let steps = json!([{ "write": format!("{CHANGED}{}\n", result("played")) }]);
        for id in 0..CALLS {
            wrap.play(json!(id), steps.clone());
            assert_eq!(wrap.text(), CHANGED);
            assert_eq!(wrap.message()["id"], json!(id));
        }
        assert_eq!(wrap.own_requests().len(), CALLS, "each call waited for the list of its time");
        assert_eq!(wrap.endings(), vec!["ok"; CALLS]);
        let expected: Vec<&str> = ["pinned"].into_iter().chain(["seen"; 7]).collect();
        assert_eq!(
            (place.events(), place.operations("pins_note")),
            (expected.iter().map(|event| (*event).to_owned()).collect(), 8)
        );
        wrap.refused("refused", "moves", "WRAP_TOOL_CHANGED");
        let ended = wrap.end();
        let again = "the tools differ again; 8 lists were recorded in this run, and no more are";
        assert_eq!(ended.stderr.matches(again).count(), 1, "{}", ended.stderr);
        let left = CALLS + 1 - 8;
        assert!(
            ended.stderr.contains(&format!("{left} more lists differed and were not recorded")),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.lines().count() < 60, "{}", ended.stderr);
        place.run(&["verify"]).ends(0);
    }
}

/// A list that cannot be compared, and why.
fn unreadable() -> [(String, &'static str); 5] {
    let many: Vec<Value> = (0..5000).map(|number| json!({ "name": format!("t{number}") })).collect();
    let get = tool("get", "One.");
    [
        (
            json!({ "tools": [get, { "name": "long", "description": "x".repeat(2 << 20) }] }).to_string(),
            "has over 1048576 bytes",
        ),
        (json!({ "tools": many }).to_string(), "has over 2048 tools"),
        (json!({ "tools": 5 }).to_string(), "has no array of tools, or several"),
        (format!(r#"{{"tools":[{get}],"tools":[]}}"#), "has no array of tools, or several"),
        (format!(r#"{{"tools":[{get}],"nextCursor":7}}"#), "has a `nextCursor` that is not one text"),
    ]
}

/// Reads on to the answer of a request; lines that no reader takes may come before it.
fn answer_of(wrap: &mut Wrapped, id: &str) -> (Value, usize) {
    let (began, mut broken) = (Instant::now(), 0);
    loop {
        assert!(began.elapsed() < PATIENCE);
        let Ok(message) = serde_json::from_slice::<Value>(&wrap.line()) else {
            broken += 1;
            continue;
        };
        assert_eq!(message["id"], id);
        return (message, broken);
    }
}

#[test]
fn wrap_53_a_list_that_cannot_be_compared_passes_or_is_withheld_and_is_not_pinned() {
    for era in ERAS {
        for (page, why) in unreadable() {
            let place = Place::new();
            place.gives(&format!("[{page}]"));
            let told = format!("WARN [wrap] odd: the list of tools {why}; it is not compared");
            let (mut wrap, _) = place.greeted(Setup::new(era));
            assert!(wrap.list("list") == answer("list", &page), "{why}");
            let call = wrap.call(json!("call"), "get", json!({}));
            wrap.send(&call);
            assert!(answer_of(&mut wrap, "call").0["result"]["content"].is_array());
            let is_long = page.len() > 1 << 20;
            let ended = wrap.end();
            assert!(ended.rest.is_empty(), "what the server answers to `wrap` reaches no client");
            assert_eq!(ended.stderr.matches(&told).count(), 1, "{}", ended.stderr);

            let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
            let request = wrap.request(json!("list"), "tools/list");
            wrap.send(&request);
            let (error, broken) = answer_of(&mut wrap, "list");
            assert_eq!(broken, usize::from(is_long));
            assert_eq!(
                (&error["error"]["code"], &error["error"]["data"]["code"]),
                (&json!(-32603), &json!("WRAP_LIST_UNKNOWN"))
            );
            let call = wrap.call(json!("waits"), "get", json!({}));
            wrap.send(&call);
            assert_eq!(answer_of(&mut wrap, "waits").0["result"]["isError"], true);
            assert_eq!(wrap.endings(), ["ok", "denied/WRAP_LIST_UNKNOWN"]);
            assert!(!wrap.reads("waits"));
            let ended = wrap.end();
            assert_eq!(ended.stderr.matches(&told).count(), 1, "{}", ended.stderr);
            assert!(!ended.stderr.contains("did not list its tools"), "{}", ended.stderr);
            assert_eq!((place.events(), place.operations("pins_note")), (vec![], 0));
        }
    }
}

/// So many schemas inside one another.
const NESTED: usize = 20_000;

#[test]
fn wrap_53_entries_that_cannot_be_pinned_are_told_and_cut() {
    let [get, put] = ["get", "put"].map(|name| tool(name, "One.").to_string());
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{}1{}}}"#,
        r#"{"items":"#.repeat(NESTED),
        "}".repeat(NESTED)
    );
    let twice = format!(r#"{{"tools":[{get},{put},{get}]}}"#);
    let nested = format!(r#"{{"tools":[{get},{deep},{put}]}}"#);
    let lone = format!(r#"{{"tools":[{{"name":"lone","description":"\ud800"}},{get},{put},{{"name":7}}]}}"#);
    let cases = [
        (twice, "get", format!(r#"{{"tools":[{put}]}}"#)),
        (nested, "deep", format!(r#"{{"tools":[{get},{put}]}}"#)),
        (lone, "lone", format!(r#"{{"tools":[{get},{put}]}}"#)),
    ];
    for era in ERAS {
        let place = Place::new();
        place.gives(&format!(r#"[{{"tools":[{get},{put}]}}]"#));
        place.pin(era);
        for (page, doubtful, cut) in &cases {
            place.gives(&format!("[{page}]"));
            let told =
                format!("these tools cannot be pinned: \"{doubtful}\", listed twice or without one form");
            for (mode, expected) in [("warn", page), ("refuse", cut)] {
                let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", mode]));
                assert!(wrap.list("list") == answer("list", expected), "{mode} {doubtful}");
                match mode {
                    "warn" => wrap.passes(&format!("{mode} {doubtful}"), doubtful),
                    _ => drop(wrap.refused(&format!("{mode} {doubtful}"), doubtful, "WRAP_TOOL_CHANGED")),
                }
                wrap.passes(&format!("{mode} {doubtful} put"), "put");
                let ended = wrap.end();
                assert_eq!(ended.stderr.matches(&told).count(), 1, "{mode}: {}", ended.stderr);
            }
        }
        assert_eq!(place.events(), ["pinned"], "no entry differs that could be pinned");
    }
}

#[test]
fn wrap_53_a_tool_without_a_schema_is_pinned_by_its_hash() {
    for era in ERAS {
        let place = Place::new();
        let bare = |text: &str| json!({ "name": "bare", "description": text });
        place.lists(&[bare("One.")]);
        place.pin(era);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        assert_eq!(names(&wrap.list("same")), ["bare"]);
        wrap.passes("same call", "bare");
        place.lists(&[bare("Two.")]);
        assert_eq!(names(&wrap.list("other")), [""; 0]);
        wrap.refused("other call", "bare", "WRAP_TOOL_CHANGED");
        wrap.server.await_stderr("no rule tells what changed in bare (entry ");
        wrap.end();
        assert_eq!(place.events(), ["pinned", "seen"]);
        place.run(&["pins", "diff", "odd"]).ends(1).says("no rule tells what changed in bare");
    }
}

/// A list of the most tools, and nearly as long as may be, is stored whole.
#[test]
fn wrap_53_a_list_as_long_as_may_be_is_compared() {
    for era in ERAS {
        let place = Place::new();
        let list = |text: &str| {
            let entry = |number: usize| json!({ "name": format!("tool{number}"), "description": format!("{text}{}", "x".repeat(440)) });
            (0..2048).map(entry).collect::<Vec<Value>>()
        };
        place.lists(&list("One."));
        place.pin(era);
        let mut other = list("One.");
        other[2047] = list("Two.").pop().unwrap();
        place.lists(&other);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        assert_eq!(names(&wrap.list("list")).len(), 2047);
        wrap.refused("last", "tool2047", "WRAP_TOOL_CHANGED");
        wrap.passes("first", "tool0");
        wrap.end();
        assert_eq!(place.events(), ["pinned", "seen"]);
        let compared = place.run(&["pins", "diff", "odd", "--json"]).ends(1).json();
        assert_eq!(compared["changed"], json!(["tool2047"]));
    }
}

/// Characters that a person cannot see, each in another place of a list.
const HIDDEN: [char; 6] = ['\u{202e}', '\u{200b}', '\u{2066}', '\u{e0041}', '\u{2063}', '\u{1b}'];

/// A list with such characters, or the same without.
fn hiding(hidden: bool) -> Value {
    let mark = |at: usize| if hidden { HIDDEN[at].to_string() } else { String::new() };
    let mut entry = tool("get", &format!("Gets{} a word.", mark(0)));
    entry["title"] = json!(format!("Get{}", mark(3)));
    let enumerated = json!({ "type": "string", "enum": ["one", format!("two{}", mark(2))] });
    entry["inputSchema"]["properties"] = json!({ format!("word{}", mark(1)): enumerated });
    let named = tool(&format!("put{}", mark(5)), "One.");
    json!([{ "instructions": format!("Ask{}.", mark(4)), "tools": [entry, named] }])
}

const SAID: [&str; 6] = [
    "security [T5] get /description: ",
    "security [T16] get /input/properties/word",
    "/enum/1: A text holds the invisible character U+2066.",
    "security [T16] get /title: A text holds the invisible character U+E0041.",
    "security [C3] /instructions: ",
    "/name: A text holds the invisible character U+001B.",
];

fn shows_none(what: &str, text: &str) {
    for letter in HIDDEN {
        assert!(!text.contains(letter), "{what} shows U+{:04X}: {}", u32::from(letter), text.escape_debug());
    }
}

/// What a run with such a list tells, the client's lists and calls included.
fn told(place: &Place, era: Era, mode: &str) -> String {
    let setup = Setup::new(era).with(&["--pin", mode]).env("COLIBRI_WRAP_SESSION", "S-1");
    let (mut wrap, _) = place.greeted(setup);
    wrap.list("list");
    let named = format!("put{}", HIDDEN[5]);
    match mode {
        "refuse" => {
            let said = wrap.refused("refused", &named, "WRAP_TOOL_NEW");
            shows_none("the answer", &said);
            assert!(said.contains("the tool \"put\\u{1b}\" of odd"), "{said}");
        }
        _ => {
            wrap.passes("passes", &named);
            for said in SAID {
                wrap.server.await_stderr(said);
            }
        }
    }
    wrap.end().stderr
}

#[test]
fn wrap_54_characters_that_a_person_cannot_see_are_told_and_shown_nowhere() {
    for era in ERAS {
        // As the first list, and as one that differs from the pin.
        for first in [true, false] {
            let place = Place::new();
            if !first {
                place.gives(&hiding(false).to_string());
                place.pin(era);
            }
            place.gives(&hiding(true).to_string());
            let odd = env!("CARGO_BIN_EXE_odd-server");
            let tools = place.path("tools.json");
            let checked = place.run(&[
                "wrap",
                "--check",
                "--name",
                "odd",
                "--",
                odd,
                "--tools",
                tools.to_str().unwrap(),
            ]);
            for said in SAID {
                assert!(checked.out.contains(said), "{said}: {}", checked.out);
            }
            assert_eq!(checked.code, Some(1));
            let mut outputs = vec![("wrap --check", checked.out), ("wrap", told(&place, era, "warn"))];
            if !first {
                outputs.push(("wrap --pin refuse", told(&place, era, "refuse")));
                let compared = place.run(&["pins", "diff", "odd"]).ends(1);
                for said in SAID {
                    assert!(compared.out.contains(said), "{said}: {}", compared.out);
                }
                outputs.push(("pins diff", compared.out));
            }
            place.run(&["call", "audit_session_start", r#"{"intent":"Look","session_id":"S-1"}"#]).ends(0);
            let page = place.path("report.html");
            place.run(&["report", "S-1", "--html", page.to_str().unwrap()]).ends(0);
            outputs.push(("report", std::fs::read_to_string(page).unwrap()));
            for words in [
                &["pins"][..],
                &["log"],
                &["log", "--server", "odd"],
                &["timeline"],
                &["doctor"],
                &["verify"],
            ] {
                let run = place.run(words);
                outputs.push((words[0], run.out + &run.err));
            }
            outputs.iter().for_each(|(what, text)| shows_none(what, text));
            assert!(
                outputs.iter().any(|(what, text)| *what == "log" && text.contains("odd/put\\u{1b}")),
                "{outputs:?}"
            );
        }
    }
}
