//! The bytes of a database do not change unless that is what a change is for.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::faults::{Control, Defect};
use crate::history::Said;
use crate::kernel::SimClock;
use crate::process::{Inbox, Machine, Process};
use crate::world::World;

/// Calls that each of the databases holds at least.
const CALLS: usize = 400;
const SEEDS: [u64; 3] = [1, 2, 3];
/// Written anew with `COLIBRI_WRITE_FROZEN=1`, where a change of the bytes is wanted or a new SQLite writes them.
const FROZEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/frozen/databases.txt");

/// The SHA-256 of the file that one process writes, whose clock, ids and calls follow from the seed.
fn file_digest(seed: u64) -> String {
    let world = World::new(seed, Defect::None);
    let clock = SimClock::new();
    let machine = Machine { path: &world.path, clock: &clock, durable: false };
    let control = Control::new(Defect::None, Box::new(|| {}));
    let mut process = Process::start(&machine, seed, control.clone());
    let store = process.open(&machine, seed).unwrap();
    process.chain.open(store, "sqlite").unwrap();
    let mut done = 0;
    while done < CALLS {
        clock.shift(&world.dice);
        let size = 1 + world.dice.below(7);
        let calls: Vec<_> = (0..size).map(|_| world.known.borrow_mut().call(&world.dice)).collect();
        let mut inbox = Inbox::new(&control, false);
        assert!(process.run(calls.clone(), &mut inbox).is_none(), "no call goes to the network");
        assert_eq!(inbox.replies.len(), calls.len());
        for (call, reply) in calls.iter().zip(&inbox.replies) {
            world.known.borrow_mut().hear(&call.name, &Said::read(&reply.answer).0);
        }
        done += calls.len();
    }
    process.stop().unwrap();
    Sha256::digest(std::fs::read(&world.path).unwrap()).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn the_same_calls_write_the_same_file() {
    let found: String = SEEDS.iter().map(|seed| format!("seed {seed}: {}\n", file_digest(*seed))).collect();
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(FROZEN, &found).unwrap();
    }
    let frozen = std::fs::read_to_string(FROZEN).unwrap();
    assert_eq!(found, frozen, "the bytes of a database have changed; COLIBRI_WRITE_FROZEN=1 if they should");
    assert_eq!(file_digest(SEEDS[0]), file_digest(SEEDS[0]), "the same seed gives the same file");
}
