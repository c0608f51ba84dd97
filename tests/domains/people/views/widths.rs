//! Views on a terminal: each line fits, with colour and without.

use colibri_test_support::pty::{shown, widest};

use serde_json::json;

use super::{Board, Client, Era, launch, short};

#[test]
fn people_58_no_line_of_a_view_is_wider_than_the_terminal() {
    let mut empty = Client::new(Era::Handshake);
    empty.data("task_list", json!({}));
    let board = Board::new();
    let task = short(&board.held);
    let all: [&[&str]; 7] = [
        &["tasks", "--all"],
        &["next"],
        &["sessions"],
        &["timeline"],
        &["board", "--once"],
        &["task", task],
        &["task", task, "--all"],
    ];
    for (client, views) in [(&empty, &all[..5]), (&board.client, &all)] {
        for view in views {
            for columns in [60, 80, 200] {
                fits(client, view, columns);
            }
        }
    }
}

#[test]
fn people_61_all_of_a_thought_is_wrapped_on_a_terminal() {
    let mut board = Board::new();
    let words: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    board.client.data("audit_session_start", json!({ "session_id": "talk", "intent": "Talk" }));
    let thought = json!({
        "type": "plan", "task_id": board.ready, "agent_id": "claude-1", "content": words.join(" "), "session_id": "talk",
    });
    board.client.data("thought_record", thought);
    let run = |arguments: &[&str]| {
        let launch = arguments
            .iter()
            .fold(launch().beside(&board.client.server), |launch, argument| launch.arg(argument));
        shown(&launch.env("NO_COLOR", "1").env("TZ", "UTC").command(), 60).1
    };
    let cut = run(&["task", &board.ready]);
    assert!(cut.contains('…') && cut.contains("All of each: --all.") && !cut.contains("word59"), "{cut}");
    let whole = run(&["task", &board.ready, "--all"]);
    let seen: Vec<&str> = whole.split_whitespace().filter(|word| word.starts_with("word")).collect();
    assert_eq!(seen, words, "{whole}");
}

#[test]
fn people_58_a_terminal_that_can_show_text_only_gets_no_colours_and_no_board() {
    let board = Board::new();
    for (name, reason) in
        [(Some("dumb"), "TERM is dumb"), (Some(""), "TERM is not set"), (None, "TERM is not set")]
    {
        let run = |view: &[&str]| {
            let launch = view
                .iter()
                .fold(launch().beside(&board.client.server), |launch, argument| launch.arg(argument));
            let mut command = launch.env("TZ", "UTC").command();
            match name {
                Some(name) => command.env("TERM", name),
                None => command.env_remove("TERM"),
            };
            shown(&command, 100)
        };
        for view in [&["tasks"][..], &["next"], &["timeline", "--since", "1h"], &["board", "--once"]] {
            let (status, shown) = run(view);
            assert!(status.success() && !shown.contains('\u{1b}'), "{name:?} {view:?}:\n{shown:?}");
        }
        let (status, shown) = run(&["board"]);
        let text = format!(
            "colibri: this terminal can show text only ({reason}); colibri board --once prints the board\r\n"
        );
        assert_eq!((status.code(), shown), (Some(2), text));
    }
}

#[test]
fn people_58_the_titles_of_the_log_end_where_the_terminal_does() {
    let board = Board::new();
    let launch = launch().beside(&board.client.server).arg("log").arg("--limit").arg("1");
    let shown = shown(&launch.command(), 80).1;
    let titles = shown.lines().next().unwrap().trim_end();
    assert!(titles.ends_with('…') && titles.chars().count() <= 80, "{shown}");
}

fn fits(client: &Client, view: &[&str], columns: u16) {
    for plain in ["", "1"] {
        let launch =
            view.iter().fold(launch().beside(&client.server), |launch, argument| launch.arg(argument));
        let command = launch.env("NO_COLOR", plain).env("TZ", "UTC").env("TERM", "xterm-256color").command();
        let (status, shown) = shown(&command, columns);
        assert!(
            status.success() && widest(&shown) <= columns.into(),
            "{view:?} at {columns} columns:\n{shown}"
        );
        // Every view of tasks dims its last line at least; the others may have nothing to colour.
        let colored = shown.contains('\u{1b}');
        assert!(
            if plain.is_empty() { colored || view[0] != "tasks" } else { !colored },
            "{view:?}:\n{shown}"
        );
    }
}
