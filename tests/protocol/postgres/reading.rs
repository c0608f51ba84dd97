//! Commands that read a shared database.

use colibri_test_support::postgres::{Database, Role};
use serde_json::Value;

use crate::commands::shell;

#[test]
fn an_empty_database_is_sound_and_read_by_every_command() {
    let Some(database) = Database::new() else { return };
    let shell = shell();
    let url = database.url(Role::Read);
    let variables = [("COLIBRI_DATABASE_URL", url.as_str())];
    for by_option in [false, true] {
        let run = |arguments: &[&str]| match by_option {
            false => shell.run_with(&variables, arguments),
            true => shell.run(&[arguments, &["--db", &url]].concat()),
        };
        let verified = run(&["verify"]).ends(0);
        assert!(verified.out.starts_with("the PostgreSQL database\n"), "{}", verified.out);
        let report: Value = run(&["verify", "--json"]).ends(0).json();
        assert_eq!(report["sound"], true, "{report}");
        assert_eq!(run(&["log"]).ends(0).out, "no call matches\n");
        assert_eq!(run(&["reputation", "export"]).ends(0).out, "");
        run(&["reputation", "verify"]).ends(0);
        run(&["reputation", "epoch"]).ends(0);
        let missing = run(&["report", "--session", "none"]);
        assert!(missing.code == Some(2) && !missing.err.contains("127.0.0.1:"), "{}", missing.err);
    }
}

#[test]
fn what_cannot_be_read_is_told_with_a_way_out() {
    let Some(database) = Database::empty() else { return };
    let shell = shell();
    let read = |url: &str| shell.run_with(&[("COLIBRI_DATABASE_URL", url)], &["log"]).ends(2).err;
    assert!(read(&database.url(Role::Read)).contains("no schema of Colibri's"));
    drop(database);
    let Some(database) = Database::new() else { return };
    let mut client = database.client(Role::Superuser);
    client.batch_execute("INSERT INTO colibri.schema_version (version) VALUES (16)").unwrap();
    assert!(read(&database.url(Role::Read)).contains("schema version 16, and this release reads 15"));
    client.batch_execute("REVOKE USAGE ON SCHEMA colibri FROM colibri_read").unwrap();
    assert!(read(&database.url(Role::Read)).contains("GRANT colibri_read"));
    let gone = read(&database.url(Role::Read).replace(database.name(), "c4naryName"));
    assert!(gone.contains("does not have this database") && !gone.contains("c4nary"), "{gone}");
}

#[test]
fn a_changed_catalog_and_a_broken_reference_are_findings() {
    let Some(database) = Database::new() else { return };
    let shell = shell();
    let mut client = database.client(Role::Superuser);
    client
        .batch_execute(
            "SET session_replication_role = replica; SET search_path = colibri;
             INSERT INTO mcp_consensus_transitions VALUES (7, 0, 'PENDING', 'SOFT', 1, '');
             ALTER TABLE trail_heads DISABLE TRIGGER trg_heads_step; DROP TABLE skills;
             INSERT INTO schema_version (version) VALUES (99)",
        )
        .unwrap();
    let url = database.url(Role::Read);
    let report = shell.run_with(&[("COLIBRI_DATABASE_URL", &url)], &["verify", "--json"]).ends(1).json();
    let codes: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect();
    for code in ["USER_VERSION", "OBJECT_CHANGED", "OBJECT_MISSING", "REFERENCE_BROKEN", "UNREADABLE"] {
        assert!(codes.contains(&code), "{code}: {report:#}");
    }
    // A check that cannot go on does not keep the others from it.
    let unreadable =
        report["checks"].as_array().unwrap().iter().filter(|check| check["findings"] == 0).count();
    assert!(unreadable >= 5, "{report:#}");
}
