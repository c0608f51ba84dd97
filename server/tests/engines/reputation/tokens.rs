//! Experience tokens (reputation#tokens): the arithmetic of case 58.

use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::tokens::{
    CycleProof, Level, Stamp, Token, TokenPromotionError, Witness, WorkOutcome, feature_hash, mint_l0,
    pattern_hash, promote_to_l1, promote_to_l1_5, promote_to_l2a, promote_to_l2b,
};

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

fn confirmed_up_to(count: usize) -> Vec<Token> {
    (0..count).map(confirmed).collect()
}

fn witness(agent_id: &str, reputation_bps: i64) -> Witness {
    Witness { witness_id: format!("wit_{agent_id}"), agent_id: agent_id.to_owned(), reputation_bps }
}

fn message(result: Result<Token, TokenPromotionError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn lambda_58_a_raw_token_has_no_feature_hash_and_no_origin() {
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
fn lambda_58_both_flags_must_be_true() {
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
fn lambda_58_a_token_is_raised_once_to_each_level_and_from_the_one_below() {
    let l1 = confirmed(3);
    let already = "TokenPromotionError: already promoted";
    assert_eq!(message(promote_to_l1(&raw(3), PROOF, stamp(9), std::slice::from_ref(&l1))), already);
    assert_eq!(message(promote_to_l1(&l1, PROOF, stamp(9), &[])), "TokenPromotionError: expected L0, got L1");
    let witnesses = [witness("carol", 200)];
    let seen = promote_to_l1_5(&l1, &witnesses, stamp(9), &[]).unwrap();
    assert_eq!(message(promote_to_l1_5(&l1, &witnesses, stamp(10), &[seen])), already);
    let raw_one = promote_to_l1_5(&raw(3), &witnesses, stamp(9), &[]);
    assert_eq!(message(raw_one), "TokenPromotionError: expected L1, got L0");
    let mut tokens = confirmed_up_to(5);
    let l2a = promote_to_l2a(&tokens, stamp(9), &[]).unwrap();
    let more = confirmed_up_to(9);
    assert_eq!(message(promote_to_l2a(&more[4..], stamp(10), std::slice::from_ref(&l2a))), already);
    let l2b = promote_to_l2b(&l2a, &tokens, stamp(10), &[]).unwrap();
    assert_eq!(message(promote_to_l2b(&l2a, &tokens, stamp(11), std::slice::from_ref(&l2b))), already);
    assert_eq!(
        message(promote_to_l2b(&l2b, &tokens, stamp(11), &[])),
        "TokenPromotionError: expected L2a, got L2b"
    );
    tokens[2] = raw(2);
    let mixed = promote_to_l2a(&tokens, stamp(9), &[]);
    assert_eq!(message(mixed), "TokenPromotionError: expected L1 or L1.5, got L0");
}

#[test]
fn lambda_58_witnesses_that_do_not_count_leave_the_token_as_it_is() {
    let l1 = confirmed(3);
    let refused: [&[Witness]; 6] = [
        &[],
        &[witness("carol", 199)],
        &[witness("alice", 9_000)],
        &[witness("party 3", 9_000)],
        &[witness("carol", 200), witness("carol", 200)],
        &[witness("carol", 200), witness("dave", 199)],
    ];
    for witnesses in refused {
        assert_eq!(promote_to_l1_5(&l1, witnesses, stamp(9), &[]), Ok(l1.clone()), "{witnesses:?}");
    }
    let seen = promote_to_l1_5(&l1, &[witness("carol", 200), witness("dave", 9_000)], stamp(9), &[]).unwrap();
    let hash = feature_hash(&l1, Some("party 3"), Some("scenario 3")).unwrap();
    let expected = Token {
        id: "tok_9".to_owned(),
        level: Level::L1_5,
        witnesses: vec!["wit_carol".to_owned(), "wit_dave".to_owned()],
        created_at: 1_009,
        promoted_from: Some("tok_103".to_owned()),
        feature_hash: Some(hash.as_str().to_owned()),
        ..l1
    };
    assert_eq!(seen, expected);
}

#[test]
fn lambda_58_the_feature_hash_of_the_chapter() {
    let digest = "5e69492a138a4f2db038b13c30981a0fe6b27ea682b56575ae37c58983383045";
    assert_eq!(feature_hash(&raw(1), None, None).unwrap().as_str(), digest);
    assert_eq!(pattern_hash(&confirmed(2)).unwrap().as_str(), digest);
    assert_ne!(feature_hash(&raw(1), Some("bob"), None).unwrap().as_str(), digest);
    assert_ne!(feature_hash(&raw(1), None, Some("night")).unwrap().as_str(), digest);
    for other in [
        Token { action: "review".to_owned(), ..raw(1) },
        Token { outcome_class: "failure".to_owned(), ..raw(1) },
        Token { domain: Domain::Social, ..raw(1) },
    ] {
        assert_ne!(pattern_hash(&other).unwrap().as_str(), digest);
    }
}

#[test]
fn lambda_58_four_tokens_are_no_pattern_and_five_are() {
    let needs_five = "TokenPromotionError: a pattern needs five tokens";
    assert_eq!(message(promote_to_l2a(&confirmed_up_to(4), stamp(9), &[])), needs_five);
    assert_eq!(message(promote_to_l2a(&[], stamp(9), &[])), needs_five);
    let tokens = confirmed_up_to(5);
    let l2a = promote_to_l2a(&tokens, stamp(9), &[]).unwrap();
    let expected = Token {
        id: "tok_9".to_owned(),
        level: Level::L2a,
        scenario: None,
        counterparty: None,
        outcome_delta: 10,
        created_at: 1_009,
        promoted_from: Some("tok_104".to_owned()),
        feature_hash: Some(pattern_hash(&tokens[0]).unwrap().as_str().to_owned()),
        ..tokens[4].clone()
    };
    assert_eq!(l2a, expected);
    // The same work twice is once, whether as the same token or as its witnessed form.
    let witnessed = promote_to_l1_5(&tokens[0], &[witness("carol", 200)], stamp(9), &[]).unwrap();
    for fifth in [tokens[0].clone(), witnessed.clone()] {
        let doubled = [&tokens[..4], &[fifth]].concat();
        assert_eq!(message(promote_to_l2a(&doubled, stamp(9), &[])), needs_five);
    }
    assert!(promote_to_l2a(&[&tokens[1..], &[witnessed]].concat(), stamp(9), &[]).is_ok());
    for stranger in [
        Token { node_id: "bob".to_owned(), ..tokens[0].clone() },
        Token { action: "review".to_owned(), ..tokens[0].clone() },
    ] {
        let mixed = [&tokens[1..], &[stranger]].concat();
        let expected = "TokenPromotionError: the tokens are not of one node and kind";
        assert_eq!(message(promote_to_l2a(&mixed, stamp(9), &[])), expected);
    }
}

#[test]
fn lambda_58_a_pattern_without_context_needs_diversity_and_success() {
    let tokens = confirmed_up_to(5);
    let l2a = promote_to_l2a(&tokens, stamp(9), &[]).unwrap();
    let l2b = promote_to_l2b(&l2a, &tokens[..3], stamp(10), &[]).unwrap();
    let expected = Token {
        id: "tok_10".to_owned(),
        level: Level::L2b,
        created_at: 1_010,
        promoted_from: Some("tok_9".to_owned()),
        ..l2a.clone()
    };
    assert_eq!(l2b, expected);
    let with = |change: fn(&mut Token)| {
        let mut tokens = tokens[..3].to_vec();
        change(&mut tokens[2]);
        message(promote_to_l2b(&l2a, &tokens, stamp(10), &[]))
    };
    let parties = "TokenPromotionError: three counterparties are needed";
    assert_eq!(with(|token| token.counterparty = Some("party 1".to_owned())), parties);
    assert_eq!(with(|token| token.counterparty = None), parties);
    let scenarios = "TokenPromotionError: three scenarios are needed";
    assert_eq!(with(|token| token.scenario = Some("scenario 1".to_owned())), scenarios);
    let outcomes = "TokenPromotionError: every outcome must be above 0";
    assert_eq!(with(|token| token.outcome_delta = 0), outcomes);
    let others = "TokenPromotionError: the tokens are not the pattern's";
    assert_eq!(with(|token| token.node_id = "bob".to_owned()), others);
    assert_eq!(with(|token| token.action = "review".to_owned()), others);
}

#[test]
fn lambda_58_there_is_no_level_l3() {
    for name in ["L0", "L1", "L1.5", "L2a", "L2b"] {
        assert_eq!(Level::parse(name).map(Level::as_str), Some(name));
    }
    for bad in ["L3", "L2", "l0", ""] {
        assert_eq!(Level::parse(bad), None, "{bad:?}");
    }
}
