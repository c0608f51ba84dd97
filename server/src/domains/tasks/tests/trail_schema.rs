//! The trail's tables guard themselves (trail#tables).

use rusqlite::Connection;

use crate::domains::tasks::tests::support::connection;

fn hash(number: u32) -> String {
    format!("{number:064x}")
}

/// A database with one record (`number` 1) of task `T` in session `S`, and its head.
fn trail() -> Connection {
    let db = connection();
    db.execute_batch("INSERT INTO audit_sessions (session_id, intent, started_at) VALUES ('S', 'why', 't')")
        .unwrap();
    append(&db, 1, Some("S")).unwrap();
    db.execute("INSERT INTO trail_heads VALUES ('T', 1, '1', ?1)", [hash(1)]).unwrap();
    db
}

fn append(db: &Connection, number: u32, session_id: Option<&str>) -> rusqlite::Result<usize> {
    db.execute(
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) \
         VALUES (?1, 'plan', 'T', 'a', 'text', 't', ?2, ?3, 't', ?4)",
        (number.to_string(), hash(number - 1), hash(number), session_id),
    )
}

#[test]
fn records_heads_and_sessions_refuse_what_would_rewrite_history() {
    let append_only = "thought_records is append-only";
    let forward = "thought_records content may only move forward between retention zones";
    let digest = "content_hash = hex(zeroblob(32))";
    for (sql, expected) in [
        ("DELETE FROM thought_records".to_owned(), append_only),
        ("UPDATE thought_records SET agent_id = 'b'".to_owned(), append_only),
        ("UPDATE thought_records SET session_id = NULL".to_owned(), append_only),
        ("UPDATE thought_records SET hash = hash".to_owned(), append_only),
        ("UPDATE thought_records SET content = 'other'".to_owned(), forward),
        ("UPDATE thought_records SET zone = 'hot'".to_owned(), forward),
        ("UPDATE thought_records SET zone = 'cold', content = NULL".to_owned(), forward),
        (format!("UPDATE thought_records SET zone = 'cold', {digest}"), forward),
        ("UPDATE trail_heads SET chain_length = 3".to_owned(), "trail_heads may only advance by one"),
        (
            "UPDATE trail_heads SET chain_length = 2, task_id = 'U'".to_owned(),
            "trail_heads may only advance by one",
        ),
        ("DELETE FROM trail_heads".to_owned(), "trail_heads may not be deleted"),
        ("UPDATE audit_sessions SET intent = 'because'".to_owned(), "audit_sessions is append-only"),
        ("DELETE FROM audit_sessions".to_owned(), "audit_sessions is append-only"),
    ] {
        let refused = trail().execute(&sql, []).expect_err(&sql).to_string();
        assert!(refused.contains(expected), "{sql}: {refused}");
    }
}

#[test]
fn content_moves_forward_through_the_zones() {
    let db = trail();
    let digest = hash(7);
    let warm = "UPDATE thought_records SET zone = 'warm', content = NULL, content_compressed = 'x', content_hash = ?1";
    db.execute(warm, [&digest]).unwrap();
    let cold = "UPDATE thought_records SET zone = 'cold', content_compressed = NULL, content_hash = ?1";
    db.execute(cold, [hash(8)]).expect_err("the content's digest is final");
    db.execute(cold, [&digest]).unwrap();
    db.execute(warm, [&digest]).expect_err("there is no way back");
}

#[test]
fn a_zone_holds_what_it_says_and_nothing_else() {
    let db = trail();
    for (zone, content, payload, digest) in [
        (None, None, None, None),
        (Some("hot"), Some("text"), Some("x"), None),
        (Some("warm"), Some("text"), Some("x"), Some(hash(9))),
        (Some("warm"), None, Some("x"), None),
        (Some("cold"), None, Some("x"), Some(hash(9))),
        (Some("cold"), None, None, None),
        (Some("lukewarm"), Some("text"), None, None),
    ] {
        let refused = db.execute(
            "INSERT INTO thought_records (id, type, task_id, agent_id, timestamp, prev_hash, hash, created_at, zone, \
             content, content_compressed, content_hash) VALUES ('2', 'plan', 'T', 'a', 't', ?1, ?2, 't', ?3, ?4, ?5, ?6)",
            (hash(1), hash(2), zone, content, payload, digest.clone()),
        );
        refused.expect_err(&format!("{zone:?} {content:?} {payload:?} {digest:?}"));
    }
}

#[test]
fn a_chain_cannot_fork_and_its_session_must_exist() {
    let db = trail();
    append(&db, 2, Some("S")).unwrap();
    db.execute("UPDATE trail_heads SET chain_length = 2, tip_id = '2', tip_hash = ?1", [hash(2)]).unwrap();
    let follow = |task: &str, prev: u32| {
        db.execute(
            "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
             VALUES (?1 || ?2, 'plan', ?1, 'a', 'text', 't', ?3, ?4, 't')",
            (task, prev, hash(prev), hash(9)),
        )
    };
    for (task, prev) in [("T", 0), ("T", 1), ("T", 3), ("U", 1)] {
        let refused = follow(task, prev).expect_err("no successor of the tip").to_string();
        assert_eq!(refused, "thought_records: prev_hash is not the tip of the chain", "{task} {prev}");
    }
    append(&db, 3, Some("nowhere")).expect_err("no such session");
    append(&db, 3, None).unwrap();
    follow("U", 0).unwrap();
}
