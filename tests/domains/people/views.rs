//! What people look at (views): the commands beside a running server, on each engine.

mod board;
mod graph;
mod overview;
#[cfg(target_os = "linux")]
mod widths;

use std::process::Output;

use serde_json::{Value, json};

use super::era::{Client, Era, launch};

/// Runs a view beside the server, in UTC.
fn look(client: &Client, arguments: &[&str]) -> Output {
    let launch =
        arguments.iter().fold(launch().beside(&client.server), |launch, argument| launch.arg(argument));
    launch.env("TZ", "UTC").command().output().unwrap()
}

fn text(client: &Client, arguments: &[&str]) -> String {
    let output = look(client, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn document(client: &Client, arguments: &[&str]) -> Value {
    let whole: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&text(client, &whole)).unwrap()
}

fn refusal(client: &Client, arguments: &[&str]) -> String {
    let output = look(client, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A board: one task held, one ready, one that waits for the first, one finished; a session about the first.
struct Board {
    client: Client,
    held: String,
    ready: String,
    blocked: String,
    done: String,
}

impl Board {
    fn new() -> Self {
        let mut client = Client::of(launch().env("COLIBRI_ACTOR", "alice"), Era::Handshake);
        let mut create = |arguments: Value| {
            let created = client.data("task_create", arguments);
            created["id"].as_str().unwrap().to_owned()
        };
        let held =
            create(json!({ "title": "Write the migration", "priority": "high", "project_id": "site" }));
        let ready = create(
            json!({ "title": "Measure the import", "description": "Über alles", "project_id": "site" }),
        );
        let blocked = create(json!({ "title": "Announce the release", "depends_on": [held] }));
        let done = create(json!({ "title": "Sweep", "assignee": "bob" }));
        client.data(
            "audit_session_start",
            json!({ "session_id": "release-42", "intent": "Release 4.2", "task_id": held }),
        );
        client.data("task_claim", json!({ "agent_id": "claude-1", "id": held }));
        client.data("task_update", json!({ "id": held, "status": "GATHER", "claim": 1 }));
        client.call("task_update", json!({ "id": held, "status": "ANALYZE" }));
        let thought = json!({
            "type": "decision", "task_id": held, "agent_id": "claude-1", "content": "Two steps, because the table is large.",
            "session_id": "release-42",
        });
        client.data("thought_record", thought);
        client.server.think(&json!(done));
        client.server.walk(&json!(done), "DONE");
        client.data("merkle_finalize", json!({ "session_id": "release-42" }));
        Self { client, held, ready, blocked, done }
    }

    fn ids(&self, arguments: &[&str]) -> Vec<String> {
        let found = document(&self.client, arguments);
        let tasks = found["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    }
}

fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

#[test]
fn people_55_a_few_characters_stand_for_an_id() {
    let board = Board::new();
    let id = &board.held;
    let whole = text(&board.client, &["task", id]);
    assert!(whole.starts_with(&format!("Write the migration  {id}\n")), "{whole}");
    for fragment in [short(id), &id[id.len() - 4..], &short(id).to_uppercase(), &id[20..]] {
        assert_eq!(text(&board.client, &["task", fragment]), whole, "{fragment}");
    }
    // All ids were made within a moment, so they begin alike.
    let several = refusal(&board.client, &["task", &id[..4]]);
    assert!(several.starts_with(&format!("colibri: \"{}\" fits 4 tasks: ", &id[..4])), "{several}");
    for id in [&board.held, &board.ready, &board.blocked, &board.done] {
        assert!(several.contains(id.as_str()), "{several}");
    }
    assert!(refusal(&board.client, &["task", "abc"]).contains("write at least 4 characters"));
    assert!(refusal(&board.client, &["task", "zzzz"]).contains("there is no task \"zzzz\""));
    assert!(refusal(&board.client, &["task", "%%%%"]).contains("there is no task"), "a pattern is not an id");
}

#[test]
fn people_56_times_stand_for_the_calls_of_their_stamp() {
    let board = Board::new();
    let all = document(&board.client, &["timeline", "--all", "--since", "2h"]);
    let first = all["events"][0]["at"].as_str().unwrap().to_owned();
    let second = all["events"][1]["at"].as_str().unwrap().to_owned();
    let calls = |since: &str| {
        let found = document(&board.client, &["timeline", "--all", "--since", since]);
        found["calls"].as_u64().unwrap()
    };
    let later = format!("{}+02:00", local(&second, 2));
    assert_eq!(calls(&later), calls(&second));
    assert!(calls(&first) > calls(&second) || first == second);
    for since in ["1h30m", "today", "yesterday 14:00", "2020", "2020-01-01 10:00"] {
        assert_eq!(calls(since), all["calls"].as_u64().unwrap(), "{since}");
    }
    assert_eq!(calls("now"), 0);
    for (command, time) in [("timeline", "soon"), ("timeline", "25h:"), ("log", "tomorrow")] {
        let refused = refusal(&board.client, &[command, "--since", time]);
        let expected = "is not a time; write 2h, today, yesterday 14:00 or 2026-11-01T10:00Z";
        assert!(refused.contains(expected), "{refused}");
    }
}

/// The same moment as a clock shows it that many hours ahead of UTC.
fn local(stamp: &str, hours: i64) -> String {
    let ms = colibri_runtime::kernel::ms_of_rfc3339(stamp).unwrap() + hours * 3_600_000;
    let text = colibri_runtime::kernel::rfc3339_ms(ms);
    text.trim_end_matches('Z').to_owned()
}

#[test]
fn people_56_a_time_that_is_skipped_and_a_zone_that_is_unknown_are_named() {
    let board = Board::new();
    let run = |zone: &str, arguments: &[&str]| {
        let launch = launch().beside(&board.client.server).env("TZ", zone);
        let output = arguments
            .iter()
            .fold(launch, |launch, argument| launch.arg(argument))
            .command()
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = run("CET-1CEST,M3.5.0,M10.5.0/3", &["timeline", "--since", "2026-03-29 02:30"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("\"2026-03-29 02:30\" is skipped in +0"), "{told}");
    for arguments in [&["tasks"][..], &["timeline", "--since", "2026-03-29 02:30"], &["graph"]] {
        let (code, told) = run("Europe/Berln", arguments);
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(
            told, "colibri: TZ is \"Europe/Berln\" and names no time zone; times are in UTC\n",
            "{arguments:?}"
        );
    }
    assert_eq!(run("Europe/Berln", &["tasks", "--utc"]), (Some(0), String::new()));
    assert_eq!(run(":/dev/zero", &["tasks"]).1.lines().count(), 1);
}

#[test]
fn people_57_the_log_takes_the_beginnings_of_stamps_as_before() {
    let board = Board::new();
    let rows = |since: &str, zone: &str| {
        let launch = launch().beside(&board.client.server).arg("log").arg("--json").arg("--since").arg(since);
        let output = launch.env("TZ", zone).command().output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{since}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = rows("2026", "UTC");
    assert!(all.lines().count() > 10);
    for zone in ["UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0"] {
        for since in ["2026", "2026-05", "2026-05-01", "2026-05-01T10:00", "2026-05-01T10:00:00.000Z"] {
            assert_eq!(rows(since, zone), all, "{since} in {zone}");
        }
    }
}

#[test]
fn people_58_views_are_plain_where_no_terminal_is() {
    let board = Board::new();
    let task = short(&board.held);
    for arguments in [
        &["tasks"][..],
        &["next"],
        &["sessions"],
        &["timeline"],
        &["task", task],
        &["board", "--once"],
        &["graph"],
    ] {
        assert!(document(&board.client, arguments).is_object());
        assert!(!text(&board.client, arguments).contains('\u{1b}'));
    }
}

#[test]
fn people_60_each_filter_of_tasks_finds_its_own() {
    let mut empty = Client::new(Era::Handshake);
    empty.data("task_list", json!({}));
    assert_eq!(text(&empty, &["tasks"]), "No task matches.\n");
    let board = Board::new();
    let Board { held, ready, blocked, done, .. } = &board;
    let cases: [(&[&str], &[&String]); 13] = [
        (&["tasks"], &[held, ready, blocked]),
        (&["tasks", "--ready"], &[ready]),
        (&["tasks", "--held"], &[held]),
        (&["tasks", "--blocked"], &[blocked]),
        (&["tasks", "--all"], &[held, ready, blocked, done]),
        (&["tasks", "--status", "done"], &[done]),
        (&["tasks", "--status", "INIT", "--status", "GATHER"], &[held, ready, blocked]),
        (&["tasks", "--project", "site"], &[held, ready]),
        (&["tasks", "--assignee", "bob", "--all"], &[done]),
        (&["tasks", "--search", "MEASURE"], &[ready]),
        (&["tasks", "--search", "über"], &[ready]),
        (&["tasks", "--search", "nothing"], &[]),
        (&["tasks", "--limit", "1"], &[held]),
    ];
    for (arguments, expected) in cases {
        let expected: Vec<String> = expected.iter().map(|id| (*id).clone()).collect();
        assert_eq!(board.ids(arguments), expected, "{arguments:?}");
    }
    let counts = document(&board.client, &["tasks"])["counts"].clone();
    assert_eq!(counts, json!({ "ready": 1, "held": 1, "blocked": 1, "finished": 1 }));
    let shown = text(&board.client, &["tasks"]);
    let last = shown.lines().last().unwrap();
    assert_eq!(last, "3 open: 1 ready, 1 held, 1 blocked. 1 finished (--all).");
    assert!(shown.contains(&format!("waits for {}", short(held))), "{shown}");
    assert!(shown.contains("claude-1, "), "{shown}");
}

#[test]
fn people_61_a_task_and_the_timeline_show_all_of_it() {
    let board = Board::new();
    let (held, blocked) = (short(&board.held), short(&board.blocked));
    let task = text(&board.client, &["task", held]);
    for part in [
        "GATHER, priority high, project site; held by claude-1 until ",
        "(claim 1)",
        &format!("needed by   {blocked}  INIT  Announce the release"),
        "release-42  sealed, 1 record  head ",
        "INIT > GATHER",
        "claimed by claude-1",
        "alice (people)",
        "decision  claude-1  Two steps, because the table is large.",
        "Names are as callers give them; the server checks none of them.",
    ] {
        assert!(task.contains(part), "{part}:\n{task}");
    }
    let waiting = text(&board.client, &["task", blocked]);
    assert!(waiting.contains(&format!("waits for   {held}  GATHER  Write the migration")), "{waiting}");
    let timeline = text(&board.client, &["timeline", "--since", "1h"]);
    for part in [
        format!("alice (people)  moved {held} Write the migration: INIT > GATHER"),
        format!("was refused task_update of {held}: ERR_CLAIMED"),
        format!("decided on {held}: Two steps, because the table is large."),
        "sealed session release-42: Release 4.2".to_owned(),
    ] {
        assert!(timeline.contains(&part), "{part}:\n{timeline}");
    }
    for page in [&task, &waiting, &timeline, &text(&board.client, &["sessions"])] {
        let hash = page.split(|c: char| !c.is_ascii_hexdigit()).find(|word| word.len() > 12);
        assert_eq!(hash, None, "{page}");
    }
    let next = text(&board.client, &["next"]);
    let ready = short(&board.ready);
    let expected = format!(
        "1  {ready}  Measure the import  INIT, free\nblocked  {blocked}  Announce the release waits for {held} (GATHER)\n"
    );
    assert_eq!(next, expected);
    let only = document(&board.client, &["timeline", "--since", "1h", "--task", held, "--who", "claude-1"]);
    let tools: Vec<&str> =
        only["events"].as_array().unwrap().iter().map(|event| event["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["task_claim", "thought_record"]);
}

#[test]
fn people_71_help_is_there_in_three_ways_and_a_wrong_command_names_the_right_one() {
    let run = |arguments: &[&str]| {
        let launch = arguments.iter().fold(launch(), |launch, argument| launch.arg(argument));
        launch.command().output().unwrap()
    };
    for (asked, part) in [
        (&["help"][..], "Commands:"),
        (&["-h"], "Commands:"),
        (&["help", "tasks"], "--blocked"),
        (&["tasks", "--help"], "--blocked"),
        (&["help", "postgres", "setup"], "Usage: colibri postgres setup"),
    ] {
        let output = run(asked);
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{asked:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(part), "{asked:?}");
    }
    for (wrong, told) in [
        ("tasls", "colibri: there is no command tasls; did you mean tasks"),
        ("zzz", "colibri: there is no command zzz; colibri help lists them\n"),
        ("a\nb", "colibri: there is no command a\\nb; colibri help lists them\n"),
    ] {
        let output = run(&[wrong]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with(told) && stderr.ends_with(" colibri help lists them\n"), "{stderr}");
    }
}
