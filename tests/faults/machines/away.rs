//! A database that is away for longer than calls wait, and outcomes that cannot be learned.

use colibri_test_support::dice::Dice;
use colibri_test_support::postgres::Stop;

use super::agent::{Agent, Deed, Reply, Told};
use super::judge::judge;
use super::proxy::{Fault, Plan, Proxy, Way};
use super::world::{Target, World};

/// Calls wait so long for the database, in milliseconds.
const SHORT_MS: u64 = 300;

fn agent(world: &World, database: &str, port: u16) -> Agent {
    let target = Target::of(world, database, port).with("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", SHORT_MS);
    Agent::new("away".to_owned(), Dice::new(1), target, 4)
}

fn ask(agent: &mut Agent, deed: Deed) -> Told {
    agent.ask(deed);
    agent.settle();
    agent.told.last().cloned().expect("a reply")
}

#[test]
fn calls_fail_while_the_database_is_away_for_long_and_work_again_when_it_is_back() {
    let Some(mut world) = World::new("") else { return };
    let database = world.database();
    let mut agent = agent(&world, &database, world.cluster.port());
    agent.warm_up();
    for how in [Stop::Fast, Stop::Immediate] {
        world.cluster.stop(how);
        for deed in [Deed::Create, Deed::Think, Deed::Ping] {
            let told = ask(&mut agent, deed);
            let Reply::Failed(message) = &told.reply else { panic!("{told:?}") };
            assert!(
                message.contains("AUDIT_ENTER_FAILED") && message.contains("STORE_UNAVAILABLE"),
                "{message}"
            );
        }
        world.cluster.start();
        for deed in [Deed::Create, Deed::Think, Deed::Ping] {
            let told = ask(&mut agent, deed);
            assert!(matches!(told.reply, Reply::Done(_)), "{told:?}");
        }
    }
    agent.finish();
    assert_eq!(agent.ended[0].status.code(), Some(0), "{}", agent.ended[0].stderr);
    let tally = judge(&world, &database, &agent.told);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert_eq!((tally.refused, tally.unknown_absent), (6, 0));
}

#[test]
fn a_server_that_cannot_learn_an_outcome_acknowledges_nothing_and_ends_by_itself() {
    let Some(world) = World::new("") else { return };
    let (proxy, database) = (Proxy::start(world.cluster.port()), world.database());
    let mut agent = agent(&world, &database, proxy.port());
    for _ in 0..3 {
        proxy.script(Vec::new());
        ask(&mut agent, Deed::Create);
    }
    // COMMIT and mark are sent, no answer comes, and no connection is let through.
    let at = proxy.passed(Way::Up).len() - 1;
    proxy.isolate(Plan { way: Way::Up, at, fault: Fault::CutAfter });
    let told = ask(&mut agent, Deed::Create);
    let Reply::Failed(message) = &told.reply else { panic!("{told:?}") };
    assert!(message.contains("STORE_COMMIT_FAILED") && message.contains("cannot be learned"), "{message}");
    // Its input is still open.
    while agent.ended.is_empty() {
        agent.hear();
    }
    let ended = &agent.ended[0];
    assert_ne!(ended.status.code(), Some(0));
    assert!(ended.stderr.contains("fatal: nothing more can be acknowledged"), "{}", ended.stderr);
    let tally = judge(&world, &database, &agent.told);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert_eq!(tally.unknown_there + tally.unknown_absent, 1);
}
