//! Disks that are full, fail or stand still: what cannot be recorded is not passed on.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use colibri_test_support::client::PATIENCE;
use colibri_test_support::engine;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::peer::{Client, Heard, Relay, Setup, holds_within, lives, read_pid};
use crate::crash::layer::check::sound;
use crate::crash::layer::load::plant;
use crate::crash::layer::record::{self, Operation};
use crate::crash::layer::shim::{Fault, Layer};

const EIO: i32 = 5;
/// A long reply.
const LONG: usize = 10_000_000;
/// A disk that stands still must show what it holds up within this time; a relay that is held up in vain would show it at once.
const STILL: Duration = Duration::from_millis(300);

/// A database, and files beside it by which a test moves the disk and the server.
struct Stage {
    folder: Arc<TempDir>,
    beside: TempDir,
}

impl Stage {
    fn new() -> Self {
        let stage = Self { folder: Arc::new(TempDir::new().unwrap()), beside: TempDir::new().unwrap() };
        plant(&stage.folder);
        stage
    }

    fn file(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    fn make(&self, name: &str) {
        File::create(self.file(name)).unwrap();
    }

    fn remove(&self, name: &str) {
        std::fs::remove_file(self.file(name)).unwrap();
    }

    fn layer(&self) -> Layer {
        Layer::over(self.folder.path())
    }

    fn setup(&self, relay: Relay, layer: Layer) -> Setup {
        Setup { layer: Some(layer), ..Setup::new(relay, "odd", &self.folder) }
    }

    /// A call that makes a file when the server has read it, and is answered when `go` is there: with so many bytes, of which `long`
    /// come before.
    fn play(&self, id: u64, long: usize) -> Value {
        let (head, tail) = reply(id);
        play(
            id,
            json!([{ "write": head }, { "repeat": ["x", long] }, { "touch": self.file("read") },
                { "await": self.file("go") }, { "write": tail }]),
        )
    }

    /// Outcomes and codes of the calls.
    fn endings(&self) -> Vec<String> {
        let conn = engine::open(self.folder.path().join("colibri.db"));
        let sql = "SELECT outcome, coalesce(error_code, '') FROM actions WHERE tool LIKE 'odd/%' ORDER BY sequence_no";
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement
            .query_map([], |row| Ok(format!("{}/{}", row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
        rows.unwrap().map(|row| row.unwrap().trim_end_matches('/').to_owned()).collect()
    }

    fn await_file(&self, name: &str) {
        assert!(holds_within(PATIENCE, || self.file(name).exists()), "{name} is never there");
    }
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn play(id: u64, steps: Value) -> Value {
    call(id, "play", json!({ "steps": steps }))
}

/// The beginning and the end of a reply.
fn reply(id: u64) -> (&'static str, String) {
    ("{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[],\"text\":\"", format!("\"}},\"id\":{id}}}\n"))
}

fn started(setup: &Setup) -> Client {
    let mut client = setup.start();
    assert!(client.greet(), "{}", client.stderr());
    client
}

/// Lets the sync behind a reply stand still; how many bytes the client has by then. The reply has `long` bytes and some more.
fn read_before_the_sync(relay: Relay, long: usize) -> usize {
    let stage = Stage::new();
    let setup = stage.setup(relay, stage.layer().hold_while(&stage.file("hold")));
    let mut client = started(&setup);
    client.send(&stage.play(1, long));
    stage.await_file("read");
    if long > 100_000 && relay == Relay::Wrap {
        // Otherwise the rest might still be under way.
        client.await_part(long);
    }
    stage.make("hold");
    stage.make("go");
    // The row is committed before its sync begins.
    assert!(holds_within(PATIENCE, || stage.endings() == ["ok"]), "{:?}", stage.endings());
    let read = read_on(&mut client, STILL);
    stage.remove("hold");
    if read < whole(long) {
        assert_eq!(read_on(&mut client, PATIENCE), whole(long));
    }
    read
}

/// Reads on until a line has ended, or until nothing has come for that long. Returns how many bytes of it are here.
fn read_on(client: &mut Client, limit: Duration) -> usize {
    loop {
        match client.hear(limit) {
            Heard::Line(line) => return line.len(),
            Heard::Part => {}
            Heard::Nothing | Heard::End => return client.rest.len(),
        }
    }
}

/// Bytes of a reply.
fn whole(long: usize) -> usize {
    let (head, tail) = reply(1);
    head.len() + long + tail.len()
}

#[test]
fn wrap_19_while_a_sync_stands_still_a_short_reply_waits_and_of_a_long_one_the_last_byte() {
    assert_eq!(read_before_the_sync(Relay::Wrap, 50), 0);
    let read = read_before_the_sync(Relay::Wrap, LONG);
    assert_eq!(read, whole(LONG) - 2, "all but the last byte and the newline");
}

#[test]
fn wrap_24_a_call_that_finds_no_room_is_refused_and_a_reply_without_room_is_withheld() {
    let stage = Stage::new();
    let setup = stage.setup(Relay::Wrap, stage.layer().full_while(&stage.file("full")));
    let mut client = started(&setup);
    stage.make("full");
    client.send(&call(1, "echo", json!({ "told": "never" })));
    let answer = client.message();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.starts_with("colibri wrap: the call could not be recorded and was not made: "), "{text}");
    assert_eq!(answer["result"]["isError"], true);
    assert!(!setup.has_read("never"));
    stage.remove("full");
    client.send(&call(2, "echo", json!({})));
    assert_eq!(client.message()["id"], 2);
    assert_eq!(stage.endings(), ["ok"]);

    for (id, long) in [(3, 50), (4, LONG)] {
        let _ = std::fs::remove_file(stage.file("read"));
        client.send(&stage.play(id, long));
        stage.await_file("read");
        stage.make("full");
        stage.make("go");
        if long == LONG {
            // Another byte in the place of its last one: the line is not JSON.
            let line = loop {
                match client.hear(PATIENCE) {
                    Heard::Line(line) => break line,
                    heard => assert_eq!(heard, Heard::Part),
                }
            };
            assert_eq!(line.len(), whole(LONG));
            assert!(serde_json::from_slice::<Value>(&line).is_err());
        }
        let answer = client.message();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)), "{answer}");
        assert_eq!(answer["error"]["data"]["code"], "STORE_COMMIT_FAILED");
        stage.remove("full");
        stage.remove("go");
        client.send(&call(id + 10, "echo", json!({})));
        assert_eq!(client.message()["id"], id + 10);
    }
    let failed = "error/STORE_COMMIT_FAILED";
    assert_eq!(stage.endings(), ["ok", failed, "ok", failed, "ok"]);
    client.close();
    assert_eq!(client.wait().code(), Some(0), "{}", client.stderr());
    assert_eq!(sound(stage.folder.path()), Ok(()));
}

/// Lets a sync of the log fail, that many after the greeting.
fn passed_after_a_failed_sync(first: u64) {
    let stage = Stage::new();
    let fault = Fault { class: "sync", errno: EIO, first, count: 1, short: false, name: "-wal" };
    let file = stage.file("record");
    // The greeting is the first reply.
    let layer = stage.layer().record(&file).pipes().armed_after(1).fault(&fault);
    let mut setup = stage.setup(Relay::Wrap, layer);
    setup.start = Some(json!([{ "grandchild": setup.beside("grandchild") }]).to_string());
    let mut client = started(&setup);
    assert!(holds_within(PATIENCE, || read_pid(&setup.beside("grandchild")).is_some()), "no grandchild");
    client.send(&call(1, "echo", json!({ "told": "once" })));
    while client.hear(PATIENCE) == Heard::Part {}
    assert!(client.rest.is_empty(), "a part of a reply was passed on");
    assert_eq!(client.wait().code(), Some(1), "{}", client.stderr());
    for kind in ["pid", "grandchild"] {
        let pid = read_pid(&setup.beside(kind)).expect("it was started");
        assert!(holds_within(Duration::from_secs(2), || !lives(pid)), "the {kind} lives on");
    }
    assert_eq!(setup.has_read("once"), first > 1, "the call is passed on if its own sync has not failed");
    let entries = record::read(&file);
    let own = entries.iter().filter(|entry| entry.process == client.pid());
    let after = own.skip_while(|entry| !matches!(entry.operation, Operation::Synced(1..)));
    let passed = after.filter(|entry| matches!(entry.operation, Operation::Sent(_) | Operation::Reply(_)));
    assert_eq!(passed.count(), 0, "something was passed on after the failed sync");
    assert_eq!(sound(stage.folder.path()), Ok(()));
}

#[test]
fn wrap_25_after_a_failed_sync_nothing_is_passed_on_and_everything_ends() {
    passed_after_a_failed_sync(1);
    passed_after_a_failed_sync(2);
}

#[test]
fn wrap_19_a_relay_that_replies_before_the_sync_or_holds_long_replies_is_noticed() {
    assert_eq!(read_before_the_sync(Relay::Careless("none"), 50), 0);
    assert_ne!(read_before_the_sync(Relay::Careless("early-replies"), 50), 0);
    assert_eq!(read_before_the_sync(Relay::Careless("held-replies"), LONG), 0);
}
