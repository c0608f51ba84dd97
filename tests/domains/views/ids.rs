//! Short ids: no id that an agent chose takes the place of another one without a word.

use serde_json::json;

use super::world::{Caller, World, short};
use crate::people::era::Era;

#[test]
fn a_chosen_id_that_is_another_ones_short_form_is_never_taken_for_it() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    let session = |client: &mut super::world::Client, mut arguments: serde_json::Value, content: &str| {
        arguments["intent"] = json!(content);
        let id = client.data("audit_session_start", arguments)["session_id"].as_str().unwrap().to_owned();
        let thought = json!({ "type": "decision", "task_id": "T", "agent_id": "a", "content": content, "session_id": id });
        client.data("thought_record", thought);
        client.data("merkle_finalize", json!({ "session_id": id }));
        id
    };
    let honest = session(&mut client, json!({}), "Do not release.");
    let twin = session(&mut client, json!({ "session_id": short(&honest) }), "Release now.");
    assert_eq!(twin, short(&honest));
    let part = session(&mut client, json!({ "session_id": honest[28..34] }), "A part.");
    let listed = world.text(&["sessions"]);
    let ids: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(ids.contains(&short(&honest)) && ids.contains(&&*format!("={twin}")), "{listed}");
    for fragment in [&twin, &part] {
        for command in [
            &["export", fragment][..],
            &["report", fragment, "--html", "x.html"],
            &["proof", fragment, "0000"],
        ] {
            let run = world.run(command).ends(2);
            assert!(
                run.err.contains(&format!("write ={fragment} ")) && run.err.contains(&honest),
                "{}",
                run.err
            );
        }
    }
    for (fragment, content) in [
        (format!("={twin}"), "Release now."),
        (honest.clone(), "Do not release."),
        (format!("={part}"), "A part."),
    ] {
        let export = world.text(&["export", &fragment]);
        assert!(export.contains(content), "{fragment}: {export}");
    }
    // The same of what is typed for a task.
    let task = client.create(json!({ "title": "T" }));
    client.data("audit_session_start", json!({ "intent": "Elsewhere", "task_id": short(&task) }));
    for command in [&["timeline", "--task", short(&task)][..], &["sessions", "--task", short(&task)]] {
        assert!(world.run(command).ends(2).err.contains(&task));
    }
    let line = world.text(&["timeline", "--since", "2020-01-01", "--task", &format!("={}", short(&task))]);
    assert!(line.contains("Elsewhere") && !line.contains("created"), "{line}");
}

#[test]
fn a_long_chosen_id_is_shown_as_cut_and_may_be_typed_so() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    let long = "a-name-that-someone-chose-long-ago";
    let end = &long[long.len() - 24..];
    client.data("audit_session_start", json!({ "session_id": long, "intent": "Long" }));
    client.data("audit_session_start", json!({ "session_id": end, "intent": "Its end" }));
    let listed = world.text(&["sessions"]);
    assert!(listed.contains(&format!("\n…{end} ")) && listed.contains(&format!("\n{end} ")), "{listed}");
    assert!(world.text(&["export", &format!("…{end}")]).contains("\"intent\":\"Long\""));
    assert!(world.text(&["export", &format!("={end}")]).contains("\"intent\":\"Its end\""));
    world.run(&["export", end]).ends(2);
}
