//! The wording of messages: each row of the table of new texts that a tool or the chain answers, provoked.

mod commands;

use colibri_test_support::sql::Refused;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

/// The message of a refusal, in either pattern.
fn message(client: &mut Client, tool: &str, arguments: Value) -> String {
    let envelope = client.call(tool, arguments);
    let error = if envelope["ok"] == true { &envelope["data"]["error"] } else { &envelope["error"] };
    error["message"].as_str().unwrap_or_else(|| panic!("{tool} was not refused: {envelope}")).to_owned()
}

fn thought(task: &str, session: &str) -> Value {
    json!({ "type": "plan", "task_id": task, "agent_id": "a", "session_id": session, "content": "c" })
}

#[test]
fn people_73_rows_1_to_6_say_what_is_wrong_with_a_task() {
    for era in ERAS {
        let mut client = Client::new(era);
        let new = client.data("task_create", json!({ "title": "N" }))["id"].as_str().unwrap().to_owned();
        let checked = json!({ "title": "C", "status": "VERIFY", "depends_on": [new] });
        let checked = client.data("task_create", checked)["id"].as_str().unwrap().to_owned();
        let rows = [
            ("task_get", json!({ "id": "x" }), "There is no task x".to_owned()),
            ("task_update", json!({ "id": "x", "title": "T" }), "There is no task x".to_owned()),
            (
                "task_update",
                json!({ "id": new, "status": "DONE" }),
                format!("Task {new} cannot go from INIT to DONE"),
            ),
            (
                "task_update",
                json!({ "id": checked, "status": "DONE" }),
                format!("Task {checked} needs a thought record before it can be DONE"),
            ),
            (
                "task_create",
                json!({ "title": "T", "status": "DONE" }),
                "A new task cannot be DONE: it has no thought record yet".to_owned(),
            ),
            (
                "task_create",
                json!({ "title": "T", "depends_on": ["x"] }),
                "No live task has the id x, so nothing can wait for it".to_owned(),
            ),
            (
                "task_update",
                json!({ "id": new, "depends_on": ["x", "y"] }),
                "No live task has the id x, y, so nothing can wait for it".to_owned(),
            ),
            (
                "task_update",
                json!({ "id": new, "depends_on": [checked] }),
                format!("These tasks would wait for each other: {new} -> {checked} -> {new}"),
            ),
        ];
        for (tool, arguments, expected) in rows {
            assert_eq!(message(&mut client, tool, arguments), expected);
        }
    }
}

#[test]
fn people_73_rows_7_to_14_say_what_is_wrong_with_a_session() {
    for era in ERAS {
        let mut client = Client::new(era);
        for session in ["open", "sealed"] {
            client.data("audit_session_start", json!({ "session_id": session, "intent": "i" }));
        }
        client.data("thought_record", thought("t", "sealed"));
        client.data("merkle_finalize", json!({ "session_id": "sealed" }));
        let session = |id: &str| json!({ "session_id": id });
        let rows = [
            ("merkle_finalize", session("x"), "There is no audit session x"),
            ("merkle_root", session("x"), "There is no audit session x"),
            (
                "audit_session_start",
                json!({ "session_id": "open", "intent": "i" }),
                "There is an audit session open already",
            ),
            ("merkle_finalize", session("sealed"), "Audit session sealed is sealed already"),
            ("merkle_root", session("open"), "Audit session open is not sealed yet"),
            (
                "merkle_finalize",
                session("open"),
                "Audit session open holds no thought record, so there is nothing to seal",
            ),
            ("thought_record", thought("t", "x"), "ERR_SESSION_NOT_FOUND: there is no audit session x"),
            (
                "thought_record",
                thought("t", "sealed"),
                "ERR_ALREADY_FINALIZED: audit session sealed is sealed and takes no more records",
            ),
            (
                "thought_record_list",
                json!({ "after": "x" }),
                "ERR_CURSOR_NOT_FOUND: no thought record has the id x",
            ),
        ];
        for (tool, arguments, expected) in rows {
            assert_eq!(message(&mut client, tool, arguments), expected);
        }
    }
}

#[test]
fn people_73_row_15_names_the_impossible_standing() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("task_list", json!({}));
        client.server.sql().tamper("INSERT INTO reputations VALUES ('n', 'execution', 20000, 0, NULL, 0)");
        assert_eq!(
            message(&mut client, "reputation_get", json!({ "node_id": "n" })),
            "REPUTATION_ROW_INVALID: the stored standing of n in execution has an impossible score"
        );
    }
}

#[test]
fn people_73_row_17_says_why_the_mode_refuses_a_tool() {
    for era in ERAS {
        let mut writer = Client::new(era);
        writer.data("task_list", json!({}));
        let folder = writer.server.shared_folder();
        let mut reader = Client::of(launch().in_folder(folder).env("COLIBRI_MODE", "READONLY"), era);
        assert_eq!(
            message(&mut reader, "task_create", json!({ "title": "T" })),
            "Tool task_create writes, and the server's mode is READONLY"
        );
        let mut probe = Client::of(launch().env("COLIBRI_MODE", "MINIMAL"), era);
        assert_eq!(
            message(&mut probe, "task_list", json!({})),
            "Tool task_list needs a database, and the server's mode is MINIMAL"
        );
    }
}

#[test]
fn people_73_row_18_says_that_the_call_was_not_run() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("task_list", json!({}));
        client.server.sql().refuse(Refused::Enters("task_create"));
        let error = client.call("task_create", json!({ "title": "T" }))["error"].clone();
        assert_eq!(error["code"], "AUDIT_ENTER_FAILED", "{error}");
        let text = error["message"].as_str().unwrap();
        let begins = "the call could not be entered in the audit log, so it was not run: ";
        assert!(text.starts_with(begins) && text.len() > begins.len(), "{text}");
        let remedy = "Nothing of the call is stored. Call again once, then tell the operator.";
        assert_eq!(error["details"], json!({ "remedy": remedy }));
    }
}

#[test]
fn people_73_row_19_says_when_an_open_circuit_is_tried_again() {
    // Nothing listens on that port of this machine.
    let down = launch()
        .env("COLIBRI_ANTHROPIC_API_KEY", "sk-never-sent-anywhere")
        .env("COLIBRI_ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let mut client = Client::of(down, Era::Handshake);
    let ping = || json!({ "prompt": "ping" });
    for _ in 0..3 {
        message(&mut client, "router_call", ping());
    }
    let text = message(&mut client, "router_call", ping());
    let seconds = text
        .strip_prefix(
            "δ fallback chain exhausted (attempts: 1): [claude] circuit open for claude: \
             it failed 3 times in a row; next try in ",
        )
        .and_then(|rest| rest.strip_suffix(" s")?.parse::<u32>().ok());
    assert!(seconds.is_some_and(|seconds| (1..=60).contains(&seconds)), "{text}");
}

#[test]
fn people_73_row_20_says_that_a_key_has_voted() {
    let vote = json!({ "merkle_root_hex": "a".repeat(64), "rule_version_hash_hex": "b".repeat(64) });
    for era in ERAS {
        let mut client = Client::new(era);
        let round = client.data("consensus_propose", json!({ "event": vote }))["round_id"].clone();
        let mut cast = vote.clone();
        cast["vote_type"] = json!("ACCEPT");
        let cast = json!({ "round_id": round, "vote": cast, "privKey": "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb" });
        client.data("consensus_vote", cast.clone());
        let text = message(&mut client, "consensus_vote", cast);
        let said = text.strip_prefix("ALREADY_VOTED: soul:").and_then(|rest| rest.strip_suffix(" before"));
        assert!(said.is_some_and(|said| said.contains(" has voted on 1|aaaa")), "{text}");
    }
}
