//! What errors say to do, over the wire: where it stands, and which calls a server does not suggest.

use colibri_test_support::client::Server;
use colibri_test_support::sql::Refused;
use serde_json::{Value, json};

use super::era::{Client, ERAS, launch};

fn thought(session: &str) -> Value {
    json!({ "type": "plan", "task_id": "t", "agent_id": "a", "session_id": session, "content": "c" })
}

/// The tools that the error suggests.
fn suggested(error: &Value) -> Vec<&str> {
    let calls = error.get("next").map_or(&[][..], |next| next.as_array().unwrap());
    calls.iter().map(|call| call["tool"].as_str().unwrap()).collect()
}

/// Makes every insert into a table fail.
fn break_table(server: &Server, table: &str) {
    server.sql().refuse(Refused::Inserts(table));
}

#[test]
fn people_39_a_declared_error_of_pattern_a_has_its_details() {
    for era in ERAS {
        let answer = Client::new(era).answer("thought_record", thought("s"));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let error = json!({
            "code": "HANDLER_ERROR",
            "message": "ERR_SESSION_NOT_FOUND: there is no audit session s",
            "details": {
                "code": "ERR_SESSION_NOT_FOUND",
                "session_id": "s",
                "remedy": "Start a session, or take an open one from the list.",
                "next": [
                    { "tool": "audit_session_list", "arguments": { "state": "open" } },
                    { "tool": "audit_session_start", "arguments": {}, "ask": { "intent": "what the session is for" } }
                ]
            }
        });
        assert_eq!(answer["result"]["structuredContent"], json!({ "ok": false, "error": error }));
    }
}

#[test]
fn people_39_a_declared_error_of_pattern_b_has_them_behind_its_fields() {
    for era in ERAS {
        let answer = Client::new(era).answer("task_get", json!({ "id": "nope" }));
        assert_eq!(answer["result"].get("isError"), None, "{answer}");
        let error = json!({
            "code": "ERR_NOT_FOUND",
            "message": "There is no task nope",
            "task_id": "nope",
            "remedy": "Take the id from task_list.",
            "next": [{ "tool": "task_list", "arguments": { "detail": "brief" } }]
        });
        let envelope = &answer["result"]["structuredContent"];
        assert_eq!(envelope, &json!({ "ok": true, "data": { "ok": false, "error": error } }));
        let order: Vec<&String> = envelope["data"]["error"].as_object().unwrap().keys().collect();
        assert_eq!(order, ["code", "message", "task_id", "remedy", "next"]);
    }
}

#[test]
fn people_39_a_storage_fault_has_a_remedy_and_no_declared_details() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("audit_session_start", json!({ "session_id": "s", "intent": "i" }));
        break_table(&client.server, "thought_records");
        let error = client.call("thought_record", thought("s"))["error"].clone();
        assert_eq!(error["code"], "HANDLER_ERROR", "{error}");
        assert!(error["message"].as_str().unwrap().starts_with("STORAGE_FAILURE: "), "{error}");
        let remedy = "Nothing of the call is stored. Call again once, then tell the operator.";
        assert_eq!(error["details"], json!({ "remedy": remedy }));
    }
}

#[test]
fn people_38_refusals_of_the_chain_say_what_to_do() {
    let forbidden = "Tell the operator; settings forbid this tool.";
    for era in ERAS {
        let mut client = Client::new(era);
        let invalid = client.call("task_get", json!({}));
        assert_eq!(invalid["error"]["details"]["remedy"], "Correct the named arguments and call again.");
        for (name, expected) in [
            ("task_gett", "Call tools/list for the names; did you mean task_get?"),
            ("nothing_like_it", "Call tools/list for the names."),
        ] {
            let unknown = client.answer(name, json!({}));
            assert_eq!(unknown["error"]["data"]["error"]["remedy"], expected, "{unknown}");
        }
        for (setting, value) in [("COLIBRI_MODE", "MINIMAL"), ("COLIBRI_TOOLS", "router")] {
            let denied = Client::of(launch().env(setting, value), era).call("task_list", json!({}));
            assert_eq!(denied["error"]["code"], "TOOL_NOT_ADMITTED", "{denied}");
            assert_eq!(denied["error"]["details"]["remedy"], forbidden, "{denied}");
        }
        break_table(&client.server, "actions");
        let refused = client.call("task_list", json!({}));
        assert_eq!(refused["error"]["code"], "AUDIT_ENTER_FAILED", "{refused}");
        let remedy = "Nothing of the call is stored. Call again once, then tell the operator.";
        assert_eq!(refused["error"]["details"], json!({ "remedy": remedy }));
    }
}

#[test]
fn people_40_calls_of_tools_that_the_server_refuses_are_not_suggested() {
    for era in ERAS {
        let offering = |words: &str| Client::of(launch().env("COLIBRI_TOOLS", words), era);
        for (words, expected) in [
            ("thought_record", &[][..]),
            ("thought_record,audit_session_list", &["audit_session_list"]),
            ("core", &["audit_session_list", "audit_session_start"]),
        ] {
            let error = offering(words).call("thought_record", thought("s"))["error"]["details"].clone();
            assert_eq!(suggested(&error), expected, "{words}: {error}");
            assert_eq!(error.get("next").is_some(), !expected.is_empty(), "{error}");
            assert!(error["remedy"].is_string(), "{error}");
        }

        let mut writer = Client::new(era);
        writer.data("audit_session_start", json!({ "session_id": "s", "intent": "i" }));
        // There is nothing to seal yet.
        assert_eq!(unsealed(&mut writer).get("next"), None);
        writer.data("thought_record", thought("s"));
        let folder = writer.server.shared_folder();
        assert_eq!(suggested(&unsealed(&mut writer)), ["merkle_finalize"]);
        writer.server.finish();
        let reader = launch().in_folder(folder).env("COLIBRI_MODE", "READONLY");
        let error = unsealed(&mut Client::of(reader, era));
        assert_eq!(error.get("next"), None, "{error}");
    }
}

fn unsealed(client: &mut Client) -> Value {
    let error = client.call("merkle_root", json!({ "session_id": "s" }))["data"]["error"].clone();
    assert_eq!(error["code"], "ERR_NOT_FINALIZED", "{error}");
    error
}

#[test]
fn people_40_null_and_absent_arguments_are_left_out() {
    for era in ERAS {
        let mut client = Client::new(era);
        let born = json!({ "title": "A", "status": "DONE", "project": "p", "description": null });
        let error = client.call("task_create", born)["data"]["error"].clone();
        let again = json!([{ "tool": "task_create", "arguments": { "title": "A", "project": "p" } }]);
        assert_eq!(error["next"], again, "{error}");
        assert_eq!(client.call("task_create", again[0]["arguments"].clone())["data"]["project_id"], "p");

        let page = json!({ "task_id": "t", "after": "nope", "limit": 3 });
        let error = client.call("thought_record_list", page)["error"]["details"].clone();
        let first = json!({ "task_id": "t", "limit": 3, "detail": "full" });
        assert_eq!(error["next"], json!([{ "tool": "thought_record_list", "arguments": first }]));
    }
}

#[test]
fn people_40_no_suggestion_repeats_a_secret() {
    let secret = "d".repeat(64);
    let vote = json!({ "merkle_root_hex": "a".repeat(64), "rule_version_hash_hex": "b".repeat(64), "vote_type": "ACCEPT" });
    for era in ERAS {
        let mut client = Client::new(era);
        let answers = [
            client.answer("consensus_vote", json!({ "round_id": "9", "vote": vote, "privKey": secret })),
            client
                .answer("vrf_eval", json!({ "seed_hex": "", "input_hex": "", "priv_key_hex": &secret[..2] })),
        ];
        for answer in answers {
            let error = &answer["result"]["structuredContent"]["error"];
            assert!(error["details"]["remedy"].is_string(), "{answer}");
            assert!(!answer.to_string().contains("dddd"), "{answer}");
        }
    }
}
