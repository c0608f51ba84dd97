//! A database with something of everything, made by the real server.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::wrapped::fill;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A database that no process has open.
pub struct World {
    folder: Arc<TempDir>,
}

impl World {
    /// The file.
    pub fn database(&self) -> PathBuf {
        self.folder.path().join("colibri.db")
    }

    /// A copy of the file, in a folder of its own.
    pub fn copy(&self) -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("colibri.db");
        std::fs::copy(self.database(), &path).unwrap();
        (folder, path)
    }

    /// Few rows of many kinds: quick to verify, so that it can be done thousands of times.
    pub fn small() -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        write_skills(folder.path());
        let mut server = launch(&folder).start();
        tasks(&mut server);
        rounds(&mut server);
        let sealed = session(&mut server, "first");
        for (number, kind) in ["plan", "analysis", "decision", "reflection"].iter().enumerate() {
            think(&mut server, kind, ["T-1", "T-2"][number % 2], Some(&sealed));
        }
        let open = session(&mut server, "left open");
        think(&mut server, "plan", "T-1", Some(&open));
        server.data("merkle_finalize", json!({ "session_id": sealed }));
        let second = session(&mut server, "second");
        for task in ["T-2", "T-3", "T-2"] {
            think(&mut server, "decision", task, Some(&second));
        }
        think(&mut server, "analysis", "T-3", Some(&open));
        server.data("merkle_finalize", json!({ "session_id": second }));
        refusals(&mut server, &second);
        finish(server);
        import(&folder);
        fill(&folder.path().join("colibri.db"));
        leave_running(&folder.path().join("colibri.db"));

        // This start closes what the one before left running, and signs.
        let mut server = launch(&folder)
            .env("COLIBRI_TRAIL_SESSION_POLICY", "optional")
            .env("COLIBRI_PROOF_SIGNING_KEY_FILE", signing_key(folder.path()))
            .start();
        let third = session(&mut server, "third");
        for number in 0..3 {
            think(&mut server, "analysis", "T-4", (number != 1).then_some(third.as_str()));
        }
        think(&mut server, "reflection", "T-5", None);
        server.data("merkle_finalize", json!({ "session_id": third }));
        think(&mut server, "plan", "T-4", None);
        let last = server.data("task_create", json!({ "title": "the last one" }));
        server.data("task_update", json!({ "id": last["id"], "title": "the very last one" }));
        finish(server);
        leave_running(&folder.path().join("colibri.db"));
        Self { folder }
    }

    /// One long chain, some of whose records were moved to the other retention zones, sealed and not.
    pub fn archived() -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        let mut server = launch(&folder).env("COLIBRI_TRAIL_SESSION_POLICY", "optional").start();
        let sealed = session(&mut server, "long ago");
        let open = session(&mut server, "not over");
        let think = |server: &mut Server, numbers: RangeInclusive<usize>| {
            for number in numbers.clone() {
                let mut thought = json!({
                    "type": (["plan", "analysis"][number % 2]), "task_id": "long", "agent_id": "a",
                    "content": format!("thought number {number} {}", "z".repeat(40)),
                });
                match number {
                    1..=3 => thought["session_id"] = json!(sealed),
                    7 => thought["session_id"] = json!(open),
                    _ => {}
                }
                server.send_call("thought_record", thought);
            }
            for _ in numbers {
                assert_eq!(server.receive()["result"]["structuredContent"]["ok"], json!(true));
            }
        };
        think(&mut server, 1..=1100);
        server.data("merkle_finalize", json!({ "session_id": sealed }));
        // The first hundred turn cold but for the one of the open session. With the next ten, further ones are due.
        let retention = launch(&folder).command().arg("retention").output().unwrap();
        assert!(retention.status.success(), "{retention:?}");
        think(&mut server, 1101..=1110);
        finish(server);
        Self { folder }
    }
}

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder.clone())
        .env("COLIBRI_SKILLS_ROOT", folder.path().join("skills"))
        .env("COLIBRI_DURABILITY", "normal")
}

fn finish(server: Server) {
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

/// The seed of RFC 8032's first test, which is only good for tests.
pub const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
/// Its public key.
pub const PUBLIC_KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

fn signing_key(folder: &Path) -> PathBuf {
    let path = folder.join("signing.key");
    std::fs::write(&path, SEED).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    path
}

fn write_skills(folder: &Path) {
    for name in ["colibri-one", "colibri-two", "colibri-three"] {
        let place = folder.join("skills").join(name);
        std::fs::create_dir_all(&place).unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: What {name} is for\nversion: \"1\"\n---\nBody of {name}\n"
        );
        std::fs::write(place.join("SKILL.md"), text).unwrap();
    }
}

fn session(server: &mut Server, intent: &str) -> String {
    let data = server.data("audit_session_start", json!({ "intent": intent, "task_id": "T-1" }));
    data["session_id"].as_str().unwrap().to_owned()
}

fn think(server: &mut Server, kind: &str, task_id: &str, session_id: Option<&str>) -> Value {
    let mut thought = json!({
        "type": kind, "task_id": task_id, "agent_id": "agent-7", "content": format!("{kind} of {task_id} é \u{1}"),
    });
    if let Some(session_id) = session_id {
        thought["session_id"] = json!(session_id);
    }
    server.data("thought_record", thought)
}

/// Events that came from outside: gains both ways, a penalty, and fraud in all domains.
fn import(folder: &Arc<TempDir>) {
    let command = |arguments: &[&str]| {
        let output = launch(folder).command().arg("reputation").args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let now: i64 = command(&["epoch"]).trim_end().parse().unwrap();
    let event = |id: &str, node: &str, domain: &str, more: Value| {
        let mut event =
            json!({ "event_id": id, "node_id": node, "domain": domain, "epoch": now, "reason": "é" });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let gain = |delta: i64, acker: &str| json!({ "kind": "gain", "delta": delta, "acker_id": acker });
    let penalty = |band: &str| json!({ "kind": "penalty", "band": band });
    let events = [
        event("review-1", "agent-7", "social", gain(4000, "somebody")),
        event("review-2", "somebody", "social", gain(3000, "agent-7")),
        event("case-1", "agent-7", "social", penalty("minor")),
        event("case-2", "mallory", "*", penalty("fraud")),
    ];
    let path = folder.path().join("events.jsonl");
    std::fs::write(&path, events.map(|event| format!("{event}\n")).concat()).unwrap();
    command(&["import", path.to_str().unwrap()]);
}

/// Tasks in all states, some of them waiting for others.
fn tasks(server: &mut Server) {
    let mut ids: Vec<String> = Vec::new();
    for (number, status) in
        ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "CANCELLED"].iter().enumerate()
    {
        let mut task = json!({ "title": format!("task {number}"), "status": status, "priority": "high" });
        if number > 2 {
            task["depends_on"] = json!(ids[..2]);
            task["project"] = json!("p");
        }
        ids.push(server.data("task_create", task)["id"].as_str().unwrap().to_owned());
    }
    let patches = [
        (0, json!({ "status": "GATHER" })),
        (0, json!({ "assignee": "someone" })),
        (1, json!({ "description": "longer" })),
        (4, json!({ "depends_on": [ids[2], ids[0]] })),
        (0, json!({ "priority": null })),
    ];
    for (number, patch) in patches {
        server.data("task_update", json!({ "id": ids[number], "patch": patch }));
    }
    // An update that is asked for nothing names no row.
    server.data("task_update", json!({ "id": ids[3], "patch": {} }));
    claims(server, &ids);
    let session = session(server, "finish a task");
    let reviewed = server.data("task_create", json!({ "title": "reviewed", "assignee": "someone" }));
    let reviewed_id = reviewed["id"].as_str().unwrap();
    think(server, "reflection", reviewed_id, Some(&session));
    // A peer looks at it: finishing leaves two tokens.
    server.data(
        "thought_record",
        json!({
            "type": "reflection", "task_id": reviewed_id, "agent_id": "reviewer", "content": "seen", "session_id": session,
        }),
    );
    server.walk(&reviewed["id"], "DONE");
    let alone = server.data("task_create", json!({ "title": "alone", "assignee": "someone" }));
    think(server, "plan", alone["id"].as_str().unwrap(), Some(&session));
    server.walk(&alone["id"], "DONE");
    // Born late, so it earns nothing.
    think(server, "plan", &ids[5], Some(&session));
    server.data("task_update", json!({ "id": ids[5], "status": "DONE" }));
}

/// Claims that are held, renewed, given back, taken again and ended by their task.
fn claims(server: &mut Server, ids: &[String]) {
    let claim = |server: &mut Server, id: &str, agent: &str| {
        server.data("task_claim", json!({ "id": id, "agent_id": agent, "lease_seconds": 86_400 }))
    };
    for _ in 0..2 {
        claim(server, &ids[0], "agent-7");
    }
    server.data("task_update", json!({ "id": ids[0], "claim": 1, "description": "held" }));
    claim(server, &ids[1], "agent-8");
    server.data("task_release", json!({ "id": ids[1], "claim": 1 }));
    claim(server, &ids[1], "agent-7");
    let over = server.data("task_create", json!({ "title": "claimed and cancelled" }));
    claim(server, over["id"].as_str().unwrap(), "agent-9");
    server.data("task_update", json!({ "id": over["id"], "claim": 1, "status": "CANCELLED" }));
}

/// Makes rounds of consensus: one that is HARD, one whose arbiter equivocates, one on which another sender does.
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
        ("3", "c3", "ACCEPT", Some(SEED)),
        ("3", "a3", "ACCEPT", None),
        ("1", "a1", "ACCEPT", Some(SEED)),
    ] {
        let mut vote = json!({ "round_id": round, "vote": tuple(root) });
        vote["vote"]["vote_type"] = json!(vote_type);
        if let Some(key) = key {
            vote["privKey"] = json!(key);
        }
        server.data("consensus_vote", vote);
    }
}

/// Calls that fail, each in its own way.
fn refusals(server: &mut Server, sealed: &str) {
    let fails =
        |envelope: Value| assert!(envelope["ok"] == json!(false) || envelope["data"]["ok"] == json!(false));
    fails(server.call("task_create", json!({ "title": "" })));
    fails(server.call("task_get", json!({ "id": "nobody" })));
    fails(server.call("merkle_finalize", json!({ "session_id": sealed })));
    fails(server.call(
        "thought_record",
        json!({
            "type": "plan", "task_id": "T-1", "agent_id": "a", "content": "late", "session_id": sealed,
        }),
    ));
    server.send_call("no_such_tool", json!({}));
    server.receive();
    server.data("task_list", json!({}));
}

/// Leaves what a killed process leaves: a row that is still open.
fn leave_running(path: &Path) {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(
        "INSERT INTO actions (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, enter_ms)
         SELECT (SELECT max(sequence_no) FROM actions) + 1, '00000000-0000-4000-8000-000000000000',
                boot_id, tool, mode, args_hash, entered_at, enter_ms
           FROM actions WHERE sequence_no = 2;
         UPDATE actions_head SET last_sequence_no = last_sequence_no + 1;",
    )
    .unwrap();
}
