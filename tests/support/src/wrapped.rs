//! Runs of `colibri wrap`, pins and wrapped calls, for tests that need no other server. The operations write runs and pins; the calls
//! are rows made by hand, with the hashes that the chain gives them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use colibri::Options;
use colibri::catalogue::{Dispatcher, ToolId};
use colibri::lifecycle::operation::Operator;
use colibri::settings::environment::Environment;
use colibri::tools::Domains;
use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_runtime::kernel::{Clock, SystemClock, rfc3339_ms};
use colibri_runtime::progress::Progress;
use serde_json::{Value, json};

use crate::engine;
use crate::sql::Connection;

/// Runs operations on the database of that path, in one process of their own; the envelope of each.
pub fn operate(path: &Path, calls: &[(ToolId, Value)]) -> Vec<Value> {
    let (name, value) = engine::variable(path);
    let environment = Environment::default().with(name, value).with("COLIBRI_LOG_LEVEL", "warn");
    let options = Options { environment, ..Options::default() };
    let mut operator = Operator::open(Dispatcher(Domains::default()), options).expect("the database opens");
    let call = |(tool, input): &(ToolId, Value)| operator.call(*tool, input.clone(), Progress::default());
    calls.iter().map(call).map(|reply| reply.expect("an envelope")).collect()
}

/// Begins a run of that server, as the work of a session if it is a text; the row.
pub fn begin(path: &Path, name: &str, session: Value) -> Value {
    let mut input = json!({ "name": name, "program": "npx", "command_hash": sha256_hex(b"[]"), "pin": "warn",
        "read_only": false, "allow": ["get_*"], "deny": [] });
    if session.is_string() {
        input["session_id"] = session;
    }
    let reply = operate(path, &[(ToolId::WrapBegin, input)]).remove(0);
    assert_eq!(reply["ok"], true, "{reply}");
    reply["data"].clone()
}

/// Notes a list of one tool with that description, as a run saw it; the envelope.
pub fn note(path: &Path, run: &Value, description: &str) -> Value {
    let tool = json!({ "name": "get_time", "description": description, "inputSchema": { "type": "object" } });
    let input =
        json!({ "run_id": run["run_id"], "name": run["name"], "instructions": null, "tools": [tool] });
    operate(path, &[(ToolId::PinsNote, input)]).remove(0)
}

/// Accepts a list; the envelope.
pub fn accept(path: &Path, name: &str, list_hash: &Value) -> Value {
    operate(path, &[(ToolId::PinsAccept, json!({ "name": name, "list_hash": list_hash }))]).remove(0)
}

/// Stores two servers, one with a pin and another list that was accepted, and calls that ended in each way. Returns the first run.
pub fn fill(path: &Path) -> Value {
    let run = begin(path, "clock", Value::Null);
    note(path, &run, "Tell the time.");
    let seen = note(path, &run, "Tell the time in UTC.");
    let accepted = accept(path, "clock", &seen["data"]["list_hash"]);
    assert_eq!(accepted["data"]["event"], "accepted", "{accepted}");
    let other = begin(path, "files", Value::Null);
    note(path, &other, "Tell the time.");
    let conn = engine::open(path);
    let calls = [("get_time", OK), ("get_time", FAILED), ("set_time", REFUSED), ("get_time", ABORTED)];
    for (tool, ending) in calls {
        add_call(&conn, &run, &format!("clock/{tool}"), &ending);
    }
    add_call(&conn, &other, "files/read", &OK);
    run
}

/// How a row made by hand ends.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// Its outcome.
    pub outcome: &'static str,
    /// Its code.
    pub code: Option<&'static str>,
}

/// The server answered.
pub const OK: Ending = Ending { outcome: "ok", code: None };
/// The server said that the tool failed.
pub const FAILED: Ending = Ending { outcome: "domain_error", code: Some("TOOL_ERROR") };
/// The call was refused.
pub const REFUSED: Ending = Ending { outcome: "denied", code: Some("WRAP_DENIED") };
/// The server ended first.
pub const ABORTED: Ending = Ending { outcome: "aborted", code: Some("WRAP_SERVER_ENDED") };

const COLUMNS: [&str; 19] = [
    "sequence_no",
    "correlation_id",
    "boot_id",
    "request_id",
    "tool",
    "mode",
    "args_hash",
    "trace_context",
    "entered_at",
    "enter_ms",
    "outcome",
    "error_code",
    "error_message",
    "result_hash",
    "duration_ms",
    "exited_at",
    "exit_no",
    "prev_hash",
    "subject",
];
/// How many of them a call has from its start on.
const OF_ENTERS: usize = 10;

/// Adds a closed call of a run to the end of the log.
pub fn add_call(conn: &Connection, run: &Value, tool: &str, ending: &Ending) {
    add_call_of(conn, run["boot_id"].as_str().expect("a run"), tool, ending);
}

/// Adds a closed call of a process to the end of the log.
pub fn add_call_of(conn: &Connection, boot_id: &str, tool: &str, ending: &Ending) {
    let (last, exits, prev_hash) = conn
        .query_row("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .unwrap();
    let (number, exit_no) = (last + 1, exits + 1);
    let now = rfc3339_ms(SystemClock::default().wall_ms());
    let ends = ending.outcome != "aborted";
    let values = [
        json!(number),
        json!(format!("019aa8c1-7d10-7b3e-8c11-{number:012}")),
        json!(boot_id),
        json!("7"),
        json!(tool),
        json!("FULL"),
        json!(sha256_hex(b"{}")),
        Value::Null,
        json!(now),
        json!(5),
        json!(ending.outcome),
        json!(ending.code),
        json!(ending.code.map(|_| "a sentence")),
        if ends { json!(sha256_hex(b"{\"content\":[]}")) } else { Value::Null },
        if ends { json!(3) } else { Value::Null },
        json!(now),
        json!(exit_no),
        json!(prev_hash),
        Value::Null,
    ];
    let row: serde_json::Map<_, _> =
        COLUMNS.iter().map(|name| (*name).to_owned()).zip(values.iter().cloned()).collect();
    let row_hash = sha256_hex(canonical_json(&Value::Object(row), NumberRule::Wire).unwrap().as_bytes());
    let literal = |at: usize| match (&values[at], COLUMNS[at]) {
        (Value::Null, _) => "NULL".to_owned(),
        (Value::String(text), "tool" | "error_message") if engine::is_postgres() => {
            format!("convert_to('{text}', 'UTF8')")
        }
        (Value::String(text), _) => format!("'{text}'"),
        (value, _) => value.to_string(),
    };
    let literals: Vec<String> = (0..COLUMNS.len()).map(literal).collect();
    let (enter, exit) = literals.split_at(OF_ENTERS);
    let (enter_names, exit_names) = COLUMNS.split_at(OF_ENTERS);
    let sql = if engine::is_postgres() {
        format!(
            "INSERT INTO enters ({}) VALUES ({}); INSERT INTO exits (sequence_no, {}, row_hash) VALUES ({number}, {}, '{row_hash}')",
            enter_names.join(", "),
            enter.join(", "),
            exit_names.join(", "),
            exit.join(", "),
        )
    } else {
        let sets: Vec<String> =
            exit_names.iter().zip(exit).map(|(name, value)| format!("{name} = {value}")).collect();
        format!(
            "INSERT INTO actions ({}, outcome) VALUES ({}, 'running');
             UPDATE actions SET {}, row_hash = '{row_hash}' WHERE sequence_no = {number};
             UPDATE actions_head SET last_sequence_no = {number}, last_exit_no = {exit_no}, last_row_hash = '{row_hash}'",
            enter_names.join(", "), enter.join(", "), sets.join(", "),
        )
    };
    conn.tamper(&sql);
}
