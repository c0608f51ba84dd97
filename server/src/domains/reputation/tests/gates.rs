//! Gates (reputation#gates).

use crate::domains::reputation::domain::{DOMAINS, Domain};
use crate::domains::reputation::gates::{
    can_arbitrate, can_govern, evaluate, max_parallel_tasks, rate_limit_bonus, stake_discount,
};
use crate::domains::reputation::standing::Standing;

use crate::domains::reputation::tests::support::row;

fn standing(domain: Domain, score: i64, ban_until_epoch: Option<i64>) -> Standing {
    Standing { domain, ban_until_epoch, ..row("a", score, 100) }
}

#[test]
fn the_gate_table() {
    // Score, tasks at once, bonus on 10000, stake for 10000, stake for 500.
    let table = [
        (0, 0, 0, 100_000, 5_000),
        (1, 1, 0, 100_000, 5_000),
        (99, 9, 6, 100_000, 5_000),
        (399, 19, 8, 100_000, 5_000),
        (400, 20, 8, 100_000, 5_000),
        (1_000, 20, 9, 100_000, 5_000),
        (1_001, 20, 9, 99_900, 4_995),
        (2_500, 20, 11, 40_000, 2_000),
        (5_000, 20, 12, 20_000, 1_000),
        (8_191, 20, 12, 12_208, 610),
        (8_192, 20, 13, 12_207, 610),
        (10_000, 20, 13, 10_000, 500),
    ];
    for (score, parallel, bonus, stake, small_stake) in table {
        let execution = row("a", score, 0);
        assert_eq!(max_parallel_tasks(&execution), Ok(parallel), "{score}");
        assert_eq!(rate_limit_bonus(&execution, 10_000), Ok(bonus), "{score}");
        assert_eq!(stake_discount(10_000, &execution), Ok(stake), "{score}");
        assert_eq!(stake_discount(500, &execution), Ok(small_stake), "{score}");
    }
}

#[test]
fn stakes_and_rates_are_not_negative_and_stakes_never_shrink() {
    let execution = row("a", 10_000, 0);
    let message = |result: Result<i64, _>| -> String {
        crate::rules::integer::IntegerError::to_string(&result.unwrap_err())
    };
    assert_eq!(
        message(rate_limit_bonus(&execution, -1)),
        "UnderflowError: rate_limit_bonus: negative base_rate (-1)"
    );
    assert_eq!(
        message(stake_discount(-1, &execution)),
        "UnderflowError: stake_discount: negative required_stake (-1)"
    );
    assert!(message(stake_discount(i64::MAX, &execution)).starts_with("OverflowError: safe_mul"));
    for score in 0..=10_000 {
        let stake = stake_discount(777, &row("a", score, 0)).unwrap();
        assert!((777..=7_770).contains(&stake), "{score}: {stake}");
    }
}

#[test]
fn arbitrating_needs_both_scores_and_no_ban_in_either() {
    let gate = |arbitration: i64, execution: i64, bans: [Option<i64>; 2]| {
        let arbitration = standing(Domain::Arbitration, arbitration, bans[0]);
        let execution = standing(Domain::Execution, execution, bans[1]);
        can_arbitrate(&arbitration, &execution, 100)
    };
    assert!(gate(5_000, 3_000, [None, None]));
    assert!(!gate(4_999, 3_000, [None, None]));
    assert!(!gate(5_000, 2_999, [None, None]));
    assert!(!gate(9_000, 9_000, [Some(101), None]));
    assert!(!gate(9_000, 9_000, [None, Some(101)]));
    assert!(gate(9_000, 9_000, [Some(100), Some(100)]));
}

#[test]
fn governing_needs_its_score_and_no_ban() {
    let gate = |score, ban| can_govern(&standing(Domain::Governance, score, ban), 100);
    assert!(gate(4_000, None) && gate(4_000, Some(100)));
    assert!(!gate(3_999, None) && !gate(9_000, Some(101)));
}

#[test]
fn an_unknown_node_has_nothing_and_no_error() {
    let gates = evaluate("ghost", &[], 7).unwrap();
    let numbers = (gates.max_parallel_tasks, gates.rate_limit_bonus, gates.stake_discount);
    assert_eq!(numbers, (0, 0, 100_000));
    assert!(!gates.can_arbitrate && !gates.can_govern);
    for (gate, domain) in gates.domains.iter().zip(DOMAINS) {
        assert_eq!(gate.row, Standing::unknown("ghost", domain, 7));
        assert_eq!((gate.present, gate.banned, gate.row.ceiling()), (false, false, 10_000));
    }
}

#[test]
fn the_worked_gates_from_epoch_100_to_104() {
    let rows = [
        standing(Domain::Governance, 4_100, None),
        standing(Domain::Execution, 6_000, None),
        standing(Domain::Arbitration, 7_000, None),
    ];
    let table = [
        (100, [6_000, 7_000, 4_100], [20, 12, 16_666], true, true),
        (101, [5_700, 6_300, 4_018], [20, 12, 17_543], true, true),
        (102, [5_415, 5_670, 3_938], [20, 12, 18_467], true, false),
        (103, [5_145, 5_103, 3_860], [20, 12, 19_436], true, false),
        (104, [4_888, 4_593, 3_783], [20, 12, 20_458], false, false),
    ];
    for (epoch, scores, numbers, arbitrate, govern) in table {
        let gates = evaluate("a", &rows, epoch).unwrap();
        let [execution, commissioning, arbitration, governance, social] = &gates.domains;
        assert_eq!([execution, arbitration, governance].map(|gate| gate.row.score), scores, "epoch {epoch}");
        assert!(execution.present && arbitration.present && governance.present);
        assert!(!commissioning.present && !social.present);
        let found = [gates.max_parallel_tasks, gates.rate_limit_bonus, gates.stake_discount];
        assert_eq!(found, numbers, "epoch {epoch}");
        assert_eq!((gates.can_arbitrate, gates.can_govern), (arbitrate, govern), "epoch {epoch}");
    }
}

#[test]
fn a_ban_closes_its_gate_until_it_ends() {
    let rows = [Standing { domain: Domain::Governance, ban_until_epoch: Some(20), ..row("a", 9_000, 10) }];
    let banned = evaluate("a", &rows, 19).unwrap();
    assert!(!banned.can_govern && banned.domains[3].banned);
    let free = evaluate("a", &rows, 20).unwrap();
    assert!(free.can_govern && !free.domains[3].banned);
    assert_eq!(free.domains[3].row.score, 7_357);
    assert_eq!(free.domains[3].row.ban_until_epoch, Some(20));
}
