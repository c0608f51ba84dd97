//! `colibri board`: the text, and the board in a terminal.

#[cfg(target_os = "linux")]
mod live;

use serde_json::{Value, json};

use super::{Board, document, refusal, short, text};
use crate::people::era::{Client, Era};

#[test]
fn people_62_the_board_is_printed_once() {
    let board = Board::new();
    let (held, ready, blocked, done) =
        (short(&board.held), short(&board.ready), short(&board.blocked), short(&board.done));
    let printed = text(&board.client, &["board", "--once"]);
    // The lease has just begun, so 9 minutes and some seconds are left.
    let left = printed.split("\"claude-1\" (alice, \"people\"), ").nth(1).unwrap().split(' ').next().unwrap();
    let expected = format!(
        "INIT 2                GATHER 1                                   ANALYZE 0  PLAN 0  APPLY 0  VERIFY 0\n\
         {ready}              {held}  high\n\
         Measure the import    Write the migration\n\
         \x20                     \"claude-1\" (alice, \"people\"), {left} min left\n\
         {blocked}\n\
         Announce the release\n\
         waits for {held}\n"
    );
    assert_eq!(printed, expected);
    let all = text(&board.client, &["board", "--once", "--all"]);
    assert!(all.starts_with("INIT 2  ") && all.contains("  DONE 1 "), "{all}");
    assert!(all.contains(done) && all.contains("CANCELLED 0"), "{all}");
    let of_site = text(&board.client, &["board", "--once", "--project", "site"]);
    assert!(of_site.starts_with("INIT 1 ") && !of_site.contains(blocked), "{of_site}");
    let first = text(&board.client, &["board", "--once", "--limit", "1"]);
    assert!(first.starts_with("INIT 2 ") && first.contains("1 more (--limit)"), "{first}");
}

#[test]
fn people_62_the_board_has_every_task_once() {
    let board = Board::new();
    let found = document(&board.client, &["board", "--once", "--all"]);
    let columns = found["columns"].as_array().unwrap();
    let states: Vec<&Value> = columns.iter().map(|column| &column["status"]).collect();
    assert_eq!(
        states,
        ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE", "CANCELLED"]
            .map(Value::from)
            .iter()
            .collect::<Vec<_>>()
    );
    let mut ids = Vec::new();
    for column in columns {
        let tasks = column["tasks"].as_array().unwrap();
        assert_eq!(column["count"], tasks.len());
        assert!(tasks.iter().all(|task| task["status"] == column["status"]), "{column}");
        ids.extend(tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()));
    }
    let mut expected = board.ids(&["tasks", "--all"]);
    ids.sort();
    expected.sort();
    assert_eq!(ids, expected);
}

#[test]
fn people_62_an_empty_database_has_an_empty_board() {
    let mut client = Client::new(Era::Handshake);
    client.data("task_list", json!({}));
    let printed = text(&client, &["board", "--once"]);
    let columns = "INIT 0  GATHER 0  ANALYZE 0  PLAN 0  APPLY 0  VERIFY 0\nNo task yet. Agents make tasks; ";
    assert!(printed.starts_with(columns) && printed.lines().count() == 2, "{printed}");
    assert_eq!(document(&client, &["board", "--once"])["columns"].as_array().unwrap().len(), 6);
}

#[test]
fn people_62_the_board_needs_a_terminal() {
    let board = Board::new();
    assert_eq!(
        refusal(&board.client, &["board"]),
        "colibri: the board needs a terminal; colibri board --once prints it\n"
    );
    assert!(refusal(&board.client, &["board", "--json", "--limit", "0"]).contains("--limit"));
}
