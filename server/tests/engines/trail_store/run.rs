//! A run of retention through the store that calls use.

use std::path::Path;
use std::sync::Arc;

use colibri::domains::system::facts::{DatabaseState, DatabaseStatus, Phase, SystemFacts};
use colibri::settings::config::Config;
use colibri::store::audit::AuditFacts;
use colibri::store::migrate::MIGRATIONS;
use colibri::store::open::{StoreOptions, WAIT, init_db};
use colibri::store::process::boot_id;
use colibri::store::sqlite::SqliteStore;
use colibri::tools::cx::Cx;
use colibri::tools::retention::{Applied, apply_retention};
use colibri_runtime::chain::store::{Access, Store};
use colibri_runtime::kernel::{SystemClock, SystemIds};

use crate::trail_store::support::{NOW, chain, id, think};

fn store(path: &Path) -> SqliteStore {
    let boot = boot_id(None, &mut SystemIds::default());
    let options = StoreOptions {
        path: path.to_owned(),
        read_only: false,
        sync: true,
        boot_id: boot.clone(),
        process_aborted: "PROCESS_ABORTED",
        now: NOW.to_owned(),
        migrations: MIGRATIONS,
        tail_checks: &[],
        max_pages: None,
        wait: WAIT,
    };
    let database = DatabaseState {
        status: DatabaseStatus::Opening,
        path: None,
        read_only: false,
        latest_schema_version: 1,
    };
    let facts = SystemFacts {
        version: "0.0.0".into(),
        boot_start_ms: 0.0,
        phase: Phase::Phase1,
        database,
        tool_count: 0,
        admitted_tool_count: 0,
    };
    let config = Arc::new(Config::for_tests(":memory:"));
    let cx = Cx::new(None, Arc::new(SystemClock::default()), Box::new(SystemIds::default()), config, facts);
    let mut store = SqliteStore::new(cx, AuditFacts { mode: "FULL", boot_id: boot, boot_start_ms: 0.0 });
    store.attach(init_db(&options).unwrap()).unwrap();
    store
}

/// Does something in a transaction.
fn write(store: &mut SqliteStore, work: impl FnOnce(&colibri::store::db::Db)) {
    store.begin(Access::Write).unwrap();
    work(store.cx().db().unwrap());
    store.commit().unwrap();
    store.leave_queue();
}

fn zones(store: &mut SqliteStore) -> Vec<(String, i64)> {
    let sql = "SELECT coalesce(zone, 'hot'), count(*) FROM thought_records GROUP BY 1 ORDER BY 1";
    store.cx().db().unwrap().query_all(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn every_record_beyond_its_zone_is_moved_and_a_second_run_moves_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder.path().canonicalize().unwrap().join("colibri.db"));
    write(&mut store, |db| {
        chain(db, 1005, None);
        for number in 2001..=2150 {
            think(db, "U", number, None);
        }
    });
    let only_u = apply_retention(&mut store, Some("U")).unwrap();
    assert_eq!(only_u, Applied { hot_to_warm: 50, ..Applied::default() });
    let all = apply_retention(&mut store, None).unwrap();
    assert_eq!(all, Applied { hot_to_cold: 5, hot_to_warm: 900, ..Applied::default() });
    assert_eq!(
        zones(&mut store),
        [("cold".to_owned(), 5), ("hot".to_owned(), 200), ("warm".to_owned(), 950)]
    );
    assert_eq!(apply_retention(&mut store, None).unwrap(), Applied::default());
    assert_eq!(apply_retention(&mut store, Some("nobody")).unwrap(), Applied::default());
    write(&mut store, |db| drop(think(db, "T", 1006, None)));
    let next = apply_retention(&mut store, None).unwrap();
    assert_eq!(next, Applied { hot_to_warm: 1, warm_to_cold: 1, ..Applied::default() });
    store.close().unwrap();
}

#[test]
fn a_damaged_record_is_counted_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(&folder.path().canonicalize().unwrap().join("colibri.db"));
    write(&mut store, |db| {
        chain(db, 103, None);
        db.execute("DROP TRIGGER trg_thought_zone_forward", []).unwrap();
        db.execute("UPDATE thought_records SET content = 'other' WHERE id = ?1", [id(2)]).unwrap();
    });
    let done = apply_retention(&mut store, None).unwrap();
    let expected = Applied { hot_to_warm: 2, damaged: 1, first_damaged: Some(id(2)), ..Applied::default() };
    assert_eq!(done, expected);
}
