//! The worked run of reputation#gains through everything that feeds reputation: finished tasks, a sealed session and imports,
//! over a server and operations of this process, whose clock is set from epoch to epoch.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use colibri::catalogue::{CATALOGUE, Dispatcher, ToolId};
use colibri::lifecycle::operation::Operator;
use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_runtime::kernel::Clock;
use colibri_runtime::progress::Progress;
use colibri_test_support::client::steps;
use colibri_test_support::embed::{Wire, block_on, converse, options};
use colibri_test_support::engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A wall clock that is set.
struct Calendar(AtomicI64);

impl Calendar {
    /// Noon of that epoch.
    fn set(&self, epoch: i64) {
        self.0.store((epoch * 86_400 + 43_200) * 1000, Ordering::SeqCst);
    }
}

impl Clock for Calendar {
    fn monotonic_ms(&self) -> f64 {
        0.0
    }
    fn wall_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

struct Days {
    folder: TempDir,
    clock: Arc<Calendar>,
}

impl Days {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn options(&self, wire: colibri_runtime::wire::stdio::Streams) -> Options {
        Options { clock: self.clock.clone(), audit: AuditChoice::ByMode, ..options(wire, self.path()) }
    }

    /// Calls of one epoch, through a server.
    fn serve(&self, epoch: i64, talk: impl AsyncFnOnce(&mut Wire)) {
        self.clock.set(epoch);
        let (wire, streams) = Wire::pair();
        let mut server =
            create_server(&CATALOGUE, Dispatcher(Domains::default()), self.options(streams)).unwrap();
        block_on(converse(&mut server, wire, talk));
    }

    /// A task of alice's is done; `reviewer` has reflected on it.
    fn task_done(&self, epoch: i64, reviewer: Option<&str>) {
        self.serve(epoch, async |wire| {
            let made = wire.call("task_create", json!({ "title": "work", "assignee": "alice" })).await;
            let id = made["data"]["id"].clone();
            for agent in ["alice"].into_iter().chain(reviewer) {
                think(wire, &id, agent).await;
            }
            for status in steps("DONE") {
                let moved = wire.call("task_update", json!({ "id": id, "status": status })).await;
                assert_eq!(moved["data"]["status"], status, "{moved}");
            }
        });
    }

    /// An import of one event, of that epoch.
    fn import(&self, event: Value) {
        self.clock.set(event["epoch"].as_i64().unwrap());
        let (_, streams) = Wire::pair();
        let arguments = json!({ "lines": [event] });
        let mut operator = Operator::open(Dispatcher(Domains::default()), self.options(streams)).unwrap();
        let reply = operator.call(ToolId::ReputationImport, arguments, Progress::default());
        assert_eq!(reply.unwrap()["data"], json!({ "applied": 1, "duplicates": 0, "ignored": 0 }));
    }
}

/// Records a thought in a session of its own that is never sealed.
async fn think(wire: &mut Wire, task: &Value, agent: &str) -> Value {
    let session =
        wire.call("audit_session_start", json!({ "intent": "look" })).await["data"]["session_id"].clone();
    let thought = json!({
        "type": "reflection", "task_id": task, "agent_id": agent, "content": "seen", "session_id": session,
    });
    let recorded = wire.call("thought_record", thought).await;
    assert_eq!(recorded["ok"], true, "{recorded}");
    session
}

#[test]
fn the_worked_run_through_tasks_a_session_and_imports() {
    let days = Days { folder: TempDir::new().unwrap(), clock: Arc::new(Calendar(AtomicI64::new(0))) };
    days.serve(100, async |wire| drop(wire.call("server_ping", json!({})).await));
    let database = days.path().join("colibri.db");
    engine::open(&database)
        .execute("INSERT INTO reputations VALUES ('bob', 'execution', 6000, 0, NULL, 100)", [])
        .unwrap();
    days.task_done(100, None);
    days.task_done(100, Some("bob"));
    days.serve(101, async |wire| {
        let session = think(wire, &json!("loose"), "alice").await;
        let sealed = wire.call("merkle_finalize", json!({ "session_id": session })).await;
        assert_eq!(sealed["data"]["record_count"], 1, "{sealed}");
    });
    days.task_done(104, Some("carol"));
    let offence = |band: &str, epoch: i64| {
        json!({
            "event_id": format!("case-{band}"), "node_id": "alice", "domain": "execution", "kind": "penalty",
            "band": band, "epoch": epoch, "reason": "proven",
        })
    };
    days.import(offence("minor", 110));
    days.import(offence("fraud", 111));
    days.task_done(112, Some("bob"));

    let conn = engine::open(&database);
    let sql = "SELECT h.epoch, l.idle_epochs, l.score_before, l.score_settled, l.weight_bps, h.delta, l.score_after, \
               l.scar_after, l.ban_after, l.source, h.reason \
               FROM reputation_ledger AS l JOIN reputation_history AS h ON h.id = l.history_id ORDER BY h.id";
    let rows: Vec<(Vec<i64>, Option<i64>, String)> = conn
        .prepare(sql)
        .unwrap()
        .query_map([], |row| {
            let numbers = (0..8).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            let (source, reason): (String, String) = (row.get(9)?, row.get(10)?);
            Ok((numbers, row.get(8)?, format!("{source} {reason}")))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected: [([i64; 8], Option<i64>, &str); 7] = [
        ([100, 0, 0, 0, 2500, 50, 50, 0], None, "task task_done"),
        ([100, 0, 50, 50, 6000, 120, 170, 0], None, "task task_done"),
        ([101, 0, 170, 170, 10_000, 50, 220, 0], None, "session session_sealed"),
        ([104, 2, 220, 199, 1000, 20, 219, 0], None, "task task_done"),
        ([110, 6, 219, 164, 10_000, -24, 140, 0], None, "import penalty:minor:proven"),
        ([111, 1, 140, 133, 10_000, -133, 0, 5000], Some(211), "import penalty:fraud:proven"),
        ([112, 0, 0, 0, 3246, 64, 64, 5000], Some(211), "task task_done"),
    ];
    let told: Vec<_> = rows.iter().map(|(n, ban, what)| (n.as_slice(), *ban, what.as_str())).collect();
    let wanted: Vec<_> = expected.iter().map(|(n, ban, what)| (n.as_slice(), *ban, *what)).collect();
    assert_eq!(told, wanted);
    drop(conn);

    // The whole of it holds, bob's standing being the one that was given.
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .args(["verify", "--json", "--db"])
        .arg(engine::locator(&database))
        .output()
        .unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&verdict["sound"], &verdict["findings"]), (&json!(true), &json!([])));
    assert_eq!(verdict["warnings"][0]["subject"], "reputations bob/execution");
}
