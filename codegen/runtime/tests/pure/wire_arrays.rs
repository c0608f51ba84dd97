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
            intake: Intake::new(&CATALOGUE, listed, &Selection::All, None, Redactor::default(), "0"),
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
        self.intake.encode(&mut self.out, &Reply { to: to.clone(), answer, notice: None });
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
        Inbound::Answered | Inbound::Held | Inbound::Ignored(_) | Inbound::Cancel { .. } => {}
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

/// Returns the ids and codes of the lines that were written since the last look; the code of an answer is 0.
fn lines(connection: &mut Connection) -> Vec<(Value, i64)> {
    let out = std::mem::take(&mut connection.out);
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers = lines.flat_map(|line| match serde_json::from_slice(line).unwrap() {
        Value::Array(answers) => answers,
        answer => vec![answer],
    });
    answers
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or_default()))
        .collect()
}

fn ping(id: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

#[test]
fn a_second_message_under_an_id_is_refused_behind_the_first_answer() {
    let mut connection = Connection::of("2025-11-25");
    let first = connection.take(&call(7));
    let mut float = call(7);
    float["id"] = json!(7.0);
    let malformed = json!({ "jsonrpc": "1.0", "id": 7, "method": "ping" });
    for second in [call(7), float, ping(json!(7)), malformed] {
        assert!(connection.take(&second).is_empty(), "{second}");
    }
    assert_eq!(connection.take(&call(8)).len(), 1);
    connection.take(&ping(json!("7")));
    assert_eq!(lines(&mut connection), [(json!("7"), 0)]);
    connection.answer(&first[0].reply_to, "one");
    let answers =
        [(json!(7), 0), (json!(7), -32600), (json!(7.0), -32600), (json!(7), -32600), (json!(7), -32600)];
    assert_eq!(lines(&mut connection), answers);
    // Once it is answered the id is free.
    assert_eq!(connection.take(&call(7)).len(), 1);
}

#[test]
fn a_call_in_an_array_is_in_flight_until_the_array_is_answered() {
    let mut connection = Connection::of("2025-03-26");
    let calls = connection.take(&json!([call(1), call(2)]));
    assert!(connection.take(&call(1)).is_empty());
    assert!(connection.take(&json!([call(2), ping(json!(3))])).is_empty());
    connection.answer(&calls[0].reply_to, "one");
    assert_eq!(lines(&mut connection), []);
    connection.answer(&calls[1].reply_to, "two");
    let answers = lines(&mut connection);
    assert_eq!(answers[..2], [(json!(1), 0), (json!(2), 0)]);
    let mut refused = answers[2..].to_vec();
    refused.sort_by_key(|(id, _)| id.as_i64());
    assert_eq!(refused, [(json!(1), -32600), (json!(2), -32600), (json!(3), 0)]);
    // Members of one array do not wait for one another.
    let calls = connection.take(&json!([call(4), call(4)]));
    assert_eq!(calls.len(), 1);
    connection.answer(&calls[0].reply_to, "four");
    assert_eq!(lines(&mut connection), [(json!(4), 0), (json!(4), -32600)]);
}

#[test]
fn a_cancellation_takes_the_refusals_under_its_id_with_it() {
    let mut connection = Connection::of("2025-11-25");
    let first = connection.take(&call(7));
    connection.take(&call(7));
    connection.take(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }),
    );
    connection.answer(&first[0].reply_to, "one");
    assert_eq!(lines(&mut connection), [(json!(7), 0)]);
}
