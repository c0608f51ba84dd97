//! Three servers under load, and what hits them by seed: cuts, stops of the database, kills, freezes.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::Stop;
use colibri_test_support::sql::Connection;

use super::agent::{Agent, Ended, Hand, Stops};
use super::judge::{Tally, close_for_the_dead, judge};
use super::proxy::{Fault, Plan, Proxy, Way};
use super::world::{Target, World};

const AGENTS: usize = 3;
/// Faults of a run.
const FAULTS: usize = 6;
/// Calls wait so long for a lock where processes stand still for longer.
const SHORT_MS: u64 = 200;
/// A database that stops is back long before.
const LONG_MS: u64 = 20_000;

/// What hits the servers of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Connections end at some message, or a message is late.
    Cuts,
    /// The database stops at once, and starts again.
    Stops,
    /// Servers of ours are killed.
    Kills,
    /// Servers of ours stand still, for less or more than lock time-out and lease.
    Freezes,
}

pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Runs seeds; `few` of them unless the environment says otherwise.
fn campaign(kind: Kind, few: u64) {
    let Some(mut world) = World::new("") else { return };
    let runs = number("COLIBRI_MACHINE_RUNS").unwrap_or(few);
    let first = number("COLIBRI_MACHINE_SEED").unwrap_or(0xC011_0000);
    let (mut tally, mut gave_up) = (Tally::default(), 0);
    for seed in first..first + runs {
        let (of_run, ended) = run(&mut world, kind, seed);
        assert!(of_run.wrong.is_empty(), "seed {seed}: {:#?}; {ended:#?}", of_run.wrong);
        gave_up += ended.iter().map(|ended| judge_end(kind, seed, ended)).filter(|gave_up| *gave_up).count();
        tally.add(of_run);
    }
    println!("{kind:?}: {runs} seeds from {first}: {gave_up} servers gave up; {tally:#?}");
    assert!(tally.acknowledged as u64 > 10 * runs, "hardly anything was acknowledged: {tally:?}");
}

/// Judges how a server ended; returns whether it gave up because it could not learn an outcome.
fn judge_end(kind: Kind, seed: u64, Ended { status, stderr }: &Ended) -> bool {
    let gave_up = stderr.contains("fatal: nothing more can be acknowledged");
    let right = match status.code() {
        Some(0) => true,
        // It was killed.
        None => kind == Kind::Kills,
        Some(_) if gave_up => kind == Kind::Freezes,
        // Its connection was lost after its last call.
        Some(_) => stderr.contains("close failed"),
    };
    assert!(right, "seed {seed}: {status}: {stderr}");
    gave_up
}

fn run(world: &mut World, kind: Kind, seed: u64) -> (Tally, Vec<Ended>) {
    let dice = Dice::new(seed);
    let database = world.database();
    let patience = if kind == Kind::Freezes { SHORT_MS } else { LONG_MS };
    let proxies: Vec<Proxy> = (0..AGENTS).map(|_| Proxy::start(world.cluster.port())).collect();
    let mut agents: Vec<Agent> = (0..AGENTS)
        .map(|number| {
            let port = if kind == Kind::Cuts { proxies[number].port() } else { world.cluster.port() };
            let target =
                Target::of(world, &database, port).with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", patience);
            let (name, window) = (format!("{seed}-{number}"), *dice.pick(&[1, 4, 16]));
            Agent::new(name, dice.stream(number as u64), target, window)
        })
        .collect();
    let hands: Vec<Hand> = agents.iter().map(|agent| agent.hand.clone()).collect();
    let (stop, warm) = (AtomicBool::new(false), Barrier::new(AGENTS + 1));
    std::thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(|| {
                agent.warm_up();
                warm.wait();
                agent.work(&stop);
            });
        }
        warm.wait();
        let _stops = Stops(&stop);
        for _ in 0..FAULTS {
            std::thread::sleep(Duration::from_micros(dice.below(30_000)));
            strike(world, kind, &database, &dice, &proxies, &hands);
        }
        proxies.iter().for_each(|proxy| proxy.script(Vec::new()));
    });
    let told: Vec<_> = agents.iter_mut().flat_map(|agent| std::mem::take(&mut agent.told)).collect();
    let ended = agents.iter_mut().flat_map(|agent| std::mem::take(&mut agent.ended)).collect();
    (judge(world, &database, &told), ended)
}

/// Does one thing to the servers.
fn strike(world: &mut World, kind: Kind, database: &str, dice: &Dice, proxies: &[Proxy], hands: &[Hand]) {
    let hand = dice.pick(hands);
    match kind {
        Kind::Cuts => {
            let faults = [
                Fault::CutBefore,
                Fault::CutInside,
                Fault::CutAfter,
                Fault::Delay(Duration::from_millis(20)),
            ];
            let plan = |_| Plan {
                way: *dice.pick(&[Way::Up, Way::Down]),
                at: dice.place(80),
                fault: *dice.pick(&faults),
            };
            dice.pick(proxies).script((0..3).map(plan).collect());
        }
        Kind::Stops => {
            world.cluster.stop(Stop::Immediate);
            std::thread::sleep(Duration::from_micros(dice.below(20_000)));
            world.cluster.start();
        }
        Kind::Kills => hand.signal("KILL"),
        Kind::Freezes => {
            hand.signal("STOP");
            std::thread::sleep(Duration::from_millis(dice.below(2 * SHORT_MS)));
            if dice.one_in(3) {
                let conn = Connection::in_cluster(&world.cluster, database);
                close_for_the_dead(&Target::of(world, database, world.cluster.port()), &conn);
            }
            hand.signal("CONT");
        }
    }
}

#[test]
fn machines_07_cuts_by_seed_leave_no_call_lost_twice_or_misjudged() {
    campaign(Kind::Cuts, 12);
}

#[test]
fn machines_07_a_database_that_stops_at_once_leaves_no_call_lost_twice_or_misjudged() {
    campaign(Kind::Stops, 4);
}

#[test]
fn machines_07_killed_servers_leave_no_call_lost_twice_or_misjudged() {
    campaign(Kind::Kills, 8);
}

#[test]
fn machines_07_servers_that_stand_still_leave_no_call_lost_twice_or_misjudged() {
    campaign(Kind::Freezes, 4);
}
