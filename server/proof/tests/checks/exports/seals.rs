//! What a seal covers, what it cannot when contents are gone, and what an open session leaves unproven.

use colibri_proof::head::{SignedTreeHead, TreeHead};
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_proof::session_export::ExportVerdict;

use crate::exports::links::ZERO;
use crate::exports::support::{
    GOLDEN_KEY, chain, check, check_with, codes, head_of, open, sealed_file, signed, tip, trusting, unsigned,
};

fn sealed_with(change: impl FnOnce(&mut TreeHead)) -> Vec<&'static str> {
    let records = chain(1, "T", ZERO, 3);
    let mut tips = [tip("T", 3, &records[2].hash)];
    let mut head = head_of(&records, &mut tips);
    change(&mut head);
    codes(&sealed_file(&records, &mut tips, &unsigned(head)))
}

#[test]
fn each_field_of_a_head_is_held_against_the_records() {
    let other = || "1".repeat(64);
    assert_eq!(sealed_with(|_| ()), [] as [&str; 0]);
    assert_eq!(sealed_with(|head| head.legacy_root = other()), ["LEGACY_ROOT_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.root_hash = other()), ["TREE_ROOT_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.tree_size = 4), ["ROOT_COUNT_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.session_id = "S-2".to_owned()), ["SESSION_META_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.session_hash = other()), ["SESSION_META_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.chain_tips_hash = other()), ["CHAIN_TIPS_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.prev_head_hash = other()), ["HEAD_LINK_BROKEN"]);
    assert_eq!(sealed_with(|head| head.head_index = 1), ["HEAD_LINK_BROKEN"]);
    assert_eq!(sealed_with(|head| head.log_exit_no = 1), ["LOG_TIP_MISMATCH"]);
    assert_eq!(sealed_with(|head| head.log_row_hash = other()), ["LOG_TIP_MISMATCH"]);
    let no_hash = |head: &mut TreeHead| (head.head_index, head.prev_head_hash) = (1, "é".to_owned());
    assert_eq!(sealed_with(no_hash), ["MALFORMED"]);
    let later = |head: &mut TreeHead| {
        (head.head_index, head.prev_head_hash) = (7, other());
        (head.log_exit_no, head.log_row_hash) = (9, other());
    };
    assert_eq!(sealed_with(later), [] as [&str; 0]);
}

#[test]
fn a_head_hash_that_is_not_the_heads_is_found() {
    let records = chain(1, "T", ZERO, 3);
    let mut tips = [tip("T", 3, &records[2].hash)];
    let mut head = unsigned(head_of(&records, &mut tips));
    head.head_hash = "1".repeat(64);
    assert_eq!(codes(&sealed_file(&records, &mut tips, &head)), ["HEAD_HASH_MISMATCH"]);
}

#[test]
fn a_signature_over_another_head_is_invalid_whomever_one_trusts() {
    let records = chain(1, "T", ZERO, 3);
    let mut tips = [tip("T", 3, &records[2].hash)];
    let mut head = signed(head_of(&records, &mut tips));
    let verdict = |head: &SignedTreeHead, trusted: &TrustedKeys| -> ExportVerdict {
        check_with(&sealed_file(&chain(1, "T", ZERO, 3), &mut tips.clone(), head), trusted).unwrap()
    };
    assert!(verdict(&head, &trusting(&[GOLDEN_KEY])).valid);
    head.head.finalized_at = "2026-05-01T10:01:00.001Z".to_owned();
    head.head_hash = head.head.hash().as_str().to_owned();
    for trusted in [trusting(&[GOLDEN_KEY]), TrustedKeys::default()] {
        let verdict = verdict(&head, &trusted);
        assert_eq!((verdict.valid, verdict.signature), (false, Some(SignatureStatus::Invalid)));
        assert_eq!(verdict.issues[0].code.as_str(), "SIGNATURE_INVALID");
    }
}

#[test]
fn records_whose_contents_are_gone_are_still_under_the_seal() {
    let mut records = chain(1, "T", ZERO, 3);
    let mut tips = [tip("T", 3, &records[2].hash)];
    let head = unsigned(head_of(&records, &mut tips));
    records[0].content = None;
    let verdict = check(&sealed_file(&records, &mut tips, &head)).unwrap();
    assert!(verdict.valid);
    assert_eq!((verdict.cold_count, verdict.checks.content_hashes), (1, Some(true)));
    records[0].content_hash = "1".repeat(64).into();
    assert_eq!(codes(&sealed_file(&records, &mut tips, &head)), ["TREE_ROOT_MISMATCH"]);
    let mut gone = chain(1, "T", ZERO, 3);
    gone.iter_mut().for_each(|record| record.content = None);
    let verdict = check(&sealed_file(&gone, &mut tips, &head)).unwrap();
    assert_eq!((verdict.valid, verdict.cold_count), (true, 3));
    assert_eq!((verdict.checks.content_hashes, verdict.checks.record_hashes), (None, None));
}

#[test]
fn an_author_or_an_order_that_only_the_second_tree_covers_is_found() {
    let mut records = chain(1, "T", ZERO, 3);
    let mut tips = [tip("T", 3, &records[2].hash)];
    let head = unsigned(head_of(&records, &mut tips));
    records[1].agent_id = "somebody else".into();
    assert_eq!(codes(&sealed_file(&records, &mut tips, &head)), ["TREE_ROOT_MISMATCH"]);
    let mut apart = [chain(1, "T", ZERO, 1), chain(2, "U", ZERO, 1)].concat();
    let mut tips = [tip("T", 1, &apart[0].hash), tip("U", 1, &apart[1].hash)];
    let head = unsigned(head_of(&apart, &mut tips));
    apart.swap(0, 1);
    assert_eq!(codes(&sealed_file(&apart, &mut tips, &head)), ["TREE_ROOT_MISMATCH"]);
}

#[test]
fn an_open_session_has_no_seal_to_check_and_fits_no_key() {
    let file = open(&chain(1, "T", ZERO, 3));
    let verdict = check(&file).unwrap();
    assert!(verdict.valid && verdict.head.is_none());
    assert_eq!((verdict.signature, verdict.checks.root_hash), (None, None));
    assert!(!check_with(&file, &trusting(&[GOLDEN_KEY])).unwrap().valid);
}
