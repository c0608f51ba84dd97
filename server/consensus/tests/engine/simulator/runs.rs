//! Which runs a test makes. `COLIBRI_SIM_RUNS=full` makes all of consensus#simulator's, a number as many for each cell of a test's
//! table; `COLIBRI_SIM_FIRST` says from which seed on, `COLIBRI_SIM_SEED` makes the one run that a failure has printed.

use std::env;

use crate::simulator::keys::Scheme;
use crate::simulator::plan::{Behaviour, Case, Plan};
use crate::simulator::simulation::{Report, run};

/// How many seeds a cell of a table gets.
#[derive(Debug, Clone, Copy)]
enum Amount {
    /// As many as a run of all tests has time for.
    Sample,
    Full,
    Seeds(u64),
}

fn amount() -> Amount {
    match env::var("COLIBRI_SIM_RUNS") {
        Err(_) => Amount::Sample,
        Ok(text) if text == "full" => Amount::Full,
        Ok(text) => Amount::Seeds(text.parse().expect("COLIBRI_SIM_RUNS is `full` or a number")),
    }
}

/// Returns `sample` seeds, or `full`, or as many as the environment says.
pub fn seeds(sample: u64, full: u64) -> u64 {
    match amount() {
        Amount::Sample => sample,
        Amount::Full => full,
        Amount::Seeds(count) => count,
    }
}

/// Makes a test's runs, or only the one that the environment names; returns how many it has made. Statements about many
/// runs cannot be checked on one.
pub fn each(case: Case, plans: &[Plan], mut look: impl FnMut(&Plan, &Report)) -> usize {
    let named = env::var("COLIBRI_SIM_SEED").ok().map(|text| text.parse::<Plan>().expect("a plan"));
    if let Some(plan) = named.filter(|plan| plan.case == case) {
        let report = run(&plan, true);
        println!("{plan}: {report:#?}");
        look(&plan, &report);
        return 1;
    }
    let first =
        env::var("COLIBRI_SIM_FIRST").map_or(0, |text| text.parse().expect("COLIBRI_SIM_FIRST is a number"));
    let mut events = 0;
    for plan in plans {
        let plan = &Plan { seed: first + plan.seed, ..*plan };
        let report = run(plan, false);
        events += report.events;
        look(plan, &report);
    }
    println!("{case:?}: {} runs, {events} events", plans.len());
    plans.len()
}

/// Fails with the command that repeats the run.
#[track_caller]
pub fn hold(plan: &Plan, report: &Report, holds: bool, what: &str) {
    assert!(holds, "{plan}: {what}\nrepeat it with\n  {}\n{report:#?}", plan.replay());
}

/// Checks what holds in every run with any number of faulty members: all invariants but agreement.
#[track_caller]
pub fn hold_invariants(plan: &Plan, report: &Report) {
    hold(plan, report, report.violations.is_empty(), "an invariant is violated");
    hold(plan, report, report.forks.iter().all(|forks| *forks <= 1), "the fork was told twice");
}

/// Makes the table of T1 and T5: every size, behaviour and network, with `sample` seeds by default for size and behaviour.
pub fn table(case: Case, sample: impl Fn(usize, Behaviour, u64) -> u64) -> Vec<Plan> {
    let mut plans = Vec::new();
    for n in [1, 2, 3, 4, 5, 6, 7, 10, 13, 31, 100] {
        let full = match n {
            0..=7 => 200,
            8..=13 => 40,
            14..=31 => 6,
            _ => 2,
        };
        // Without faulty members all behaviours are the same run.
        let behaviours = if n < 4 { &Behaviour::ALL[..1] } else { &Behaviour::ALL[..] };
        for (place, &behaviour) in behaviours.iter().enumerate() {
            for gst_ms in [0, 120_000] {
                let count = seeds(sample(n, behaviour, gst_ms), full);
                let first = place as u64 * 1_000_000 + n as u64 * 1_000;
                plans.extend((0..count).map(|seed| Plan {
                    case,
                    n,
                    behaviour,
                    gst_ms,
                    seed: first + seed,
                    scheme: Scheme::Symbolic,
                }));
            }
        }
    }
    plans
}
