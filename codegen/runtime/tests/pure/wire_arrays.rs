//! Arrays of messages: which revisions receive them, and how the answers to one are kept together.

use colibri_runtime::chain::call::{Answer, Call, Reply, ReplyTo};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::spec::ToolSpec;
use colibri_runtime::wire::array::{HELD_BYTES, MEMBERS};
use colibri_runtime::wire::frame::Frame;
use colibri_runtime::wire::intake::{Inbound, Intake};
use serde_json::{Value, json};

use super::wire_protocol::CATALOGUE;

/// A connection, and what has been written to it.
struct Connection {
    intake: Intake,
    out: Vec<u8>,
}

impl Connection {
    fn of(revision: &str) -> Self {
        let listed: [&ToolSpec; 0] = [];
        let mut connection = Self {
            intake: Intake::new(&CATALOGUE, listed, &Selection::All, Redactor::default(), "0"),
            out: Vec::new(),
        };
        let params = json!({ "protocolVersion": revision });
        connection.take(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!(connection.written()["result"]["protocolVersion"], revision);
        connection
    }

    /// Takes a line and returns the calls in it.
    fn take(&mut self, message: &Value) -> Vec<Call> {
        let inbound = self.intake.take(Frame::Line(message.to_string().into_bytes()), &mut self.out);
        let mut calls = Vec::new();
        collect(inbound, &mut calls);
        calls
    }

    fn answer(&mut self, to: &ReplyTo, text: &str) {
        let answer = Answer::Tool { envelope: json!(text).to_string(), is_error: false };
        self.intake.encode(&mut self.out, &Reply { to: to.clone(), answer });
    }

    /// Returns what was written since the last look: one line, or nothing.
    fn written(&mut self) -> Value {
        let line = std::mem::take(&mut self.out);
        assert!(line.iter().filter(|byte| **byte == b'\n').count() <= 1);
        if line.is_empty() { Value::Null } else { serde_json::from_slice(&line).unwrap() }
    }
}

fn collect(inbound: Inbound, calls: &mut Vec<Call>) {
    match inbound {
        Inbound::Call(call) => calls.push(call),
        Inbound::Array(members) => members.into_iter().for_each(|member| collect(member, calls)),
        Inbound::Answered | Inbound::Ignored(_) | Inbound::Cancel(_) => {}
    }
}

fn call(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "hello" } })
}

fn ids(answer: &Value) -> Value {
    answer.as_array().unwrap().iter().map(|member| member["id"].clone()).collect()
}

#[test]
fn answers_leave_together_in_the_order_of_their_requests() {
    let mut connection = Connection::of("2025-03-26");
    let calls =
        connection.take(&json!([call(1), { "jsonrpc": "2.0", "id": 2, "method": "ping" }, call(3), call(4)]));
    let [first, third, fourth] = calls.as_slice() else { panic!("three calls") };
    connection.answer(&fourth.reply_to, "four");
    connection.intake.unanswered(&mut connection.out, &third.reply_to);
    assert_eq!(connection.written(), Value::Null);
    connection.answer(&first.reply_to, "one");
    assert_eq!(ids(&connection.written()), json!([1, 2, 4]));
}

#[test]
fn an_array_in_which_nothing_is_answered_leaves_no_line() {
    let mut connection = Connection::of("2025-03-26");
    let calls = connection.take(&json!([call(1), { "jsonrpc": "2.0", "method": "x" }]));
    connection.intake.unanswered(&mut connection.out, &calls[0].reply_to);
    assert_eq!(connection.written(), Value::Null);
}

#[test]
fn only_the_revision_that_has_arrays_receives_them_and_only_so_many_messages() {
    let of = |count: usize| {
        Value::from_iter((0..count).map(|_| json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })))
    };
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut connection = Connection::of(revision);
        for count in [0, 1, MEMBERS + 1] {
            connection.take(&of(count));
            assert_eq!(connection.written()["error"]["message"], "Invalid Request", "{revision} {count}");
        }
    }
    let mut connection = Connection::of("2025-03-26");
    connection.take(&of(MEMBERS));
    assert_eq!(connection.written().as_array().map(Vec::len), Some(MEMBERS));
    for count in [0, MEMBERS + 1, 100 * MEMBERS] {
        connection.take(&of(count));
        assert_eq!(connection.written()["error"]["code"], -32600, "{count}");
    }
}

#[test]
fn a_further_array_is_refused_while_too_much_is_held_back() {
    let mut connection = Connection::of("2025-03-26");
    let calls = connection.take(&json!([call(1), call(2)]));
    connection.answer(&calls[0].reply_to, &"x".repeat(HELD_BYTES));
    assert!(connection.take(&json!([call(3), { "jsonrpc": "2.0", "method": "x" }])).is_empty());
    let refused = connection.written();
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(3), &json!(-32000)), "{refused}");
    // A message on a line of its own is still taken, and once the answers have left there is room.
    assert_eq!(connection.take(&call(4)).len(), 1);
    connection.answer(&calls[1].reply_to, "two");
    assert_eq!(ids(&connection.written()), json!([1, 2]));
    assert_eq!(connection.take(&json!([call(5)])).len(), 1);
}
