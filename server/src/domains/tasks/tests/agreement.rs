//! What is written down twice agrees: state names, and which migration makes which table.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::domains::tasks::state::TASK_STATES;
use crate::migrations::MIGRATIONS;
use rusqlite::Connection;

use crate::domains::tasks::tests::support::connection;

fn root(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// The first bracketed list after `marker`, its items without quotes.
fn list_after(text: &str, marker: &str, open: char, close: char) -> Vec<String> {
    let rest = &text[text.find(marker).unwrap_or_else(|| panic!("no {marker}")) + marker.len()..];
    let start = rest.find(open).unwrap() + 1;
    let end = start + rest[start..].find(close).unwrap();
    rest[start..end].split(',').map(|item| item.trim().trim_matches('\'').to_owned()).collect()
}

#[test]
fn the_state_names_of_catalogue_database_and_engine_agree() {
    let engine: Vec<String> = TASK_STATES.iter().map(ToString::to_string).collect();
    assert_eq!(list_after(&root("catalogue/types.yaml"), "TaskStatus:", '[', ']'), engine, "catalogue");
    let schema: String = connection()
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'tasks'", [], |row| row.get(0))
        .unwrap();
    let check = &schema[schema.find("CASE status").expect("the CHECK of tasks.status")..];
    let check = &check[..check.find("ELSE").expect("its end")];
    let checked: Vec<&str> = check.split('\'').skip(1).step_by(2).collect();
    assert_eq!(checked, engine, "CHECK of tasks.status");
}

#[test]
fn the_database_takes_the_states_of_the_engine_and_no_other() {
    let db = connection();
    let insert = |status: &str| {
        db.execute(
            "INSERT INTO tasks (id, title, status, created_at, updated_at) VALUES (?1, 't', ?2, 't', 't')",
            [format!("{status:>36}"), status.to_owned()],
        )
    };
    for state in TASK_STATES {
        insert(&state.to_string()).unwrap();
    }
    for other in ["FOO", "init", "", "DONE "] {
        insert(other).unwrap_err();
    }
}

/// `(table, migration)` pairs of the ownership map.
fn mapped() -> BTreeSet<(String, String)> {
    let map = root("migrations/schema.sql");
    assert!(map.lines().all(|line| line.is_empty() || line.starts_with("--")), "schema.sql is comments only");
    let field = |line: &str, name: &str| line.strip_prefix(name).map(|rest| rest.trim().to_owned());
    let mut pairs = BTreeSet::new();
    let mut table = None;
    for line in map.lines() {
        table = field(line, "-- table:").or(table);
        if let Some(migration) = field(line, "--   migration:") {
            pairs.insert((table.take().expect("a migration follows its table"), migration));
        }
    }
    pairs
}

#[test]
fn the_ownership_map_names_every_table_and_its_migration() {
    let db = Connection::open_in_memory().unwrap();
    let mut made = BTreeSet::new();
    let mut known = BTreeSet::new();
    for migration in MIGRATIONS {
        db.execute_batch(migration.sql).unwrap();
        let mut statement = db
            .prepare(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'",
            )
            .unwrap();
        let tables: BTreeSet<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(|table| table.unwrap()).collect();
        made.extend(tables.difference(&known).map(|table| (table.clone(), migration.name().to_owned())));
        known = tables;
    }
    assert_eq!(mapped(), made);
}
