//! What goes on while a call waits for its provider.

use colibri_test_support::engine;
use std::time::Duration;

use colibri_test_support::actions::{actions, await_running};
use colibri_test_support::client::Server;
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

use super::world::{World, fixture, launch, launch_with};

/// A server whose attempts may take far longer than the tests wait for a connection to be closed: what closes it is
/// the cancellation.
fn patient(script: impl IntoIterator<Item = Reply>) -> World {
    let provider = Loopback::playing(script);
    World::around(provider, |launch| launch.env("COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS", "60000"))
}

/// The id and the envelope's `ok` of the next answer.
fn next(world: &mut World) -> (Value, Value) {
    let answer = world.server.receive();
    (answer["id"].clone(), answer["result"]["structuredContent"]["ok"].clone())
}

fn cancel(world: &mut World, id: u64) {
    let params = json!({ "requestId": id });
    world.server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
}

/// How the calls of the tool ended, in the order of their numbers.
fn ends(world: &World) -> Vec<(String, Option<String>)> {
    ends_in(&world.server)
}

fn ends_in(server: &Server) -> Vec<(String, Option<String>)> {
    let rows = actions(&server.sql()).into_iter().filter(|row| row.tool == "router_call");
    rows.map(|row| (row.outcome, row.error_code)).collect()
}

#[test]
fn everything_else_goes_on_and_the_second_call_waits() {
    let mut world = patient([Reply::silence(), fixture("anthropic", "success")]);
    let first = world.server.send_call("router_call", json!({ "prompt": "first" }));
    let second = world.server.send_call("router_call", json!({ "prompt": "second" }));
    world.provider.await_seen(1);
    await_running(&world.server, "router_call");
    // Each answer is the next one: nothing waits for the stalled call.
    assert_eq!(world.server.data("task_create", json!({ "title": "Beside" }))["title"], "Beside");
    assert_eq!(world.server.data("server_ping", json!({}))["mode"], "FULL");
    assert_eq!(world.server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(world.server.data("router_stats", json!({})), json!({ "models": {} }));
    assert_eq!(world.server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
    assert_eq!(world.server.data("router_score", json!({ "prompt": "x" }))["winner"], "claude");
    assert_eq!(world.provider.seen().len(), 1, "the second call has not begun");
    assert_eq!(ends(&world), [("running".to_owned(), None)]);
    cancel(&mut world, first);
    // No answer to the first one: the next answer is the second's.
    assert_eq!(next(&mut world), (json!(second), json!(true)));
    world.provider.await_abandoned(1);
    let asked: Vec<_> =
        world.provider.seen().iter().map(|seen| seen.json()["messages"][0]["content"].clone()).collect();
    assert_eq!(asked, ["first", "second"]);
    let expected = [("aborted".to_owned(), Some("CANCELLED".to_owned())), ("ok".to_owned(), None)];
    assert_eq!(ends(&world), expected);
}

#[test]
fn a_cancelled_call_leaves_no_figures_and_no_failure() {
    let mut world = patient([Reply::new(200, "the rest never comes").stalling_after(8)]);
    let call = world.server.send_call("router_call", json!({ "prompt": "ping" }));
    world.provider.await_seen(1);
    await_running(&world.server, "router_call");
    cancel(&mut world, call);
    world.provider.await_abandoned(1);
    assert_eq!(world.server.data("router_stats", json!({})), json!({ "models": {} }));
    assert_eq!(world.server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
    assert_eq!(ends(&world), [("aborted".to_owned(), Some("CANCELLED".to_owned()))]);
    let ended = world.server.finish();
    assert!(!ended.stderr.contains("attempt failed"), "{}", ended.stderr);
    assert_eq!((ended.code(), ended.rest), (0, Vec::<Value>::new()));
}

#[test]
fn a_cancelled_waiting_call_is_never_made() {
    let mut world = patient([Reply::silence()]);
    let first = world.server.send_call("router_call", json!({ "prompt": "first" }));
    let second = world.server.send_call("router_call", json!({ "prompt": "second" }));
    world.provider.await_seen(1);
    await_running(&world.server, "router_call");
    cancel(&mut world, second);
    cancel(&mut world, first);
    world.provider.await_abandoned(1);
    world.server.data("task_list", json!({}));
    assert_eq!(ends(&world), [("aborted".to_owned(), Some("CANCELLED".to_owned()))]);
    assert_eq!(world.provider.seen().len(), 1);
}

#[test]
fn at_the_end_of_input_a_call_in_flight_is_answered() {
    let late = fixture("anthropic", "success").headers_after(Duration::from_millis(200));
    let mut world = World::playing([late]);
    let id = world.server.send_call("router_call", json!({ "prompt": "ping" }));
    world.server.close_stdin();
    assert_eq!(next(&mut world), (json!(id), json!(true)));
    assert_eq!(ends(&world), [("ok".to_owned(), None)]);
    assert_eq!(world.server.wait().code(), 0);
}

#[test]
fn two_calls_are_made_one_after_the_other() {
    let mut world = World::playing([fixture("anthropic", "success"), fixture("anthropic", "length")]);
    let ids =
        ["first", "second"].map(|prompt| world.server.send_call("router_call", json!({ "prompt": prompt })));
    for id in ids {
        assert_eq!(next(&mut world), (json!(id), json!(true)));
    }
    let asked: Vec<_> =
        world.provider.seen().iter().map(|seen| seen.json()["messages"][0]["content"].clone()).collect();
    assert_eq!(asked, ["first", "second"]);
    assert_eq!(world.stats("claude")["successes"], 2);
}

#[test]
fn a_killed_call_is_closed_by_the_next_start() {
    let mut world = patient([Reply::silence()]);
    world.server.send_call("router_call", json!({ "prompt": "ping" }));
    world.provider.await_seen(1);
    let open = await_running(&world.server, "router_call");
    let (folder, sql) = (world.server.shared_folder(), world.server.sql());
    world.server.kill();
    sql.end_lease(&open.boot_id);
    world.provider.await_abandoned(1);
    let mut next = launch().in_folder(folder).start();
    next.ready_by("task_list", json!({}));
    let rows = actions(&next.sql());
    let closed = rows.iter().find(|row| row.sequence_no == open.sequence_no).expect("the row stays");
    assert_eq!(closed.end(), ("aborted", Some("PROCESS_ABORTED")));
    assert_eq!((&closed.result_hash, closed.duration_ms), (&None, None));
    assert!(rows.last().is_some_and(|last| last.sequence_no > open.sequence_no), "{rows:?}");
}

#[test]
fn a_start_closes_the_calls_of_dead_processes_only() {
    let mut alive = patient([Reply::silence()]);
    let killed_provider = Loopback::playing([Reply::silence()]);
    let mut killed = launch_with(&killed_provider, "sk-canary-62").beside(&alive.server).start();
    killed.ready_by("task_list", json!({}));
    killed.send_call("router_call", json!({ "prompt": "killed" }));
    killed_provider.await_seen(1);
    let theirs = await_running(&killed, "router_call").boot_id;
    let id = alive.server.send_call("router_call", json!({ "prompt": "alive" }));
    alive.provider.await_seen(1);
    killed.kill();
    alive.server.sql().end_lease(&theirs);
    let mut third = launch().beside(&alive.server).start();
    third.ready_by("task_list", json!({}));
    let dead = ("aborted".to_owned(), Some("PROCESS_ABORTED".to_owned()));
    assert_eq!(ends_in(&third), [dead.clone(), ("running".to_owned(), None)]);
    cancel(&mut alive, id);
    alive.provider.await_abandoned(1);
    alive.server.data("task_list", json!({}));
    assert_eq!(ends(&alive), [dead, ("aborted".to_owned(), Some("CANCELLED".to_owned()))]);
}

/// Another start takes a process for dead whose lock file is gone, or whose lease has ended, and closes its calls. Row and reply say the same then.
#[test]
fn finding_a9_a_call_that_another_start_has_closed_is_not_answered_as_done() {
    let late = fixture("anthropic", "success").headers_after(Duration::from_secs(3));
    let mut world = patient([late]);
    let call = world.server.send_call("router_call", json!({ "prompt": "x" }));
    world.provider.await_seen(1);
    let open = await_running(&world.server, "router_call");
    world.server.sql().end_lease(&open.boot_id);
    if !engine::is_postgres() {
        let files = std::fs::read_dir(world.server.folder()).unwrap().map(|entry| entry.unwrap().path());
        let locks: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect();
        assert_eq!(locks.len(), 1);
        std::fs::remove_file(&locks[0]).unwrap();
    }
    let mut other = launch().beside(&world.server).start();
    other.data("task_list", json!({}));
    let rows = ends(&world);
    assert_eq!(rows, [("aborted".to_owned(), Some("PROCESS_ABORTED".to_owned()))]);

    let answer = world.server.receive();
    assert_eq!(answer["id"], json!(call));
    let error = &answer["result"]["structuredContent"]["error"];
    assert!(error["message"].as_str().unwrap_or_default().starts_with("PROCESS_ABORTED: "), "{answer}");
    assert_eq!(ends(&world), rows);
    assert_eq!(other.finish().code(), 0);
    drop(world.server.finish());
}
