//! Up to f faulty members: T1, T5 and T7 of consensus#simulator.

use colibri_consensus::round::Entries;

use crate::simulator::keys::Scheme;
use crate::simulator::plan::{Behaviour, Case, Plan};
use crate::simulator::runs::{each, hold, hold_invariants, seeds, table};
use crate::simulator::simulation::Report;

fn hold_t1(plan: &Plan, report: &Report) {
    hold_invariants(plan, report);
    hold(plan, report, report.disagreements.is_empty(), "agreement");
    hold(plan, report, report.completions.len() == report.honest, "termination");
    let at_once = report.completions.values().all(|view| *view == 0);
    hold(plan, report, plan.gst_ms > 0 || at_once, "on a timely network view 0 is enough");
}

#[test]
fn t1_f_faulty_members_neither_divide_nor_stop_the_others() {
    let sample = |n, behaviour, gst_ms| match (n, behaviour, gst_ms) {
        (0..=7, _, 120_000) => 2,
        (0..=13, ..) => 1,
        (31, Behaviour::Equivocate, _) | (100, Behaviour::Withhold, 0) => 1,
        _ => 0,
    };
    each(Case::T1, &table(Case::T1, sample), hold_t1);
}

#[test]
fn t1_holds_with_real_signatures() {
    let mut plans = Vec::new();
    for (place, &behaviour) in Behaviour::ALL.iter().enumerate() {
        for (n, gst_ms) in [(4, 0), (4, 120_000), (7, 120_000), (10, 0)] {
            let count = seeds(u64::from(place % 3 == n % 3), 4);
            plans.extend((0..count).map(|seed| Plan {
                case: Case::T1,
                n,
                behaviour,
                gst_ms,
                seed: 50 + seed,
                scheme: Scheme::Ed25519,
            }));
        }
    }
    let hundred = seeds(0, 1).min(1);
    let behaviour = Behaviour::Equivocate;
    plans.extend((0..hundred).map(|seed| Plan {
        case: Case::T1,
        n: 100,
        behaviour,
        gst_ms: 0,
        seed,
        scheme: Scheme::Ed25519,
    }));
    each(Case::T1, &plans, hold_t1);
}

#[test]
fn t5_finality_follows_within_two_epochs_of_the_last_new_proof() {
    let sample = |n, behaviour, _| match (n, behaviour) {
        (0..=7, _) | (13, Behaviour::Equivocate) => 1,
        _ => 0,
    };
    let plans = table(Case::T5, sample);
    let mut delayed = 0;
    let runs = each(Case::T5, &plans, |plan, report| {
        hold_t1(plan, report);
        hold(plan, report, report.finality.len() == report.honest, "everybody has begun finality");
        for (hard, last_proof, sealed) in &report.finality {
            let due = last_proof.map_or(2, |epoch| (epoch + 2).max(2));
            hold(plan, report, hard.is_some_and(|epoch| epoch <= due), "HARD in time");
            hold(plan, report, *sealed, "ABSOLUTE when the window is over, and not before");
        }
        delayed += report.finality.iter().filter(|(hard, ..)| *hard > Some(2)).count();
    });
    println!("T5: equivocators that were caught in time have delayed HARD at {delayed} nodes");
    assert!(delayed > 0 || runs < 50, "some equivocator must have been caught in time");
}

#[test]
fn t7_one_arbiter_goes_the_same_way() {
    let plan = |seed| Plan {
        case: Case::T7,
        n: 1,
        behaviour: Behaviour::Silent,
        gst_ms: 0,
        seed,
        scheme: Scheme::Ed25519,
    };
    let plans: Vec<Plan> = (0..seeds(5, 200)).map(plan).collect();
    each(Case::T7, &plans, |plan, report| {
        hold_t1(plan, report);
        let once = Entries { commit: 1, reveal: 1, verify: 1, view_change: 0 };
        hold(plan, report, report.entries == [once], "each phase once");
        hold(plan, report, report.finality == [(Some(2), None, true)], "QUORUM, HARD in epoch 2, ABSOLUTE");
    });
}
