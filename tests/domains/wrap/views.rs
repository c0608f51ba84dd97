//! What the commands show of wrapped servers.

use colibri_test_support::engine;
use colibri_test_support::wrapped::{FAILED, OK, REFUSED, add_call, begin, fill, note};
use serde_json::{Value, json};

use super::place::Place;

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn wrap_59_the_log_takes_the_calls_of_one_server() {
    let place = Place::new();
    let run = fill(&place.database());
    // Names that begin alike are other servers.
    let wide = begin(&place.database(), "clock-2", Value::Null);
    add_call(
        &place.sql(),
        &wide,
        "clock-2/a_tool_whose_name_is_wider_than_the_column_that_is_meant_for_it",
        &OK,
    );
    let run = run["boot_id"].as_str().unwrap();
    let shown = place.run(&["log", "--server", "clock", "--json"]).ends(0).out;
    let calls: Vec<Value> = lines(&shown).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(calls.len(), 4);
    assert!(
        calls
            .iter()
            .all(|call| call["boot_id"] == run && call["tool"].as_str().unwrap().starts_with("clock/"))
    );
    place
        .run(&["log", "--server", "clock-2"])
        .ends(0)
        .says("clock-2/a_tool_whose_name_is_wider_than_the_column_that_is_meant_for_it  ok");
    place.run(&["log", "--server", "clocks"]).ends(0).says("No call matches; did you mean --server clock?");
    place.run(&["log", "--server", "clock", "--outcome", "denied"]).ends(0).says("WRAP_DENIED");
    // Without it they stand among the others, in the order of the calls.
    let all = place.run(&["log", "--json"]).ends(0).out;
    assert!(all.contains("\"wrap_begin\"") && all.contains("\"files/read\""));
}

#[test]
fn wrap_59_the_column_of_tools_is_as_wide_as_the_names_shown() {
    let place = Place::new();
    let run = begin(&place.database(), "mcp-server-filesystem", Value::Null);
    add_call(&place.sql(), &run, "mcp-server-filesystem/read_text_file", &OK);
    let shown = place.run(&["log"]).ends(0).out;
    let line = |name: &str| lines(&shown).into_iter().find(|line| line.contains(name)).unwrap();
    let column = line("ENTERED").find("OUTCOME").unwrap();
    for name in ["wrap_begin", "mcp-server-filesystem/read_text_file"] {
        assert!(line(name)[column..].starts_with("ok  "), "{shown}");
    }
}

#[test]
fn wrap_59_the_timeline_tells_of_runs_pins_and_calls() {
    let place = Place::new();
    fill(&place.database());
    let shown = place.run(&["timeline", "--since", "2026-01-01", "--json"]).ends(0).json();
    let events = shown["events"].as_array().unwrap();
    let told: Vec<String> = events
        .iter()
        .map(|event| {
            let says = event["says"].as_str().unwrap();
            let says = says.split(": list ").next().unwrap();
            format!("{}: {says}", event["tool"].as_str().unwrap())
        })
        .collect();
    let expected = [
        "wrap_begin: wrapped clock (npx)",
        "pins_note: pinned 1 tool of clock",
        "pins_note: saw another list of clock, 1 tool",
        "pins_accept: accepted 1 tool of clock",
        "wrap_begin: wrapped files (npx)",
        "pins_note: pinned 1 tool of files",
        "clock/get_time: called clock/get_time",
        "clock/get_time: failed at clock/get_time: TOOL_ERROR",
        "clock/set_time: was refused clock/set_time: WRAP_DENIED",
        "clock/get_time: did not finish clock/get_time: WRAP_SERVER_ENDED",
        "files/read: called files/read",
    ];
    assert_eq!(told, expected);
    let of_clock =
        place.run(&["timeline", "--since", "2026-01-01", "--who", "clock", "--json"]).ends(0).json();
    let actors: Vec<&str> = of_clock["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["server"].as_str().unwrap())
        .collect();
    assert_eq!(actors, ["clock"; 4]);
}

#[test]
fn wrap_59_a_report_counts_the_calls_of_its_session() {
    let place = Place::new();
    let path = place.database();
    place.call("audit_session_start", &json!({ "intent": "Ask the clock", "session_id": "S-1" }));
    let run = begin(&path, "clock", json!("S-1"));
    note(&path, &run, "Tell the time.");
    note(&path, &run, "Tell the time in UTC.");
    let other = begin(&path, "files", Value::Null);
    let conn = place.sql();
    for (run, tool, ending) in [
        (&run, "clock/get_time", &OK),
        (&run, "clock/get_time", &OK),
        (&run, "clock/get_time", &FAILED),
        (&run, "clock/<set_time>", &REFUSED),
        (&other, "files/read", &OK),
    ] {
        add_call(&conn, run, tool, ending);
    }
    let page = place.shell.path().join("page.html");
    place.run(&["report", "S-1", "--html", page.to_str().unwrap()]).ends(0);
    let page = std::fs::read_to_string(page).unwrap();
    let text = page.replace("</td><td data-name=", " | <td data-name=");
    assert!(page.contains("<h2>Calls to other servers</h2>"), "{page}");
    let row = |tool: &str, counts: [u32; 4]| {
        let [ok, failed, refused, unfinished] = counts;
        format!(
            "<code>{tool}</code> | <td data-name=\"Done\">{ok} | <td data-name=\"Failed\">{failed} \
             | <td data-name=\"Refused\">{refused} | <td data-name=\"Unfinished\">{unfinished}"
        )
    };
    assert!(text.contains(&row("get_time", [2, 1, 0, 0])), "{text}");
    assert!(text.contains(&row("&lt;set_time&gt;", [0, 0, 1, 0])), "{text}");
    assert!(text.contains("<dt>Tools of clock</dt><dd>another list since "), "{text}");
    assert!(text.contains("other runs made 1 call to other servers"), "{text}");
    // A session that no run named has no such section, and others are not counted before it was open.
    place.call("audit_session_start", &json!({ "intent": "Nothing", "session_id": "S-2" }));
    let page = place.shell.path().join("other.html");
    place.run(&["report", "S-2", "--html", page.to_str().unwrap()]).ends(0);
    assert!(!std::fs::read_to_string(page).unwrap().contains("Calls to other servers"));
}

#[test]
fn wrap_59_a_report_tells_calls_that_ended_after_the_seal_apart() {
    let place = Place::new();
    let path = place.database();
    let report = |session: &str| {
        let page = place.shell.path().join(format!("{session}.html"));
        let told = place.run(&["report", session, "--html", page.to_str().unwrap(), "--json"]).ends(0).json();
        (std::fs::read_to_string(page).unwrap(), told["calls"].clone())
    };
    place.call("audit_session_start", &json!({ "intent": "Ask the clock", "session_id": "S-1" }));
    let task = place.call("task_create", &json!({ "title": "Ask the clock" }))["id"].clone();
    let thought = json!({ "type": "plan", "task_id": task, "agent_id": "a-1", "session_id": "S-1", "content": "Ask it." });
    place.call("thought_record", &thought);
    let run = begin(&path, "clock", json!("S-1"));
    let other = begin(&path, "files", Value::Null);
    add_call(&place.sql(), &other, "files/read", &OK);
    place.call("merkle_finalize", &json!({ "session_id": "S-1" }));
    for (run, tool) in [(&run, "clock/get_time"), (&run, "clock/get_time"), (&other, "files/read")] {
        add_call(&place.sql(), run, tool, &OK);
    }
    let (page, calls) = report("S-1");
    let row =
        json!({ "server": "clock", "tool": "get_time", "ok": 2, "failed": 0, "refused": 0, "unfinished": 0 });
    assert_eq!(calls, json!({ "tools": [], "later": [row], "others": 1 }));
    let (before, after) = page.split_once("<h3>After the seal</h3>").unwrap();
    assert!(before.contains("No call of this session's runs had ended when it was sealed."), "{before}");
    assert!(
        before.contains("other runs made 1 call to other servers. The seal commits to the log up to then")
    );
    assert!(!before.contains("<code>get_time</code>") && after.contains("<code>get_time</code>"), "{page}");
    assert!(after.contains("It does not commit to them."), "{after}");

    // Of a session that is sealed after its calls the page says that the seal commits to them.
    place.call("audit_session_start", &json!({ "intent": "Ask again", "session_id": "S-2" }));
    let run = begin(&path, "clock", json!("S-2"));
    add_call(&place.sql(), &run, "clock/get_time", &OK);
    let thought = json!({ "type": "plan", "task_id": task, "agent_id": "a-1", "session_id": "S-2", "content": "Again." });
    place.call("thought_record", &thought);
    place.call("merkle_finalize", &json!({ "session_id": "S-2" }));
    let (page, calls) = report("S-2");
    assert_eq!((&calls["tools"][0]["ok"], &calls["later"]), (&json!(1), &json!([])));
    assert!(!page.contains("After the seal"), "{page}");
}

#[test]
fn wrap_59_doctor_names_the_servers_that_have_another_list() {
    let place = Place::new();
    let path = place.database();
    let (name, value) = engine::variable(&path);
    let doctor = || {
        let report = place.shell.run_with(&[(name, value.to_str().unwrap())], &["doctor", "--json"]).json();
        let findings = report["findings"].as_array().unwrap().clone();
        let of_wraps = findings.into_iter().filter(|finding| finding["check"] == "wraps");
        of_wraps.map(|finding| format!("{} {}", finding["level"], finding["message"])).collect::<Vec<_>>()
    };
    place.call("task_create", &json!({ "title": "A" }));
    assert_eq!(doctor(), [""; 0], "there is nothing to say without pins");
    fill(&path);
    assert_eq!(doctor(), ["\"ok\" \"2 names pinned\""]);
    let run = begin(&path, "files", Value::Null);
    let seen = note(&path, &run, "Tell the time in UTC.");
    let time = seen["data"]["recorded_at"].as_str().unwrap();
    assert_eq!(doctor(), [format!("\"warn\" \"files has another list since {time}\"")]);
    let text = place.shell.run_with(&[(name, value.to_str().unwrap())], &["doctor"]).out;
    assert!(text.contains("colibri pins diff files"), "{text}");
}
