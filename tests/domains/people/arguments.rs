//! Refused arguments: one message names every mistake, and nothing secret.

use serde_json::{Value, json};

use super::era::{Client, ERAS};

/// Returns message and issues of arguments that the server refuses.
fn refusal(client: &mut Client, tool: &str, arguments: Value) -> (String, Value) {
    let envelope = client.call(tool, arguments);
    let error = &envelope["error"];
    assert_eq!(error["code"], "INVALID_PARAMS", "{tool}: {envelope}");
    (error["message"].as_str().unwrap().to_owned(), error["details"]["issues"].clone())
}

/// Returns the message that the audit row of the last call of a tool holds.
fn stored(client: &mut Client, tool: &str) -> String {
    // The row is closed once the next call is answered.
    client.data("server_ping", json!({}));
    let sql = "SELECT error_message FROM actions WHERE tool = ?1 ORDER BY sequence_no DESC LIMIT 1";
    client.server.sql().query_row(sql, [tool], |row| row.get(0)).unwrap()
}

#[test]
fn people_41_one_message_names_every_mistake() {
    for era in ERAS {
        let mut client = Client::new(era);
        let arguments = json!({ "title": "A", "priorty": "high", "status": "init", "depends_on": "x" });
        let (message, issues) = refusal(&mut client, "task_create", arguments);
        assert_eq!(
            message,
            "Invalid parameters for task_create: \
             \"status\" must be one of INIT, GATHER, ANALYZE, PLAN, APPLY, VERIFY, DONE or CANCELLED, and \"init\" came, \
             did you mean INIT?; \"depends_on\" must be a list, and a string came; \
             there is no parameter \"priorty\", did you mean \"priority\"? \
             task_create takes title (required), status, project_id, project, description, priority, assignee, depends_on."
        );
        // Byte for byte what 0.1.0 answered.
        assert_eq!(
            issues.to_string(),
            r#"[{"code":"invalid_value","values":["INIT","GATHER","ANALYZE","PLAN","APPLY","VERIFY","DONE","CANCELLED"],"path":["status"],"message":"Invalid option: expected one of \"INIT\"|\"GATHER\"|\"ANALYZE\"|\"PLAN\"|\"APPLY\"|\"VERIFY\"|\"DONE\"|\"CANCELLED\""},{"expected":"array","code":"invalid_type","path":["depends_on"],"message":"Invalid input: expected array, received string"},{"code":"unrecognized_keys","keys":["priorty"],"path":[],"message":"Unrecognized key: \"priorty\""}]"#
        );
        let (message, _) =
            refusal(&mut client, "task_update", json!({ "id": "x", "patch": { "tittle": "B" } }));
        let close = "there is no parameter \"patch.tittle\", did you mean \"patch.title\"? patch takes title, status,";
        assert!(message.contains(close), "{message}");
    }
}

#[test]
fn people_42_a_message_is_bounded_and_keeps_secrets() {
    for era in ERAS {
        let mut client = Client::new(era);
        let ten: serde_json::Map<String, Value> = (0..10).map(|n| (format!("key_{n}"), json!(n))).collect();
        let (message, _) = refusal(&mut client, "server_ping", Value::Object(ten));
        assert_eq!(message.matches("there is no parameter").count(), 8, "{message}");
        let end = "; and 2 more in details.issues. server_ping takes no parameters.";
        assert!(message.ends_with(end), "{message}");

        let (message, _) = refusal(&mut client, "task_create", json!({ "title": "x".repeat(300) }));
        let words =
            "Invalid parameters for task_create: \"title\" must have at most 256 characters, and 300 came";
        assert_eq!(message, words);

        let vote = json!({
            "merkle_root_hex": "a".repeat(64), "rule_version_hash_hex": "b".repeat(64), "vote_type": "ACCEPT",
        });
        for secret in [json!("Zq9"), json!("ab".repeat(200)), json!(90_817_263), json!(["Zq9"])] {
            let arguments = json!({ "round_id": "1", "vote": vote, "privKey": secret });
            let envelope = client.call("consensus_vote", arguments);
            assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{envelope}");
            for text in [envelope.to_string(), stored(&mut client, "consensus_vote")] {
                assert!(text.contains("privKey"), "{text}");
                for piece in ["Zq9", "abab", "90817263", "400"] {
                    assert!(!text.contains(piece), "{piece}: {text}");
                }
            }
        }
    }
}

#[test]
fn people_43_the_log_holds_no_received_value() {
    for era in ERAS {
        let mut client = Client::new(era);
        let arguments = json!({ "title": 77_123, "priorty": "high", "status": "init", "depends_on": "x-51" });
        refusal(&mut client, "task_create", arguments);
        let message = stored(&mut client, "task_create");
        assert_eq!(
            message,
            "Invalid parameters for task_create: \"title\" must be a string; \
             \"status\" must be one of INIT, GATHER, ANALYZE, PLAN, APPLY, VERIFY, DONE or CANCELLED; \
             \"depends_on\" must be a list; there is no parameter \"priorty\""
        );
        for received in ["init", "high", "77123", "x-51"] {
            assert!(!message.contains(received), "{received}: {message}");
        }
        refusal(&mut client, "task_list", json!({ "limit": 70_707 }));
        assert_eq!(
            stored(&mut client, "task_list"),
            "Invalid parameters for task_list: \"limit\" must be at most 500"
        );
    }
}

#[test]
fn people_41_a_misspelt_tool_is_recognised() {
    for era in ERAS {
        let mut client = Client::new(era);
        let answer = client.answer("task_creat", json!({}));
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["message"], "Unknown tool: task_creat; did you mean task_create?");
        assert_eq!(answer["error"]["data"]["error"]["message"], answer["error"]["message"]);
        let answer = client.answer("frobnicate", json!({}));
        assert_eq!(answer["error"]["message"], "Unknown tool: frobnicate");
    }
}
