//! Clock and ids of the test's own.

use std::sync::Arc;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::Options;
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_runtime::kernel::{Ids, SystemIds};
use colibri_test_support::embed::{ManualClock, Wire, block_on, converse, options};
use colibri_test_support::engine;
use colibri_test_support::stored::stored;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::trail::world::{SESSION, text, thought};

/// Talks to a server whose time stands still.
fn in_one_instant(change: impl FnOnce(&mut Options), talk: impl AsyncFnOnce(&mut Wire, &TempDir)) {
    let folder = TempDir::new().unwrap();
    let (wire, streams) = Wire::pair();
    let mut options = options(streams, folder.path());
    options.clock = ManualClock::at(0.0);
    change(&mut options);
    block_on(async {
        let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
        converse(&mut server, wire, async |wire| {
            let session = json!({ "intent": "test", "session_id": SESSION });
            assert_eq!(wire.call("audit_session_start", session).await["ok"], true);
            talk(wire, &folder).await;
        })
        .await;
    });
}

#[test]
fn order_is_the_order_of_insertion_within_one_millisecond() {
    in_one_instant(
        |_| (),
        async |wire, _| {
            let mut ids = Vec::new();
            for content in ["1", "2", "3", "4"] {
                let envelope = wire.call("thought_record", thought("T", content)).await;
                ids.push(text(&envelope["data"], "id"));
            }
            let listed = wire.call("thought_record_list", json!({ "task_id": "T" })).await;
            let records = listed["data"]["records"].as_array().unwrap();
            assert_eq!(records.iter().map(|record| text(record, "id")).collect::<Vec<_>>(), ids);
            assert!(records.iter().all(|record| record["timestamp"] == records[0]["timestamp"]), "{listed}");
            let verdict = wire.call("audit_verify_chain", json!({ "task_id": "T" })).await;
            let verdict = &verdict["data"];
            assert_eq!((&verdict["valid"], &verdict["record_count"]), (&json!(true), &json!(4)));
        },
    );
}

/// The same id for everything that is stored.
struct OneId(SystemIds);

impl Ids for OneId {
    fn v4(&mut self) -> String {
        self.0.v4()
    }
    fn v7(&mut self, _: i64) -> String {
        "00000000-0000-7000-8000-000000000001".to_owned()
    }
}

#[test]
fn an_id_is_stored_once() {
    in_one_instant(
        |options| options.ids = Arc::new(|| Box::new(OneId(SystemIds::default()))),
        async |wire, folder| {
            let sql = engine::open(folder.path().join("colibri.db"));
            let first = wire.call("thought_record", thought("T", "x")).await;
            assert_eq!(first["ok"], true, "{first}");
            let before = stored(&sql);
            let second: Value = wire.call("thought_record", thought("T", "x")).await;
            assert_eq!(second["error"]["code"], "HANDLER_ERROR", "{second}");
            let message = text(&second["error"], "message");
            assert!(
                message.starts_with("STORAGE_FAILURE: ")
                    && (message.contains("UNIQUE constraint failed: thought_records.")
                        || message.contains("unique constraint \"thought_records_")),
                "{message}"
            );
            assert_eq!(stored(&sql), before);
        },
    );
}
