//! What an import refuses, and that nothing of it is left.

use colibri_test_support::engine;
use std::fs::File;

use colibri_test_support::shell::Run;
use serde_json::{Value, json};

use super::world::{World, counts, gain, lines, penalty};

/// Five good lines.
fn five(now: i64) -> Vec<Value> {
    (0..5).map(|n| gain(&format!("good-{n}"), "alice", "bob", 100, now - 5 + n)).collect()
}

/// That a text is refused with exactly this on stderr, and leaves nothing.
fn refused(world: &World, text: &str, expected: &str) {
    for more in [&[][..], &["--dry-run"]] {
        let run = world.import_text(text, more);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{text}: {}", run.err);
        assert_eq!(run.err.trim_end(), expected, "{text}");
    }
    for table in ["reputations", "reputation_history", "reputation_ledger", "reputation_clock"] {
        assert_eq!(world.count(table), 0, "{table} after {expected}");
    }
}

#[test]
fn a_bad_line_refuses_the_whole_file() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[]).ends(0);
    let third = |change: &dyn Fn(&mut Value)| {
        let mut events = five(now);
        change(&mut events[2]);
        lines(&events)
    };
    let set = |name: &'static str, value: Value| third(&move |event| event[name] = value.clone());
    let without = |name: &'static str| third(&move |event| drop(event.as_object_mut().unwrap().remove(name)));
    let expected_domain = "line 3: ERR_SCHEMA: domain: Invalid option: expected one of execution, commissioning, arbitration, governance, social or *";
    let cases = [
        (set("delta", json!(0)), "line 3: ERR_SCHEMA: delta: a gain of 0 is none"),
        (
            set("delta", json!("5")),
            "line 3: ERR_SCHEMA: delta: Invalid input: expected number, received string",
        ),
        (set("delta", json!(10_001)), "line 3: ERR_SCHEMA: delta: Too big: expected number to be <=10000"),
        (
            set("event_id", json!("")),
            "line 3: ERR_SCHEMA: event_id: Too small: expected string to have >=1 characters",
        ),
        (set("domain", json!("karma")), expected_domain),
        (
            set("domain", json!("*")),
            "line 3: ERR_SCHEMA: domain: only a penalty of band fraud is one in all domains",
        ),
        (set("more", json!(1)), "line 3: ERR_SCHEMA: Unrecognized key: \"more\""),
        (set("scar", json!(true)), "line 3: ERR_SCHEMA: a gain takes neither band nor scar"),
        (without("acker_id"), "line 3: ERR_SCHEMA: a gain needs acker_id"),
        (without("delta"), "line 3: ERR_SCHEMA: a gain needs delta"),
        (without("epoch"), "line 3: ERR_SCHEMA: epoch: Invalid input: expected number, received undefined"),
        (
            set("epoch", json!(now + 1)),
            &format!("line 3: ERR_EPOCH_FUTURE: epoch {} is beyond the present one, {now}", now + 1),
        ),
    ];
    for (text, expected) in cases {
        refused(&world, &text, expected);
    }
}

#[test]
fn reserved_nodes_and_old_events_are_refused_by_name() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[]).ends(0);
    let reserved =
        "colibri:x: names beginning colibri: are the system's, which owns no standing and vouches for nobody";
    let system = [gain("e", "alice", "bob", 1, now), gain("e", "colibri:x", "bob", 1, now)];
    refused(&world, &lines(&system), &format!("line 2: ERR_NODE_RESERVED: {reserved}"));
    let vouching = [gain("e", "alice", "colibri:x", 1, now)];
    refused(&world, &lines(&vouching), &format!("line 1: ERR_NODE_RESERVED: {reserved}"));
    let minor = [penalty("e", "alice", "*", "minor", now)];
    refused(
        &world,
        &lines(&minor),
        "line 1: ERR_SCHEMA: domain: only a penalty of band fraud is one in all domains",
    );

    world.import(&[gain("e1", "alice", "bob", 500, now - 1)]).ends(0);
    let late = [gain("e2", "bob", "alice", 500, now - 3), gain("e3", "alice", "bob", 500, now - 2)];
    let run = world.import(&late);
    let text = format!(
        "line 2: ERR_EPOCH_ORDER: alice/social: epoch {} is before {}, its last one; standings move forward only\n",
        now - 2,
        now - 1
    );
    assert_eq!((run.code, run.err), (Some(2), text));
    assert_eq!(world.count("reputation_ledger"), 1, "bob's event went with it");
    world.run(&["verify"]).ends(0);
}

#[test]
fn what_is_no_json_is_refused_before_any_call() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[]).ends(0);
    let good = gain("e", "alice", "bob", 1, now).to_string();
    let twice = good.replacen("{", "{\"epoch\":1,", 1);
    let cases = [
        (format!("{good}\n{{\"a\":"), "line 2: ERR_JSON: EOF while parsing a value at column 5"),
        (format!("{good}\n\n[1]"), "line 3: ERR_SCHEMA: Invalid input: expected object, received array"),
        (format!("{good}\nnull"), "line 2: ERR_JSON: expected an object, found null"),
    ];
    for (text, expected) in cases {
        refused(&world, &text, expected);
    }
    let run = world.import_text(&format!("{good}\n{twice}\n"), &[]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.err.starts_with("line 2: ERR_JSON: the key \"epoch\" stands there twice at column "),
        "{}",
        run.err
    );
    // A control character of the file does not reach the terminal.
    let run = world.import_text("{\"\u{7f}\u{9b}31m\":1,\"\u{7f}\u{9b}31m\":1}", &[]);
    assert_eq!(run.code, Some(2));
    assert!(!run.err.contains('\u{9b}'), "{:?}", run.err);
}

#[test]
fn a_file_that_is_too_large_or_not_there_is_refused() {
    let world = World::new();
    let path = world.path("large.jsonl");
    File::create(&path).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    let run = world.reputation(&["import", path.to_str().unwrap()]).ends(2);
    assert!(run.err.contains("large.jsonl is larger than 64 MiB; import it in parts"), "{}", run.err);
    let run = world.reputation(&["import", "nowhere.jsonl"]).ends(2);
    assert!(run.err.contains("cannot read nowhere.jsonl"), "{}", run.err);
    assert!(engine::is_postgres() || !world.database().exists(), "no database was made for it");
    world.reputation(&["import"]).ends(2);
    world.reputation(&["export", "more"]).ends(2);
    world.reputation(&[]).ends(2);
}

#[test]
fn a_server_that_does_not_write_imports_nothing() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[]).ends(0);
    let calls = world.count("actions");
    for (mode, obstacle) in [("READONLY", "writes"), ("MINIMAL", "needs a database")] {
        let mut command = world.launch().env("COLIBRI_MODE", mode).command();
        let path = world.path("one.jsonl");
        std::fs::write(&path, lines(&[gain("e", "alice", "bob", 1, now)])).unwrap();
        let run = Run::of(command.args(["reputation", "import"]).arg(&path).output().unwrap()).ends(1);
        assert_eq!(
            run.err,
            format!(
                "colibri: nothing was imported: Tool reputation_import {obstacle}, and the server's mode is {mode}\n"
            )
        );
    }
    assert_eq!((world.count("reputation_ledger"), world.count("actions")), (0, calls));
    assert_eq!(world.import(&[gain("e", "alice", "bob", 1, now)]).ends(0).json(), counts(1, 0, 0));
}

#[test]
fn a_lock_that_others_hold_for_too_long_fails_the_import_and_leaves_nothing() {
    let world = World::new();
    let now = world.epoch();
    world.import(&[]).ends(0);
    let calls = world.count("actions");
    let other = world.sql();
    other.hold();
    let run = world.import(&[gain("e", "alice", "bob", 1, now)]).ends(1);
    let said = if engine::is_postgres() { "another writer has kept the lock of the log" } else { "locked" };
    assert!(run.err.starts_with("colibri: ") && run.err.contains(said), "{}", run.err);
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!((world.count("reputation_ledger"), world.count("actions")), (0, calls));
    assert_eq!(world.import(&[gain("e", "alice", "bob", 1, now)]).ends(0).json(), counts(1, 0, 0));
}
