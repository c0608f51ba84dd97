//! When `wrap` asks the server for its tools itself, and which calls wait for that.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::place::{OWN, Place, names, tool};
use super::{ERAS, Era, Setup, Wrapped, result};

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// Where the server has read something of the kind for the first time.
fn place_of(wrap: &Wrapped, text: &str) -> usize {
    let read = wrap.read();
    read.find(text).unwrap_or_else(|| panic!("the server has not read {text:?}:\n{read}"))
}

#[test]
fn wrap_50_a_changed_list_is_known_before_a_call_or_told_beside_it() {
    for era in ERAS {
        for mode in ["refuse", "warn"] {
            let place = Place::new();
            place.lists(&[tool("get", "One."), tool("put", "One.")]);
            place.pin(era);
            let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", mode]));
            assert_eq!(names(&wrap.list("list")), ["get", "put"]);
            place.lists(&[tool("get", "Two."), tool("put", "One.")]);
            wrap.have("change", json!([{ "write": CHANGED }, { "write": result("changed") + "\n" }]));
            assert_eq!(wrap.text(), CHANGED);
            assert_eq!(wrap.message()["id"], "change");
            assert_eq!(wrap.own_requests(), [Value::Null; 0], "without a call nothing is asked");
            if mode == "refuse" {
                wrap.refused("call", "get", "WRAP_TOOL_CHANGED");
                wrap.passes("other", "put");
                assert!(place_of(&wrap, OWN) < place_of(&wrap, "\"id\":\"other\""));
            } else {
                wrap.passes("call", "get");
                wrap.await_read(OWN);
                assert!(place_of(&wrap, "\"id\":\"call\"") < place_of(&wrap, OWN));
            }
            wrap.server.await_stderr("WARN [wrap] odd: 1 tool changed since ");
            place.await_events(&["pinned", "seen"]);
            // The list is known now.
            wrap.passes("again", "put");
            assert_eq!(wrap.own_requests().len(), 1);
            assert_eq!(wrap.end().code(), 0);
        }
    }
}

#[test]
fn wrap_50_a_list_that_changes_while_it_is_asked_for_is_asked_for_again() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", "One.")]);
        place.pin(era);
        // The answer is overtaken by the notice that it is no longer right; the next one holds.
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{{\"tools\":[{}]}}}}\n",
            tool("get", "One.")
        );
        let other = place.path("other.json");
        std::fs::write(&other, json!([{ "tools": [tool("get", "Two.")] }]).to_string()).unwrap();
        let steps = json!([{ "write": CHANGED }, { "rename": [other, place.path("tools.json")] }, { "write": answer }]);
        place.gives(&json!([{ "steps": steps }]).to_string());
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        let call = wrap.call(json!("call"), "get", json!({}));
        wrap.send(&call);
        assert_eq!(wrap.text(), CHANGED);
        wrap.refusal("call", "get", "WRAP_TOOL_CHANGED");
        assert_eq!(wrap.own_requests().len(), 2);
        assert_eq!(place.events(), ["pinned", "seen"]);
    }
}

/// A list before which the server says that it has changed.
fn overtaken(text: &str) -> String {
    let list = json!({ "tools": [tool("get", text)] });
    let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":${{id}},\"result\":{list}}}\n");
    json!([{ "steps": [{ "write": CHANGED }, { "write": answer }] }]).to_string()
}

#[test]
fn wrap_50_a_list_is_compared_though_the_server_says_meanwhile_that_it_changes() {
    for era in ERAS {
        let place = Place::new();
        // The first list is pinned, and the next one is told and stored, before any call.
        for (text, events) in [("One.", vec!["pinned"]), ("You must.", vec!["pinned", "seen"])] {
            place.gives(&overtaken(text));
            let (mut wrap, _) = place.greeted(Setup::new(era));
            assert_eq!(wrap.list("list"), CHANGED);
            assert!(wrap.text().contains(text));
            place.await_events(&events);
            if events.len() > 1 {
                wrap.server.await_stderr("WARN [wrap] odd: 1 tool changed since ");
                wrap.server.await_stderr("WARN [wrap] odd: security [T5] get /description: ");
            }
            assert_eq!(wrap.own_requests(), [Value::Null; 0]);
            assert_eq!(wrap.end().code(), 0);
        }
    }
}

#[test]
fn wrap_50_a_server_that_says_with_each_list_that_it_changes_is_asked_twice() {
    for era in ERAS {
        for mode in ["refuse", "warn"] {
            let place = Place::new();
            place.lists(&[tool("get", "One.")]);
            place.pin(era);
            place.gives(&overtaken("One."));
            let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", mode]));
            for id in ["1", "2", "3", "4"] {
                let call = wrap.call(json!(id), "get", json!({}));
                wrap.send(&call);
                while wrap.message()["id"] != id {}
                if mode == "warn" {
                    // The listing beside the call is over when the server has answered what came behind it.
                    wrap.await_read(OWN);
                    wrap.have("behind", json!([{ "write": result("behind") + "\n" }]));
                    while wrap.message()["id"] != "behind" {}
                }
            }
            assert_eq!(wrap.own_requests().len(), 2, "{mode}");
            // A change that the server tells of later is one.
            wrap.have("change", json!([{ "write": CHANGED }, { "write": result("changed") + "\n" }]));
            while wrap.message()["id"] != "change" {}
            place.lists(&[tool("get", "Two.")]);
            let call = wrap.call(json!("last"), "get", json!({}));
            wrap.send(&call);
            let is_error = wrap.message()["result"]["isError"].clone();
            assert_eq!(is_error == true, mode == "refuse");
            wrap.server.await_stderr("WARN [wrap] odd: 1 tool changed since ");
            let ended = wrap.end();
            assert!(!ended.stderr.contains("did not list its tools"), "{}", ended.stderr);
        }
    }
}

/// A server that never answers `wrap`'s request, and a client that goes on meanwhile.
fn never_lists(era: Era) {
    let place = Place::new();
    place.lists(&[tool("get", "One.")]);
    place.pin(era);
    place.gives(r#"[{"steps":[]}]"#);
    let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
    let began = Instant::now();
    for id in ["waits", "dropped"] {
        let call = wrap.call(json!(id), "get", json!({}));
        wrap.send(&call);
    }
    wrap.await_read(OWN);
    wrap.ping();
    let roots = "{\"jsonrpc\":\"2.0\",\"id\":\"waits\",\"method\":\"roots/list\"}\n";
    wrap.have("asks", json!([{ "write": roots }, { "read": 1 }, { "write": result("heard") + "\n" }]));
    assert_eq!(wrap.text(), roots);
    wrap.send(&json!({ "jsonrpc": "2.0", "id": "waits", "result": { "roots": ["answered"] } }));
    assert_eq!(wrap.message()["id"], "asks");
    assert!(wrap.read().contains("answered"));
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "dropped" } });
    wrap.send(&cancelled);
    wrap.await_read("cancelled");
    assert!(wrap.rows().is_empty());

    let said = wrap.refusal("waits", "get", "WRAP_LIST_UNKNOWN");
    assert!(began.elapsed() >= Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(said, "colibri wrap: the tools of odd could not be read, so \"get\" was not called");
    let own = wrap.own_requests();
    assert_eq!(own.len(), 1, "{own:?}");
    // What comes late answers no request.
    let late = json!({ "jsonrpc": "2.0", "id": own[0]["id"], "result": { "tools": [tool("get", "Two.")] } });
    wrap.have("late", json!([{ "write": format!("{late}\n") }, { "write": result("late") + "\n" }]));
    assert_eq!(wrap.message()["id"], "late");

    place.lists(&[tool("get", "One.")]);
    wrap.passes("again", "get");
    assert_eq!(wrap.own_requests().len(), 2);
    assert_eq!(wrap.endings(), ["denied/WRAP_LIST_UNKNOWN", "ok"]);
    assert_eq!(place.events(), ["pinned"]);
    let ended = wrap.end();
    for text in [
        "WARN [wrap] odd: did not list its tools in 10 s",
        "dropped 1 answer that no request waits for",
        "1 call, 1 refused, 0 aborted, 1 message dropped",
    ] {
        assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
    }
}

/// A server whose list has ever more pages, and a client that goes on meanwhile.
fn never_ends_its_list(era: Era) {
    let place = Place::new();
    place.gives(r#"[{"tools":[],"nextCursor":"n${n}"}]"#);
    let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
    let call = wrap.call(json!("waits"), "get", json!({}));
    wrap.send(&call);
    wrap.await_read("\"cursor\":\"n");
    wrap.ping();
    wrap.refusal("waits", "get", "WRAP_LIST_UNKNOWN");
    assert!(place.events().is_empty());
    assert_eq!(wrap.end().code(), 0);
}

#[test]
fn a_cursor_that_comes_a_second_time_ends_the_listing_and_is_told() {
    for era in ERAS {
        let place = Place::new();
        place.gives(r#"[{"tools":[],"nextCursor":"0"}]"#);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        wrap.refused("waits", "get", "WRAP_LIST_UNKNOWN");
        let ended = wrap.end();
        let said = "WARN [wrap] odd: the list of tools has no end: a `nextCursor` came a second time; it is not compared";
        assert!(ended.code() == 0 && ended.stderr.contains(said), "{}", ended.stderr);
    }
}

#[test]
fn wrap_51_calls_are_refused_when_the_server_does_not_list_its_tools() {
    // All wait for the same ten seconds.
    std::thread::scope(|scope| {
        for era in ERAS {
            scope.spawn(move || never_lists(era));
            scope.spawn(move || never_ends_its_list(era));
        }
    });
}

#[test]
fn wrap_51_an_error_in_the_place_of_the_tools_refuses_at_once() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", "One.")]);
        place.pin(era);
        let error =
            "{\"jsonrpc\":\"2.0\",\"id\":${id},\"error\":{\"code\":-32001,\"message\":\"Not today.\"}}\n";
        place.gives(&json!([{ "steps": [{ "write": error }] }]).to_string());
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        for id in ["1", "2", "3"] {
            wrap.refused(id, "get", "WRAP_LIST_UNKNOWN");
        }
        // The client's own request gets the error as it was written.
        assert_eq!(wrap.list("mine"), error.replace("${id}", "\"mine\""));
        let ended = wrap.end();
        let said = "answered tools/list with the JSON-RPC error -32001";
        assert_eq!(ended.stderr.matches(said).count(), 1, "{}", ended.stderr);
        assert!(!ended.stderr.contains("did not list"), "{}", ended.stderr);
    }
}

fn pages() -> String {
    json!([
        { "tools": [tool("get", "One.")], "nextCursor": "1" },
        { "tools": [tool("put", "One.")], "nextCursor": "2" },
        { "tools": [tool("find", "One.")] },
    ])
    .to_string()
}

/// The server has read one request of `wrap`'s own for each page.
fn asked_once(wrap: &Wrapped) {
    let own = wrap.own_requests();
    let cursors: Vec<&Value> = own.iter().map(|request| &request["params"]["cursor"]).collect();
    assert_eq!(cursors, [&Value::Null, &json!("1"), &json!("2")]);
    let meta = if wrap.era == Era::Stateless { wrap.meta() } else { Value::Null };
    assert!(own.iter().all(|request| request["params"]["_meta"] == meta), "{own:?}");
    let ids: std::collections::BTreeSet<String> =
        own.iter().map(|request| request["id"].to_string()).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn wrap_52_a_client_that_calls_without_listing_has_wrap_list_once() {
    for mode in ["refuse", "warn"] {
        let place = Place::new();
        place.gives(&pages());
        let mut wrap = place.start_silent(Setup::new(Era::Stateless).with(&["--pin", mode]));
        let mut call = wrap.call(json!("first"), "find", json!({}));
        call["params"]["_meta"]["progressToken"] = json!(5);
        call["params"]["_meta"]["example.com/own"] = json!("of this call alone");
        wrap.send(&call);
        assert_eq!(wrap.message()["id"], "first");
        place.await_events(&["pinned"]);
        for id in ["second", "third"] {
            wrap.passes(id, "put");
        }
        asked_once(&wrap);
        assert_eq!(wrap.end().code(), 0);
    }
}

#[test]
fn wrap_52_in_the_handshake_era_wrap_lists_after_the_handshake() {
    for mode in ["refuse", "warn"] {
        let place = Place::new();
        place.gives(&pages());
        let mut wrap = place.start_silent(Setup::new(Era::Handshake).with(&["--pin", mode]));
        wrap.greet();
        let early = wrap.call(json!("early"), "find", json!({}));
        wrap.send(&early);
        if mode == "warn" {
            assert_eq!(wrap.message()["id"], "early");
        }
        wrap.ping();
        assert_eq!((wrap.reads("early"), wrap.own_requests().len()), (mode == "warn", 0));
        wrap.initialized();
        if mode == "refuse" {
            assert_eq!(wrap.message()["id"], "early");
        }
        place.await_events(&["pinned"]);
        for id in ["second", "third"] {
            wrap.passes(id, "put");
        }
        asked_once(&wrap);
        assert!(place_of(&wrap, "notifications/initialized") < place_of(&wrap, OWN));
        assert_eq!(wrap.end().code(), 0);
    }
}

#[test]
fn wrap_52_a_call_that_is_written_with_the_clients_own_request_waits_for_the_list() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", "One.")]);
        place.pin(era);
        place.lists(&[tool("get", "One."), tool("new", "One.")]);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        let list = wrap.request(json!("list"), "tools/list");
        let calls = ["get", "new"].map(|name| wrap.call(json!(name), name, json!({})));
        wrap.server.send_bytes(format!("{list}\n{}\n{}\n", calls[0], calls[1]).as_bytes());
        assert_eq!(names(&wrap.text()), ["get"]);
        let mut answers = [wrap.message(), wrap.message()];
        answers.sort_by_key(|answer| answer["id"].to_string());
        assert_eq!((&answers[0]["id"], &answers[0]["result"]["isError"]), (&json!("get"), &Value::Null));
        assert_eq!((&answers[1]["id"], &answers[1]["result"]["isError"]), (&json!("new"), &json!(true)));
        assert_eq!(wrap.endings(), ["ok", "denied/WRAP_TOOL_NEW"]);
        wrap.ping();
        assert!(wrap.reads("get") && !wrap.reads("new"));
        assert_eq!(place.events(), ["pinned", "seen"]);
    }
}

#[test]
fn wrap_52_without_pins_nothing_is_asked_of_the_server() {
    for era in ERAS {
        let place = Place::new();
        place.gives(&pages());
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "off"]));
        wrap.passes("call", "find");
        assert_eq!(names(&wrap.list("list")), ["get"]);
        wrap.have("change", json!([{ "write": CHANGED }, { "write": result("changed") + "\n" }]));
        assert_eq!((wrap.text(), wrap.message()["id"].clone()), (CHANGED.to_owned(), json!("change")));
        wrap.passes("after", "find");
        assert_eq!(wrap.own_requests(), [Value::Null; 0]);
        wrap.end();
        assert_eq!((place.events(), place.operations("pins_note")), (vec![], 0));
    }
}

#[test]
fn wrap_52_a_server_that_ends_while_a_call_waits_ends_the_call() {
    for era in ERAS {
        let place = Place::new();
        place.gives(r#"[{"steps":[{"sleep":50},{"exit":3}]}]"#);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        let call = wrap.call(json!("call"), "get", json!({}));
        wrap.send(&call);
        let answer = wrap.message();
        assert_eq!(
            (&answer["id"], &answer["error"]["data"]["code"]),
            (&json!("call"), &json!("WRAP_SERVER_ENDED"))
        );
        assert!(wrap.rows().is_empty() && place.events().is_empty());
        assert_eq!(wrap.server.wait().code(), 3);
    }
}

/// A description that makes a list longer than what is compared.
fn overlong() -> String {
    "x".repeat(1_200_000)
}

#[test]
fn a_list_that_is_too_long_is_told_once_and_not_asked_for_again() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", &overlong())]);
        let (mut wrap, _) = place.greeted(Setup::new(era));
        assert_eq!(names(&wrap.list("list")), ["get"]);
        for number in 0..5 {
            wrap.passes(&format!("call-{number}"), "get");
        }
        assert_eq!(wrap.own_requests(), [Value::Null; 0]);
        let began = Instant::now();
        let ended = wrap.end();
        assert_eq!(ended.code(), 0);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        let said = &ended.stderr;
        assert_eq!(said.matches("the list of tools has over 1048576 bytes").count(), 1, "{said}");
        assert!(!said.contains("did not list its tools"), "{said}");
    }
}

#[test]
fn a_list_of_its_own_asking_that_is_too_long_reaches_no_client() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", &overlong())]);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--read-only"]));
        for number in 0..3 {
            wrap.refused(&format!("call-{number}"), "get", "WRAP_LIST_UNKNOWN");
        }
        assert_eq!(wrap.own_requests().len(), 1);
        assert_eq!(wrap.end().code(), 0);
    }
}
