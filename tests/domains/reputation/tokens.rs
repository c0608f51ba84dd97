//! Experience tokens as they are kept: lambda_58.

use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::experience::{
    mint_l0, promote_to_l1, promote_to_l1_5, promote_to_l2a, promote_to_l2b, tokens_of, witnesses_of,
};
use colibri::domains::reputation::tokens::{
    CycleProof, Level, Stamp, Token, TokenPromotionError, Witness, WorkOutcome,
};
use colibri_runtime::handler::Failure;
use serde_json::json;

use crate::reputation::world::World;

const CONFIRMED: CycleProof = CycleProof { cycle_complete: true, counterparty_confirmed: true };

fn stamp(number: usize) -> Stamp {
    Stamp { id: format!("tok_{number:026}"), created_at: 1_795_305_600 }
}

fn mint(world: &World, number: usize, counterparty: Option<&str>, scenario: Option<&str>) -> Token {
    let outcome = WorkOutcome {
        class: "success".to_owned(),
        delta: 50,
        scenario: scenario.map(str::to_owned),
        counterparty: counterparty.map(str::to_owned),
    };
    mint_l0(world.db(), stamp(number), "alice", Domain::Execution, "task_done", outcome).unwrap()
}

fn confirmed(world: &World, number: usize, counterparty: &str, scenario: &str) -> Token {
    let l0 = mint(world, number, Some(counterparty), Some(scenario));
    promote_to_l1(world.db(), &l0, CONFIRMED, stamp(100 + number)).unwrap()
}

fn error(result: Result<Token, Failure<TokenPromotionError>>) -> String {
    match result {
        Err(Failure::Domain(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn kept(world: &World, level: Level) -> Vec<Token> {
    tokens_of(world.db(), "alice", Domain::Execution, level).unwrap()
}

#[test]
fn lambda_58_tokens_are_kept_as_they_were_made() {
    let world = World::new();
    let l0 = mint(&world, 1, Some("bob"), None);
    assert_eq!(l0.feature_hash, None);
    assert_eq!(kept(&world, Level::L0), std::slice::from_ref(&l0));
    for proof in [
        CycleProof { cycle_complete: false, ..CONFIRMED },
        CycleProof { counterparty_confirmed: false, ..CONFIRMED },
    ] {
        let text = error(promote_to_l1(world.db(), &l0, proof, stamp(2)));
        assert!(text.starts_with("TokenPromotionError: "), "{text}");
    }
    assert_eq!(kept(&world, Level::L1), [] as [Token; 0]);
    let l1 = promote_to_l1(world.db(), &l0, CONFIRMED, stamp(2)).unwrap();
    assert_eq!((l1.promoted_from.as_ref(), l1.feature_hash.as_ref()), (Some(&l0.id), None));
    assert_eq!(kept(&world, Level::L1), std::slice::from_ref(&l1));
    let again = promote_to_l1(world.db(), &l0, CONFIRMED, stamp(3));
    assert_eq!(error(again), "TokenPromotionError: already promoted");
    let wrong = promote_to_l1(world.db(), &l1, CONFIRMED, stamp(3));
    assert_eq!(error(wrong), "TokenPromotionError: expected L0, got L1");
    assert_eq!(kept(&world, Level::L0), [l0], "the old token stays");
}

#[test]
fn lambda_58_witnesses_below_their_floor_leave_the_token_as_it_is() {
    let world = World::new();
    let l1 = confirmed(&world, 1, "bob", "s");
    let witness = |reputation_bps| Witness {
        witness_id: "wit_1".to_owned(),
        agent_id: "carol".to_owned(),
        reputation_bps,
    };
    let unchanged = promote_to_l1_5(world.db(), &l1, &[witness(199)], stamp(9)).unwrap();
    assert_eq!(unchanged, l1);
    assert_eq!(world.counts()[4..], [2, 0]);
    let witnessed = promote_to_l1_5(world.db(), &l1, &[witness(200)], stamp(9)).unwrap();
    assert_eq!(kept(&world, Level::L1_5), std::slice::from_ref(&witnessed));
    assert_eq!(witnesses_of(world.db(), &witnessed.id).unwrap(), [witness(200)]);
    assert_eq!(world.number("SELECT weight_cap FROM mcp_witnesses", &[]), 30);
    assert_eq!(
        world.text("SELECT witnesses FROM experience_tokens WHERE level = 'L1.5'", &[]),
        "[\"wit_1\"]"
    );
}

#[test]
fn lambda_58_five_tokens_are_a_pattern_and_four_are_none() {
    let world = World::new();
    let tokens: Vec<Token> = (1..=5)
        .map(|number| confirmed(&world, number, &format!("peer-{number}"), &format!("scenario-{number}")))
        .collect();
    let text = error(promote_to_l2a(world.db(), &tokens[..4], stamp(900)));
    assert!(text.starts_with("TokenPromotionError: "), "{text}");
    let pattern = promote_to_l2a(world.db(), &tokens, stamp(900)).unwrap();
    assert_eq!(
        pattern.feature_hash.as_deref(),
        Some("5e69492a138a4f2db038b13c30981a0fe6b27ea682b56575ae37c58983383045")
    );
    assert_eq!(kept(&world, Level::L2a), std::slice::from_ref(&pattern));
    let again = promote_to_l2a(world.db(), &tokens, stamp(901));
    assert_eq!(error(again), "TokenPromotionError: already promoted");
    let free = promote_to_l2b(world.db(), &pattern, &tokens, stamp(902)).unwrap();
    assert_eq!(kept(&world, Level::L2b), [free]);
    let again = promote_to_l2b(world.db(), &pattern, &tokens, stamp(903));
    assert_eq!(error(again), "TokenPromotionError: already promoted");
}

#[test]
fn lambda_58_the_table_knows_five_levels() {
    let world = World::new();
    let insert = "INSERT INTO experience_tokens (id, node_id, level, domain, action, outcome_class, outcome_delta, created_at) \
                  VALUES ('tok_1', 'alice', 'L3', 'execution', 'a', 'success', 1, 0)";
    let refused = world.sql.execute(insert, []).unwrap_err().to_string();
    assert!(refused.contains("CHECK constraint failed"), "{refused}");
}

#[test]
fn lambda_58_a_finished_task_mints_one_token_or_two() {
    let mut world = World::new();
    world.finished(Some("alice"), &[("alice", "plan")]);
    let unacknowledged = kept(&world, Level::L0);
    assert_eq!(kept(&world, Level::L1), [] as [Token; 0]);
    world.finished(Some("alice"), &[("alice", "plan"), ("carol", "reflection")]);
    let [first, second]: [Token; 2] = kept(&world, Level::L0).try_into().unwrap();
    assert_eq!(unacknowledged, std::slice::from_ref(&first));
    let [raised]: [Token; 1] = kept(&world, Level::L1).try_into().unwrap();
    assert_eq!(raised.promoted_from.as_ref(), Some(&second.id));
    for (token, delta, counterparty) in
        [(&first, 50, None), (&second, 20, Some("carol")), (&raised, 20, Some("carol"))]
    {
        assert_eq!(
            (token.node_id.as_str(), token.domain, token.action.as_str()),
            ("alice", Domain::Execution, "task_done")
        );
        assert_eq!((token.outcome_class.as_str(), token.outcome_delta), ("success", delta));
        assert_eq!((token.counterparty.as_deref(), token.scenario.as_deref()), (counterparty, None));
        let ulid = token.id.strip_prefix("tok_").unwrap();
        assert!(
            ulid.len() == 26 && ulid.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte)),
            "{ulid}"
        );
    }
    assert!(first.id < second.id && second.id < raised.id, "ids are in the order of time");
    // A gain that is not credited does not count as experience.
    let epoch = world.number("SELECT max(epoch) FROM reputation_history", &[]);
    world.put_row("eve", "execution", (9000, 0), Some(epoch + 1000), epoch);
    let minted = world.counts()[4];
    world.finished(Some("alice"), &[("alice", "plan"), ("eve", "reflection")]);
    assert_eq!(world.counts()[4], minted);
    assert_eq!(world.server.data("task_list", json!({ "status": "DONE" }))["total_count"], 3);
}
