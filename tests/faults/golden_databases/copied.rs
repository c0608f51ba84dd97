//! Each goes into PostgreSQL and back: the tables are equal, an earlier checkpoint holds on both, and the copy answers as the original did.

use std::path::Path;

use colibri_test_support::postgres::{Database, Role};
use colibri_test_support::shell::{Run, Shell};
use colibri_test_support::wrapped;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

use super::golden::Golden;
use super::{all, content, opened};

fn strings(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Every value of every table, and every object of the schema.
fn rows(file: &Path) -> Vec<(String, Vec<Value>)> {
    let conn = Connection::open(file).unwrap();
    let mut found = Vec::new();
    for table in strings(&conn, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
        let keyed = [
            "tasks",
            "audit_sessions",
            "merkle_roots",
            "task_dependencies",
            "experience_tokens",
            "mcp_witnesses",
        ];
        let rowid = if keyed.contains(&table.as_str()) { "rowid, " } else { "" };
        let mut statement = conn.prepare(&format!("SELECT {rowid}* FROM \"{table}\" ORDER BY 1, 2")).unwrap();
        let width = statement.column_count();
        let mut read = statement.query([]).unwrap();
        while let Some(row) = read.next().unwrap() {
            found.push((table.clone(), (0..width).map(|at| row.get(at).unwrap()).collect()));
        }
    }
    let objects =
        strings(&conn, "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY type, name");
    found.extend(objects.into_iter().map(|object| (object, Vec::new())));
    found
}

fn copy(shell: &Shell, from: &str, to: &str) -> Run {
    shell.run(&["copy", from, to])
}

fn there_and_back(golden: &Golden) {
    let folder = golden.unpacked();
    // A start migrates it, and makes calls of its own.
    assert_eq!(opened::differences(golden, &folder), Vec::<String>::new());
    // Calls to another server are copied, too, also where the file has none yet.
    if golden.expected["tables"]["wrap_runs"].as_i64().unwrap_or(0) == 0 {
        wrapped::fill(&folder.path().join("colibri.db"));
    }
    let shell = Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let original = folder.path().join("colibri.db");
    let (original, back) = (original.to_str().unwrap(), shell.path().join("back.db"));
    let pin = shell.path().join("pin.json");
    let pin = pin.to_str().unwrap();
    shell.run(&["verify", "--db", original, "--write-checkpoint", pin, "--key", content::PUBLIC_KEY]).ends(0);
    let Some(database) = Database::new() else { return };
    let url = database.url(Role::Owner);
    let copied = copy(&shell, original, &url).ends(0);
    assert!(copied.out.contains("sound: ") && !copied.out.contains(&url), "{}", copied.out);
    shell.run(&["verify", "--db", &database.url(Role::Read), "--checkpoint", pin]).ends(0);
    copy(&shell, &url, back.to_str().unwrap()).ends(0);
    shell.run(&["verify", "--db", back.to_str().unwrap(), "--checkpoint", pin]).ends(0);
    let (before, after) = (rows(Path::new(original)), rows(&back));
    let differs = before.iter().zip(&after).find(|(one, other)| one != other);
    assert!(before == after, "{}: {differs:?}", golden.name);
    // A second copy needs a place of its own, and changes nothing.
    let again = copy(&shell, original, &url).ends(2);
    assert!(again.err.contains("needs an empty one"), "{}", again.err);
    let again = copy(&shell, &url, back.to_str().unwrap()).ends(2);
    assert!(again.err.contains("is there already"), "{}", again.err);
    // A server goes on where the copy ends.
    std::fs::rename(&back, original).unwrap();
    for side in ["-wal", "-shm", ".queue"] {
        let _ = std::fs::remove_file(format!("{original}{side}"));
    }
    let mut server = opened::signing(&folder).start();
    server.data("task_list", json!({}));
    drop(server);
    shell.run(&["verify", "--db", original, "--checkpoint", pin]).ends(0);
}

#[test]
fn machines_10_each_goes_to_postgresql_and_back() {
    for golden in all() {
        there_and_back(&golden);
    }
}
