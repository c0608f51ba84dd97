//! Tests that need this folder's private items: the packed form of a content, and the two walks over all chains.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Fault;
use colibri_runtime::progress::Progress;
use flate2::{Compression, GzBuilder};
use proptest::prelude::*;
use rusqlite::Connection;

use super::super::content::{MAX_CONTENT_BYTES, Unpacker, pack};
use super::super::service::{NewThought, Stamp, create_thought_record};
use super::super::verify::{verify_all, verify_chains, verify_task};
use crate::migrations::MIGRATIONS;
use colibri_proof::record::ThoughtType;
use colibri_store::db::Db;
use colibri_store::sqlite::open::migrate::migrate;

fn unpacked(payload: &str) -> Option<String> {
    Unpacker::default().unpack(payload).map(str::to_owned)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzBuilder::new().mtime(1).write(Vec::new(), Compression::best());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

proptest! {
    #[test]
    fn what_was_packed_comes_back(content in "\\PC{0,200}|[a-c]{0,4000}") {
        prop_assert_eq!(unpacked(&pack(&content).unwrap()), Some(content));
    }

    #[test]
    fn no_payload_makes_unpacking_fail(payload in "\\PC{0,60}|[A-Za-z0-9+/=]{0,60}|H4sIAAAAAAAA[A-Za-z0-9+/]{0,40}=?=?") {
        unpacked(&payload);
    }
}

#[test]
fn the_packed_form_is_the_same_everywhere() {
    let payload = STANDARD.decode(pack("hello").unwrap()).unwrap();
    // Magic, deflate, no flags, no time, no particular level or system.
    assert_eq!(payload[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
}

#[test]
fn unpacking_takes_nothing_that_packing_does_not_make() {
    let gzipped = gzip(b"hello");
    assert_eq!(unpacked(&STANDARD.encode(&gzipped)).as_deref(), Some("hello"), "another packer's is as good");
    let longest = "a".repeat(MAX_CONTENT_BYTES);
    assert_eq!(unpacked(&pack(&longest).unwrap()), Some(longest));
    for (what, payload) in [
        ("too much content", pack(&"a".repeat(MAX_CONTENT_BYTES + 1)).unwrap()),
        ("a payload without end", "A".repeat(3 * MAX_CONTENT_BYTES)),
        ("a second member", STANDARD.encode([gzipped.clone(), gzipped.clone()].concat())),
        ("bytes behind the end", STANDARD.encode([gzipped.clone(), vec![0]].concat())),
        ("a cut", STANDARD.encode(&gzipped[..gzipped.len() - 1])),
        ("no text", STANDARD.encode(gzip(b"\xff\xfe"))),
        ("a line break", format!("{}\n", STANDARD.encode(&gzipped))),
        ("no padding", STANDARD.encode(&gzipped).trim_end_matches('=').to_owned() + "A"),
    ] {
        assert_eq!(unpacked(&payload), None, "{what}");
    }
}

/// A few tasks with interleaved records, some of them damaged, one of them missing.
fn spoilt() -> Db {
    let conn = Connection::open_in_memory().unwrap();
    migrate(&conn, MIGRATIONS, Path::new(":memory:")).unwrap();
    let db = Db::new(conn);
    for (number, task) in "cabcabaccbdda".chars().enumerate() {
        let stamp = Stamp { id: number.to_string(), now: format!("t{number}"), sequence_no: None };
        let new = NewThought {
            kind: ThoughtType::Plan,
            task_id: task.to_string(),
            agent_id: "a1".to_owned(),
            content: format!("thought {number}"),
            session_id: None,
        };
        create_thought_record(&db, stamp, new).unwrap();
    }
    for sql in [
        "DROP TRIGGER trg_thought_no_delete",
        "DROP TRIGGER trg_thought_zone_forward",
        "UPDATE thought_records SET content = 'other' WHERE id IN ('4', '8')",
        "DELETE FROM thought_records WHERE task_id = 'd'",
    ] {
        db.execute(sql, &[]).unwrap();
    }
    db
}

#[test]
fn both_walks_over_all_chains_say_the_same() {
    let db = spoilt();
    let at_once = verify_all(&db, &Interrupt::default(), &Progress::default()).unwrap();
    let tasks: Vec<&str> = at_once.chains.by_task.iter().map(|task| task.task_id.as_str()).collect();
    assert_eq!(tasks, ["c", "a", "b", "d"]);
    assert_eq!((at_once.broken_count, at_once.first_broken_at.as_deref()), (3, Some("8")));
    let in_turn = verify_chains(&db, 0, &Interrupt::default(), &Progress::default()).unwrap();
    assert_eq!(in_turn.chains, at_once.chains);
    let sorted = |mut issues: Vec<colibri_proof::chain::Issue>| {
        issues.sort_by_key(|issue| issue.record_id.clone());
        issues
    };
    assert_eq!(sorted(in_turn.issues), sorted(at_once.issues));
}

#[test]
fn a_walk_stops_when_it_is_asked_to() {
    let db = spoilt();
    let interrupt = Interrupt::default();
    interrupt.raise();
    let quiet = Progress::default();
    for stopped in [verify_all(&db, &interrupt, &quiet), verify_task(&db, "a", &interrupt, &quiet)] {
        assert!(matches!(stopped, Err(Fault::Other(_))), "{stopped:?}");
    }
}
