//! What is exported, and where to.

use colibri_store::params;
use colibri_test_support::engine;
use std::fs;

use serde_json::{Value, json};

use crate::auditor_export::world::{Auditor, GOLDEN_KEY, World};

#[test]
fn an_export_beside_a_running_server_is_valid_elsewhere() {
    let mut world = World::new();
    let seal = world.interleaved();
    let file = world.export("S");
    // The server goes on, and the export is of the moment it was made.
    world.think("other", "T", "later");
    assert_eq!(world.export("S"), file);
    let lines: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (lines.len(), &lines[0]["state"], &lines[0]["record_count"]),
        (7, &json!("sealed"), &json!(4))
    );
    assert_eq!(lines[6]["tree_head"], seal["tree_head"]);

    let auditor = Auditor::new();
    let head_hash = seal["tree_head"]["head_hash"].as_str().unwrap();
    let run = auditor.verify(&file, &["--key", GOLDEN_KEY, "--root", head_hash, "--json"]);
    let verdict = run.json();
    assert_eq!((run.code, run.err.as_str(), &verdict["valid"]), (Some(0), "", &json!(true)), "{verdict}");
    assert_eq!((&verdict["signature"], &verdict["root_match"]), (&json!("valid"), &json!("head_hash")));
    // The record between the first and the third belongs to another session.
    assert_eq!((&verdict["links_inside"], &verdict["links_outside"]), (&json!(1), &json!(1)));
    assert_eq!(fs::read_dir(auditor.folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn an_open_session_is_exported_as_it_stands() {
    let mut world = World::new();
    world.interleaved();
    let auditor = Auditor::new();
    let run = auditor.verify(world.export("other"), &["--json"]);
    let verdict = run.json();
    assert_eq!((run.code, &verdict["valid"], &verdict["state"]), (Some(3), &json!(true), &json!("open")));
    assert_eq!((&verdict["signature"], &verdict["checks"]["root_hash"]), (&json!(null), &json!(null)));
    world.start("empty");
    assert_eq!(auditor.verify(world.export("empty"), &[]).code, Some(3));
}

#[test]
fn archived_contents_are_exported_as_far_as_they_are_kept() {
    let mut world = World::new();
    world.interleaved();
    let before = world.export("S");
    let db = engine::db(&world.server.database());
    let ids: Vec<String> = before
        .lines()
        .filter_map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["record"]["id"].as_str().map(str::to_owned)
        })
        .collect();
    let digest = "UPDATE thought_records SET zone = 'cold', content = NULL, content_hash = ?2 WHERE id = ?1";
    let hash = colibri_canonical::HexDigest::of(b"first");
    db.execute(digest, params![ids[0].as_str(), hash.as_str()]).unwrap();
    engine::settle(&db);
    let after = world.export("S");
    assert_eq!(after, before.replacen("\"content\":\"first\"", "\"content\":null", 1));
    let run = Auditor::new().verify(&after, &["--key", GOLDEN_KEY]);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("Not proven: what the 1 record with pruned content said."), "{}", run.out);
    // A packed content that cannot be unpacked is said, not passed over.
    let broken = "UPDATE thought_records SET zone = 'warm', content = NULL, content_compressed = '!', content_hash = ?2 \
        WHERE id = ?1";
    db.execute(broken, params![ids[1].as_str(), "0".repeat(64).as_str()]).unwrap();
    engine::settle(&db);
    let run = world.colibri(&["export", "S"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains(&ids[1]) && run.err.contains("colibri verify"), "{}", run.err);
    assert_eq!(Auditor::new().verify(&run.out, &[]).code, Some(1));
}

#[test]
fn an_existing_file_is_left_as_it_is() {
    let mut world = World::new();
    world.interleaved();
    let auditor = Auditor::new();
    let path = auditor.folder.path().join("new file.jsonl");
    let name = path.to_str().unwrap();
    let run = world.colibri(&["export", "S", "--out", name]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert!(run.out.contains(&format!("colibri verify-export '{name}' --root ")), "{}", run.out);
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(written, world.export("S"));
    let again = world.colibri(&["export", "other", "--out", name]);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("is there already and was not changed; choose another name"), "{}", again.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    let told = world.colibri(&["export", "S", "--json", "--out", &format!("{name}.2")]).json();
    assert_eq!((&told["record_count"], &told["state"]), (&json!(4), &json!("sealed")));
}

#[test]
fn a_file_that_cannot_be_finished_is_removed() {
    let mut world = World::new();
    world.interleaved();
    // A number that no JSON reader need keep: the tips cannot be written.
    let sql = world.server.sql();
    sql.tamper("UPDATE tree_head_tips SET chain_length = 9007199254740993");
    let auditor = Auditor::new();
    let path = auditor.folder.path().join("export.jsonl");
    let run = world.colibri(&["export", "S", "--out", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("beyond 2^53-1"), "{}", run.err);
    assert!(!path.exists());
}

#[test]
fn what_cannot_be_exported_is_said() {
    let mut world = World::new();
    world.interleaved();
    let run = world.colibri(&["export", "nobody"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(
        run.err.contains("there is no audit session \"nobody\"; colibri sessions lists them"),
        "{}",
        run.err
    );
    let run = Auditor::new().colibri(&["export", "S", "--db", "missing.db"]);
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("there is no database at missing.db"), "{}", run.err);
}
