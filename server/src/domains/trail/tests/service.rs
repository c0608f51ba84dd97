//! What callers of the library meet who do not come through a tool (trail#chain).

use crate::domains::proof::explained;
use crate::domains::trail::errors::Refusal;
use crate::domains::trail::service::{
    NewThought, Stamp, StoredContent, create_thought_record, get_thought_record,
};
use crate::domains::trail::{first_author, latest_reflection_not_by, tip};
use colibri_runtime::handler::Failure;
use colibri_store::params;

use crate::domains::trail::tests::support::{
    NOW, chain, content, database, dump, id, new_thought, seal, start, think,
};

fn stamp(number: usize) -> Stamp {
    Stamp { id: id(number), now: NOW.to_owned(), sequence_no: Some(7) }
}

#[test]
fn limits_hold_without_the_chain_in_front() {
    let db = database();
    let sound = || new_thought("T", "x".to_owned(), None);
    for (field, new) in [
        ("task_id", NewThought { task_id: String::new(), ..sound() }),
        ("task_id", NewThought { task_id: "é".repeat(257), ..sound() }),
        ("agent_id", NewThought { agent_id: "a\u{7f}".to_owned(), ..sound() }),
        ("session_id", NewThought { session_id: Some("\n".to_owned()), ..sound() }),
        ("thought content", NewThought { content: " \u{feff}\u{a0}\n".to_owned(), ..sound() }),
        ("content", NewThought { content: "x".repeat(1_048_577), ..sound() }),
    ] {
        match create_thought_record(&db, stamp(1), new) {
            Err(Failure::Domain(Refusal::Invalid { field: named, .. })) => assert_eq!(named, field),
            other => panic!("{field}: {other:?}"),
        }
    }
    assert!(dump(&db).is_empty());
    let longest = NewThought { task_id: "é".repeat(256), content: "x".repeat(1_048_576), ..sound() };
    create_thought_record(&db, stamp(1), longest).unwrap();
}

#[test]
fn a_cited_session_is_open() {
    let db = database();
    start(&db, "S");
    think(&db, "T", 1, Some("S"));
    seal(&db, "S");
    let before = dump(&db);
    for (session, expected) in [
        ("S", Refusal::AlreadyFinalized("S".to_owned())),
        ("nope", Refusal::SessionNotFound("nope".to_owned())),
    ] {
        let new = new_thought("T", "x".to_owned(), Some(session));
        let refused = create_thought_record(&db, stamp(2), new).map_err(|failure| explained(&db, failure));
        assert_eq!(refused, Err(Failure::Domain(expected)));
    }
    assert_eq!(dump(&db), before);
}

/// Any remainder of a seal keeps its session closed: the root, the tree head or the leaves alone.
#[test]
fn what_is_left_of_a_seal_keeps_its_session_closed() {
    let db = database();
    for (number, kept) in (1..).zip(["merkle_roots", "tree_heads", "merkle_leaves"]) {
        start(&db, kept);
        think(&db, "T", number, Some(kept));
        seal(&db, kept);
    }
    db.execute("PRAGMA foreign_keys = OFF", &[]).unwrap();
    for table in ["merkle_roots", "tree_heads", "merkle_leaves"] {
        db.execute(&format!("DROP TRIGGER trg_{table}_no_delete"), &[]).unwrap();
        db.execute(&format!("DELETE FROM {table} WHERE session_id <> ?1"), params![table]).unwrap();
    }
    db.execute("PRAGMA foreign_keys = ON", &[]).unwrap();
    let before = dump(&db);
    for kept in ["merkle_roots", "tree_heads", "merkle_leaves"] {
        let new = new_thought("T", "x".to_owned(), Some(kept));
        let refused = create_thought_record(&db, stamp(9), new).map_err(|failure| explained(&db, failure));
        assert_eq!(refused, Err(Failure::Domain(Refusal::AlreadyFinalized(kept.to_owned()))));
    }
    assert_eq!(dump(&db), before);
}

/// An append follows a head without a row and a row without a head, but refuses a head that is not a hash.
#[test]
fn an_append_links_to_what_is_left() {
    let db = database();
    chain(&db, 2, None);
    let second = tip(&db, "T").unwrap().unwrap();
    assert_eq!((second.chain_length, second.tip_id.as_str()), (2, id(2).as_str()));
    db.execute("DROP TRIGGER trg_heads_no_delete", &[]).unwrap();
    db.execute("DELETE FROM trail_heads", &[]).unwrap();
    assert_eq!(think(&db, "T", 3, None).prev_hash.as_str(), second.tip_hash);
    db.execute("DROP TRIGGER trg_heads_step", &[]).unwrap();
    db.execute("UPDATE trail_heads SET tip_hash = replace(tip_hash, substr(tip_hash, 1, 1), 'Z')", &[])
        .unwrap();
    let refused = create_thought_record(&db, stamp(4), new_thought("T", "x".to_owned(), None));
    assert!(matches!(refused, Err(Failure::Fault(_))), "{refused:?}");
    assert_eq!(get_thought_record(&db, &id(4)).unwrap(), None);
}

#[test]
fn a_record_is_read_back_by_its_id() {
    let db = database();
    let written = think(&db, "T", 1, None);
    let read = get_thought_record(&db, &id(1)).unwrap().unwrap();
    assert_eq!(read.content, StoredContent::Kept(content(1)));
    assert_eq!((read.hash.as_str(), read.kind.as_str()), (written.hash.as_str(), "analysis"));
    create_thought_record(&db, stamp(2), new_thought("T", "x".to_owned(), None)).unwrap();
    let numbers: Vec<Option<i64>> =
        db.query_all("SELECT sequence_no FROM thought_records ORDER BY seq", &[], |row| row.get(0)).unwrap();
    assert_eq!(numbers, [None, Some(7)]);
}

#[test]
fn author_and_reviewer_are_found() {
    use colibri_proof::record::ThoughtType::{Plan, Reflection};
    let db = database();
    assert_eq!(first_author(&db, "T"), Ok(None));
    for (number, kind, agent) in [
        (1, Plan, "maker"),
        (2, Reflection, "one"),
        (3, Reflection, "two"),
        (4, Reflection, "maker"),
        (5, Plan, "x"),
    ] {
        let new = NewThought { kind, agent_id: agent.to_owned(), ..new_thought("T", "x".to_owned(), None) };
        create_thought_record(&db, stamp(number), new).unwrap();
    }
    assert_eq!(first_author(&db, "T"), Ok(Some("maker".to_owned())));
    assert_eq!(latest_reflection_not_by(&db, "T", "maker"), Ok(Some("two".to_owned())));
    assert_eq!(latest_reflection_not_by(&db, "U", "maker"), Ok(None));
}
