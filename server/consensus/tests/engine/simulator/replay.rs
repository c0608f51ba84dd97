//! The simulator itself: a run follows from its plan, and a plan from its text.

use crate::simulator::keys::Scheme;
use crate::simulator::plan::{Behaviour, Case, Plan};
use crate::simulator::simulation::run;

fn plan(behaviour: Behaviour, seed: u64) -> Plan {
    Plan { case: Case::T5, n: 7, behaviour, gst_ms: 120_000, seed, scheme: Scheme::Symbolic }
}

#[test]
fn one_seed_gives_one_log() {
    let logs = |seed| -> Vec<String> {
        Behaviour::ALL.iter().map(|&behaviour| run(&plan(behaviour, seed), false).log).collect()
    };
    let first = logs(1);
    assert_eq!(first, logs(1));
    assert!(first.iter().zip(logs(2)).all(|(one, two)| *one != two), "other seeds give other runs");
}

#[test]
fn a_plan_is_its_text() {
    for behaviour in Behaviour::ALL {
        for case in [Case::T1, Case::T2, Case::T3, Case::T4, Case::T5, Case::T6, Case::T7] {
            let plan = Plan { case, scheme: Scheme::Ed25519, ..plan(behaviour, u64::MAX) };
            assert_eq!(plan.to_string().parse(), Ok(plan));
        }
    }
    let text = plan(Behaviour::VcSpam, 5).to_string();
    assert_eq!(text, "t5:n=7:vc_spam:gst=120000:seed=5:symbolic");
    for wrong in
        ["", "t8", &text[1..], &text.replace("n=7", "7"), &text.replace("vc", "vd"), &format!("{text}:")]
    {
        assert!(wrong.parse::<Plan>().is_err(), "{wrong}");
    }
}
