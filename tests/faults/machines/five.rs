//! Five machines with three agents each, whose database is on two more machines, work through partitions and a failover
//! (postgres#failover). `COLIBRI_FIVE_MACHINES_SECONDS` says how long.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::{Pair, Replication, Role, Stop};
use colibri_test_support::sql::Connection;

use super::agent::{Agent, Deed, Reply, Stops};
use super::campaign::number;
use super::controls::LOST;
use super::judge::{Tally, judge_at};
use super::network::{Network, RANGE, address};
use super::world::{PLANTED, Target, World};

const MACHINES: usize = 5;
const AGENTS_EACH: usize = 3;
/// The machines of the database.
const PRIMARY: usize = 5;
const STANDBY: usize = 6;
/// How long the test takes where nothing else is asked.
const FEW_SECONDS: u64 = 20;
pub const SECONDS: &str = "COLIBRI_FIVE_MACHINES_SECONDS";

/// A pair on two machines of the network.
fn pair(world: &mut World, network: &Network) -> Pair {
    world.cluster.stop(Stop::Fast);
    let mut primary = world.cluster.copy();
    let mut standby = primary.copy();
    primary.run_behind(network.entry(PRIMARY), RANGE);
    standby.run_behind(network.entry(STANDBY), RANGE);
    Pair::join(primary, standby, Replication::Synchronous, &address(PRIMARY), |port| port)
}

/// What the servers on a machine are told.
fn target(pair: &Pair, network: &Network, machine: usize) -> Target {
    let of = |machine, port| format!("{}:{port}", address(machine));
    let hosts = [of(PRIMARY, pair.primary.port()), of(STANDBY, pair.standby.port())].join(",");
    let url = pair.primary.url(Role::App, PLANTED);
    let url = url.replace(&format!("127.0.0.1:{}", pair.primary.port()), &hosts);
    let mut target = Target::at(format!("{url}?target_session_attrs=read-write&sslmode=disable"))
        .with("COLIBRI_DATABASE_TLS", "insecure")
        .with("COLIBRI_DATABASE_CONNECT_TIMEOUT_MS", 1_000)
        .with("COLIBRI_DATABASE_STATEMENT_TIMEOUT_MS", 5_000)
        .with("COLIBRI_DATABASE_LEASE_SECONDS", 10);
    target.entry = network.entry(machine);
    target
}

/// What happens to the network and the database, at parts of the time.
fn trouble(pair: &mut Pair, network: &Network, length: Duration) {
    let began = Instant::now();
    let wait_until =
        |percent: u32| std::thread::sleep((length * percent / 100).saturating_sub(began.elapsed()));
    // Short against a lease, or long.
    let part = |machines: &[usize], from: u32, until: u32| {
        wait_until(from);
        network.part(machines);
        wait_until(until);
        network.heal();
    };
    part(&[0], 10, 12);
    part(&[1, 2], 20, 30);
    // The primary is on the wrong side with two machines, and does not know it until it is killed.
    wait_until(40);
    network.part(&[PRIMARY, 2, 3]);
    wait_until(42);
    pair.promote();
    wait_until(50);
    pair.primary.stop(Stop::Kill);
    network.heal();
    part(&[STANDBY], 65, 68);
    part(&[3, 4], 78, 88);
    wait_until(100);
}

#[test]
fn machines_13_five_machines_lose_no_call_through_partitions_and_a_failover() {
    let Some(mut world) = World::new("") else { return };
    let Some(network) = Network::new(MACHINES + 2) else { return };
    let mut pair = pair(&mut world, &network);
    let seconds = number(SECONDS).unwrap_or(FEW_SECONDS);
    let dice = Dice::new(number("COLIBRI_MACHINE_SEED").unwrap_or(1));
    let mut agents: Vec<Agent> = (0..MACHINES * AGENTS_EACH)
        .map(|number| {
            let target = target(&pair, &network, number / AGENTS_EACH);
            let name = format!("machine-{}-agent-{}", number / AGENTS_EACH, number % AGENTS_EACH);
            let mut agent =
                Agent::new(name, dice.stream(number as u64), target, [1, 4, 16][number % AGENTS_EACH]);
            agent.rest = Duration::from_millis(seconds.min(40));
            agent
        })
        .collect();
    let (stop, warm) = (AtomicBool::new(false), Barrier::new(agents.len() + 1));
    std::thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(|| {
                agent.warm_up();
                warm.wait();
                agent.work_on(&stop);
                agent.settle();
                agent.ask(Deed::Create);
                agent.finish();
            });
        }
        warm.wait();
        let _stops = Stops(&stop);
        trouble(&mut pair, &network, Duration::from_secs(seconds));
    });
    let told: Vec<_> = agents.iter().flat_map(|agent| agent.told.clone()).collect();
    let conn = Connection::in_cluster(&pair.standby, PLANTED);
    let tally = judge_at(&Target::at(pair.standby.socket_url(Role::App, PLANTED)), &conn, &told);
    report(seconds, &agents, &tally);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    for agent in &agents {
        let last = agent.told.last().expect("it has called");
        assert!(matches!(last.reply, Reply::Done(_)), "{last:?}: {:#?}", agent.ended.last());
        for ended in &agent.ended {
            assert!(!ended.stderr.contains(LOST), "{}", ended.stderr);
        }
    }
}

fn report(seconds: u64, agents: &[Agent], tally: &Tally) {
    let servers: usize = agents.iter().map(|agent| agent.ended.len()).sum();
    let ended = agents.iter().flat_map(|agent| &agent.ended);
    let gave_up =
        ended.filter(|ended| ended.stderr.contains("fatal: nothing more can be acknowledged")).count();
    println!(
        "{seconds} s: {} agents, {servers} servers, {gave_up} of which gave up; {tally:#?}",
        agents.len()
    );
}
