//! A stored database in the hands of this version.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use colibri::migrations::MIGRATIONS;
use colibri_runtime::kernel::SystemIds;
use colibri_store::sqlite::open::migrate::{Migration, latest};
use colibri_store::sqlite::open::process::boot_id;
use colibri_store::sqlite::open::{StoreOptions, WAIT, init_db};
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::stored::stored;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_databases::content;
use crate::golden_databases::golden::{Golden, PARTS};

/// The real server on the folder's file, with the skills that the golden databases know.
pub fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder.clone())
        .env("COLIBRI_SKILLS_ROOT", folder.path().join("skills"))
}

/// The same with the key that has signed the golden databases.
pub fn signing(folder: &Arc<TempDir>) -> Launch {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.path().join("signing.key");
    std::fs::write(&path, content::SEED).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    launch(folder).env("COLIBRI_PROOF_SIGNING_KEY_FILE", path)
}

/// What this version says otherwise than the one that wrote it; the folder is not to be used again.
pub fn differences(golden: &Golden, folder: &Arc<TempDir>) -> Vec<String> {
    let mut found = Vec::new();
    content::skills(folder.path());
    // As it lies there, before any start has touched it.
    compare("as it lies", &golden.expected["tables"], &tables(folder), &mut found);
    if golden.expected["schema_version"] == json!(latest(MIGRATIONS)) {
        verify(golden, folder, &mut found);
    }
    let mut server = launch(folder).start();
    replies(&golden.expected["replies"], &mut server, &mut found);
    state(golden, folder, &mut found);
    end(server, &mut found);
    // Seals are signed from then on: an unsigned one would be a finding beside the key.
    let mut server = signing(folder).start();
    content::goes_on(&mut server);
    end(server, &mut found);
    verify(golden, folder, &mut found);
    for export in golden.expected["exports"].as_array().unwrap() {
        let path = folder.path().join("export.jsonl");
        let text = export.as_str().unwrap();
        std::fs::write(&path, text).unwrap();
        let seal: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let root = seal["tree_head"]["head_hash"].as_str().unwrap();
        run(folder, &["verify-export", "export.jsonl", "--root", root], &mut found);
    }
    found
}

fn end(server: Server, found: &mut Vec<String>) {
    let ended = server.finish();
    if ended.code() != 0 {
        found.push(format!("the server ends with {}: {}\n", ended.code(), ended.stderr));
    }
}

/// `colibri verify`, with the checkpoint that the version took and its key.
fn verify(golden: &Golden, folder: &Arc<TempDir>, found: &mut Vec<String>) {
    std::fs::write(folder.path().join("then.json"), golden.expected["checkpoint"].as_str().unwrap()).unwrap();
    run(folder, &["verify", "--checkpoint", "then.json", "--key", content::PUBLIC_KEY], found);
}

fn run(folder: &Arc<TempDir>, arguments: &[&str], found: &mut Vec<String>) {
    let launch = arguments.iter().fold(launch(folder), Launch::arg);
    let output = launch.command().output().unwrap();
    if output.status.code() != Some(0) {
        let text = [output.stdout, output.stderr].concat();
        found.push(format!(
            "{arguments:?} ends with {}: {}\n",
            output.status,
            String::from_utf8_lossy(&text)
        ));
    }
}

fn replies(expected: &Value, server: &mut Server, found: &mut Vec<String>) {
    for call in expected.as_array().unwrap() {
        let tool = call["tool"].as_str().unwrap();
        let data = server.call(tool, call["arguments"].clone())["data"].clone();
        compare(&format!("{tool} {}", call["arguments"]), &call["data"], &data, found);
    }
}

/// Everything that was there is there: members that a later version adds do not count.
fn compare(what: &str, expected: &Value, is: &Value, found: &mut Vec<String>) {
    match (expected, is) {
        (Value::Object(expected), Value::Object(is)) => {
            for (name, value) in expected {
                compare(&format!("{what}: {name}"), value, is.get(name).unwrap_or(&Value::Null), found);
            }
        }
        (Value::Array(expected), Value::Array(is)) if expected.len() == is.len() => {
            for (expected, is) in expected.iter().zip(is) {
                compare(what, expected, is, found);
            }
        }
        _ if expected == is => {}
        _ => found.push(format!("{what} should be {expected}, is {is}\n")),
    }
}

/// Rows of each table.
pub fn tables(folder: &Arc<TempDir>) -> Value {
    let sql = engine::open(folder.path().join("colibri.db"));
    let names =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = sql.prepare(names).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let count = |name: String| {
        let rows: i64 = sql.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0)).unwrap();
        (name, json!(rows))
    };
    names.map(count).collect()
}

/// How the calls ended that the version wrote.
pub fn outcomes(folder: &Arc<TempDir>, last_sequence_no: i64) -> Value {
    let sql = engine::open(folder.path().join("colibri.db"));
    let mut statement = sql
        .prepare(
            "SELECT outcome || coalesce(' ' || error_code, ''), count(*) FROM actions WHERE sequence_no <= ?1 GROUP BY 1",
        )
        .unwrap();
    let rows = statement.query_map([last_sequence_no], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: BTreeMap<String, i64> = rows.map(Result::unwrap).collect();
    json!(rows)
}

/// What the running server has made of the rows.
fn state(golden: &Golden, folder: &Arc<TempDir>, found: &mut Vec<String>) {
    let expected = &golden.expected;
    let sql = engine::open(folder.path().join("colibri.db"));
    let version: i64 = sql.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    compare("schema", &json!(latest(MIGRATIONS)), &json!(version), found);
    let mut rows = expected["tables"].clone();
    let names = rows.as_object_mut().unwrap();
    names.shift_remove("actions");
    // 013 has put a table with a row a root in the place of the one row for all.
    if let Some(loads) = names.shift_remove("skill_index") {
        names.insert("skill_roots".to_owned(), loads);
    }
    // This server is a caller of its own, and its folder of skills a root of its own.
    let callers = expected["tables"]["callers"].as_i64().unwrap_or(0);
    let added = [("callers", 1), ("skill_roots", 1), ("skills", content::SKILLS.len())];
    for (name, added) in added.iter().filter(|_| expected["tables"]["skill_roots"].is_number()) {
        rows[name] = json!(rows[name].as_u64().unwrap() + *added as u64);
    }
    compare("rows", &rows, &tables(folder), found);
    // The rows that were open belonged to dead processes.
    let mut ends = expected["outcomes"].clone();
    let ends = ends.as_object_mut().unwrap();
    let running = ends.shift_remove("running").map_or(0, |count| count.as_i64().unwrap());
    let aborted = ends.get("aborted PROCESS_ABORTED").map_or(0, |count| count.as_i64().unwrap());
    if running + aborted > 0 {
        ends.insert("aborted PROCESS_ABORTED".to_owned(), json!(running + aborted));
    }
    let log = &expected["log"];
    compare("calls", &json!(ends), &outcomes(folder, log["last_sequence_no"].as_i64().unwrap()), found);
    let old = "SELECT count(*) FROM callers WHERE sequence_no <= ?1";
    let kept: i64 = sql.query_row(old, [log["last_sequence_no"].as_i64()], |row| row.get(0)).unwrap();
    compare("callers of its calls", &json!(callers), &json!(kept), found);
    let hash: Option<String> = sql
        .query_row("SELECT row_hash FROM actions WHERE exit_no = ?1", [log["last_exit_no"].as_i64()], |row| {
            row.get(0)
        })
        .ok();
    compare("the log's end", &log["last_row_hash"], &json!(hash), found);
    compare("tips", &expected["tips"], &content::tips(&sql), found);
}

/// The same in READONLY, and whether a byte has changed.
pub fn read_only(golden: &Golden) -> Vec<String> {
    let folder = golden.unpacked();
    let bytes = |folder: &Path| PARTS.map(|part| std::fs::read(folder.join(format!("colibri.{part}"))).ok());
    let before = bytes(folder.path());
    let mut found = Vec::new();
    let mut server = launch(&folder).env("COLIBRI_MODE", "READONLY").start();
    let mut expected = golden.expected["replies"].clone();
    // Only a start that writes can load the skills of this folder, which the file does not know.
    expected.as_array_mut().unwrap().retain(|call| call["tool"] != json!("skill_list"));
    replies(&expected, &mut server, &mut found);
    let refused = server.call("task_create", json!({ "title": "no" }));
    assert_eq!(refused["ok"], json!(false), "{refused}");
    assert_eq!(server.finish().code(), 0);
    let after = bytes(folder.path());
    // A log that was not there may be made, and is empty: readers cannot read without.
    if before[0] != after[0] || before[1].clone().unwrap_or_default() != after[1].clone().unwrap_or_default()
    {
        found.push("READONLY has written\n".to_owned());
    }
    found
}

/// Opens a copy with these migrations; the version it is at then. Every row must still be there.
pub fn migrated(golden: &Golden, migrations: &'static [Migration]) -> i64 {
    let folder = golden.unpacked();
    let path = folder.path().canonicalize().unwrap().join("colibri.db");
    let options = |migrations| StoreOptions {
        path: path.clone(),
        read_only: false,
        sync: true,
        boot_id: boot_id(None, &mut SystemIds::default()),
        process_aborted: "PROCESS_ABORTED",
        now: "2027-01-01T00:00:00.000Z".to_owned(),
        migrations,
        tail_checks: &[],
        max_pages: None,
        wait: WAIT,
    };
    let rows = || stored(&engine::open(&path));
    drop(init_db(&options(MIGRATIONS)).unwrap());
    let before = rows();
    let opened = init_db(&options(migrations)).unwrap();
    let after = rows();
    let kept = |row: &String| after.iter().any(|now| now.starts_with(row.strip_suffix(']').unwrap()));
    let lost: Vec<&String> = before.iter().filter(|row| !kept(row)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    opened.schema_version
}

/// What a later version must never do to an old database.
pub fn tamper(folder: &Arc<TempDir>, sql: &str) {
    engine::open(folder.path().join("colibri.db")).execute_batch(sql).unwrap();
}
