//! `colibri postgres`: the operator's commands, typed against a server.

use colibri::shared_schema::{CATALOG, SETUP};
use colibri_test_support::postgres::{Cluster, Database, Role};
use colibri_test_support::shell::{Run, Shell};

use crate::commands::shell;

const URL: &str = "COLIBRI_DATABASE_URL";

/// Runs `colibri postgres`, and checks that it shows nothing of the URL.
fn postgres(shell: &Shell, url: &str, arguments: &[&str]) -> Run {
    let run = shell.run_with(&[(URL, url)], &[&["postgres"][..], arguments].concat());
    assert_hidden(&run, url);
    run
}

fn assert_hidden(run: &Run, url: &str) {
    let login = url.split_once("://").unwrap().1.split('@').next().unwrap();
    let host = url.rsplit_once('@').unwrap().1;
    let (user, password) = login.split_once(':').unwrap();
    for part in [url, password, user, host].into_iter().filter(|part| *part != "postgres") {
        assert!(!run.out.contains(part) && !run.err.contains(part), "{part}: {}{}", run.out, run.err);
    }
}

fn lines(run: &Run) -> Vec<&str> {
    run.out.lines().map(|line| line.split(" a login role of").next().unwrap()).collect()
}

#[test]
fn the_sql_of_setup_is_printed_without_a_server() {
    let shell = shell();
    let run = shell.run(&["postgres", "setup", "--print"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), SETUP, ""));
}

#[test]
fn setup_and_migrations_run_once_and_again() {
    let Some(database) = Database::empty() else { return };
    let shell = shell();
    let (superuser, owner) = (database.url(Role::Superuser), database.url(Role::Owner));
    let early = postgres(&shell, &owner, &["migrate"]);
    assert_eq!(early.code, Some(1), "{}", early.out);
    assert!(early.err.contains("run `colibri postgres setup` first"), "{}", early.err);
    let set_up = postgres(&shell, &superuser, &["setup"]);
    assert_eq!(set_up.code, Some(0), "{}", set_up.err);
    let said = lines(&set_up);
    // The roles belong to the cluster, which other tests share.
    assert_eq!(said[0], "role colibri_owner: was there; its rights are in order");
    assert_eq!(said[3..], ["schema colibri: made", "next: colibri postgres migrate"]);
    let migrated = postgres(&shell, &owner, &["migrate"]);
    assert_eq!(migrated.code, Some(0), "{}", migrated.err);
    let expected = [
        "migration 015_base: done",
        "migration 016_wrap: done",
        "migration 017_call_notes: done",
        "schema version 17",
        "next: give each machine",
    ];
    assert_eq!(lines(&migrated), expected);
    let again = postgres(&shell, &owner, &["migrate"]);
    assert_eq!(lines(&again), ["schema version 17: nothing to do", "next: give each machine"]);
    let again = postgres(&shell, &superuser, &["setup"]);
    assert_eq!(lines(&again)[4], "next: give each machine");
    let tables =
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'colibri' AND tableowner = 'colibri_owner'";
    let tables = database.client(Role::Superuser).query_one(tables, &[]).unwrap().get::<_, i64>(0);
    let expected = CATALOG.lines().filter(|line| line.starts_with("table ")).count();
    assert_eq!(usize::try_from(tables), Ok(expected));
}

#[test]
fn a_role_that_may_not_is_told_what_to_do() {
    let Some(database) = Database::empty() else { return };
    let shell = shell();
    let app = database.url(Role::App);
    let refused = postgres(&shell, &app, &["setup"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("name a superuser, or the database's owner"), "{}", refused.err);
    postgres(&shell, &database.url(Role::Superuser), &["setup"]);
    let refused = postgres(&shell, &app, &["migrate"]);
    assert!(refused.code == Some(1) && refused.err.contains("no member of colibri_owner"), "{}", refused.err);
}

#[test]
fn a_changed_schema_is_told_object_by_object_and_a_newer_one_is_left_alone() {
    let Some(database) = Database::new() else { return };
    let shell = shell();
    let owner = database.url(Role::Owner);
    let mut client = database.client(Role::Superuser);
    client
        .batch_execute(
            "ALTER TABLE colibri.trail_heads DISABLE TRIGGER trg_heads_step; DROP VIEW colibri.action_events;
             CREATE TABLE colibri.more (n bigint)",
        )
        .unwrap();
    let run = postgres(&shell, &owner, &["migrate"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    for line in [
        "differs: table trail_heads is not what the migrations make\n",
        "differs: view action_events is missing\n",
        "differs: table more is not Colibri's\n",
    ] {
        assert!(run.out.contains(line), "{}", run.out);
    }
    client.batch_execute("INSERT INTO colibri.schema_version (version) VALUES (18)").unwrap();
    let run = postgres(&shell, &owner, &["migrate"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("schema version 18, and this release works with 17"), "{}", run.err);
}

#[test]
fn migrations_that_start_together_run_once() {
    let Some(database) = Database::empty() else { return };
    let (superuser, owner) = (database.url(Role::Superuser), database.url(Role::Owner));
    postgres(&shell(), &superuser, &["setup"]);
    let runs: Vec<Run> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| postgres(&shell(), &owner, &["migrate"]));
        let started: Vec<_> = (0..4).map(|_| start()).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(
        runs.iter().all(|run| run.code == Some(0)),
        "{}",
        runs.iter().map(|run| &*run.err).collect::<String>()
    );
    assert_eq!(runs.iter().filter(|run| run.out.contains("015_base: done")).count(), 1);
}

#[test]
fn machines_11_no_command_line_repeats_a_url() {
    let shell = shell();
    let url = "postgres://anna:c4naryPassw0rd@db.team.example:1/board";
    for line in [
        &["verify", url][..],
        &["verify", "--db", url, "--bogus"],
        &["postgres", "setup", url],
        &["postgres", "setup", "--print", "--db", url, "more"],
        &["postgres", "migrate", &format!("--db={url}"), "--bogus"],
        &["log", "--since", url],
        &["call", "task_list", url],
        &[url],
        &[&format!("--{url}")],
        &["postgres", "migrate", "--db", "POSTGRES://anna:c4naryPassw0rd@db.team.example:1/board"],
        &["postgres", "migrate", "--db", "mysql://anna:c4naryPassw0rd@db.team.example:1/board"],
        &["postgres", "migrate", "--db", "postgres://anna:c4naryPassw0rd@db.team.example:1/board?x"],
    ] {
        let run = shell.run(line);
        assert_ne!(run.code, Some(0), "{line:?}");
        for part in ["c4nary", "anna", "db.team"] {
            assert!(!run.out.contains(part) && !run.err.contains(part), "{line:?}: {}{}", run.out, run.err);
        }
    }
    let warned = shell.run(&["postgres", "setup", "--print", "--db", url]);
    assert!(warned.code == Some(0) && warned.err.contains("can read the password"), "{}", warned.err);
}

#[test]
fn a_server_that_cannot_be_reached_or_refuses_is_told_in_words() {
    let shell = shell();
    let run = postgres(&shell, "postgres://anna:c4naryPassw0rd@127.0.0.1:1/board", &["migrate"]);
    assert!(run.code == Some(1) && run.err.contains("cannot be reached: connection refused"), "{}", run.err);
    let Some(cluster) = Cluster::shared() else { return };
    let url = format!("postgres://test_app:c4naryPassw0rd@127.0.0.1:{}/postgres", cluster.port());
    let run = postgres(&shell, &url, &["setup"]);
    assert!(run.code == Some(1) && run.err.contains("refuses the password"), "{}", run.err);
}

#[test]
fn a_schema_of_another_program_is_left_alone() {
    let Some(database) = Database::empty() else { return };
    let mut client = database.client(Role::Superuser);
    client
        .batch_execute("CREATE SCHEMA colibri; CREATE TABLE colibri.calls (x int); GRANT ALL ON SCHEMA colibri TO PUBLIC")
        .unwrap();
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'colibri'::regnamespace";
    for command in ["setup", "migrate"] {
        let run = postgres(&shell(), &database.url(Role::Superuser), &[command]);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.err.contains("the schema colibri belongs to the role "), "{command}: {}", run.err);
        assert_eq!(client.query_one(tables, &[]).unwrap().get::<_, i64>(0), 1);
    }
}
