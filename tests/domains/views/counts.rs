//! One rule of counting: a call is a row of the log. What repeats is one line.

use serde_json::{Value, json};

use super::world::{Caller, World};
use crate::people::era::Era;

#[test]
fn timeline_overview_and_verify_count_the_rows_of_the_log() {
    let world = World::new();
    for actor in ["alice", "bob"] {
        let mut client = world.serve(Caller { actor: Some(actor), client: Some("c"), era: Era::Handshake });
        client.create(json!({ "title": actor }));
        client.data("task_list", json!({}));
        client.call("task_create", json!({}));
    }
    let rows = world.log().len();
    assert_eq!(rows, 8);
    let timeline = world.json(&["timeline", "--since", "2020-01-01"]);
    assert_eq!(
        (&timeline["calls"], &timeline["new_callers"], &timeline["reads"]),
        (&json!(rows), &json!(2), &json!(2))
    );
    let text = world.text(&["timeline", "--since", "2020-01-01"]);
    assert!(text.contains("8 calls, 4 shown; 2 reads and 2 new callers are not (--all).\n"), "{text}");
    let all = world.text(&["timeline", "--since", "2020-01-01", "--all"]);
    assert!(all.contains("caller 2: bob (\"c\")\n") && all.contains("8 calls, 8 shown.\n"), "{all}");
    let (run, page) = world.page(&["overview", "--json"]);
    let overview: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(overview["calls"], json!(rows));
    assert!(
        page.contains("<b>8</b> calls") && page.contains("By 2 of them the server stored a new caller."),
        "{page}"
    );
    let counts = world.json(&["verify"])["checks"][1]["counts"].clone();
    assert_eq!(
        counts["closed calls"].as_u64().unwrap() + counts["running calls"].as_u64().unwrap(),
        rows as u64
    );
}

#[test]
fn equal_calls_in_a_row_are_one_line() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: Some("alice"), client: Some("c"), era: Era::Handshake });
    for _ in 0..50 {
        client.call("task_update", json!({}));
    }
    client.create(json!({ "title": "T" }));
    client.call("task_update", json!({}));
    let text = world.text(&["timeline", "--since", "2020-01-01"]);
    let refused = "was refused task_update: INVALID_PARAMS";
    assert!(text.contains(&format!("alice (\"c\")  ×50 {refused}\n")), "{text}");
    assert_eq!(text.matches(refused).count(), 2, "{text}");
    assert!(text.contains("53 calls, 52 shown; 1 new caller is not (--all).\n"), "{text}");
    let events = world.json(&["timeline", "--since", "2020-01-01"])["events"].as_array().unwrap().len();
    assert_eq!(events, 52, "programs get each call");
}

#[test]
fn the_bars_of_a_short_span_are_short_and_cover_it() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    for _ in 0..5 {
        client.data("task_list", json!({}));
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
    let (_, page) = world.page(&["overview"]);
    let bars =
        page.split_once("<section id=\"calls\">").unwrap().1.split_once("</section>").unwrap().0.to_owned();
    assert!(bars.contains("A bar is 1 second; "), "{bars}");
    assert!(bars.matches("<title>").count() >= 2, "{bars}");
    let axis = bars.split_once("class=\"axis note\">").unwrap().1.split_once("</p>").unwrap().0.to_owned();
    let times: Vec<&str> = axis.split("<span>").skip(1).map(|part| part.split_once('<').unwrap().0).collect();
    assert!(times.len() == 3 && times[0] < times[1] && times[1] < times[2], "{axis}");
}
