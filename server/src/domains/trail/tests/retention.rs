//! Retention record by record; `tests/domains/trail/retention.rs` has the command.

use crate::domains::proof::verify_session;
use crate::domains::retention::{Archived, Damage, archive_record};
use crate::domains::trail::service::{ListFilter, Page, StoredContent, StoredThought, list_thought_records};
use crate::domains::trail::verify::{Verification, verify_task};
use crate::domains::trail::zone::{NoPosition, RetentionZone, zone_for_position};
use colibri_canonical::HexDigest;
use colibri_proof::keys::TrustedKeys;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Failure;
use colibri_runtime::progress::Progress;
use colibri_store::db::Db;
use colibri_store::params;

use crate::domains::trail::tests::support::{chain, content, database, disarm, dump, id, seal, start};

fn archive(db: &Db, number: usize) -> (RetentionZone, bool) {
    let Archived { zone, changed, .. } = archive_record(db, &id(number)).unwrap();
    (zone, changed)
}

fn is_damaged(result: Result<Archived, Failure<Damage>>) -> bool {
    matches!(result, Err(Failure::Domain(Damage { .. })))
}

fn verify(db: &Db) -> Verification {
    verify_task(db, "T", &Interrupt::default(), &Progress::default()).unwrap()
}

fn codes(found: &Verification) -> Vec<&'static str> {
    found.issues.iter().map(|issue| issue.code.as_str()).collect()
}

#[test]
fn zones_by_position() {
    use RetentionZone::{Cold, Hot, Warm};
    for (position, zone) in [(1, Hot), (100, Hot), (101, Warm), (1000, Warm), (1001, Cold), (i64::MAX, Cold)]
    {
        assert_eq!(zone_for_position(position), Ok(zone), "{position}");
    }
    for position in [0, -1, i64::MIN] {
        assert_eq!(zone_for_position(position), Err(NoPosition(position)));
    }
}

#[test]
fn content_moves_by_position_and_nothing_else_does() {
    let db = database();
    chain(&db, 1001, None);
    let hashes =
        |db: &Db| -> Vec<String> { dump(db).into_iter().map(|mut row| row.swap_remove(3)).collect() };
    let before = hashes(&db);
    assert_eq!(archive(&db, 1), (RetentionZone::Cold, true));
    assert_eq!(archive(&db, 2), (RetentionZone::Warm, true));
    assert_eq!(archive(&db, 902), (RetentionZone::Hot, false));
    assert_eq!(archive(&db, 901), (RetentionZone::Warm, true));
    assert_eq!(archive(&db, 1), (RetentionZone::Cold, false));
    assert_eq!(hashes(&db), before);
    let found = verify(&db);
    assert!(found.valid(), "{:?}", found.issues);
    assert_eq!((found.chains.total.record_count, found.chains.total.unverifiable_count), (1001, 1));

    let filter = ListFilter { limit: 2, ..ListFilter::default() };
    let page: Page<StoredThought> = list_thought_records(&db, &filter).unwrap();
    let digest = HexDigest::of(content(1).as_bytes()).as_str().to_owned();
    let gone = StoredContent::Gone { zone: Some("cold".to_owned()), content_hash: Some(digest) };
    assert_eq!(page.records[0].content, gone);
    assert_eq!(page.records[1].content, StoredContent::Kept(content(2)));
}

#[test]
fn a_warm_record_turns_cold_as_the_chain_grows() {
    let db = database();
    chain(&db, 1000, None);
    assert_eq!(archive(&db, 1), (RetentionZone::Warm, true));
    crate::domains::trail::tests::support::think(&db, "T", 1001, None);
    assert_eq!(archive(&db, 1), (RetentionZone::Cold, true));
    assert!(verify(&db).valid());
}

#[test]
fn damage_is_never_archived_away() {
    let db = database();
    chain(&db, 1001, None);
    archive(&db, 3);
    disarm(&db);
    db.execute("UPDATE thought_records SET content = 'other' WHERE id IN (?1, ?2)", params![id(1), id(2)])
        .unwrap();
    let before = dump(&db);
    assert!(is_damaged(archive_record(&db, &id(1))));
    assert!(is_damaged(archive_record(&db, &id(2))));
    assert_eq!(dump(&db), before);

    for payload in ["not base64", "aGVsbG8=", "H4sIAAAAAAAA/8tIzcnJBwCGphA2BQAAAA=="] {
        let sql = "UPDATE thought_records SET content_compressed = ?2 WHERE id = ?1";
        db.execute(sql, params![&id(3), payload]).unwrap();
        let found = verify(&db);
        assert_eq!(codes(&found), ["HASH_MISMATCH", "HASH_MISMATCH", "CONTENT_LOST"], "{payload}");
        assert_eq!(found.broken_count, 3);
    }
    db.execute("UPDATE thought_records SET zone = 'tepid' WHERE id = ?1", params![id(4)]).unwrap();
    assert!(is_damaged(archive_record(&db, &id(4))));
}

#[test]
fn there_is_no_way_back_from_cold() {
    let db = database();
    chain(&db, 1001, None);
    archive(&db, 1);
    let refused = db.execute(
        "UPDATE thought_records SET zone = 'warm', content_compressed = 'x' WHERE id = ?1",
        params![id(1)],
    );
    refused.expect_err("a cold record became warm");
    disarm(&db);
    db.execute(
        "UPDATE thought_records SET zone = 'cold', content = NULL, content_hash = hash WHERE id = ?1",
        params![id(1001)],
    )
    .unwrap();
    assert!(is_damaged(archive_record(&db, &id(1001))), "a later zone than its position allows");
}

#[test]
fn content_is_dropped_only_when_a_seal_commits_to_it() {
    let db = database();
    start(&db, "S");
    chain(&db, 1001, Some("S"));
    let before = dump(&db);
    assert_eq!(archive(&db, 1), (RetentionZone::Hot, false));
    assert_eq!(dump(&db), before);
    seal(&db, "S");
    assert_eq!(archive(&db, 1), (RetentionZone::Cold, true));

    let check = || {
        let (interrupt, progress) = (Interrupt::default(), Progress::default());
        verify_session(&db, "S", None, &TrustedKeys::default(), &interrupt, &progress).unwrap()
    };
    let checked = check();
    assert!(checked.found.valid(), "{:?}", checked.found.issues);
    assert_eq!(checked.seal.tree_head_match, Some(true));
    disarm(&db);
    db.execute("UPDATE thought_records SET content_hash = hash WHERE id = ?1", params![id(1)]).unwrap();
    let checked = check();
    assert!(codes(&checked.found).contains(&"TREE_ROOT_MISMATCH"), "{:?}", checked.found.issues);
    assert_eq!(checked.seal.tree_head_match, Some(false));
}
