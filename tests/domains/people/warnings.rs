//! Thoughts under names that no task has.

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_test_support::client::Server;
use colibri_test_support::sql::dialect;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

fn warning(task_id: &str) -> Value {
    let message = format!("No task has the id {task_id}; the trail is kept under that name all the same.");
    json!([{ "code": "TASK_UNKNOWN", "message": message }])
}

fn think(client: &mut Client, task_id: &str) -> Value {
    let thought =
        json!({ "type": "plan", "task_id": task_id, "agent_id": "a", "content": "x", "session_id": "S" });
    client.data("thought_record", thought)
}

/// A client with the session S and a task.
fn begun(era: Era) -> (Client, String) {
    let mut client = Client::new(era);
    client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
    let task = client.data("task_create", json!({ "title": "T" }))["id"].as_str().unwrap().to_owned();
    (client, task)
}

/// Whether `colibri verify` finds the file sound, and what it prints.
fn verify(server: &Server) -> (bool, String) {
    let output = launch().beside(server).arg("verify").command().output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn people_46_a_thought_on_a_name_that_is_no_task_is_answered_with_a_warning() {
    for era in ERAS {
        let (mut client, task) = begun(era);
        assert_eq!(think(&mut client, "x")["warnings"], warning("x"));
        assert_eq!(think(&mut client, &task).get("warnings"), None);
        // A task that was deleted is still one.
        client.server.sql().execute("UPDATE tasks SET deleted_at = updated_at", []).unwrap();
        assert_eq!(think(&mut client, &task).get("warnings"), None);

        let check = |client: &mut Client, arguments: Value| {
            client.data("audit_verify_chain", arguments).get("warnings").cloned()
        };
        let nothing = json!([{
            "code": "TASK_UNKNOWN", "message": "No task has the id y, and no thought was recorded under it.",
        }]);
        assert_eq!(check(&mut client, json!({ "task_id": "y" })).as_ref(), Some(&nothing));
        assert_eq!(check(&mut client, json!({ "task_id": "y", "session_id": "S" })).as_ref(), Some(&nothing));
        // A trail under that name is what was asked for, whether or not a task has it.
        assert_eq!(check(&mut client, json!({ "task_id": "x" })), None);
        assert_eq!(check(&mut client, json!({ "task_id": task })), None);
        assert_eq!(check(&mut client, json!({})), None);
    }
}

#[test]
fn people_46_verify_rebuilds_the_warning_and_finds_a_changed_one() {
    let (mut client, task) = begun(Era::Handshake);
    // As long as an id, so that a row of `tasks` can have it.
    let name = format!("{:-<36}", "\u{6f22} \"quoted\" \u{1f600}");
    let records = [&name, &task, &name].map(|task_id| think(&mut client, task_id)["id"].clone());
    let (sound, report) = verify(&client.server);
    assert!(sound, "{report}");

    // A task under that name says that there was nothing to warn of.
    let sql = client.server.sql();
    let copy = "INSERT INTO tasks (id, title, status, created_at, updated_at, sequence_no) \
                SELECT ?1, title, status, created_at, updated_at, sequence_no FROM tasks LIMIT 1";
    sql.execute(copy, [&name]).unwrap();
    let (sound, report) = verify(&client.server);
    let named = format!("ROW_CHANGED (2): thought_records {}", records[0].as_str().unwrap());
    assert!(!sound && report.contains(&named), "{report}");
}

/// The warning's text is in the log's hash of the reply and nowhere else.
#[test]
fn people_46_a_call_that_hashes_another_warning_is_named() {
    let (mut client, _) = begun(Era::Handshake);
    let record = think(&mut client, "x");
    let hash = |data: &Value| {
        let envelope = json!({ "ok": true, "data": data });
        sha256_hex(canonical_json(&envelope, NumberRule::Wire).unwrap().as_bytes())
    };
    let sql = client.server.sql();
    let stored: String = sql
        .query_row("SELECT result_hash FROM actions WHERE subject = ?1", [record["id"].as_str()], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(stored, hash(&record));

    let mut other = record.clone();
    other["warnings"][0]["message"] =
        json!("No task has the id y; the trail is kept under that name all the same.");
    let mut none = record.clone();
    none.as_object_mut().unwrap().remove("warnings");
    for forged in [other, none] {
        let (exits, id) = (dialect::exits(), record["id"].as_str().unwrap());
        sql.tamper(&format!("UPDATE {exits} SET result_hash = '{}' WHERE subject = '{id}'", hash(&forged)));
        let (sound, report) = verify(&client.server);
        let named = format!("thought_records {}", record["id"].as_str().unwrap());
        assert!(!sound && report.contains("ROW_CHANGED") && report.contains(&named), "{report}");
    }
}
