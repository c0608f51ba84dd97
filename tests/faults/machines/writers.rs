//! Many writers at once: the locks let each have its turn, and no chain forks (postgres#locks).

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use colibri_test_support::dice::Dice;

use super::agent::{Agent, Deed, Reply};
use super::judge::judge;
use super::world::{Target, World};

const WRITERS: usize = 64;
/// Calls of all, for each writer.
const CALLS: usize = 25;

/// Writers that call one after the other, until together they have made a given number of calls. Their shares are equal, as far as the locks
/// are fair; `COLIBRI_MACHINE_FAIRNESS` says how many hundredths of the greatest share the smallest must have.
#[test]
fn machines_06_64_writers_meet_no_lock_error_and_fork_nothing() {
    let Some(world) = World::new("") else { return };
    let database = world.database();
    let target =
        Target::of(&world, &database, world.cluster.port()).with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", 60_000);
    let (warm, stop, made) = (Barrier::new(WRITERS), AtomicBool::new(false), AtomicUsize::new(0));
    let mut writers: Vec<Agent> = (0..WRITERS)
        .map(|number| Agent::new(format!("writer-{number}"), Dice::new(number as u64), target.clone(), 1))
        .collect();
    let least = super::campaign::number("COLIBRI_MACHINE_FAIRNESS");
    let calls = if least.is_some() { 20 * CALLS } else { CALLS } * WRITERS;
    let mut shares: Vec<usize> = std::thread::scope(|scope| {
        let working: Vec<_> = writers
            .iter_mut()
            .map(|writer| {
                let (warm, stop, made) = (&warm, &stop, &made);
                scope.spawn(move || {
                    writer.warm_up();
                    warm.wait();
                    let mut share = 0;
                    while !stop.load(Ordering::SeqCst) {
                        writer.ask(Deed::Create);
                        writer.settle();
                        share += 1;
                        if made.fetch_add(1, Ordering::SeqCst) + 1 >= calls {
                            stop.store(true, Ordering::SeqCst);
                        }
                    }
                    writer.finish();
                    share
                })
            })
            .collect();
        working.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    shares.sort_unstable();
    let (smallest, greatest) = (shares[0], shares[WRITERS - 1]);
    println!("{WRITERS} writers, {calls} calls: the shares are {smallest} to {greatest}");
    let told: Vec<_> = writers.iter().flat_map(|writer| writer.told.clone()).collect();
    for call in &told {
        assert!(matches!(call.reply, Reply::Done(_)), "{call:?}");
    }
    let tally = judge(&world, &database, &told);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    if let Some(least) = least {
        assert!(smallest as u64 * 100 >= greatest as u64 * least, "{shares:?}");
    }
}
