//! Two clients after one task.

use colibri_test_support::client::{Server, envelope};
use serde_json::{Value, json};

use crate::tasks::world::{World, launch, refusal};

fn ask(server: &mut Server, id: &str, status: &str) {
    server.send_call("task_update", json!({ "id": id, "status": status }));
}

fn taken(server: &mut Server) -> Value {
    envelope(&server.receive())
}

/// Exactly one of the two won; the other was told that nothing leaves a terminal state.
fn one_wins(world: &mut World, id: &str, done: &Value, cancelled: &Value) {
    let won = |answer: &Value| answer["data"]["ok"] != json!(false);
    assert!(won(done) != won(cancelled), "{done} {cancelled}");
    let (winner, loser, status) =
        if won(done) { (done, cancelled, "DONE") } else { (cancelled, done, "CANCELLED") };
    assert_eq!(winner["data"]["status"], status);
    let error = refusal(loser);
    assert_eq!(error["code"], "ERR_INVALID_TRANSITION");
    assert_eq!(error["from"], status);
    assert_eq!(world.get(id)["status"], status);
}

#[test]
fn of_two_updates_in_one_batch_one_succeeds() {
    let mut world = World::new();
    for order in [["DONE", "CANCELLED"], ["CANCELLED", "DONE"]] {
        let id = world.task_in("VERIFY");
        world.think(&id);
        for status in order {
            ask(&mut world.server, &id, status);
        }
        let (first, second) = (taken(&mut world.server), taken(&mut world.server));
        let (done, cancelled) = if order[0] == "DONE" { (first, second) } else { (second, first) };
        one_wins(&mut world, &id, &done, &cancelled);
    }
}

#[test]
fn of_two_updates_from_two_processes_one_succeeds() {
    let mut world = World::new();
    let mut other = launch().beside(&world.server).start();
    other.data("task_list", json!({}));
    for round in 0..20 {
        let id = world.task_in("VERIFY");
        world.think(&id);
        // Who is asked first alternates; neither waits for the other.
        if round % 2 == 0 {
            ask(&mut world.server, &id, "DONE");
            ask(&mut other, &id, "CANCELLED");
        } else {
            ask(&mut other, &id, "CANCELLED");
            ask(&mut world.server, &id, "DONE");
        }
        let (done, cancelled) = (taken(&mut world.server), taken(&mut other));
        one_wins(&mut world, &id, &done, &cancelled);
    }
}
