//! Every property of `colibri_test_support::fuzzing` over its stored inputs and a bounded number of mutations of them. The
//! mutations are the same in every run; `COLIBRI_FUZZ_RUNS` says how many of them each target tries, and
//! `COLIBRI_FUZZ_SEED` which.

mod corpus;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use colibri_test_support::fuzzing::{TARGETS, Target, mutation};

use corpus::Stored;

/// The seed without the variable.
const SEED: u64 = 8;

/// Stored inputs first, then mutations of them.
fn run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    let stored = corpus::of(name);
    let mut taken = 0;
    for Stored { file, bytes } in &stored {
        taken += u64::from(guarded(target, bytes, file));
    }
    assert!(taken > 0 && taken < stored.len() as u64, "{name}: the corpus needs sound inputs and others");
    let (runs, seed) = (number("COLIBRI_FUZZ_RUNS", target.runs), number("COLIBRI_FUZZ_SEED", SEED));
    let corpus: Vec<Vec<u8>> = stored.into_iter().map(|stored| stored.bytes).collect();
    let mut taken = 0;
    for run in 0..runs {
        let input = mutation::input(seed, run, &corpus, target.tokens);
        taken += u64::from(guarded(target, &input, &format!("run {run} of seed {seed}")));
    }
    // A run that only ever sees one answer has tested next to nothing.
    let both = taken < runs && (taken > 0 || target.brittle);
    assert!(runs < 100 || both, "{name}: {taken} of {runs} inputs were taken for sound");
}

/// Whether the input was taken for sound; where the property fails, the input is told with the place to keep it.
fn guarded(target: &Target, input: &[u8], origin: &str) -> bool {
    let Target { name, check, .. } = target;
    catch_unwind(AssertUnwindSafe(|| check(input))).unwrap_or_else(|_| {
        let text = STANDARD.encode(input);
        panic!(
            "{name}, {origin}: the property does not hold, see above. To keep the input under a name that says what \
             it is:\necho {text} | base64 -d > tests/corpus/{name}/WHAT-IT-IS"
        )
    })
}

fn number(variable: &str, unset: u64) -> u64 {
    std::env::var(variable).map_or(unset, |text| text.parse().expect("a number"))
}
