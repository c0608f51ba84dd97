//! Each call that an error suggests succeeds, in every state of tasks and sessions (catalogue#remedies).

use colibri_test_support::client::{Launch, Server, steps};
use serde_json::{Value, json};

const STATES: [&str; 8] = ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"];
const HOLDER: &str = "holder";

/// Whether a task was ever claimed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Claim {
    Never,
    Live,
    Released,
}

/// The state of a task.
#[derive(Debug, Clone, Copy)]
struct State {
    status: &'static str,
    claim: Claim,
    /// It depends on a task that is not DONE.
    blocked: bool,
}

fn states() -> Vec<State> {
    let claims = [Claim::Never, Claim::Live, Claim::Released];
    let of = |status| claims.map(|claim| [false, true].map(|blocked| State { status, claim, blocked }));
    // A task that waits cannot be claimed.
    let possible = |state: &State| !state.blocked || state.claim == Claim::Never;
    STATES.into_iter().flat_map(of).flatten().filter(possible).collect()
}

/// Makes a task in that state.
fn task(server: &mut Server, state: State) -> Value {
    let waits = match state.blocked {
        true => json!([server.data("task_create", json!({ "title": "first" }))["id"]]),
        false => json!([]),
    };
    let id = server.data("task_create", json!({ "title": "T", "depends_on": waits }))["id"].clone();
    let mut claim = Value::Null;
    if state.claim != Claim::Never {
        claim = server.data("task_claim", json!({ "agent_id": HOLDER, "id": id }))["claim"].clone();
    }
    if state.status == "DONE" {
        let thought = json!({ "type": "plan", "task_id": id, "agent_id": HOLDER, "session_id": "open", "content": "c" });
        server.data("thought_record", thought);
    }
    let way: Vec<&str> = match state.status {
        "INIT" => Vec::new(),
        "CANCELLED" => vec!["CANCELLED"],
        status => steps(status).collect(),
    };
    for status in way {
        let mut change = json!({ "id": id, "status": status });
        if !claim.is_null() {
            change["claim"] = claim.clone();
        }
        server.data("task_update", change);
    }
    if state.claim == Claim::Released {
        server.data("task_release", json!({ "id": id, "claim": claim }));
    }
    id
}

/// The calls on a task that may be refused.
fn calls_on(id: &Value) -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for claim in [Value::Null, json!(1), json!(9)] {
        let with_claim = |mut call: Value| {
            if !claim.is_null() {
                call["claim"] = claim.clone();
            }
            call
        };
        for status in STATES {
            calls.push(("task_update", with_claim(json!({ "id": id, "status": status }))));
        }
        calls.push(("task_update", with_claim(json!({ "id": id, "title": "U" }))));
        calls.push(("task_update", with_claim(json!({ "id": id, "depends_on": ["nope"] }))));
        calls.push(("task_update", with_claim(json!({ "id": id, "depends_on": [id] }))));
        calls.push(("task_claim", with_claim(json!({ "id": id, "agent_id": "other" }))));
        if !claim.is_null() {
            calls.push(("task_release", with_claim(json!({ "id": id }))));
        }
    }
    calls
}

/// The calls on a session that may be refused.
fn calls_on_session(id: &str) -> Vec<(&'static str, Value)> {
    let thought =
        json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": id, "content": "c" });
    vec![
        ("audit_session_start", json!({ "session_id": id, "intent": "i" })),
        ("thought_record", thought),
        ("merkle_root", json!({ "session_id": id })),
        ("audit_verify_chain", json!({ "session_id": id })),
        ("merkle_finalize", json!({ "session_id": id })),
    ]
}

/// What an agent would put where the error asks.
fn answer(name: &str, said: &Value) -> Value {
    match name {
        "status" => said["allowed"][0].clone(),
        "agent_id" => json!(HOLDER),
        "session_id" => json!("open"),
        "type" => json!("plan"),
        _ => json!("t"),
    }
}

/// Makes the call, and those that its refusal suggests; how many those were.
fn follow(server: &mut Server, case: &str, tool: &str, arguments: Value) -> usize {
    let case = format!("{case}: {tool} {arguments}");
    let envelope = server.call(tool, arguments);
    let inner = &envelope["data"]["error"];
    let said = if inner.is_object() { inner } else { &envelope["error"]["details"] };
    let next = said["next"].as_array().cloned().unwrap_or_default();
    for call in &next {
        let mut arguments = call["arguments"].clone();
        for name in call["ask"].as_object().into_iter().flatten().map(|(name, _)| name) {
            arguments[name] = answer(name, said);
        }
        let reply = server.call(call["tool"].as_str().unwrap(), arguments);
        let succeeds = reply["ok"] == true && reply["data"]["ok"] != false;
        assert!(succeeds, "{case}\n{envelope}\nsuggests {call}\n{reply}");
    }
    next.len()
}

fn server() -> Server {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DURABILITY", "normal");
    let mut server = launch.start();
    server.data("audit_session_start", json!({ "session_id": "open", "intent": "i" }));
    server
}

#[test]
fn every_call_that_an_error_suggests_succeeds_whatever_the_tasks_state() {
    let mut server = server();
    let mut followed = 0;
    for state in states() {
        let calls = calls_on(&Value::Null).len();
        for place in 0..calls {
            let id = task(&mut server, state);
            let (tool, arguments) = calls_on(&id).swap_remove(place);
            followed += follow(&mut server, &format!("{state:?}"), tool, arguments);
        }
    }
    for (tool, arguments) in calls_on(&json!("nope")) {
        followed += follow(&mut server, "no task", tool, arguments);
    }
    for depends_on in [json!([]), json!(["nope"])] {
        let born_done = json!({ "title": "T", "status": "DONE", "depends_on": depends_on });
        followed += follow(&mut server, "new", "task_create", born_done);
    }
    assert!(followed > 300, "{followed}");
}

#[test]
fn every_call_that_an_error_suggests_succeeds_whatever_the_sessions_state() {
    let mut server = server();
    let mut followed = 0;
    for (state, place) in ["none", "empty", "records", "sealed"]
        .into_iter()
        .flat_map(|state| (0..5).map(move |place| (state, place)))
    {
        let id = format!("{state}-{place}");
        if state != "none" {
            server.data("audit_session_start", json!({ "session_id": id, "intent": "i" }));
        }
        if matches!(state, "records" | "sealed") {
            let thought =
                json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": id, "content": "c" });
            server.data("thought_record", thought);
        }
        if state == "sealed" {
            server.data("merkle_finalize", json!({ "session_id": id }));
        }
        let (tool, arguments) = calls_on_session(&id).swap_remove(place);
        followed += follow(&mut server, state, tool, arguments);
    }
    assert!(followed > 8, "{followed}");
}
