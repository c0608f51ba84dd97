//! Many runs of one kind, each from a seed of its own.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::check::Finding;

/// The first seed, where none is named.
const SEED: u64 = 1000;
/// Runs between two words on progress.
const PROGRESS: u64 = 100;

/// The result of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Kills, faults or cuts.
    pub done: u64,
    /// Of those, so many met the servers at work.
    pub met: u64,
    /// Acknowledged calls that were looked for and found.
    pub found: u64,
}

/// Does runs until so many kills, faults or cuts are done: `ordinary` ones, or what `COLIBRI_CRASH_RUNS` says. `test` is
/// the test's path, for the command that repeats a failure.
pub fn campaign(test: &str, ordinary: u64, run: impl Fn(u64) -> Result<Tally, Finding>) -> Tally {
    let asked = variable("COLIBRI_CRASH_RUNS");
    let wanted = asked.unwrap_or(ordinary);
    let first = variable("COLIBRI_CRASH_SEED").unwrap_or(SEED);
    let began = Instant::now();
    let (mut sum, mut seed) = (Tally::default(), first);
    while sum.done < wanted {
        // The panic's own text is on stderr by then.
        let result = catch_unwind(AssertUnwindSafe(|| run(seed)))
            .unwrap_or_else(|_| Err(Finding::Broken("the run panicked".to_owned())));
        let tally = result.unwrap_or_else(|finding| {
            panic!(
                "{finding:?}\nto repeat: COLIBRI_CRASH_SEED={seed} COLIBRI_CRASH_RUNS=1 \
                 cargo test -p colibri-tests --test faults -- {test}"
            )
        });
        let before = sum.done / PROGRESS;
        sum = Tally { done: sum.done + tally.done, met: sum.met + tally.met, found: sum.found + tally.found };
        if asked.is_some() && sum.done / PROGRESS > before {
            say(&format!("{test}: {} of {wanted}, {:.0} s", sum.done, began.elapsed().as_secs_f64()));
        }
        seed += 1;
    }
    let Tally { done, met, found } = sum;
    let seconds = began.elapsed().as_secs_f64();
    if asked.is_some() {
        let last = seed - 1;
        say(&format!(
            "{test}: seeds {first} to {last}: {done} done, {met} of them met, {found} acknowledged calls found, nothing \
             lost; {seconds:.0} s"
        ));
    }
    sum
}

/// Past the test harness, which would keep it until the end.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}
