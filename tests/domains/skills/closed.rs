//! The database's handle is closed underneath a running server whose audit sink is in memory.

use std::path::Path;
use std::sync::Arc;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::create_server;
use colibri::migrations::MIGRATIONS;
use colibri::settings::config::Config;
use colibri::tools::Domains;
use colibri::tools::cx::{Cx, Parts};
use colibri_runtime::chain::audit::MemorySink;
use colibri_runtime::kernel::SystemIds;
use colibri_runtime::serve::Control;
use colibri_store::AuditFacts;
use colibri_store::ServerStore;
use colibri_store::sqlite::open::{StoreOptions, WAIT, init_db};
use colibri_test_support::embed::{ManualClock, Wire, block_on, converse, options};
use serde_json::json;

/// A store that had a database, and has closed it.
fn closed_store(path: &Path) -> ServerStore<Parts> {
    let options = StoreOptions {
        path: path.to_owned(),
        read_only: false,
        sync: false,
        boot_id: "22222222-2222-4222-8222-222222222222".to_owned(),
        process_aborted: CATALOGUE.codes.process_aborted.code,
        now: "2026-11-21T10:00:00.000Z".to_owned(),
        migrations: MIGRATIONS,
        tail_checks: &[],
        max_pages: None,
        wait: WAIT,
    };
    let facts = SystemFacts {
        version: "9.9.9-test".to_owned(),
        boot_start_ms: 0.0,
        phase: Phase::Phase2,
        database: DatabaseState {
            status: DatabaseStatus::Open,
            path: None,
            read_only: false,
            latest_schema_version: 1,
        },
        tool_count: 0,
        admitted_tool_count: 0,
    };
    let config = Arc::new(Config::for_tests(path));
    let cx = Cx::new(None, ManualClock::at(0.0), Box::new(SystemIds::default()), Parts::new(config, facts));
    let audit = AuditFacts { mode: "FULL", boot_id: options.boot_id.clone(), boot_start_ms: 0.0 };
    let mut store = ServerStore::new(cx, audit);
    store.attach(init_db(&options).unwrap()).unwrap();
    store.close().unwrap();
    store
}

#[test]
fn a_closed_handle_is_pattern_a() {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let options = Options {
        audit: AuditChoice::Sink(Box::new(MemorySink::default())),
        ..options(streams, folder.path())
    };
    let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
    let controls = server.controls();
    let other = tempfile::tempdir().unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("skill_list", json!({})).await["ok"], true);
        let closed = Control::Opened(Ok((closed_store(&other.path().join("colibri.db")), "memory")));
        assert!(controls.send(closed).is_ok(), "the loop runs");
        // The loop may read some lines first; health tells when the handle is gone.
        let mut gone = false;
        for _ in 0..1000 {
            gone = wire.call("server_health", json!({})).await["data"]["database"]["status"] == "error";
            if gone {
                break;
            }
        }
        assert!(gone, "the store was not replaced");
        for tool in ["skill_list", "task_list"] {
            let envelope = wire.call(tool, json!({})).await;
            assert_eq!(envelope["ok"], false, "{tool}: {envelope}");
            assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{tool}: {envelope}");
            assert_eq!(envelope["error"]["message"], "database is not initialised", "{tool}");
        }
    }));
}
