//! Several processes on one file: no event is lost, and the ledger does not fork.

use colibri_test_support::sql::dialect;
use std::sync::{Arc, Barrier};

use serde_json::json;

use crate::reputation::world::{World, assert_ledger_is_sound, launch};

/// Tasks that each process finishes.
const TASKS: usize = 40;
const PROCESSES: usize = 2;

#[test]
fn lambda_processes_that_finish_tasks_at_once_lose_no_event() {
    let world = World::new();
    let folder = world.server.shared_folder();
    let together = Arc::new(Barrier::new(PROCESSES));
    let workers: Vec<_> = (0..PROCESSES)
        .map(|process| {
            let mut server = launch().in_folder(folder.clone()).start();
            let together = together.clone();
            std::thread::spawn(move || {
                let session = format!("of-{process}");
                server.data("audit_session_start", json!({ "intent": "test", "session_id": session }));
                let mut tasks = Vec::new();
                for number in 0..TASKS {
                    let task = json!({ "title": "t", "assignee": format!("agent-{}", number % 4) });
                    let id = server.data("task_create", task)["id"].clone();
                    server.walk(&id, "VERIFY");
                    let thought = json!({
                        "type": "plan", "task_id": id, "agent_id": format!("author-{process}"), "content": "x",
                        "session_id": session,
                    });
                    server.data("thought_record", thought);
                    tasks.push(id);
                }
                together.wait();
                for id in &tasks {
                    server.send_call("task_update", json!({ "id": id, "status": "DONE" }));
                }
                for _ in &tasks {
                    let answer = server.receive();
                    assert_eq!(answer["result"]["structuredContent"]["data"]["status"], "DONE", "{answer}");
                }
                server.data("merkle_finalize", json!({ "session_id": session }));
                assert_eq!(server.finish().code(), 0);
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    let events = PROCESSES * TASKS + PROCESSES;
    assert_eq!(world.counts()[1..3], [i64::try_from(events).unwrap(); 2]);
    let missing = "SELECT count(*) FROM tasks WHERE NOT EXISTS \
                   (SELECT 1 FROM reputation_history WHERE event_id = EARNED)";
    let earned = dialect::any_text("'task:' || tasks.id || ':done'");
    assert_eq!(world.number(&missing.replace("EARNED", &earned), &[]), 0);
    // Each entry names the call that wrote it.
    let strange = "SELECT count(*) FROM reputation_ledger AS ledger LEFT JOIN actions USING (sequence_no) \
                   WHERE outcome IS DISTINCT FROM 'ok' OR tool NOT IN ('task_update', 'merkle_finalize')";
    assert_eq!(world.number(strange, &[]), 0);
    assert_eq!(
        world.number("SELECT CAST(sum(score) AS BIGINT) FROM reputations WHERE node_id LIKE 'agent-%'", &[]),
        4000
    );
    assert_ledger_is_sound(&world.sql);
}
