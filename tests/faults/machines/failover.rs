//! Three servers under load while a standby takes over (postgres#failover). A synchronous standby has all that was acknowledged. An
//! asynchronous one may miss calls, and then each process that has acknowledged one of them says so and ends.

use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::{Cluster, Pair, Replication, Role, Stop};
use colibri_test_support::sql::Connection;

use super::agent::{Agent, Deed, Reply, Stops, Told};
use super::campaign::number;
use super::controls::LOST;
use super::judge::{Tally, judge_at};
use super::proxy::Proxy;
use super::standby::catch_up;
use super::world::{PLANTED, Target, World};

const AGENTS: usize = 3;
/// Calls wait so long for a server that takes writes; a standby has taken over long before.
const PATIENCE_MS: u64 = 30_000;
/// A server has read its settings again.
const RELOADED: Duration = Duration::from_millis(500);

/// How the primary goes.
#[derive(Debug, Clone, Copy)]
enum End {
    /// Each of its processes is killed.
    Killed,
    /// It stops at once.
    Stopped,
    /// It goes on beside the standby that has taken over, and some servers with it, until it is killed.
    CutOff,
}

/// What is known of a run.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    /// How many processes said that acknowledged calls are lost.
    noticed: usize,
    /// What must not be, apart from losses.
    wrong: Vec<String>,
}

/// Runs seeds; `few` of them unless the environment says otherwise.
fn campaign(replication: Replication, few: u64) {
    let Some(mut world) = World::new("") else { return };
    world.cluster.stop(Stop::Fast);
    let runs = number("COLIBRI_MACHINE_RUNS").unwrap_or(few);
    let first = number("COLIBRI_MACHINE_SEED").unwrap_or(0xC011_0000);
    let (mut tally, mut noticed, mut losing) = (Tally::default(), 0, 0);
    for seed in first..first + runs {
        let outcome = run(&world.cluster, replication, seed);
        assert!(outcome.wrong.is_empty(), "seed {seed}: {:#?}", outcome.wrong);
        losing += u64::from(!outcome.tally.lost.is_empty());
        noticed += outcome.noticed;
        tally.add(outcome.tally);
    }
    let lost = tally.lost.len();
    println!(
        "{replication:?}: {runs} failovers from seed {first}: {} calls acknowledged, {lost} of them lost in {losing} failovers, and {noticed} \
         processes have noticed; {} refused, {} unknown and there, {} unknown and absent; {:#?}",
        tally.acknowledged, tally.refused, tally.unknown_there, tally.unknown_absent, tally.said
    );
    assert!(tally.acknowledged as u64 > 10 * runs, "hardly anything was acknowledged");
    match replication {
        Replication::Synchronous => assert_eq!((lost, noticed), (0, 0)),
        Replication::Asynchronous => assert!(lost > 0, "a standby that is behind loses nothing"),
    }
}

fn run(template: &Cluster, replication: Replication, seed: u64) -> Outcome {
    let dice = Dice::new(seed);
    let mut stream = None;
    let mut pair = Pair::of(template.copy(), replication, |port| stream.insert(Proxy::start(port)).port());
    let stream = stream.expect("the standby follows through a proxy");
    let ways: Vec<Proxy> = (0..AGENTS).map(|_| Proxy::start(pair.primary.port())).collect();
    let mut agents: Vec<Agent> = (0..AGENTS)
        .map(|number| {
            let target = both(&pair, ways[number].port());
            let (name, window) = (format!("{seed}-{number}"), *dice.pick(&[1, 4, 16]));
            Agent::new(name, dice.stream(number as u64), target, window)
        })
        .collect();
    let (stop, warm) = (AtomicBool::new(false), Barrier::new(AGENTS + 1));
    std::thread::scope(|scope| {
        for agent in &mut agents {
            scope.spawn(|| {
                agent.warm_up();
                warm.wait();
                agent.work_on(&stop);
                // Each server meets the one that has taken over.
                agent.ask(Deed::Create);
                agent.finish();
            });
        }
        warm.wait();
        let _stops = Stops(&stop);
        pause(&dice, 60);
        if replication == Replication::Asynchronous {
            stream.sever();
            pause(&dice, 40);
        }
        fail_over(&mut pair, &dice, &ways);
        pause(&dice, 60);
    });
    judge_run(&pair, replication, &agents)
}

fn pause(dice: &Dice, most_ms: u64) {
    std::thread::sleep(Duration::from_micros(dice.below(most_ms * 1_000)));
}

/// A URL that names both servers, as a team's does.
fn both(pair: &Pair, primary: u16) -> Target {
    let url = pair.standby.url(Role::App, PLANTED);
    let standby = pair.standby.port();
    let url = url.replace(&format!(":{standby}/"), &format!(":{primary},127.0.0.1:{standby}/"));
    let target = Target::at(format!("{url}?target_session_attrs=read-write"));
    target.with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", PATIENCE_MS)
}

/// The primary goes, and the standby takes over.
fn fail_over(pair: &mut Pair, dice: &Dice, ways: &[Proxy]) {
    match dice.pick(&[End::Killed, End::Stopped, End::CutOff]) {
        End::Killed => pair.primary.stop(Stop::Kill),
        End::Stopped => pair.primary.stop(Stop::Immediate),
        End::CutOff => {
            pair.promote();
            ways.iter().filter(|_| dice.one_in(2)).for_each(Proxy::sever);
            pause(dice, 100);
            pair.primary.stop(Stop::Kill);
            return;
        }
    }
    pair.promote();
}

fn judge_run(pair: &Pair, replication: Replication, agents: &[Agent]) -> Outcome {
    let told: Vec<_> = agents.iter().flat_map(|agent| agent.told.clone()).collect();
    let conn = Connection::in_cluster(&pair.standby, PLANTED);
    let target = Target::at(pair.standby.url(Role::App, PLANTED));
    let tally = judge_at(&target, &conn, &told);
    let mut outcome = Outcome::default();
    // With a call that is lost, the number of its claim is free again.
    let of_loss = |wrong: &&String| {
        ["it was acknowledged, and is lost", "it was declined, and is lost", "claim "]
            .iter()
            .any(|start| wrong.starts_with(start))
    };
    outcome.wrong = match replication {
        Replication::Synchronous => tally.wrong.clone(),
        Replication::Asynchronous => tally.wrong.iter().filter(|wrong| !of_loss(wrong)).cloned().collect(),
    };
    for agent in agents {
        for (server, ended) in agent.ended.iter().enumerate() {
            let mut of_server = agent.told.iter().filter(|call| call.server == server);
            let (saw, says) =
                (of_server.any(|call| tally.lost.contains(&call.id)), ended.stderr.contains(LOST));
            outcome.noticed += usize::from(says);
            if !says && (saw || ended.status.code() != Some(0)) {
                let (status, stderr) = (ended.status, &ended.stderr);
                outcome.wrong.push(format!("a server that lost calls ({saw}) ended with {status}: {stderr}"));
            }
        }
    }
    outcome.tally = tally;
    outcome
}

/// A server whose primary is reached through a proxy, and its standby after it.
fn server(world: &mut World, replication: Replication, parameters: &str) -> (Pair, Proxy, Agent) {
    world.cluster.stop(Stop::Fast);
    let pair = Pair::of(world.cluster.copy(), replication, |port| port);
    let way = Proxy::start(pair.primary.port());
    let mut target = both(&pair, way.port()).with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", 1_000);
    target.url = format!("{}{parameters}", target.url.split('?').next().unwrap_or_default());
    if replication == Replication::Synchronous {
        target = target.with("COLIBRI_DURABILITY", "replicated");
    }
    let mut agent = Agent::new("alone".to_owned(), Dice::new(1), target, 1);
    agent.warm_up();
    way.sever();
    (pair, way, agent)
}

fn ask(agent: &mut Agent) -> Reply {
    agent.ask(Deed::Create);
    agent.settle();
    agent.told.last().expect("a reply").reply.clone()
}

#[test]
fn a_server_that_has_lost_the_primary_waits_for_one_and_never_takes_a_standby() {
    let Some(mut world) = World::new("") else { return };
    let (pair, _way, mut agent) = server(&mut world, Replication::Asynchronous, "");
    let Reply::Failed(message) = ask(&mut agent) else { panic!("{:?}", agent.told) };
    assert!(message.contains("STORE_UNAVAILABLE") && message.contains("it takes no writes"), "{message}");
    catch_up(&pair);
    pair.promote();
    assert!(matches!(ask(&mut agent), Reply::Done(_)), "{:?}", agent.told);
    agent.finish();
    assert_eq!(agent.ended[0].status.code(), Some(0), "{}", agent.ended[0].stderr);
}

#[test]
fn a_server_with_replicated_durability_takes_no_primary_without_a_standby() {
    let Some(mut world) = World::new("") else { return };
    let (pair, _way, mut agent) =
        server(&mut world, Replication::Synchronous, "?target_session_attrs=read-write");
    pair.promote();
    let Reply::Failed(message) = ask(&mut agent) else { panic!("{:?}", agent.told) };
    assert!(message.contains("STORE_UNAVAILABLE") && message.contains("waits for no standby"), "{message}");
    agent.finish();
}

/// Has the primary wait for these standbys from now on.
fn wait_for(pair: &Pair, names: &str) {
    let conn = Connection::in_cluster(&pair.primary, PLANTED);
    conn.execute_batch(&format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'")).unwrap();
    pair.primary.reload();
}

#[test]
fn a_server_with_replicated_durability_acknowledges_nothing_while_the_primary_waits_for_no_standby() {
    let Some(mut world) = World::new("") else { return };
    world.cluster.stop(Stop::Fast);
    let pair = Pair::of(world.cluster.copy(), Replication::Synchronous, |port| port);
    let target = both(&pair, pair.primary.port())
        .with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", 1_000)
        .with("COLIBRI_DURABILITY", "replicated");
    let mut agent = Agent::new("alone".to_owned(), Dice::new(1), target, 1);
    agent.warm_up();
    for deed in [Deed::Create, Deed::Think, Deed::Ping, Deed::Create] {
        wait_for(&pair, "");
        std::thread::sleep(RELOADED);
        agent.ask(deed);
        agent.settle();
        let Some(Told { reply: Reply::Failed(message), .. }) = agent.told.last() else {
            panic!("{:?}", agent.told.last())
        };
        assert!(message.contains("the server waits for no standby"), "{message}");
        wait_for(&pair, "*");
        std::thread::sleep(RELOADED);
        assert!(matches!(ask(&mut agent), Reply::Done(_)), "{:?}", agent.told.last());
    }
    agent.finish();
    assert_eq!(agent.ended[0].status.code(), Some(0), "{}", agent.ended[0].stderr);
}

#[test]
fn a_commit_that_is_released_because_the_standbys_names_are_emptied_is_not_acknowledged() {
    let Some(mut world) = World::new("") else { return };
    world.cluster.stop(Stop::Fast);
    let mut pair = Pair::of(world.cluster.copy(), Replication::Synchronous, |port| port);
    let target = both(&pair, pair.primary.port())
        .with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", 1_000)
        .with("COLIBRI_DURABILITY", "replicated");
    let mut agent = Agent::new("alone".to_owned(), Dice::new(1), target, 1);
    agent.warm_up();
    pair.standby.stop(Stop::Immediate);
    agent.ask(Deed::Create);
    std::thread::sleep(RELOADED);
    wait_for(&pair, "");
    agent.settle();
    let Some(Told { reply: Reply::Failed(message), .. }) = agent.told.last() else {
        panic!("{:?}", agent.told.last())
    };
    assert!(message.contains("STORE_COMMIT_FAILED") && message.contains("no standby"), "{message}");
    while agent.ended.is_empty() {
        agent.hear();
    }
    assert!(agent.ended[0].stderr.contains("nothing more can be acknowledged"), "{}", agent.ended[0].stderr);
}

#[test]
fn machines_08_failovers_to_a_synchronous_standby_lose_no_call() {
    campaign(Replication::Synchronous, 3);
}

#[test]
fn machines_08_each_process_that_saw_a_call_notices_that_a_failover_to_an_asynchronous_standby_has_lost_it() {
    campaign(Replication::Asynchronous, 3);
}
