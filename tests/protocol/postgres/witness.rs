//! The witness of a machine, in the words of a start and of doctor.

use colibri_test_support::postgres::{Database, Role};
use tempfile::TempDir;

use super::reading::findings;
use crate::commands::shell;

#[test]
fn doctor_asks_the_witness_of_this_machine_and_changes_nothing() {
    let (Some(first), Some(other)) = (Database::new(), Database::new()) else { return };
    let folder = TempDir::new().unwrap();
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
    assert!(says(&first, "ok").contains("the database holds the last call"));
    assert_eq!(std::fs::read_dir(&witness).unwrap().count(), 0, "doctor creates nothing");
    run(&first, &["call", "task_list"]).ends(0);
    assert!(says(&first, "ok").contains("the database holds the last call"));
    assert!(says(&other, "fail").contains("the database has lost acknowledged calls"));
}
