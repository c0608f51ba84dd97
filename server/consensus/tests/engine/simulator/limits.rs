//! Where agreement or progress ends, and what still holds there: T2, T3, T4 and T6 of consensus#simulator.

use colibri_consensus::quorum::max_faulty;

use crate::simulator::keys::Scheme;
use crate::simulator::plan::{Behaviour, Case, Plan};
use crate::simulator::runs::{each, hold, hold_invariants, seeds};
use crate::simulator::simulation::run;

fn plans(case: Case, behaviour: Behaviour, sizes: &[usize], count: u64) -> Vec<Plan> {
    let plan = |n, seed| Plan { case, n, behaviour, gst_ms: 0, seed, scheme: Scheme::Symbolic };
    sizes.iter().flat_map(|&n| (0..count).map(move |seed| plan(n, seed))).collect()
}

#[test]
fn t2_split_proposals_and_f_equivocators_never_break_agreement() {
    let mut plans = plans(Case::T2, Behaviour::Equivocate, &[4, 5, 6, 7, 10, 13], seeds(4, 100));
    for plan in plans.iter_mut().filter(|plan| plan.seed % 4 == 3) {
        plan.gst_ms = 120_000;
    }
    let (mut forked, mut completed) = (0, 0);
    let runs = each(Case::T2, &plans, |plan, report| {
        hold_invariants(plan, report);
        hold(plan, report, report.disagreements.is_empty(), "agreement");
        forked += usize::from(report.forks.contains(&1));
        completed += usize::from(report.completions.len() == report.honest);
    });
    println!("T2: {forked} runs called the fork hook, {completed} completed");
    assert!(forked > 0 || runs < 24, "some committee must have been divided for n views");
}

/// The negative control: with one faulty member too many, the checker must find the violation.
#[test]
fn t3_one_equivocator_too_many_breaks_agreement_and_is_found_out() {
    for n in [4, 7, 10, 13] {
        let plans = plans(Case::T3, Behaviour::Equivocate, &[n], seeds(8, 100));
        let mut broken = 0;
        let runs = each(Case::T3, &plans, |plan, report| {
            hold_invariants(plan, report);
            let least = max_faulty(plan.n as u64).unwrap() as usize + 1;
            let accountable = report.disagreements.iter().all(|guilty| *guilty >= least);
            hold(plan, report, accountable, "accountability: at least f + 1 are provably guilty");
            broken += usize::from(!report.disagreements.is_empty());
        });
        println!("T3: n = {n}: agreement broken in {broken} of {runs} runs");
        assert!(broken > 0 || runs < 8, "n = {n}: the checker must find agreement broken");
    }
}

#[test]
fn t4_one_silent_member_too_many_halts_the_round_and_nothing_else() {
    let plans = plans(Case::T4, Behaviour::Silent, &[4, 5, 6, 7, 10, 13], seeds(1, 40));
    each(Case::T4, &plans, |plan, report| {
        hold_invariants(plan, report);
        hold(plan, report, report.disagreements.is_empty(), "agreement");
        hold(plan, report, report.completions.is_empty(), "nobody may complete");
        hold(plan, report, report.view == 0, "fewer than a quorum leave no view");
    });
}

#[test]
fn t6_without_late_promises_withholders_shut_out_slower_members() {
    let count = seeds(8, 100);
    let (mut with, mut without, mut stalled) = (0, 0, 0);
    for plan in plans(Case::T1, Behaviour::Withhold, &[10], count) {
        let report = run(&plan, false);
        with += usize::from(report.completions.values().filter(|view| **view == 0).count() == report.honest);
    }
    let runs = each(Case::T6, &plans(Case::T6, Behaviour::Withhold, &[10], count), |plan, report| {
        hold_invariants(plan, report);
        hold(plan, report, report.disagreements.is_empty(), "agreement");
        let at_once = report.completions.values().filter(|view| **view == 0).count() == report.honest;
        without += usize::from(at_once);
        stalled += usize::from(report.completions.is_empty());
    });
    println!(
        "T6: view 0 is enough in {with} of {count} runs, without late promises in {without}; {stalled} stalled"
    );
    assert_eq!(with as u64, count);
    assert!(without < with / 2 || runs < 8);
}
