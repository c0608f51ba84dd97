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
    assert!(several.contains(&format!("{} (Measure the import)", board.ready)), "{several}");
    for id in [&board.held, &board.ready, &board.blocked, &board.done] {
        assert!(several.contains(id.as_str()), "{several}");
    }
    assert!(refusal(&board.client, &["task", "abc"]).contains("write at least 4 characters"));
    assert!(refusal(&board.client, &["task", "zzzz"]).contains("there is no task \"zzzz\""));
    assert!(refusal(&board.client, &["task", "%%%%"]).contains("there is no task"), "a pattern is not an id");
    let wrong = format!("{}x", &short(id)[..7]);
    let meant = refusal(&board.client, &["task", &wrong]);
    assert!(meant.contains(&format!("there is no task {wrong:?}; did you mean {}? ", short(id))), "{meant}");
}

#[test]
fn people_55_sessions_and_the_timeline_take_tasks_that_are_kept_elsewhere() {
    let mut board = Board::new();
    let session = json!({ "session_id": "elsewhere", "intent": "Fix ext-77", "task_id": "ext-77" });
    board.client.data("audit_session_start", session);
    let thought = json!({
        "type": "plan", "task_id": "ext-99", "agent_id": "claude-1", "content": "Look first.", "session_id": "elsewhere",
    });
    board.client.data("thought_record", thought);
    for fragment in ["ext-77", "EXT-77", "t-77"] {
        let sessions = text(&board.client, &["sessions", "--task", fragment]);
        assert!(sessions.contains("elsewhere") && !sessions.contains("release-42"), "{sessions}");
        let timeline = text(&board.client, &["timeline", "--since", "1h", "--task", fragment]);
        assert!(timeline.contains("opened session elsewhere: Fix ext-77"), "{timeline}");
        assert!(timeline.contains("\n1 call, 1 shown.\n"), "{timeline}");
    }
    let timeline = text(&board.client, &["timeline", "--since", "1h", "--task", "ext-99"]);
    assert!(timeline.contains("planned ext-99: Look first."), "{timeline}");
    assert_eq!(text(&board.client, &["sessions", "--task", "ext-99"]), "No session matches.\n");
    let held = text(&board.client, &["sessions", "--task", short(&board.held)]);
    assert!(held.contains("release-42") && !held.contains("elsewhere"), "{held}");
    let several = refusal(&board.client, &["sessions", "--task", "ext-"]);
    assert_eq!(several, "colibri: \"ext-\" fits 2 tasks: ext-77, ext-99\n");
    for view in ["sessions", "timeline"] {
        let meant = refusal(&board.client, &[view, "--task", "ext-78"]);
        let told = "there is no task \"ext-78\"; did you mean ext-77? colibri tasks --all and colibri sessions list them";
        assert!(meant.contains(told), "{meant}");
    }
}

#[test]
fn people_55_commands_for_auditors_take_a_few_characters_too() {
    let mut board = Board::new();
    let started = board.client.data("audit_session_start", json!({ "intent": "Another" }));
    let made = started["session_id"].as_str().unwrap().to_owned();
    let listed = text(&board.client, &["sessions"]);
    assert!(listed.contains(short(&made)), "{listed}");
    let thoughts = document(&board.client, &["task", &board.held])["thoughts"].clone();
    let record = thoughts[0]["id"].as_str().unwrap();
    for (fragment, whole) in [("ease-42", "release-42"), (short(&made), &made)] {
        let export = text(&board.client, &["export", fragment]);
        assert_eq!(export, text(&board.client, &["export", whole]));
        assert!(export.contains(&format!("\"session_id\":{whole:?}")), "{export}");
    }
    let proof = text(&board.client, &["proof", "release-42", record]);
    assert_eq!(text(&board.client, &["proof", "RELEASE", short(record)]), proof);
    for whole in [&board.held, "release-42", record] {
        let calls = text(&board.client, &["log", "--subject", whole]);
        assert!(calls.contains(whole));
        assert_eq!(text(&board.client, &["log", "--subject", short(whole)]), calls);
    }
    assert_eq!(text(&board.client, &["log", "--subject", "zzzz"]), "No call matches.\n");
    let several = refusal(&board.client, &["log", "--subject", &board.held[..6]]);
    assert!(several.contains("fits ") && several.contains(board.blocked.as_str()), "{several}");
    let page = board.client.server.folder().join("page.html");
    let report = ["report", "ease-42", "--html", page.to_str().unwrap()];
    assert!(text(&board.client, &report).ends_with(": 1 thought; the session is sound\n"));
    assert!(std::fs::read_to_string(page).unwrap().contains("1 record was recomputed: the whole chain"));
    for command in [&["export", "relase-42"][..], &["proof", "relase-42", record]] {
        let refused = refusal(&board.client, command);
        let expected =
            "there is no audit session \"relase-42\"; did you mean release-42? colibri sessions lists them";
        assert!(refused.contains(expected), "{refused}");
    }
    let refused = refusal(&board.client, &["proof", "release-42", &board.held]);
    assert!(refused.contains("is not in audit session release-42"), "{refused}");
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
    for view in [&["tasks"][..], &["tasks", "--blocked"], &["next"], &["board", "--once"]] {
        assert!(text(&empty, view).contains("No task yet. Agents make tasks; you can, too: "), "{view:?}");
    }
    let id = empty.data("task_create", json!({ "title": "T" }))["id"].clone();
    empty.server.think(&id);
    empty.server.walk(&id, "DONE");
    for view in [&["next"][..], &["board", "--once"]] {
        let told = "No open task; colibri tasks --all shows finished ones.\n";
        assert!(text(&empty, view).ends_with(told), "{view:?}");
    }
    assert_eq!(text(&empty, &["tasks"]), "None open. 1 finished (--all).\n");
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
    assert!(shown.contains("\"claude-1\" (alice, \"people\"), "), "{shown}");
    let first = text(&board.client, &["tasks", "--limit", "1"]);
    assert!(first.contains("2 more; --limit 3 shows them."), "{first}");
    let last = "3 open: 1 ready, 1 held, 1 blocked. 1 finished (--all).";
    let plan = text(&board.client, &["tasks", "--status", "PLAN"]);
    assert_eq!(plan, format!("No task matches.\n{last}\n"));
    for (arguments, told) in [
        (["--project", "sit"], "No task has the project sit; did you mean site?\n"),
        (["--assignee", "somebody"], "No task has the assignee somebody; check the name\n"),
        (["--search", "nothing"], "No task matches.\n"),
    ] {
        assert_eq!(text(&board.client, &["tasks", arguments[0], arguments[1]]), told);
    }
}

#[test]
fn people_61_a_task_and_the_timeline_show_all_of_it() {
    let board = Board::new();
    let (held, blocked, ready) = (short(&board.held), short(&board.blocked), short(&board.ready));
    let waits = format!("waits for {held} (GATHER)");
    let task = text(&board.client, &["task", held]);
    for part in [
        "GATHER, priority high, project site; held by \"claude-1\" (alice, \"people\") until ",
        "(claim 1)",
        &format!("needed by   {blocked}  INIT  Announce the release"),
        "release-42  sealed, 1 record  head ",
        "INIT > GATHER",
        "claimed (claim 1)",
        "alice (\"people\")",
        "decision  \"claude-1\" (alice, \"people\")  Two steps, because the table is large.",
        "Names in quotes are as clients and agents give them; the server checks none of them.",
    ] {
        assert!(task.contains(part), "{part}:\n{task}");
    }
    let waiting = text(&board.client, &["task", blocked]);
    assert!(waiting.contains(&format!("waits for   {held}  GATHER  Write the migration")), "{waiting}");
    let timeline = text(&board.client, &["timeline", "--since", "1h"]);
    for part in [
        format!("\"claude-1\" (alice, \"people\")  moved {held} Write the migration: INIT > GATHER"),
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
    let rows: Vec<Vec<&str>> = next
        .lines()
        .map(|row| row.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect())
        .collect();
    assert_eq!(rows[0], ["NEXT", "ID", "PRIORITY", "TITLE", "STATE / KEPT BY"]);
    assert_eq!(rows[1], ["1", ready, "-", "Measure the import", "INIT, free"]);
    assert_eq!(rows[2][..4], ["held", held, "high", "Write the migration"]);
    assert!(rows[2][4].starts_with("\"claude-1\" (alice, \"people\"), "), "{next}");
    assert_eq!(rows[3], ["blocked", blocked, "-", "Announce the release", &waits]);
    assert_eq!(rows.len(), 4, "{next}");
    let only = document(&board.client, &["timeline", "--since", "1h", "--task", held, "--who", "claude-1"]);
    let tools: Vec<&str> =
        only["events"].as_array().unwrap().iter().map(|event| event["tool"].as_str().unwrap()).collect();
    assert_eq!(
        tools,
        [
            "task_create",
            "audit_session_start",
            "task_claim",
            "task_update",
            "task_update",
            "thought_record",
            "merkle_finalize"
        ]
    );
    let none =
        |arguments: &[&str]| text(&board.client, &[&["timeline", "--since", "1h"], arguments].concat());
    assert_eq!(none(&["--who", "alise"]), "No call by alise in this time; did you mean alice?\n");
    assert_eq!(none(&["--who", "bob"]), "No call by bob in this time; --since looks further back.\n");
    let expected =
        "colibri: --until 2026-11-24 is not after --since 2026-11-25; name a later time with --until\n";
    for view in ["timeline", "log"] {
        let empty = refusal(&board.client, &[view, "--since", "2026-11-25", "--until", "2026-11-24"]);
        assert_eq!(empty, expected, "{view}");
    }
}

#[test]
fn people_61_a_task_shows_the_sessions_of_its_thoughts_and_the_thoughts_whole() {
    let mut board = Board::new();
    let long = format!("{} the end.\n\n  Its second part.\n", "A thought of many words".repeat(20));
    board.client.data("audit_session_start", json!({ "session_id": "for-nothing", "intent": "None" }));
    let thought = json!({
        "type": "analysis", "task_id": board.ready, "agent_id": "claude-1", "content": long, "session_id": "for-nothing",
    });
    board.client.data("thought_record", thought);
    let task = text(&board.client, &["task", &board.ready]);
    assert!(task.contains("\nsessions    for-nothing  open, 1 record\n"), "{task}");
    let sessions = &document(&board.client, &["task", &board.ready])["sessions"];
    assert_eq!((&sessions[0]["session_id"], sessions[0]["task_id"].is_null()), (&json!("for-nothing"), true));
    let (first, rest) = long.trim().split_once('\n').unwrap();
    assert!(
        task.contains(&format!(
            "  \"claude-1\" (alice, \"people\")  {first}\n\n                Its second part.\n"
        )),
        "{task}"
    );
    assert!(rest.ends_with("Its second part.") && !task.contains('…') && !task.contains("--all"), "{task}");
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
    for (wrong, told) in [
        (["pins", "list"], "colibri: there is no command pins list; colibri help pins lists them\n"),
        (
            ["pins", "dif"],
            "colibri: there is no command pins dif; did you mean diff? colibri help pins lists them\n",
        ),
        (["zzz", "pins"], "colibri: there is no command zzz; colibri help lists them\n"),
        (
            ["wrap", "mcp-server-time"],
            "colibri: name the server's command behind --, for instance: colibri wrap --name git -- uvx mcp-server-git\n",
        ),
    ] {
        let output = run(&wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
    }
}
