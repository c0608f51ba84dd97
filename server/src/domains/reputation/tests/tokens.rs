//! Experience tokens (reputation#tokens).

use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::experience;
use crate::domains::reputation::tokens::{
    CycleProof, Level, Stamp, Token, TokenPromotionError, WorkOutcome, mint_l0, promote_to_l1,
};
use colibri_runtime::handler::Failure;
use colibri_store::db::Db;
use colibri_store::params;

use crate::domains::tasks::tests::support::connection;

const PROOF: CycleProof = CycleProof { cycle_complete: true, counterparty_confirmed: true };

fn stamp(nth: usize) -> Stamp {
    Stamp { id: format!("tok_{nth}"), created_at: 1_000 + nth as i64 }
}

/// A raw token of alice's: the nth counterparty in the nth scenario.
fn raw(nth: usize) -> Token {
    let outcome = WorkOutcome {
        class: "success".to_owned(),
        delta: 10 + nth as i64,
        scenario: Some(format!("scenario {nth}")),
        counterparty: Some(format!("party {nth}")),
    };
    mint_l0(stamp(nth), "alice", Domain::Execution, "task_done", outcome)
}

fn confirmed(nth: usize) -> Token {
    promote_to_l1(&raw(nth), PROOF, stamp(100 + nth), &[]).unwrap()
}

fn message(result: Result<Token, TokenPromotionError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_raw_token_has_no_feature_hash_and_no_origin() {
    let expected = Token {
        id: "tok_3".to_owned(),
        node_id: "alice".to_owned(),
        level: Level::L0,
        domain: Domain::Execution,
        scenario: Some("scenario 3".to_owned()),
        counterparty: Some("party 3".to_owned()),
        action: "task_done".to_owned(),
        outcome_class: "success".to_owned(),
        outcome_delta: 13,
        witnesses: Vec::new(),
        created_at: 1_003,
        promoted_from: None,
        feature_hash: None,
    };
    assert_eq!(raw(3), expected);
}

#[test]
fn both_flags_must_be_true() {
    let l1 = confirmed(3);
    let expected = Token {
        id: "tok_103".to_owned(),
        level: Level::L1,
        created_at: 1_103,
        promoted_from: Some("tok_3".to_owned()),
        ..raw(3)
    };
    assert_eq!(l1, expected);
    let flags = [
        (CycleProof { cycle_complete: false, ..PROOF }, "TokenPromotionError: cycle_complete is not true"),
        (
            CycleProof { counterparty_confirmed: false, ..PROOF },
            "TokenPromotionError: counterparty_confirmed is not true",
        ),
    ];
    for (proof, expected) in flags {
        assert_eq!(message(promote_to_l1(&raw(3), proof, stamp(9), &[])), expected);
    }
}

#[test]
fn a_token_is_raised_once_and_from_the_level_below() {
    let l1 = confirmed(3);
    let already = "TokenPromotionError: already promoted";
    assert_eq!(message(promote_to_l1(&raw(3), PROOF, stamp(9), std::slice::from_ref(&l1))), already);
    assert_eq!(message(promote_to_l1(&l1, PROOF, stamp(9), &[])), "TokenPromotionError: expected L0, got L1");
}

#[test]
fn there_is_no_level_l3() {
    for name in ["L0", "L1", "L1.5", "L2a", "L2b"] {
        assert_eq!(Level::parse(name).map(Level::as_str), Some(name));
    }
    for bad in ["L3", "L2", "l0", ""] {
        assert_eq!(Level::parse(bad), None, "{bad:?}");
    }
}

#[test]
fn tokens_are_kept_as_they_were_made() {
    let db = Db::new(connection());
    let kept = |level: Level| {
        let sql = "SELECT id, promoted_from FROM experience_tokens WHERE level = ?1 AND feature_hash IS NULL";
        db.query_all(sql, params![level.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let refused = |result: Result<Token, Failure<TokenPromotionError>>| match result {
        Err(Failure::Domain(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let outcome = WorkOutcome {
        class: "success".to_owned(),
        delta: 50,
        scenario: None,
        counterparty: Some("bob".to_owned()),
    };
    let l0 = experience::mint_l0(&db, stamp(1), "alice", Domain::Execution, "task_done", outcome).unwrap();
    assert_eq!(kept(Level::L0), [("tok_1".to_owned(), None::<String>)]);
    let unproven = CycleProof { cycle_complete: false, ..PROOF };
    let text = refused(experience::promote_to_l1(&db, &l0, unproven, stamp(2)));
    assert_eq!(text, "TokenPromotionError: cycle_complete is not true");
    assert_eq!(kept(Level::L1), []);
    let l1 = experience::promote_to_l1(&db, &l0, PROOF, stamp(2)).unwrap();
    assert_eq!(kept(Level::L1), [("tok_2".to_owned(), Some("tok_1".to_owned()))]);
    let again = experience::promote_to_l1(&db, &l0, PROOF, stamp(3));
    assert_eq!(refused(again), "TokenPromotionError: already promoted");
    let wrong = experience::promote_to_l1(&db, &l1, PROOF, stamp(3));
    assert_eq!(refused(wrong), "TokenPromotionError: expected L0, got L1");
    assert_eq!(kept(Level::L0).len(), 1, "the old token stays");
}
