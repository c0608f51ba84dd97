//! `colibri retention` (trail#retention), as an operator runs it on a real database.

use std::process::Stdio;
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::trail::world::launch;

/// A folder with a database.
struct Folder(Arc<TempDir>);

impl Folder {
    fn new() -> Self {
        Self(Arc::new(TempDir::new().unwrap()))
    }

    fn launch(&self) -> Launch {
        launch().in_folder(self.0.clone()).env("COLIBRI_TRAIL_SESSION_POLICY", "optional")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.launch().command().args(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// `colibri retention --json`, which ends with this code.
    fn counts(&self, more: &[&str], code: i32) -> Value {
        let run = self.run(&[&["retention", "--json"], more].concat()).ends(code);
        // A copied file may lack its log, and then the command and its start say so.
        let said = run.err.lines().filter(|line| !line.contains("it is complete only if no server had"));
        assert_eq!(said.collect::<String>(), "", "{}", run.err);
        run.json()
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn sql(&self) -> Connection {
        engine::open(self.0.path().join("colibri.db"))
    }

    /// The numbers of records by task and zone.
    fn zones(&self) -> Vec<(String, String, i64)> {
        let conn = self.sql();
        let sql = "SELECT task_id, coalesce(zone, 'hot'), count(*) FROM thought_records GROUP BY 1, 2 ORDER BY 1, 2";
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// The calls of the operation: task, outcome, what it moved.
    fn calls(&self) -> Vec<Value> {
        let log = self.run(&["log", "--tool", "trail_retention", "--json", "--limit", "1000"]).ends(0);
        log.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Records thoughts of a task, pipelined.
fn think(
    server: &mut Server,
    task: &str,
    count: usize,
    session: Option<&str>,
    content: impl Fn(usize) -> String,
) {
    for number in 1..=count {
        let mut thought =
            json!({ "type": "plan", "task_id": task, "agent_id": "a", "content": content(number) });
        if let Some(session) = session {
            thought["session_id"] = json!(session);
        }
        server.send_call("thought_record", thought);
    }
    for _ in 1..=count {
        assert_eq!(server.receive()["result"]["structuredContent"]["ok"], true);
    }
}

fn short(number: usize) -> String {
    format!("thought {number}")
}

fn zone(task: &str, zone: &str, count: i64) -> (String, String, i64) {
    (task.to_owned(), zone.to_owned(), count)
}

fn moved(tasks: usize, counts: [i64; 3]) -> Value {
    let [hot_to_warm, hot_to_cold, warm_to_cold] = counts;
    json!({
        "dry_run": false, "tasks": tasks, "hot_to_warm": hot_to_warm, "hot_to_cold": hot_to_cold,
        "warm_to_cold": warm_to_cold, "damaged": [],
    })
}

#[test]
fn every_thought_beyond_its_zone_is_moved_and_a_second_run_moves_none() {
    let folder = Folder::new();
    let mut server = folder.launch().start();
    think(&mut server, "T", 1005, None, short);
    think(&mut server, "U", 150, None, short);
    think(&mut server, "V", 100, None, short);
    let checkpoint = folder.path("checkpoint");
    folder.run(&["verify", "--write-checkpoint", &checkpoint]).ends(0);

    // A dry run moves nothing. The server goes on serving beside all of this.
    let mut expected = moved(2, [950, 5, 0]);
    expected["dry_run"] = json!(true);
    assert_eq!(folder.counts(&["--dry-run"], 0), expected);
    assert_eq!(folder.zones(), [zone("T", "hot", 1005), zone("U", "hot", 150), zone("V", "hot", 100)]);

    assert_eq!(folder.counts(&["--task", "U"], 0), moved(1, [50, 0, 0]));
    assert_eq!(folder.counts(&[], 0), moved(1, [900, 5, 0]));
    let zones = [zone("T", "cold", 5), zone("T", "hot", 100), zone("T", "warm", 900), zone("U", "hot", 100)];
    assert_eq!(folder.zones()[..4], zones);
    assert_eq!(folder.counts(&[], 0), moved(0, [0, 0, 0]));
    let unknown = folder.run(&["retention", "--task", "unknown"]).ends(2);
    assert_eq!(unknown.err, "colibri: no thought names the task unknown; check the id\n");
    let nothing = folder.run(&["retention"]).ends(0);
    assert_eq!(nothing.out, "nothing to pack or remove\n");

    think(&mut server, "T", 1, None, |_| "one more".to_owned());
    let run = folder.run(&["retention"]).ends(0);
    assert_eq!(
        run.out,
        "tasks looked at: 1\ncontents packed: 1\ncontents removed: 1 (1 of them packed before)\n"
    );

    // Everything still verifies, and the log says which tasks were packed. A dry run and a page without a move count too.
    assert_eq!(server.finish().code(), 0);
    folder.run(&["verify", "--checkpoint", &checkpoint]).ends(0);
    let calls = folder.calls();
    assert!(calls.iter().all(|call| call["outcome"] == "ok"));
    let subjects: Vec<_> = calls.iter().map(|call| call["subject"].as_str().unwrap_or("dry run")).collect();
    let pages = |subject: &str| subjects.iter().filter(|found| **found == subject).count();
    assert_eq!((pages("dry run"), pages("U"), pages("T")), (5, 1, 5), "{subjects:?}");
}

#[test]
fn large_contents_are_moved_in_several_short_transactions() {
    let folder = Folder::new();
    let mut server = folder.launch().start();
    think(&mut server, "T", 150, None, |number| {
        format!("{number} {}", "words and more words. ".repeat(5_000))
    });
    assert_eq!(server.finish().code(), 0);
    assert_eq!(folder.counts(&[], 0), moved(1, [50, 0, 0]));
    assert_eq!(folder.calls().len(), 6, "a page ends after a mebibyte of content: ten thoughts");
    folder.run(&["verify"]).ends(0);
}

#[test]
fn damaged_thoughts_are_named_and_stay_as_they_are() {
    let folder = Folder::new();
    let mut server = folder.launch().start();
    think(&mut server, "T", 103, None, short);
    assert_eq!(server.finish().code(), 0);
    let conn = folder.sql();
    conn.tamper("UPDATE thought_records SET content = 'other' WHERE seq = 2");
    let id: String =
        conn.query_row("SELECT id FROM thought_records WHERE seq = 2", [], |row| row.get(0)).unwrap();
    let found = folder.counts(&[], 1);
    assert_eq!((&found["hot_to_warm"], &found["hot_to_cold"]), (&json!(2), &json!(0)));
    let reason = "its content does not match its hash";
    assert_eq!(found["damaged"], json!([{ "id": id, "reason": reason }]));
    let run = folder.run(&["retention"]).ends(1);
    assert!(run.out.contains(&format!("DAMAGED {id}: {reason}; it stays as it is\n")), "{}", run.out);
    assert!(run.out.ends_with("`colibri verify` lists all damage.\n"), "{}", run.out);
    let content: String =
        conn.query_row("SELECT content FROM thought_records WHERE seq = 2", [], |row| row.get(0)).unwrap();
    assert_eq!(content, "other");
}

/// What `verify` says of a changed record, it says after retention too.
#[test]
fn retention_hides_no_change_of_a_record() {
    let folder = Folder::new();
    let mut server = folder.launch().start();
    think(&mut server, "T", 1003, None, short);
    let open = server.data("audit_session_start", json!({ "intent": "open" }))["session_id"].clone();
    think(&mut server, "U", 1003, open.as_str(), short);
    assert_eq!(server.finish().code(), 0);
    let no_digest = format!("content_hash = '{}'", "0".repeat(64));
    let edits = [
        ("T", "agent_id = 'mallory'", "it does not match the reply of the call that recorded it"),
        ("U", "session_id = NULL", "it does not match the reply of the call that recorded it"),
        ("T", no_digest.as_str(), "its content does not match its digest"),
        ("T", "zone = 'x'", "its zone is not hot, warm or cold"),
        ("T", "content_compressed = 'x'", "it holds the columns of another zone"),
    ];
    for (task, edit, reason) in edits {
        let copy = Folder::new();
        engine::copy(folder.path("colibri.db"), copy.path("colibri.db"));
        let conn = copy.sql();
        let first = format!("SELECT min(seq) FROM thought_records WHERE task_id = '{task}'");
        let sql = format!("UPDATE thought_records SET {edit} WHERE seq = ({first})");
        assert_eq!(conn.tamper(&sql), 1, "{edit}");
        drop(conn);
        let found = copy.counts(&["--task", task], 1);
        assert_eq!(found["damaged"][0]["reason"], reason, "{edit}: {found}");
        copy.run(&["verify"]).ends(1);
    }
}

#[test]
fn content_goes_only_after_its_session_is_sealed_and_proofs_and_exports_hold() {
    let folder = Folder::new();
    let mut server = folder.launch().start();
    let session = server.data("audit_session_start", json!({ "intent": "long" }))["session_id"].clone();
    let session = session.as_str().unwrap();
    think(&mut server, "T", 1002, Some(session), short);
    assert_eq!(folder.counts(&[], 0), moved(1, [900, 0, 0]));
    assert_eq!(folder.zones(), [zone("T", "hot", 102), zone("T", "warm", 900)]);
    server.data("merkle_finalize", json!({ "session_id": session }));
    let before = folder.path("before.jsonl");
    folder.run(&["export", session, "--out", &before]).ends(0);
    assert_eq!(folder.counts(&[], 0), moved(1, [0, 2, 0]));

    let verdict = server.data("audit_verify_chain", json!({ "session_id": session }));
    assert_eq!(verdict["valid"], true, "{verdict}");
    let page = server.data("thought_record_list", json!({ "session_id": session, "limit": 1 }));
    let first = &page["records"][0];
    assert_eq!((&first["content"], &first["zone"]), (&Value::Null, &json!("cold")), "{first}");
    let (proof, after) = (folder.path("proof.json"), folder.path("after.jsonl"));
    folder.run(&["proof", session, first["id"].as_str().unwrap(), "--out", &proof]).ends(0);
    folder.run(&["check-proof", &proof]).ends(3);
    folder.run(&["export", session, "--out", &after]).ends(0);
    for export in [before, after] {
        folder.run(&["verify-export", &export]).ends(3);
    }
    assert_eq!(server.finish().code(), 0);
    folder.run(&["verify"]).ends(0);
}

#[test]
fn only_the_operator_runs_it_on_a_database_that_takes_writes() {
    let folder = Folder::new();
    if !engine::is_postgres() {
        let missing = folder.run(&["retention"]).ends(2);
        assert!(missing.err.contains("there is no database at"), "{}", missing.err);
        assert!(missing.err.ends_with("; set COLIBRI_DB_PATH to yours\n"), "{}", missing.err);
    }
    let mut server = folder.launch().start();
    think(&mut server, "T", 101, None, short);
    let listed = server.request("tools/list", json!({}));
    assert!(!listed.to_string().contains("trail_retention"));
    let arguments = json!({ "task_id": "T" });
    let answer = server.request("tools/call", json!({ "name": "trail_retention", "arguments": arguments }));
    assert_eq!(answer["error"]["message"], "Unknown tool: trail_retention");
    assert_eq!(server.finish().code(), 0);
    for (mode, obstacle) in [("READONLY", "writes"), ("MINIMAL", "needs a database")] {
        let command = folder.launch().env("COLIBRI_MODE", mode).command().arg("retention").output().unwrap();
        let run = Run::of(command).ends(1);
        let reason = format!("Tool trail_retention {obstacle}, and the server's mode is {mode}");
        let told = format!("colibri: retention stopped at task T: {reason}\n");
        assert_eq!(run.err, told);
    }
    assert_eq!(folder.zones(), [zone("T", "hot", 101)]);
}
