//! Views on a terminal: each line fits, with colour and without.

use colibri_test_support::pty::{shown, widest};

use super::{Board, Client, Era, launch, short};

#[test]
fn people_58_no_line_of_a_view_is_wider_than_the_terminal() {
    let mut empty = Client::new(Era::Handshake);
    empty.data("task_list", serde_json::json!({}));
    let board = Board::new();
    let task = short(&board.held);
    let all: [&[&str]; 6] =
        [&["tasks", "--all"], &["next"], &["sessions"], &["timeline"], &["board", "--once"], &["task", task]];
    for (client, views) in [(&empty, &all[..5]), (&board.client, &all)] {
        for view in views {
            for columns in [60, 80, 200] {
                fits(client, view, columns);
            }
        }
    }
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
