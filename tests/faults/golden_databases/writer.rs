//! Writes golden databases, with the real server and over its tools, as far as tools lead.

use std::sync::Arc;

use colibri::catalogue::ToolId;
use colibri::domains::router::profile::PROFILES;
use colibri_test_support::actions::await_running;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::loopback::{Loopback, Reply};
use colibri_test_support::sql::Connection;
use colibri_test_support::wrapped;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_databases::content::{self, SEED};
use crate::golden_databases::golden;
use crate::golden_databases::opened::{launch, outcomes, signing, tables};

/// All kinds for this version.
pub fn write_all(version: &str) {
    for (kind, write) in [("full", full as fn(&Arc<TempDir>)), ("retention", retention), ("unclean", unclean)]
    {
        let folder = Arc::new(TempDir::new().unwrap());
        content::skills(folder.path());
        write(&folder);
        let name = format!("{version}-{kind}");
        golden::store(&name, folder.path());
        golden::expect(&name, &expected(version, &folder));
    }
}

/// Something of everything, and a clean stop.
fn full(folder: &Arc<TempDir>) {
    let mut server = launch(folder).start();
    let ids = tasks(&mut server);
    thoughts(&mut server, &ids);
    rounds(&mut server);
    server.data("task_create", json!({ "title": "left as it began" }));
    finish(server);
    import(folder);
    let database = folder.path().join("colibri.db");
    wrapped::fill(&database);
    let note = json!({ "about": 3, "kind": "withdrawn", "body": { "at": "2026-11-27T10:00:00.000Z", "reason_hash": null } });
    wrapped::operate(&database, &[(ToolId::CallNote, note)]);
    // This start signs its seals, and its thoughts need no session.
    let mut server = signing(folder).env("COLIBRI_TRAIL_SESSION_POLICY", "optional").start();
    let session = session(&mut server, "signed");
    for (kind, task) in [("plan", "T-1"), ("decision", "T-4"), ("reflection", "T-4")] {
        think(&mut server, kind, task, Some(&session));
    }
    think(&mut server, "analysis", "T-5", None);
    server.data("merkle_finalize", json!({ "session_id": session }));
    refusals(&mut server, &session);
    finish(server);
    let sql = "UPDATE mcp_model_candidates SET enabled = 1 WHERE model_id = 'gpt-4o-mini'";
    engine::open(folder.path().join("colibri.db")).execute_batch(sql).unwrap();
}

/// A chain so long that it has hot, warm and cold records, in a sealed session, an open one and in none.
fn retention(folder: &Arc<TempDir>) {
    let mut server = signing(folder).env("COLIBRI_TRAIL_SESSION_POLICY", "optional").start();
    let (sealed, open) = (session(&mut server, "long ago"), session(&mut server, "not over"));
    let thought = |number: usize| {
        let mut thought = json!({ "type": "plan", "task_id": "T-1", "agent_id": "a", "content": format!("thought {number}") });
        match number {
            1..=3 => thought["session_id"] = json!(sealed),
            7 => thought["session_id"] = json!(open),
            _ => {}
        }
        thought
    };
    for number in 1..=1005 {
        server.send_call("thought_record", thought(number));
    }
    for _ in 1..=1005 {
        assert_eq!(server.receive()["result"]["structuredContent"]["ok"], json!(true));
    }
    server.data("merkle_finalize", json!({ "session_id": sealed }));
    finish(server);
    let retention = launch(folder).command().arg("retention").output().unwrap();
    assert!(retention.status.success(), "{retention:?}");
}

/// A killed process: its log is not folded into the file, and a request to a provider is still under way.
fn unclean(folder: &Arc<TempDir>) {
    let provider = Loopback::always(Reply::silence());
    let launch = PROFILES.into_iter().fold(signing(folder), |launch, profile| {
        launch.env(&profile.base_variable(), provider.url("")).env(&profile.key_variable(), "sk-none")
    });
    let mut server = signing(folder).start();
    let ids = tasks(&mut server);
    thoughts(&mut server, &ids);
    finish(server);
    // From here on everything stays in the log.
    let mut server = launch.start();
    let session = session(&mut server, "not folded");
    think(&mut server, "decision", "T-2", Some(&session));
    server.data("merkle_finalize", json!({ "session_id": session }));
    server.data("task_update", json!({ "id": ids[2], "title": "changed in the log" }));
    let cancelled = server.send_call("router_call", json!({ "prompt": "cancelled" }));
    await_running(&server, "router_call");
    let params = json!({ "requestId": cancelled });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    server.data("task_list", json!({}));
    let conn = server.sql();
    while outcomes(folder, i64::MAX)["aborted CANCELLED"].is_null() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    server.send_call("router_call", json!({ "prompt": "under way" }));
    await_running(&server, "router_call");
    server.kill();
    // The last connection that closes folds the log: this copies what lies there before.
    let kept =
        golden::PARTS.map(|part| std::fs::read(folder.path().join(format!("colibri.{part}"))).unwrap());
    drop(conn);
    for (part, bytes) in golden::PARTS.iter().zip(kept) {
        std::fs::write(folder.path().join(format!("colibri.{part}")), bytes).unwrap();
    }
    std::fs::remove_file(folder.path().join("colibri.db-shm")).unwrap_or_default();
}

/// The same in a fresh folder: opening a file may fold its log.
fn copy(folder: &Arc<TempDir>) -> Arc<TempDir> {
    let other = Arc::new(TempDir::new().unwrap());
    for part in golden::PARTS {
        let name = format!("colibri.{part}");
        if folder.path().join(&name).exists() {
            std::fs::copy(folder.path().join(&name), other.path().join(&name)).unwrap();
        }
    }
    content::skills(other.path());
    other
}

/// What a later version is to find in it.
fn expected(version: &str, folder: &Arc<TempDir>) -> Value {
    let (lying, verified, read) = (copy(folder), copy(folder), copy(folder));
    let sql = engine::open(lying.path().join("colibri.db"));
    let number = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    let last_sequence_no = number("SELECT last_sequence_no FROM actions_head");
    let log = json!({
        "last_sequence_no": last_sequence_no,
        "last_exit_no": number("SELECT last_exit_no FROM actions_head"),
        "last_row_hash":
            sql.query_row("SELECT last_row_hash FROM actions_head", [], |row| row.get::<_, String>(0)).unwrap(),
    });
    output(&verified, &["verify", "--write-checkpoint", "then.json"]);
    let sealed: Vec<String> = {
        let mut statement = sql.prepare("SELECT session_id FROM merkle_roots ORDER BY rowid").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let exports: Vec<String> = sealed.iter().map(|session| output(&verified, &["export", session])).collect();
    json!({
        "version": version,
        "schema_version": number("PRAGMA user_version"),
        "tables": tables(&lying),
        "outcomes": outcomes(&lying, last_sequence_no),
        "log": log,
        "tips": content::tips(&sql),
        "checkpoint": std::fs::read_to_string(verified.path().join("then.json")).unwrap(),
        "exports": exports,
        "replies": replies(&sql, &sealed, &read),
    })
}

fn replies(sql: &Connection, sealed: &[String], folder: &Arc<TempDir>) -> Vec<Value> {
    let ids = |query: &str| -> Vec<String> {
        let mut statement = sql.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut calls = vec![
        ("task_list", json!({})),
        ("task_next_actions", json!({})),
        ("audit_verify_chain", json!({})),
        ("skill_list", json!({})),
        ("thought_record_list", json!({ "limit": 30 })),
    ];
    calls.extend(
        ids("SELECT id FROM tasks ORDER BY rowid").iter().map(|id| ("task_get", json!({ "id": id }))),
    );
    for session in sealed {
        calls.push(("merkle_root", json!({ "session_id": session })));
        calls.push(("audit_verify_chain", json!({ "session_id": session })));
    }
    let epoch: i64 = sql
        .query_row("SELECT coalesce(max(epoch), 0) FROM reputation_history", [], |row| row.get(0))
        .unwrap();
    for node in ids("SELECT DISTINCT node_id FROM reputations ORDER BY 1") {
        calls.push(("reputation_get", json!({ "node_id": node, "current_epoch": epoch })));
        calls.push(("reputation_history", json!({ "node_id": node, "domain": "execution" })));
    }
    for round in ids("SELECT CAST(round_id AS TEXT) FROM mcp_consensus_rounds ORDER BY round_id") {
        calls.push(("consensus_finality", json!({ "round_id": round })));
    }
    let mut server = launch(folder).start();
    let replied = |(tool, arguments): (&str, Value)| {
        let mut data = server.data(tool, arguments.clone());
        // Each start loads the skills anew.
        for skill in data["skills"].as_array_mut().into_iter().flatten() {
            skill.as_object_mut().unwrap().shift_remove("loaded_at");
        }
        json!({ "tool": tool, "arguments": arguments, "data": data })
    };
    calls.into_iter().map(replied).collect()
}

fn output(folder: &Arc<TempDir>, arguments: &[&str]) -> String {
    let output = arguments.iter().fold(launch(folder), Launch::arg).command().output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn finish(server: Server) {
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

fn session(server: &mut Server, intent: &str) -> String {
    let data = server.data("audit_session_start", json!({ "intent": intent, "task_id": "T-1" }));
    data["session_id"].as_str().unwrap().to_owned()
}

fn think(server: &mut Server, kind: &str, task_id: &str, session_id: Option<&str>) {
    let mut thought = json!({
        "type": kind, "task_id": task_id, "agent_id": "agent-7", "content": format!("{kind} of {task_id} é \u{1}"),
    });
    if let Some(session_id) = session_id {
        thought["session_id"] = json!(session_id);
    }
    server.data("thought_record", thought);
}

/// Tasks in all states but DONE, some of them waiting for others.
fn tasks(server: &mut Server) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for status in ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "VERIFY", "CANCELLED"] {
        let mut task = json!({ "title": format!("in {status}"), "status": status, "assignee": "agent-7" });
        if ids.len() > 2 {
            task["depends_on"] = json!(ids[..2]);
            task["project"] = json!("p");
            task["priority"] = json!("urgent");
        }
        ids.push(server.data("task_create", task)["id"].as_str().unwrap().to_owned());
    }
    server.data("task_update", json!({ "id": ids[0], "status": "GATHER" }));
    server.data("task_update", json!({ "id": ids[1], "description": "longer\nthan before" }));
    server.data("task_update", json!({ "id": ids[4], "depends_on": [ids[2], ids[0]] }));
    let claim = json!({ "id": ids[1], "agent_id": "agent-7", "lease_seconds": 86_400 });
    server.data("task_claim", claim);
    server.data("task_update", json!({ "id": ids[1], "claim": 1, "title": "held" }));
    server.data("task_claim", json!({ "id": ids[0], "agent_id": "agent-8" }));
    server.data("task_release", json!({ "id": ids[0], "claim": 1 }));
    // Only a task that was born in INIT earns.
    let last = server.data("task_create", json!({ "title": "to be done", "assignee": "agent-7" }));
    server.walk(&last["id"], "VERIFY");
    ids[6] = last["id"].as_str().unwrap().to_owned();
    ids
}

/// Chains of several tasks over several sessions, sealed and open; one task is DONE with its reputation and tokens.
fn thoughts(server: &mut Server, ids: &[String]) {
    let (first, open) = (session(server, "first"), session(server, "left open"));
    for (number, kind) in ["plan", "analysis", "decision", "reflection"].iter().enumerate() {
        think(server, kind, ["T-1", "T-2"][number % 2], Some(&first));
    }
    think(server, "reflection", &ids[6], Some(&first));
    let seen = json!({
        "type": "reflection", "task_id": ids[6], "agent_id": "reviewer", "content": "seen", "session_id": first,
    });
    server.data("thought_record", seen);
    server.data("task_update", json!({ "id": ids[6], "status": "DONE" }));
    think(server, "plan", "T-1", Some(&open));
    server.data("merkle_finalize", json!({ "session_id": first }));
    think(server, "analysis", "T-3", Some(&open));
}

/// Makes rounds of consensus: one that is HARD, one whose arbiter equivocates, one on which another sender votes.
fn rounds(server: &mut Server) {
    let tuple =
        |root: &str| json!({ "merkle_root_hex": root.repeat(32), "rule_version_hash_hex": "bb".repeat(32) });
    for root in ["a1", "a2", "a3"] {
        server.data("consensus_propose", json!({ "event": tuple(root) }));
    }
    for (round, root, vote_type, key) in [
        ("1", "a1", "ACCEPT", None),
        ("2", "c2", "REJECT", None),
        ("3", "a3", "ABSTAIN", Some(SEED)),
        ("2", "a2", "ACCEPT", None),
    ] {
        let mut vote = json!({ "round_id": round, "vote": tuple(root) });
        vote["vote"]["vote_type"] = json!(vote_type);
        if let Some(key) = key {
            vote["privKey"] = json!(key);
        }
        server.data("consensus_vote", vote);
    }
}

/// Events that came from outside: gains, a penalty, and fraud in all domains.
fn import(folder: &Arc<TempDir>) {
    let epoch: i64 = output(folder, &["reputation", "epoch"]).trim_end().parse().unwrap();
    let events = [
        json!({ "event_id": "review-1", "node_id": "agent-7", "domain": "social", "kind": "gain", "delta": 4000, "acker_id": "somebody" }),
        json!({ "event_id": "case-1", "node_id": "agent-7", "domain": "social", "kind": "penalty", "band": "minor" }),
        json!({ "event_id": "case-2", "node_id": "mallory", "domain": "*", "kind": "penalty", "band": "fraud" }),
    ];
    let lines = events.map(|mut event| {
        event["epoch"] = json!(epoch);
        event["reason"] = json!("é");
        format!("{event}\n")
    });
    std::fs::write(folder.path().join("events.jsonl"), lines.concat()).unwrap();
    output(folder, &["reputation", "import", "events.jsonl"]);
}

/// Calls that fail, each in its own way: refused by the handler, by validation, by name, by the store.
fn refusals(server: &mut Server, sealed: &str) {
    let mut fails = |tool: &str, arguments: Value| {
        let envelope = server.call(tool, arguments);
        assert!(envelope["ok"] == json!(false) || envelope["data"]["ok"] == json!(false), "{envelope}");
    };
    fails("task_create", json!({ "title": "" }));
    fails("task_get", json!({ "id": "nobody" }));
    fails("merkle_finalize", json!({ "session_id": sealed }));
    let sql = server.sql();
    let trouble = "CREATE TRIGGER trouble BEFORE INSERT ON tasks BEGIN SELECT RAISE(ABORT, 'trouble'); END";
    sql.execute_batch(trouble).unwrap();
    let envelope = server.call("task_create", json!({ "title": "meets trouble" }));
    assert_eq!(envelope["ok"], json!(false), "{envelope}");
    sql.execute_batch("DROP TRIGGER trouble").unwrap();
    server.send_call("no_such_tool", json!({}));
    server.receive();
}
