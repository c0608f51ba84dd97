//! Rows that the database loses or that another process has closed, one case at a time.

use std::time::{Duration, Instant};

use colibri_test_support::client::{PATIENCE, Server};
use colibri_test_support::log_chain::assert_log_is_sound;
use colibri_test_support::postgres::Stop;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};

use super::proxy::{Fault, Plan, Proxy, Way};
use super::world::{Target, World, launch};

/// Long enough for a test to change a row meanwhile.
const MEANWHILE: Duration = Duration::from_secs(2);

/// A call whose effects come late: meanwhile `change` has its enter row, whose number it gets. Returns the reply.
fn between_the_flights(world: &World, change: &str) -> (Value, Connection, Server) {
    let (proxy, database) = (Proxy::start(world.cluster.port()), world.database());
    let mut server = world.launch(&database, proxy.port()).start();
    // The first calls store who calls, and prepare the statements.
    for _ in 0..3 {
        proxy.script(Vec::new());
        server.data("task_create", json!({ "title": "before" }));
    }
    // The second flight begins behind the two boundaries of the first.
    let sent = proxy.passed(Way::Up);
    let at = sent.iter().enumerate().filter(|(_, tag)| **tag == b'S').nth(1).expect("two boundaries").0 + 1;
    let conn = Connection::in_cluster(&world.cluster, &database);
    let last =
        || conn.query_row("SELECT max(sequence_no) FROM enters", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = last();
    proxy.script(vec![Plan { way: Way::Up, at, fault: Fault::Delay(MEANWHILE) }]);
    let id = server.send_call("task_create", json!({ "title": "between" }));
    while last() == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(conn.execute(change, [last()]), Ok(1));
    let reply = server.receive();
    assert_eq!((&reply["id"], proxy.done()), (&json!(id), 1), "{reply}");
    (reply["result"]["structuredContent"]["error"]["message"].clone(), conn, server)
}

fn tasks_between(conn: &Connection) -> i64 {
    conn.query_row("SELECT count(*) FROM tasks WHERE title = 'between'", [], |row| row.get(0)).unwrap()
}

/// So it is after a database has stopped at once: the enter row was not on disk yet, and its number is given to another call.
#[test]
fn a_call_whose_enter_row_is_lost_ends_as_no_other_call() {
    let Some(world) = World::new("") else { return };
    for change in [
        "DELETE FROM enters WHERE sequence_no = ?1",
        "UPDATE enters SET correlation_id = 'another', boot_id = 'another' WHERE sequence_no = ?1",
    ] {
        let (message, conn, mut server) = between_the_flights(&world, change);
        let message = message.as_str().unwrap();
        assert!(message.contains("nothing of the call is stored, call again"), "{message}");
        assert_eq!(tasks_between(&conn), 0);
        // The next call closes no row of the other call's.
        server.data("task_create", json!({ "title": "after" }));
        assert_log_is_sound(&conn);
        assert_eq!(server.finish().code(), 0);
    }
}

#[test]
fn a_call_that_another_process_has_closed_stores_nothing() {
    let Some(world) = World::new("") else { return };
    let close = "INSERT INTO exits (sequence_no, outcome, error_code, exited_at, exit_no, prev_hash, row_hash) \
                 SELECT ?1, 'aborted', 'PROCESS_ABORTED', 't', exit_no + 1, row_hash, row_hash FROM exits ORDER BY exit_no DESC LIMIT 1";
    let (message, conn, server) = between_the_flights(&world, close);
    let message = message.as_str().unwrap();
    assert!(message.contains("another process has closed this call as aborted"), "{message}");
    assert_eq!(tasks_between(&conn), 0);
    drop(server);
}

#[test]
fn a_server_under_load_renews_its_lease() {
    let Some(world) = World::new("") else { return };
    let database = world.database();
    let target =
        Target::of(&world, &database, world.cluster.port()).with("COLIBRI_DATABASE_LEASE_SECONDS", 5);
    let mut server = launch(&target, &world.launch(&database, 0).folder()).start();
    let conn = Connection::in_cluster(&world.cluster, &database);
    let lease = || {
        let sql = "SELECT CAST(max(lease_until) AS text) FROM processes";
        conn.query_row(sql, [], |row| row.get::<_, Option<String>>(0)).unwrap()
    };
    server.data("task_create", json!({ "title": "load" }));
    let (began, first) = (Instant::now(), lease());
    assert!(first.is_some(), "a server that serves has a lease");
    while lease() == first {
        server.data("task_create", json!({ "title": "load" }));
        assert!(began.elapsed() < PATIENCE, "the lease is never renewed");
    }
    assert_eq!(server.finish().code(), 0);
}

/// `CREATE DATABASE … TEMPLATE` copies a database that had rows already.
#[test]
fn rows_of_a_copied_database_keep_the_order_of_their_creation_after_a_crash() {
    let Some(mut world) = World::new("") else { return };
    let database = world.database();
    let mut server = world.launch(&database, world.cluster.port()).start();
    let mut create = |world: &mut World, stops: bool| {
        if stops {
            world.cluster.stop(Stop::Immediate);
            world.cluster.start();
        }
        let tasks = ["a", "b", "c"].map(|title| {
            let task = server.data("task_create", json!({ "title": title }));
            task["id"].as_str().unwrap().to_owned()
        });
        let [first, .., last] = &tasks;
        server.data("task_update", json!({ "id": last, "depends_on": [first] }));
        tasks
    };
    let created: Vec<String> =
        [false, true, true].into_iter().flat_map(|stops| create(&mut world, stops)).collect();
    let conn = Connection::in_cluster(&world.cluster, &database);
    let listed: Vec<(i64, String)> = conn
        .prepare("SELECT rowid, id FROM tasks ORDER BY rowid")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let planted = listed.len() - created.len();
    assert!(listed.iter().zip(1..).all(|((rowid, _), number)| *rowid == number), "{listed:?}");
    assert!(listed[planted..].iter().map(|(_, id)| id).eq(&created), "{listed:?}");
    assert_eq!(server.finish().code(), 0);
}

/// What a process has only read may be gone after a crash, since no reply has promised it.
#[test]
fn a_reader_reports_no_loss_of_calls_that_were_never_acknowledged_as_durable() {
    // The server's own writer would save them.
    let Some(mut world) = World::new("wal_writer_delay = 10s\nwal_writer_flush_after = 1GB") else { return };
    let (database, port) = (world.database(), world.cluster.port());
    let target = Target::of(&world, &database, port);
    let folder = world.launch(&database, port).folder();
    let exits = |world: &World| {
        let conn = Connection::in_cluster(&world.cluster, &database);
        conn.query_row("SELECT count(*) FROM exits", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    // Full pages of the log are on the disk in any case, so a round may lose nothing.
    for _ in 0..20 {
        let lax = target.clone().with("COLIBRI_DURABILITY", "normal");
        let mut writer = launch(&lax, &folder).start();
        writer.data("task_create", json!({ "title": "not on the disk" }));
        let mut reader = launch(&target.clone().with("COLIBRI_MODE", "READONLY"), &folder).start();
        reader.data("task_list", json!({}));
        let before = exits(&world);
        world.cluster.stop(Stop::Immediate);
        world.cluster.start();
        reader.data("task_list", json!({}));
        assert_eq!(reader.finish().code(), 0);
        drop(writer);
        if exits(&world) < before {
            return;
        }
    }
    panic!("no round has lost a call");
}
