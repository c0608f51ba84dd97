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
        assert_eq!(run(&["log"]).ends(0).out, "No call matches.\n");
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
    client.batch_execute("INSERT INTO colibri.schema_version (version) VALUES (18)").unwrap();
    assert!(read(&database.url(Role::Read)).contains("schema version 18, and this release works with 17"));
    client.batch_execute("REVOKE USAGE ON SCHEMA colibri FROM colibri_read").unwrap();
    assert!(read(&database.url(Role::Read)).contains("GRANT colibri_read"));
    let gone = read(&database.url(Role::Read).replace(database.name(), "c4naryName"));
    assert!(gone.contains("does not have the database") && !gone.contains("c4nary"), "{gone}");
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

/// The findings of `doctor` at one level, as `check: message`.
pub fn findings(report: &Value, level: &str) -> Vec<String> {
    let all = report["findings"].as_array().unwrap();
    let chosen = all.iter().filter(|finding| finding["level"] == level);
    chosen.map(|f| format!("{}: {}", f["check"].as_str().unwrap(), f["message"].as_str().unwrap())).collect()
}

#[test]
fn doctor_examines_a_shared_database() {
    let Some(database) = Database::new() else { return };
    let shell = shell();
    let doctor = |url: &str, more: &[(&str, &str)]| {
        let variables = [&[("COLIBRI_DATABASE_URL", url)], more].concat();
        let run = shell.run_with(&variables, &["doctor", "--json"]);
        let login = url.split_once("://").unwrap().1;
        assert!(!run.out.contains(login) && !run.err.contains(login), "{}", run.out);
        run.json()
    };
    let report = doctor(&database.url(Role::App), &[]);
    assert_eq!(findings(&report, "fail"), Vec::<String>::new(), "{report:#}");
    let fine = findings(&report, "ok").join("\n");
    for text in [
        "rights: the login role is a member of colibri_app",
        "schema: version 17, tables and rights",
        "clock: ",
    ] {
        assert!(fine.contains(text), "{text}: {fine}");
    }
    let warned = findings(&doctor(&database.url(Role::Superuser), &[]), "warn").join("\n");
    assert!(warned.contains("rights: this login is a superuser"), "{warned}");
    let warned = findings(&doctor(&database.url(Role::Owner), &[]), "warn").join("\n");
    assert!(warned.contains("is a member of colibri_owner"), "{warned}");
    let failed = findings(&doctor(&database.url(Role::Read), &[]), "fail").join("\n");
    assert!(failed.contains("rights: this login is not a member of colibri_app"), "{failed}");
    let report = doctor(&database.url(Role::Read), &[("COLIBRI_MODE", "READONLY")]);
    assert_eq!(findings(&report, "fail"), Vec::<String>::new(), "{report:#}");
    let failed = findings(&doctor(&database.url(Role::App), &[("COLIBRI_DURABILITY", "replicated")]), "fail");
    assert!(failed.join("\n").contains("waits for no standby"), "{failed:?}");
    let mut client = database.client(Role::Superuser);
    client.batch_execute("GRANT DELETE ON colibri.enters TO colibri_app").unwrap();
    let failed = findings(&doctor(&database.url(Role::App), &[]), "fail").join("\n");
    assert!(failed.contains("schema: table enters is not what the migrations make"), "{failed}");
    client.batch_execute("DROP SCHEMA colibri CASCADE").unwrap();
    let failed = findings(&doctor(&database.url(Role::App), &[]), "fail").join("\n");
    assert!(failed.contains("schema: the database has no schema"), "{failed}");
}

/// A password that an agent repeats is in no reply, no row and no file.
#[test]
fn machines_11_a_canary_password_is_in_no_byte_of_any_output_row_or_file() {
    const CANARY: &str = "c4nary/P@ssw0rd";
    let Some(database) = Database::new() else { return };
    let role = format!("canary_{}", database.name());
    let mut client = database.client(Role::Superuser);
    client
        .batch_execute(&format!(
            "CREATE ROLE {role} LOGIN PASSWORD '{CANARY}' IN ROLE colibri_app, colibri_owner"
        ))
        .unwrap();
    let place = database.url(Role::App);
    let place = place.rsplit_once('@').unwrap().1;
    let url = format!("postgres://{role}:c4nary%2FP%40ssw0rd@{place}");
    let shell = shell();
    let variables = [("COLIBRI_DATABASE_URL", url.as_str()), ("COLIBRI_LOG_LEVEL", "trace")];
    let mut said = String::new();
    let title =
        serde_json::json!({ "title": format!("use {url}"), "description": format!("password {CANARY}") });
    let title = title.to_string();
    for line in [
        &["call", "task_create", &title][..],
        &["call", "task_create", &title.replace("title", CANARY)],
        &["call", &url],
        &["call", "server_health"],
        &["call", "task_list"],
        &["log", "--json"],
        &["doctor", "--json"],
        &["doctor"],
        &["verify", "--write-checkpoint", "pin.json"],
        &["backup", "backup.db"],
        &["postgres", "setup"],
        &["postgres", "migrate"],
        &["copy", "backup.db"],
        &["restore", "backup.db"],
        &["reputation", "export"],
        &["--help"],
    ] {
        let run = shell.run_with(&variables, line);
        said.push_str(&format!("{line:?} {:?}\n{}{}\n", run.code, run.out, run.err));
    }
    let said = said.replace(&format!("{:?}", &title), "").replace(&format!("{:?}", &url), "");
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(shell.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            bytes.extend(std::fs::read(path).unwrap());
        }
    }
    assert!(shell.path().join("backup.db").exists(), "{said}");
    for row in
        client.query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'colibri'", &[]).unwrap()
    {
        let table: String = row.get(0);
        for row in client.query(&format!("SELECT t::text FROM colibri.{table} AS t"), &[]).unwrap() {
            bytes.extend(row.get::<_, String>(0).into_bytes());
        }
    }
    client.batch_execute(&format!("DROP ROLE {role}")).unwrap();
    let stored = String::from_utf8_lossy(&bytes);
    assert!(stored.contains("use [redacted]"), "the call was stored");
    for form in ["c4nary", "P@ssw0rd", "P%40ssw0rd", role.as_str()] {
        // An argument of this test's own is told apart from what the program says.
        let lines: Vec<&str> =
            said.lines().filter(|line| line.contains(form) && !line.starts_with('[')).collect();
        assert!(lines.is_empty(), "{form}: {lines:#?}");
        assert!(form == role || !stored.contains(form), "{form} is stored");
    }
}
