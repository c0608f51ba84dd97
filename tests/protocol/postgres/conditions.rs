//! What a start checks of the database server holds while a server runs (postgres#conditions).

use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use colibri_test_support::postgres::{Cluster, Database, Pair, Replication, Role, Stop};
use serde_json::json;

fn launch(url: &str) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DATABASE_URL", url)
}

#[test]
fn a_cancelled_wait_for_a_standby_is_not_acknowledged_whatever_hides_its_warning() {
    for hide in [
        None,
        Some("ALTER ROLE test_app SET client_min_messages = 'error'"),
        Some("ALTER DATABASE board SET client_min_messages = 'error'"),
        Some("ALTER SYSTEM SET client_min_messages = 'error'"),
    ] {
        let Some(mut primary) = Cluster::private("") else { return };
        primary.set_up("board");
        primary.stop(Stop::Fast);
        let mut pair = Pair::of(primary, Replication::Synchronous, |port| port);
        let mut admin = pair.primary.client(Role::Superuser, "postgres");
        if let Some(hide) = hide {
            admin.batch_execute(hide).unwrap();
            admin.batch_execute("SELECT pg_reload_conf()").unwrap();
        }
        let mut server =
            launch(&pair.primary.url(Role::App, "board")).env("COLIBRI_DURABILITY", "replicated").start();
        server.data("task_create", json!({ "title": "on both" }));
        pair.standby.stop(Stop::Immediate);
        server.send_call("task_create", json!({ "title": "on one" }));
        let waits = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = 'test_app'";
        let began = Instant::now();
        while admin.query(waits, &[]).unwrap().is_empty() {
            assert!(began.elapsed() < PATIENCE, "{hide:?}: the commit does not wait");
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = server.wait();
        assert_eq!(ended.code(), 1, "{hide:?}: {}", ended.stderr);
        let acknowledged = ended.rest.iter().any(|reply| reply["result"]["structuredContent"]["ok"] == true);
        assert!(!acknowledged, "{hide:?}: {:?}", ended.rest);
    }
}

#[test]
fn a_running_server_notices_that_the_server_does_not_keep_calls_any_more() {
    for setting in ["fsync", "full_page_writes"] {
        let Some(cluster) = Cluster::private("") else { return };
        cluster.set_up("board");
        let mut server = launch(&cluster.url(Role::App, "board")).start();
        server.data("task_create", json!({ "title": "kept" }));
        cluster.configure(&format!("{setting} = off"));
        cluster.reload();
        let mut admin = cluster.client(Role::Superuser, "postgres");
        let began = Instant::now();
        let shown = |admin: &mut postgres::Client| -> String {
            admin.query_one(&format!("SHOW {setting}"), &[]).unwrap().get(0)
        };
        while shown(&mut admin) != "off" {
            assert!(began.elapsed() < PATIENCE, "the server does not read its settings");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(50));
        server.send_call("task_create", json!({ "title": "perhaps lost" }));
        let ended = server.wait();
        assert_eq!(ended.code(), 1, "{}", ended.stderr);
        let named =
            format!("{setting} = off where Colibri needs on, so a power cut may lose acknowledged calls");
        assert!(ended.stderr.contains(&named), "{}", ended.stderr);
    }
}

/// A change of the schema under a running server, and what it says.
const CHANGES: [(&str, &str); 6] = [
    ("CREATE RULE nothing AS ON INSERT TO colibri.tasks DO INSTEAD NOTHING", "table tasks"),
    (
        "CREATE FUNCTION public.other() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.title := ''x''; RETURN new; END'; \
         CREATE TRIGGER other BEFORE INSERT ON colibri.tasks FOR EACH ROW EXECUTE FUNCTION public.other()",
        "table tasks",
    ),
    ("ALTER TABLE colibri.thought_records DISABLE TRIGGER trg_thought_follow", "table thought_records"),
    ("ALTER TABLE colibri.merkle_roots ENABLE ROW LEVEL SECURITY", "table merkle_roots"),
    ("ALTER TABLE colibri.callers ADD COLUMN more text", "table callers"),
    ("ALTER TABLE colibri.skill_roots SET UNLOGGED", "table skill_roots"),
];

#[test]
fn a_running_server_notices_that_the_schema_was_changed() {
    std::thread::scope(|scope| {
        for (change, named) in CHANGES {
            scope.spawn(move || {
                let Some(database) = Database::new() else { return };
                let mut server = launch(&database.url(Role::App)).start();
                server.data("task_create", json!({ "title": "before" }));
                let mut admin = database.client(Role::Superuser);
                // What changes no promise does not stop it.
                let harmless =
                    "CREATE INDEX more ON colibri.tasks (title); GRANT SELECT ON colibri.tasks TO PUBLIC";
                admin.batch_execute(harmless).unwrap();
                std::thread::sleep(Duration::from_millis(5_500));
                server.data("task_create", json!({ "title": "between" }));
                admin.batch_execute(change).unwrap();
                std::thread::sleep(Duration::from_millis(5_500));
                server.send_call("task_list", json!({}));
                let ended = server.wait();
                assert_eq!(ended.code(), 1, "{change}: {}", ended.stderr);
                let said = format!("{named} is not what the migrations make");
                assert!(ended.stderr.contains(&said), "{change}: {}", ended.stderr);
            });
        }
    });
}

#[test]
fn an_idle_server_holds_one_connection_and_opens_none() {
    let Some(cluster) = Cluster::private("log_connections = on") else { return };
    cluster.set_up("board");
    let url = cluster.url(Role::App, "board");
    let mut servers: Vec<_> =
        (0..4).map(|_| launch(&url).env("COLIBRI_DATABASE_LEASE_SECONDS", "5").start()).collect();
    for server in &mut servers {
        server.data("task_create", json!({ "title": "then idle" }));
    }
    std::thread::sleep(Duration::from_secs(1));
    let opened = || cluster.log().matches("connection authorized: user=test_app").count();
    let before = opened();
    // Longer than a lease.
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(opened(), before, "an idle server has opened a connection");
    let held = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'test_app'";
    let held: i64 = cluster.client(Role::Superuser, "board").query_one(held, &[]).unwrap().get(0);
    assert_eq!(held, 4);
    // Its next call begins its lease again, and closes as it should.
    for server in &mut servers {
        server.data("task_create", json!({ "title": "not idle any more" }));
    }
    for server in servers {
        assert_eq!(server.finish().code(), 0);
    }
}
