//! Connections that are cut, at every message of a batch and at drawn ones.

use colibri_test_support::dice::Dice;

use super::agent::{Agent, Deed, Reply};
use super::judge::judge;
use super::proxy::{Fault, Plan, Proxy, Way};
use super::world::{Target, World};

/// The proxy cuts the connection at each message in each direction: before it, within it and after it. The database server stays up,
/// so each call must succeed.
#[test]
fn machines_07_a_cut_at_any_message_of_a_batch_leaves_no_call_lost_twice_or_in_doubt() {
    let Some(world) = World::new("") else { return };
    let (proxy, database) = (Proxy::start(world.cluster.port()), world.database());
    let target = Target::of(&world, &database, proxy.port());
    let mut agent = Agent::new("cut".to_owned(), Dice::new(1), target, 4);
    // The first calls store who calls, and prepare the statements.
    for _ in 0..2 {
        batch(&mut agent);
    }
    let mut cuts = 0;
    for way in [Way::Up, Way::Down] {
        for fault in [Fault::CutBefore, Fault::CutInside, Fault::CutAfter] {
            for at in 0.. {
                proxy.script(vec![Plan { way, at, fault }]);
                batch(&mut agent);
                if proxy.done() == 0 {
                    break;
                }
                cuts += 1;
            }
        }
    }
    proxy.script(Vec::new());
    agent.finish();
    for ended in &agent.ended {
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    }
    for call in &agent.told {
        assert!(matches!(call.reply, Reply::Done(_)), "{call:?}");
    }
    let tally = judge(&world, &database, &agent.told);
    assert!(tally.wrong.is_empty(), "{:#?}", tally.wrong);
    assert!(cuts > 200, "{cuts} cuts");
}

/// Sends a call that reads nothing, one that reads, and one without effects.
fn batch(agent: &mut Agent) {
    for deed in [Deed::Create, Deed::Think, Deed::Ping] {
        agent.ask(deed);
    }
    agent.settle();
}
