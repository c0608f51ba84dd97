//! A server refuses to start on a database with an altered schema, and says what differs (postgres#start).

use colibri_test_support::client::Launch;
use colibri_test_support::postgres::{Database, Role};
use serde_json::json;

use super::reading::findings;
use crate::commands::shell;

/// A change, how it is undone, and what the refusal says of it.
const CHANGES: [(&str, &str, &str); 7] = [
    (
        "GRANT UPDATE, DELETE ON exits TO colibri_app",
        "REVOKE UPDATE, DELETE ON exits FROM colibri_app",
        "table exits is not what the migrations make",
    ),
    (
        "ALTER TABLE thought_records DISABLE TRIGGER trg_thought_follow",
        "ALTER TABLE thought_records ENABLE TRIGGER trg_thought_follow",
        "table thought_records is not what the migrations make",
    ),
    (
        "ALTER TABLE enters ADD COLUMN seen text",
        "ALTER TABLE enters DROP COLUMN seen",
        "table enters is not what the migrations make",
    ),
    (
        "CREATE UNIQUE INDEX tasks_by_title ON tasks (title)",
        "DROP INDEX tasks_by_title",
        "table tasks is not what the migrations make",
    ),
    (
        "ALTER VIEW task_event_list RENAME TO other",
        "ALTER VIEW other RENAME TO task_event_list",
        "view task_event_list is missing (and 1 more)",
    ),
    ("CREATE TABLE theirs (x int)", "DROP TABLE theirs", "table theirs is not Colibri's"),
    (
        "CREATE FUNCTION theirs() RETURNS void LANGUAGE sql AS 'SELECT'",
        "DROP FUNCTION theirs()",
        "function theirs() is not Colibri's",
    ),
];

fn launch(database: &Database, role: Role, mode: &str) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .env("COLIBRI_DATABASE_URL", database.url(role))
        .env("COLIBRI_MODE", mode)
}

#[test]
fn an_altered_schema_is_refused_by_name_and_one_that_is_put_right_is_not() {
    let Some(database) = Database::new() else { return };
    let mut client = database.client(Role::Superuser);
    let mut owner = |sql: &str| {
        client.batch_execute(&format!("SET search_path = colibri; SET ROLE colibri_owner; {sql}"))
    };
    for (change, undo, named) in CHANGES {
        owner(change).unwrap();
        for (role, mode) in [(Role::App, "FULL"), (Role::Read, "READONLY")] {
            let ended = launch(&database, role, mode).start().wait();
            assert_eq!(ended.code(), 1, "{change}: {}", ended.stderr);
            for part in
                ["[colibri] fatal: ", named, "Keep a backup as evidence", "have the owner undo the change"]
            {
                assert!(ended.stderr.contains(part), "{change}: {part:?} is missing: {}", ended.stderr);
            }
        }
        owner(undo).unwrap();
    }
    // What no promise rests on is for doctor to tell.
    owner("CREATE INDEX tasks_by_title ON tasks (title); GRANT USAGE ON SCHEMA colibri TO PUBLIC; GRANT SELECT ON exits TO PUBLIC").unwrap();
    let variables = [("COLIBRI_DATABASE_URL", database.url(Role::App))];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let report = shell().run_with(&variables, &["doctor", "--json"]).ends(0).json();
    let warned = findings(&report, "warn").join("\n");
    assert!(
        warned.contains("index tasks_by_title is not Colibri's (and 2 more); it changes nothing"),
        "{warned}"
    );
    // Settings of a database or a role change how the schema reads, and nothing of it.
    let mut client = database.client(Role::Superuser);
    for setting in [
        "bytea_output = 'escape'",
        "quote_all_identifiers = on",
        "standard_conforming_strings = off",
        "default_transaction_read_only = on",
    ] {
        let setting = setting.replace('\'', "''");
        let alter = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET {setting}', current_database()); END $$"
        );
        client.batch_execute(&alter).unwrap();
    }
    let mut client = database.client(Role::Superuser);
    let mut rows = |table: &str| {
        client.query_one(&format!("SELECT count(*) FROM colibri.{table}"), &[]).unwrap().get::<_, i64>(0)
    };
    assert_eq!((rows("enters"), rows("processes")), (0, 0), "a start that is refused writes nothing");
    let mut server = launch(&database, Role::App, "FULL").start();
    server.data("task_create", json!({ "title": "all is as it was" }));
    assert_eq!(server.finish().code(), 0);
    let verified = launch(&database, Role::App, "FULL").arg("verify").command().output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
}
