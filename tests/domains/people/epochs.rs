//! The epoch of a read is optional, and never far ahead.

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::shell::Run;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

/// A year, so that no epoch ends while a test runs.
const LENGTH: &str = "31536000";

fn with_long_epochs() -> Launch {
    launch().env("COLIBRI_EPOCH_SECONDS", LENGTH)
}

/// What `colibri reputation epoch` prints beside a server.
fn printed(server: &Server) -> i64 {
    let mut command = with_long_epochs().beside(server).command();
    let run = Run::of(command.args(["reputation", "epoch"]).output().unwrap()).ends(0);
    run.out.trim_end().parse().unwrap()
}

/// The three tools, each with what it needs and the epoch that is asked for.
fn reads(epoch: Option<i64>) -> [(&'static str, Value); 3] {
    let mut reads = [
        ("reputation_get", json!({ "node_id": "alice" })),
        ("reputation_leaderboard", json!({ "domain": "execution" })),
        ("reputation_check_gates", json!({ "node_id": "alice" })),
    ];
    for (_, arguments) in &mut reads {
        if let Some(epoch) = epoch {
            arguments["current_epoch"] = json!(epoch);
        }
    }
    reads
}

#[test]
fn people_44_a_read_without_an_epoch_is_of_the_present_one() {
    for era in ERAS {
        let mut client = Client::of(with_long_epochs(), era);
        client.data("task_list", json!({}));
        let present = printed(&client.server);
        for (tool, arguments) in reads(None) {
            assert_eq!(client.data(tool, arguments)["current_epoch"], present, "{tool}");
        }
        for epoch in [0, present, present + 2] {
            for (tool, arguments) in reads(Some(epoch)) {
                assert_eq!(client.data(tool, arguments)["current_epoch"], epoch, "{tool}");
            }
        }
        for epoch in [present + 3, 9_007_199_254_740_991] {
            for (tool, arguments) in reads(Some(epoch)) {
                let error = client.call(tool, arguments)["error"].clone();
                assert_eq!(error["code"], "HANDLER_ERROR", "{tool}: {error}");
                let message = format!(
                    "ERR_EPOCH_FUTURE: epoch {epoch} is more than 2 beyond the present one, {present}"
                );
                assert_eq!(error["message"], message, "{tool}");
                let details = &error["details"];
                assert_eq!(
                    (&details["current_epoch"], &details["present_epoch"]),
                    (&json!(epoch), &json!(present))
                );
                // The call that helps is the same one, of the present epoch.
                let next = &details["next"][0];
                let now = client.data(next["tool"].as_str().unwrap(), next["arguments"].clone());
                assert_eq!(
                    (&next["tool"], &now["current_epoch"]),
                    (&json!(tool), &json!(present)),
                    "{details}"
                );
            }
        }
    }
}

/// The length of an epoch is the one that the database fixed at its first event, not the one that a server is set to.
#[test]
fn people_44_the_present_epoch_is_that_of_the_database_in_every_mode() {
    let mut client = Client::of(with_long_epochs(), Era::Handshake);
    client.data("audit_session_start", json!({ "intent": "test", "session_id": "S" }));
    client.data(
        "thought_record",
        json!({ "type": "plan", "task_id": "T", "agent_id": "alice", "content": "x", "session_id": "S" }),
    );
    client.data("merkle_finalize", json!({ "session_id": "S" }));
    let present = printed(&client.server);
    for mode in ["FULL", "READONLY", "TEST"] {
        let mut other = Client::of(launch().beside(&client.server).env("COLIBRI_MODE", mode), Era::Handshake);
        for (tool, arguments) in reads(None) {
            assert_eq!(other.data(tool, arguments)["current_epoch"], present, "{mode}: {tool}");
        }
    }

    // An entry of a machine whose clock is ahead moves the present epoch: standing never goes back.
    client.server.sql().tamper("UPDATE reputation_history SET epoch = epoch + 7");
    for (tool, arguments) in reads(None) {
        assert_eq!(client.data(tool, arguments)["current_epoch"], present + 7, "{tool}");
    }
}
