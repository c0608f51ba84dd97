//! The witness of a machine, in the words of a start and of doctor.

use colibri_test_support::client::Launch;
use colibri_test_support::postgres::{Database, Role};
use serde_json::json;
use tempfile::TempDir;

use super::reading::findings;
use crate::commands::shell;

#[test]
fn doctor_asks_the_witness_of_this_machine_and_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let (Some(first), Some(other)) = (Database::standing_for(&folder.path().join("first")), Database::new())
    else {
        return;
    };
    let witness = folder.path().join("witness");
    let shell = shell();
    let run = |database: &Database, arguments: &[&str]| {
        let (url, witness) = (database.url(Role::App), witness.to_str().unwrap());
        shell.run_with(&[("COLIBRI_DATABASE_URL", &url), ("COLIBRI_WITNESS_DIR", witness)], arguments)
    };
    let says = |database: &Database, level: &str| {
        let report = run(database, &["doctor", "--json"]).json();
        findings(&report, level).into_iter().filter(|line| line.starts_with("witness: ")).collect::<String>()
    };
    let make = "Make the folder that COLIBRI_WITNESS_DIR names";
    assert!(says(&first, "fail").contains(make), "{}", says(&first, "fail"));
    let refused = run(&first, &["call", "task_list"]).ends(1);
    assert!(refused.out.contains(make), "{}", refused.out);

    std::fs::create_dir(&witness).unwrap();
    assert!(says(&first, "ok").contains("the database holds every acknowledged call"));
    assert_eq!(std::fs::read_dir(&witness).unwrap().count(), 0, "doctor creates nothing");
    run(&first, &["call", "task_list"]).ends(0);
    assert!(says(&first, "ok").contains("the database holds every acknowledged call"));
    // Another board has a note of its own.
    assert!(says(&other, "ok").contains("the database holds every acknowledged call"));
    run(&other, &["call", "task_create", r#"{"title": "elsewhere"}"#]).ends(0);
    run(&first, &["call", "task_list"]).ends(0);
    // An old copy is the same board, under another name.
    let copy = first.copy(&folder.path().join("copy"));
    assert!(says(&copy, "ok").contains("the database holds every acknowledged call"));
    run(&first, &["call", "task_create", r#"{"title": "after the copy"}"#]).ends(0);
    assert!(says(&copy, "fail").contains("the database has lost acknowledged calls"));
    let refused = run(&copy, &["call", "task_list"]).ends(1);
    assert!(refused.out.contains("the database has lost acknowledged calls"), "{}", refused.out);
    run(&first, &["call", "task_list"]).ends(0);
    run(&other, &["call", "task_list"]).ends(0);
}

#[test]
fn a_running_server_notices_that_the_end_of_the_log_was_erased() {
    let Some(database) = Database::new() else { return };
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let mut server = launch.env("COLIBRI_DATABASE_URL", database.url(Role::App)).start();
    for title in ["one", "two"] {
        server.data("task_create", json!({ "title": title }));
    }
    // As a superuser can, with the triggers off and without cutting a connection.
    let erase = "SET session_replication_role = replica; SET search_path = colibri; \
                 DELETE FROM exits WHERE exit_no = (SELECT max(exit_no) FROM exits)";
    database.client(Role::Superuser).batch_execute(erase).unwrap();
    server.send_call("task_create", json!({ "title": "three" }));
    let ended = server.wait();
    assert_eq!(ended.code(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("the database has lost acknowledged calls"), "{}", ended.stderr);
}
