//! A client that knows nothing but `initialize` and `tools/list` finishes a task, from creation to a sealed session, however
//! wrongly it begins. The client is in [`client`] and holds no name of a tool and no rule of the pipeline; a test says so.

mod beginnings;
mod client;
mod memory;
mod reply;
mod text;

use colibri_test_support::client::Server;
use serde_json::json;

use super::era::{Client, ERAS, Era, launch};
use beginnings::{BEGINNINGS, Beginning, World};
use client::Literal;
use reply::Reply;

/// How many calls more than the shortest way the client may take (issue "Agents succeed at the first try").
const DETOUR: usize = 3;

/// A finished task with a thought in a sealed session.
fn goal_is_reached(server: &Server) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM tasks AS t JOIN thought_records AS r ON r.task_id = t.id \
               JOIN merkle_roots AS s ON s.session_id = r.session_id WHERE t.status = 'DONE')";
    server.sql().query_row(sql, [], |row| row.get(0)).expect("a verdict")
}

#[test]
fn people_33_who_follows_the_instructions_meets_no_refusal() {
    for (era, offered) in ERAS.into_iter().flat_map(|era| [(era, "all"), (era, "core")]) {
        let mut server = Client::of(launch().env("COLIBRI_TOOLS", offered), era);
        let mut client = Literal::meet(&mut server, "literal-1");
        client.finish();
        let refused = client.calls.iter().filter(|(_, _, reply)| matches!(reply, Reply::Refused(_))).count();
        assert_eq!(refused, 0, "{:#?}", client.calls);
        assert!(goal_is_reached(&server.server), "{era:?} {offered}");
    }
}

#[test]
fn people_literal_client_reaches_the_goal_from_every_wrong_beginning() {
    reach_the_goal(Era::Handshake);
}

#[test]
fn people_literal_client_reaches_the_goal_without_a_handshake() {
    reach_the_goal(Era::Stateless);
}

fn reach_the_goal(era: Era) {
    assert!(BEGINNINGS.len() >= 30, "{}", BEGINNINGS.len());
    let failures: Vec<String> = BEGINNINGS.iter().filter_map(|one| attempt(one, era, false).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The control: without the advice in refusals, the instructions alone do not lead there.
#[test]
fn people_literal_client_that_ignores_advice_gets_stuck() {
    let reached = BEGINNINGS.iter().filter(|one| attempt(one, Era::Handshake, true).is_ok()).count();
    assert!(reached < BEGINNINGS.len(), "all {reached}");
}

/// Begins wrongly and goes on. The error says how far the client came.
fn attempt(beginning: &Beginning, era: Era, deaf: bool) -> Result<(), String> {
    let mut mine = Client::new(era);
    let mut world = World { other: launch().beside(&mine.server).start() };
    let mut client = Literal::meet(&mut mine, "literal-1");
    if deaf {
        client.ignore_advice();
    }
    (beginning.wrong)(&mut client, &mut world);
    client.finish();
    let (calls, stuck) = (std::mem::take(&mut client.calls), client.stuck.take());
    let reached = goal_is_reached(&mine.server);
    if reached && calls.len() <= beginning.shortest + DETOUR {
        return Ok(());
    }
    let Beginning { name, shortest, .. } = beginning;
    let way: Vec<String> =
        calls.iter().map(|(tool, arguments, reply)| format!("  {tool} {arguments}: {reply:?}")).collect();
    let count = calls.len();
    Err(format!("{name}: {count} calls, shortest {shortest}, goal {reached}, {stuck:?}\n{}", way.join("\n")))
}

/// The client must get its knowledge from the server alone.
#[test]
fn people_literal_client_names_no_tool_and_no_state() {
    let mut server = launch().start();
    let listed = server.request("tools/list", json!({}));
    let source = concat!(
        include_str!("client.rs"),
        include_str!("memory.rs"),
        include_str!("reply.rs"),
        include_str!("text.rs")
    );
    let words: Vec<&str> = source.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        assert!(!words.contains(&name), "{name}");
    }
    for state in ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"] {
        assert!(!words.contains(&state), "{state}");
    }
}
