//! One verdict in all views, by whose key it holds, and what each says that it does not cover.

use serde_json::{Value, json};

use super::world::{Caller, World};
use crate::people::era::Era;

fn sealed(world: &World) {
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    client.data("audit_session_start", json!({ "session_id": "S", "intent": "Work" }));
    let thought =
        json!({ "type": "plan", "task_id": "T", "agent_id": "honest", "content": "x", "session_id": "S" });
    client.data("thought_record", thought);
    client.data("merkle_finalize", json!({ "session_id": "S" }));
    client.data("audit_session_start", json!({ "session_id": "O", "intent": "Open" }));
    let thought =
        json!({ "type": "plan", "task_id": "U", "agent_id": "honest", "content": "y", "session_id": "O" });
    client.data("thought_record", thought);
}

#[test]
fn pages_judge_by_the_keys_that_verify_judges_by() {
    let world = World::signing();
    sealed(&world);
    let other = World::signing().public_key;
    for (keys, code, verdict) in [
        (&["--key", world.public_key.as_str()][..], 0, "holds"),
        (&[], 3, "unconfirmed"),
        (&["--key", other.as_str()], 1, "fails"),
    ] {
        let verified = world.run(&[&["verify", "--json"], keys].concat());
        assert_eq!((verified.code, &verified.json()["verdict"]), (Some(code), &json!(verdict)));
        for page in [&["overview", "--json"][..], &["report", "S", "--json"], &["report", "O", "--json"]] {
            let (run, page) = world.page(&[page, keys].concat());
            assert_eq!((run.code, &run.json()["verdict"]), (Some(code), &json!(verdict)), "{keys:?}");
            let named = match code {
                0 => "<strong>Sound",
                3 => "<strong>Holds, but only by a key that you did not give.</strong>",
                _ => "<strong>seals SIGNER_NOT_TRUSTED</strong>",
            };
            assert!(page.contains(named), "{named}: {page}");
            assert_eq!(page.contains("class=\"verdict good\""), code == 0);
        }
    }
    let text = world.run(&["verify"]).ends(3).out;
    assert!(
        text.contains("Holds, but only by a key that you did not give: everything that can be"),
        "{text}"
    );
    let (run, _) = world.page(&["overview"]);
    assert!(run.out.contains("the database holds, but only by a key that you did not give"), "{}", run.out);
    world.run(&["overview", "--html", "x.html", "--key", "nonsense"]).ends(2);
    world.run(&["report", "S", "--html", "x.html", "--key", "nonsense"]).ends(2);
}

#[test]
fn a_report_says_what_is_wrong_elsewhere_in_the_database() {
    let world = World::new();
    sealed(&world);
    world.sql().tamper(
        "UPDATE thought_records SET agent_id = 'forged' WHERE agent_id = 'honest' AND session_id = 'O'",
    );
    for command in [&["overview"][..], &["report", "O"], &["report", "S"]] {
        let (run, page) = world.page(command);
        assert_eq!(run.code, Some(1), "{command:?}: {}", run.out);
        assert!(page.contains("<strong>Not sound: ") && page.contains("ties "), "{page}");
    }
}

#[test]
fn a_verification_of_chains_says_that_it_does_not_cover_authors() {
    let world = World::new();
    sealed(&world);
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    let forge = "UPDATE thought_records SET agent_id = 'forged' WHERE session_id = 'O'";
    assert_eq!(world.sql().tamper(forge), 1);
    let of = |client: &mut super::world::Client, arguments: Value| {
        let reply = client.data("audit_verify_chain", arguments);
        (reply["valid"].clone(), reply["not_covered"].clone())
    };
    let (valid, authors) = (json!(true), json!(["agent_id", "session_id"]));
    for arguments in
        [json!({}), json!({ "task_id": "U" }), json!({ "session_id": "O" }), json!({ "detail": "brief" })]
    {
        assert_eq!(of(&mut client, arguments.clone()), (valid.clone(), authors.clone()), "{arguments}");
    }
    // The leaves of a seal cover them, and where nothing was recorded there is nothing to cover.
    for arguments in [json!({ "session_id": "S" }), json!({ "task_id": "none" })] {
        assert_eq!(of(&mut client, arguments.clone()), (valid.clone(), Value::Null), "{arguments}");
    }
    assert_eq!(
        world.sql().tamper("UPDATE thought_records SET agent_id = 'forged' WHERE session_id = 'S'"),
        1
    );
    assert_eq!(client.data("audit_verify_chain", json!({ "session_id": "S" }))["valid"], false);
    world.run(&["verify"]).ends(1);
}
