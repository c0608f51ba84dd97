//! The page for people: what it holds, what stored text cannot do to it, and what it says of a broken session.

use colibri::domains::trail::service::{NewThought, Stamp, create_thought_record};
use colibri::report::model::MOST_THOUGHTS;
use colibri_proof::record::ThoughtType;
use colibri_test_support::engine;
use serde_json::json;

use crate::auditor::world::{World, hash};

fn page(world: &World, session: &str, code: i32) -> String {
    world.run(&["report", session, "--html", "page.html"]).ends(code);
    let path = world.folder.path().join("page.html");
    let page = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    page
}

#[test]
fn a_sealed_session_is_shown_whole_and_its_hostile_text_is_only_shown() {
    let mut world = World::signing();
    let task = world.server.data("task_create", json!({ "title": "Task <b>title</b>" }));
    let task = task["id"].as_str().unwrap();
    world.start("S");
    let id = world.think("S", task, "<script>alert(\"x\")</script>\0\u{202e}'&");
    world.think("S", "elsewhere", "more");
    let head = world.seal("S");
    let page = page(&world, "S", 0);
    for expected in [
        "Task &lt;b&gt;title&lt;/b&gt;",
        "INIT",
        &id,
        "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;",
        "U+0000",
        "U+202E",
        hash(&head, "head_hash"),
        hash(&head, "root_hash"),
        hash(&head, "legacy_root"),
        hash(&head, "signature"),
        &world.public_key,
        "<svg",
        "<strong>Sound.</strong>",
        "valid signature by a trusted key",
        "colibri check-proof proof.json --root",
    ] {
        assert!(page.contains(expected), "{expected} is missing:\n{page}");
    }
    for absent in ["<script", "<b>", "\0", "\u{202e}", "http-equiv=\"refresh\"", "src=", "@import", "url("] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn an_open_session_has_a_page_without_a_seal() {
    let mut world = World::new();
    world.start("O");
    assert!(page(&world, "O", 0).contains("No thought has been recorded yet."));
    world.think("O", "T", "a");
    let page = page(&world, "O", 0);
    assert!(page.contains("Sound so far.") && page.contains("The session is open."), "{page}");
    assert!(!page.contains("<svg"));
}

#[test]
fn a_broken_session_has_a_page_that_says_so_where_it_is_broken() {
    let mut world = World::new();
    let (ids, _) = world.usual();
    world.tamper("UPDATE thought_records SET content = 'changed' WHERE content = 'first'");
    let page = page(&world, "S", 1);
    assert!(page.contains("<strong>Not sound: ") && page.contains("HASH_MISMATCH"), "{page}");
    assert!(page.contains("<li class=\"unfit\" id=\"t0\">"), "{page}");
    let json = world.run(&["report", "S", "--html", "json.html", "--json"]).ends(1).json();
    assert_eq!(json["sound"], false);
    assert!(page.contains(&ids[0]));
}

#[test]
fn a_long_session_shows_its_beginning_and_its_end() {
    let mut world = World::new();
    world.start("L");
    let db = engine::db(&world.server.database());
    db.execute("BEGIN", &[]).unwrap();
    for number in 0..MOST_THOUGHTS + 24 {
        let stamp =
            Stamp { id: format!("id-{number}"), now: "2026-05-01T10:00:00.000Z".into(), sequence_no: None };
        let thought = NewThought {
            kind: ThoughtType::Plan,
            task_id: format!("T{}", number % 2),
            agent_id: "a".into(),
            content: format!("thought number {number}."),
            session_id: Some("L".into()),
        };
        create_thought_record(&db, stamp, thought).unwrap();
    }
    db.execute("COMMIT", &[]).unwrap();
    engine::settle(&db);
    world.seal("L");
    // No call wrote these thoughts, so the database is not sound.
    let page = page(&world, "L", 1);
    assert!(page.contains("Thoughts 500 to 523 are left out of this page"));
    for (number, shown) in [(0, true), (499, true), (500, false), (523, false), (524, true), (1023, true)] {
        assert_eq!(page.contains(&format!("thought number {number}.")), shown, "{number}");
    }
    assert!(page.contains("stands for 16 leaves, the lowest for 16."));
    assert!(!page.contains("its root is not the sealed one"));
}

#[test]
fn a_page_is_never_written_over_another_file() {
    let mut world = World::new();
    world.usual();
    world.run(&["report", "S", "--html", "page.html"]).ends(0);
    world.run(&["report", "S", "--html", "page.html"]).ends(2);
    world.run(&["report", "none", "--html", "none.html"]).ends(2);
    assert!(!world.folder.path().join("none.html").exists());
    world.run(&["report", "S"]).ends(2);
}
