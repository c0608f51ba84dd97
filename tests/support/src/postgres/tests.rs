//! The clusters do what other tests rely on.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cluster::kill_server;
use super::place::Place;
use super::programs::Programs;
use super::{Cluster, Database, Pair, Replication, Role, Stop};
use crate::client::PATIENCE;

fn count(client: &mut postgres::Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).unwrap().get(0)
}

#[test]
fn databases_are_apart_and_go_with_their_test() {
    let (Some(one), Some(other)) = (Database::empty(), Database::empty()) else { return };
    one.client(Role::Superuser).batch_execute("CREATE TABLE a (b bigint)").unwrap();
    let sql = "SELECT count(*) FROM pg_tables WHERE tablename = 'a'";
    assert_eq!(count(&mut one.client(Role::Superuser), sql), 1);
    assert_eq!(count(&mut other.client(Role::Superuser), sql), 0);
    let name = one.name().to_owned();
    drop(one);
    let sql = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    assert_eq!(count(&mut other.client(Role::Superuser), &sql), 0);
}

#[test]
fn server_that_died_while_its_files_stayed_is_made_anew() {
    let Some(programs) = Programs::find() else { return };
    let first = Place::private();
    let join = || Cluster::join(programs, || Place::enter(&first.folder, 0).unwrap());
    let started = join();
    kill_server(started.data());
    let began = Instant::now();
    while postgres::Client::connect(&started.socket_url(Role::Superuser, "postgres"), postgres::NoTls).is_ok()
    {
        assert!(began.elapsed() < PATIENCE, "the server ends");
    }
    for cluster in [join(), join()] {
        assert_eq!(
            count(
                &mut cluster.client(Role::App, "postgres"),
                "SELECT count(*) FROM pg_roles WHERE rolname = 'colibri_app'"
            ),
            1
        );
    }
    kill_server(started.data());
    std::fs::remove_dir_all(&first.folder).unwrap();
}

#[test]
fn each_role_connects_by_its_password_and_is_in_its_group() {
    let Some(database) = Database::empty() else { return };
    for (role, group) in
        [(Role::Owner, "colibri_owner"), (Role::App, "colibri_app"), (Role::Read, "colibri_read")]
    {
        let sql = format!(
            "SELECT pg_has_role('{group}', 'member') AND NOT rolsuper FROM pg_roles WHERE rolname = current_user"
        );
        for url in [database.url(role), database.socket_url(role)] {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            assert!(client.query_one(&sql, &[]).unwrap().get::<_, bool>(0), "{role:?}");
            let wrong = url.replace(database.cluster().password(), "wrong");
            assert!(postgres::Client::connect(&wrong, postgres::NoTls).is_err(), "{role:?}");
        }
    }
}

#[test]
fn server_that_is_stopped_at_once_keeps_what_was_committed() {
    let Some(mut cluster) = Cluster::private("") else { return };
    let sql = "CREATE TABLE a (b bigint); INSERT INTO a VALUES (1)";
    cluster.client(Role::Superuser, "postgres").batch_execute(sql).unwrap();
    cluster.stop(Stop::Immediate);
    cluster.start();
    assert_eq!(count(&mut cluster.client(Role::Superuser, "postgres"), "SELECT count(*) FROM a"), 1);
    assert!(cluster.log().contains("database system was not properly shut down"), "{}", cluster.log());
    let folder = cluster.data().parent().unwrap().to_owned();
    drop(cluster);
    assert!(!folder.exists(), "the cluster's folder goes with it");
}

#[test]
fn synchronous_standby_takes_over_with_every_commit() {
    let Some(mut pair) = Pair::start(Replication::Synchronous) else { return };
    pair.primary.client(Role::Superuser, "postgres").batch_execute("CREATE TABLE a (b bigint)").unwrap();
    for number in 0..50_i64 {
        let mut client = pair.primary.client(Role::Superuser, "postgres");
        client.execute("INSERT INTO a VALUES ($1)", &[&number]).unwrap();
    }
    pair.fail_over();
    let mut client = pair.standby.client(Role::Superuser, "postgres");
    assert_eq!(count(&mut client, "SELECT count(*) FROM a"), 50);
    client.execute("INSERT INTO a VALUES (50)", &[]).unwrap();
}

/// Set for the process that the test below kills.
const HOLD: &str = "COLIBRI_TEST_HOLD_CLUSTER";

#[test]
fn killed_test_leaves_neither_server_nor_folder() {
    if std::env::var_os(HOLD).is_some() {
        let cluster = Cluster::private("").expect("its parent has found PostgreSQL");
        // On a line of its own: the harness begins one with the test's name.
        writeln!(std::io::stdout(), "\nfolder {}", cluster.data().display()).unwrap();
        std::thread::sleep(PATIENCE);
    }
    if super::Programs::find().is_none() {
        return;
    }
    let name = "postgres::tests::killed_test_leaves_neither_server_nor_folder";
    let mut held = Command::new(std::env::current_exe().unwrap());
    held.args(["--exact", name, "--nocapture"]).env(HOLD, "1").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut held = held.spawn().unwrap();
    let lines = BufReader::new(held.stdout.take().unwrap()).lines().map_while(Result::ok);
    let data = lines.filter_map(|line| Some(line.strip_prefix("folder ")?.to_owned())).next().unwrap();
    let data = Path::new(&data);
    let server = std::fs::read_to_string(data.join("postmaster.pid")).unwrap();
    let server = Path::new("/proc").join(server.lines().next().unwrap());
    assert!(server.exists() && data.exists());
    held.kill().unwrap();
    held.wait().unwrap();
    let began = Instant::now();
    let lives = || std::fs::read_link(server.join("cwd")).is_ok_and(|folder| folder == data);
    while lives() || data.exists() {
        assert!(began.elapsed() < PATIENCE, "{} is left", data.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn database_of_the_template_is_migrated_and_its_roles_have_their_rights() {
    let Some(database) = Database::new() else { return };
    let delete = "DELETE FROM colibri.thought_records";
    for (role, may_read) in [(Role::App, true), (Role::Read, true)] {
        let mut client = database.client(role);
        assert_eq!(client.query("SELECT * FROM colibri.thought_records", &[]).is_ok(), may_read, "{role:?}");
        assert!(client.batch_execute(delete).is_err(), "{role:?}");
    }
    database.client(Role::Owner).batch_execute(&format!("SET ROLE colibri_owner; {delete}")).unwrap();
}

#[test]
fn database_that_stands_for_a_file_is_kept_as_long_as_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("colibri.db");
    let Some(database) = Database::standing_for(&path) else { return };
    database.client(Role::Superuser).batch_execute("CREATE TABLE a (b bigint)").unwrap();
    let again = Database::standing_for(&path).unwrap();
    assert_eq!(again.name(), database.name());
    let copy = again.copy(&folder.path().join("copy.db"));
    assert_eq!(count(&mut copy.client(Role::Superuser), "SELECT count(*) FROM a"), 0);
    drop(folder);
    let other = tempfile::tempdir().unwrap();
    let other = Database::standing_for(&other.path().join("colibri.db")).unwrap();
    let sql = format!("SELECT count(*) FROM pg_database WHERE datname = '{}'", database.name());
    assert_eq!(count(&mut other.client(Role::Superuser), &sql), 0);
}
