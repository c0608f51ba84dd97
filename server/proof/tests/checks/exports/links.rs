//! The links between records: inside the file, out of it, and those that cannot be.

use std::borrow::Cow;

use crate::exports::support::{chain, check, codes, open, record, rehash, sealed, tip};

pub const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn counted(file: &[u8]) -> (bool, i64, i64) {
    let verdict = check(file).unwrap();
    (verdict.valid, verdict.links_inside, verdict.links_outside)
}

#[test]
fn links_are_counted_inside_the_file_and_out_of_it() {
    let whole = chain(1, "T", ZERO, 5);
    let other = chain(11, "U", ZERO, 2);
    assert_eq!(counted(&open(&whole)), (true, 4, 0));
    // Records 2 and 3 belong to another session: the fourth follows one that is not here.
    assert_eq!(counted(&open(&[&whole[..2], &whole[4..]].concat())), (true, 1, 1));
    assert_eq!(counted(&open(&whole[1..])), (true, 3, 1));
    let interleaved = [&whole[..1], &other[..1], &whole[1..], &other[1..]].concat();
    assert_eq!(counted(&open(&interleaved)), (true, 5, 0));
    assert_eq!(counted(&open(&[])), (true, 0, 0));
}

#[test]
fn records_in_another_order_or_twice_are_found_even_without_a_seal() {
    let whole = chain(1, "T", ZERO, 4);
    for (left, right) in [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)] {
        let mut swapped = whole.clone();
        swapped.swap(left, right);
        assert!(codes(&open(&swapped)).contains(&"PREV_MISMATCH"), "{left} and {right}");
    }
    let twice = [&whole[..], &whole[1..2]].concat();
    assert_eq!(codes(&open(&twice)), ["SESSION_RECORDS_MISMATCH", "PREV_MISMATCH"]);
}

#[test]
fn two_records_cannot_follow_the_same_one() {
    let whole = chain(1, "T", ZERO, 3);
    // After a record of the file.
    let fork = record(9, "T", &whole[1].hash, "a fork");
    assert_eq!(codes(&open(&[&whole[..], &[fork]].concat())), ["PREV_MISMATCH"]);
    // After one that is not in the file.
    let (one, other) = (record(8, "T", &whole[1].hash, "one"), record(9, "T", &whole[1].hash, "other"));
    assert_eq!(codes(&open(&[one.clone(), other])), ["PREV_MISMATCH"]);
    // As the first of their chain.
    let again = record(9, "T", ZERO, "again");
    assert_eq!(codes(&open(&[&whole[..], &[again]].concat())), ["PREV_MISMATCH"]);
    // Of another task: a hash covers the task, so only one chain can go on from it.
    let stray = record(9, "U", &whole[2].hash, "stray");
    assert_eq!(codes(&open(&[&whole[..], &[stray]].concat())), ["PREV_MISMATCH"]);
    let elsewhere = record(9, "U", &whole[1].hash, "elsewhere");
    assert_eq!(codes(&open(&[one, elsewhere])), ["PREV_MISMATCH"]);
}

#[test]
fn a_finding_names_its_record_by_place() {
    let whole = chain(1, "T", ZERO, 3);
    let fork = record(9, "T", &whole[0].hash, "a fork");
    let verdict = check(&open(&[&whole[..], &[fork]].concat())).unwrap();
    assert_eq!(verdict.issues[0].index, Some(3));
    assert_eq!(verdict.issues[0].actual.as_deref(), Some(whole[0].hash.as_ref()));
    assert_eq!(verdict.checks.links, Some(false));
    assert_eq!(verdict.checks.record_hashes, Some(true));
}

#[test]
fn tips_agree_with_the_records_under_them() {
    let whole = chain(1, "T", ZERO, 6);
    let last = |count: usize| whole[count - 1].hash.as_ref();
    let gap = [&whole[..2], &whole[4..]].concat();
    let cases: [(&str, &[_], &str, i64, &[&str]); 11] = [
        ("whole chain", &whole, last(6), 6, &[]),
        ("whole chain, longer", &whole, last(6), 7, &["TIP_REGRESSION"]),
        ("whole chain, shorter", &whole, last(6), 5, &["TIP_REGRESSION"]),
        ("an earlier record", &whole, last(5), 5, &["TIP_REGRESSION"]),
        ("a later record", &whole[..4], last(6), 6, &[]),
        ("a later record, too short", &whole[..4], last(6), 4, &["TIP_REGRESSION"]),
        ("a gap", &gap, last(6), 6, &[]),
        ("a gap, too short", &gap, last(6), 4, &["TIP_REGRESSION"]),
        ("begun before", &whole[3..], last(6), 6, &[]),
        ("begun before, too short", &whole[3..], last(6), 3, &["TIP_REGRESSION"]),
        ("no hash", &whole, "x", 6, &["MALFORMED"]),
    ];
    for (case, records, hash, length, expected) in cases {
        assert_eq!(codes(&sealed(records, vec![tip("T", length, hash)])), expected, "{case}");
    }
}

#[test]
fn each_task_with_a_record_has_one_tip_and_no_other_has() {
    let records = [chain(1, "T", ZERO, 1), chain(2, "U", ZERO, 1)].concat();
    let (t, u) = (tip("T", 1, &records[0].hash), tip("U", 1, &records[1].hash));
    let stranger = tip("V", 1, &"1".repeat(64));
    let mismatch = ["CHAIN_TIPS_MISMATCH"];
    assert_eq!(codes(&sealed(&records, vec![t.clone(), u.clone()])), [] as [&str; 0]);
    assert_eq!(codes(&sealed(&records, vec![t.clone()])), mismatch);
    assert_eq!(codes(&sealed(&records, vec![u.clone()])), mismatch);
    assert_eq!(codes(&sealed(&records, vec![t.clone(), u, stranger.clone()])), mismatch);
    assert_eq!(codes(&sealed(&records, vec![t, stranger])), ["CHAIN_TIPS_MISMATCH", "CHAIN_TIPS_MISMATCH"]);
    assert_eq!(codes(&sealed(&records, vec![])), mismatch);
}

#[test]
fn a_record_that_is_none_is_found_and_nothing_panics() {
    let sound = record(1, "T", ZERO, "text");
    type Change = fn(&mut colibri_proof::session_export::ExportRecord<'static>);
    let upper = |text: &str| Cow::Owned(text.to_uppercase());
    let cases: [(&str, Change, &[&str]); 8] = [
        ("type", |record| record.kind = Cow::Borrowed("gate"), &["MALFORMED"]),
        ("empty id", |record| record.id = Cow::Borrowed(""), &["MALFORMED"]),
        ("empty author", |record| record.agent_id = Cow::Borrowed(""), &["MALFORMED"]),
        ("short link", |record| record.prev_hash = Cow::Borrowed("00"), &["MALFORMED"]),
        ("no link", |record| record.prev_hash = Cow::Borrowed(""), &["MALFORMED"]),
        ("session", |record| record.session_id = Cow::Borrowed("S-2"), &["SESSION_RECORDS_MISMATCH"]),
        ("digest", |record| record.content_hash = Cow::Owned("0".repeat(64)), &["CONTENT_LOST"]),
        ("no digest", |record| record.content_hash = Cow::Borrowed("é"), &["MALFORMED", "CONTENT_LOST"]),
    ];
    for (case, change, expected) in cases {
        let mut record = sound.clone();
        change(&mut record);
        rehash(&mut record);
        assert_eq!(codes(&open(&[record])), expected, "{case}");
    }
    let mut shouted = sound.clone();
    shouted.hash = upper(&sound.hash);
    assert_eq!(codes(&open(&[shouted])), ["MALFORMED", "HASH_MISMATCH"]);
}

#[test]
fn many_findings_are_counted_and_the_first_hundred_kept() {
    let mut records = chain(1, "T", ZERO, 150);
    for record in &mut records {
        record.agent_id = Cow::Borrowed("");
    }
    let verdict = check(&open(&records)).unwrap();
    assert_eq!((verdict.issue_count, verdict.issues.len()), (150, 100));
}
