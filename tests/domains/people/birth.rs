//! Tasks that were born in a later state than INIT.

use colibri_test_support::sqlite_only;
use serde_json::{Value, json};

use super::era::{Client, ERAS};
use super::verified::{assert_sound, findings};

/// A task that is born in that state, has a thought, and is brought to DONE; its id.
fn finished(client: &mut Client, born_in: Option<&str>, assignee: &str) -> Value {
    let mut task = json!({ "title": "T", "assignee": assignee });
    if let Some(status) = born_in {
        task["status"] = json!(status);
    }
    let id = client.data("task_create", task)["id"].clone();
    think(client, &id, assignee);
    if born_in.is_none() {
        client.server.walk(&id, "VERIFY");
    }
    client.data("task_update", json!({ "id": id, "status": "DONE" }));
    id
}

fn think(client: &mut Client, id: &Value, agent: &str) {
    let session = client.data("audit_session_start", json!({ "intent": "work" }))["session_id"].clone();
    let thought =
        json!({ "type": "plan", "task_id": id, "agent_id": agent, "content": "x", "session_id": session });
    client.data("thought_record", thought);
}

fn earned(client: &mut Client, node: &str) -> Vec<Value> {
    let page = client.data("reputation_history", json!({ "node_id": node, "domain": "execution" }));
    page["events"].as_array().unwrap().clone()
}

#[test]
fn people_53_only_work_that_began_at_the_beginning_earns() {
    for era in ERAS {
        let mut client = Client::new(era);
        let late = finished(&mut client, Some("VERIFY"), "late");
        let history = client.data("task_history", json!({ "id": late }));
        let created = history["events"].as_array().unwrap().last().unwrap();
        assert_eq!((&created["kind"], &created["to"]), (&json!("created"), &json!("VERIFY")));
        assert_eq!(created["skipped"], json!(["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY"]));
        assert_eq!(earned(&mut client, "late"), Vec::<Value>::new());

        finished(&mut client, None, "early");
        let events = earned(&mut client, "early");
        assert_eq!((events.len(), &events[0]["delta"]), (1, &json!(50)));
        assert_sound(&client.server);

        // An entry like that of the walk, for the task that was born late.
        let sql = format!(
            "INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id)
               SELECT 'late', domain, epoch, delta, reason, 'task:{id}:done' FROM reputation_history;
             INSERT INTO reputation_ledger
               SELECT 2, replace(dedupe_key, 'early', 'late'), kind, source, band, nominal_delta, acker_id, weight_bps,
                 idle_epochs, score_before, score_settled, score_after, scar_before, scar_after, ban_after,
                 rule_version_hash, entry_hash, '{hash}', recorded_at,
                 (SELECT max(sequence_no) FROM actions WHERE tool = 'task_update' AND subject = '{id}')
               FROM reputation_ledger;",
            id = late.as_str().unwrap(),
            hash = "ab".repeat(32),
        );
        client.server.sql().execute_batch(&sql).unwrap();
        let found = findings(&client.server);
        assert!(found.contains(&"EVENT_NOT_EARNED".to_owned()), "{found:?}");
    }
}

#[test]
fn people_53_a_task_whose_past_is_unknown_earns() {
    sqlite_only!("no release before this one has served PostgreSQL");
    for era in ERAS {
        // Case 16 shows such a history.
        let mut client = super::history::of_an_earlier_version(era);
        let sql = "SELECT id FROM tasks WHERE status = 'VERIFY' LIMIT 1";
        let id: String = client.server.sql().query_row(sql, [], |row| row.get(0)).unwrap();
        client.data("task_update", json!({ "id": id, "assignee": "from before" }));
        think(&mut client, &json!(id), "from before");
        client.data("task_update", json!({ "id": id, "status": "DONE" }));
        assert_eq!(earned(&mut client, "from before").len(), 1);
        assert_sound(&client.server);
    }
}
