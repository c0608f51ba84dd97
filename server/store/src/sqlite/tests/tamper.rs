//! An edit of a closed row with a plain SQLite shell is detected (chain#audit-row).

use super::*;
use crate::log::verify::ActionsFinding;

/// Runs `sql`, without the guards, on a log of five closed calls and one running.
fn after(sql: &str) -> Option<ActionsFinding> {
    let place = Place::new();
    let mut store = place.store();
    for _ in 0..5 {
        call(&mut store, "any_tool");
    }
    leave_running(&mut store);
    store.close().unwrap();
    assert_sound(&verify(&place.path()), 5, 1);
    let foreign = place.foreign();
    foreign
        .execute_batch(
            "DROP TRIGGER actions_start_running; DROP TRIGGER actions_enter_kept; DROP TRIGGER actions_close_once;
             DROP TRIGGER actions_keep;
             PRAGMA ignore_check_constraints = ON",
        )
        .unwrap();
    foreign.execute_batch(sql).unwrap();
    drop(foreign);
    verify(&place.path()).finding
}

#[test]
fn every_column_of_a_closed_row_is_covered() {
    let other = "f".repeat(64);
    let place = Place::new();
    place.store().close().unwrap();
    let columns = text(&place.foreign(), "SELECT group_concat(name) FROM pragma_table_info('actions')");
    for column in columns.split(',') {
        let value = match column {
            "sequence_no" | "exit_no" => "17".to_owned(),
            "enter_ms" | "duration_ms" => "777".to_owned(),
            "outcome" => "'error'".to_owned(),
            "row_hash" | "prev_hash" | "args_hash" | "result_hash" => format!("'{other}'"),
            _ => "'another text'".to_owned(),
        };
        let finding = after(&format!("UPDATE actions SET {column} = {value} WHERE sequence_no = 3"));
        let expected = match column {
            "exit_no" => ActionsFinding::ExitMissing { exit_no: 3 },
            "sequence_no" => ActionsFinding::RowChanged { sequence_no: 17 },
            _ => ActionsFinding::RowChanged { sequence_no: 3 },
        };
        assert_eq!(finding, Some(expected), "{column}");
    }
}

#[test]
fn deletions_cuts_and_forgeries_are_found() {
    let zeros = "0".repeat(64);
    let cut = "DELETE FROM actions WHERE sequence_no > 4;";
    for (sql, expected) in [
        ("DELETE FROM actions WHERE sequence_no = 3".to_owned(), ActionsFinding::ExitMissing { exit_no: 3 }),
        ("DELETE FROM actions WHERE sequence_no = 6".into(), ActionsFinding::HeadMismatch { head: (6, 5), log: (5, 5) }),
        (cut.into(), ActionsFinding::HeadMismatch { head: (6, 5), log: (4, 4) }),
        ("DELETE FROM actions".into(), ActionsFinding::HeadMismatch { head: (6, 5), log: (0, 0) }),
        ("DELETE FROM actions_head".into(), ActionsFinding::HeadMissing),
        (format!("{cut} UPDATE actions_head SET last_sequence_no = 4, last_exit_no = 4"), ActionsFinding::HeadHash),
        (format!("UPDATE actions_head SET last_row_hash = '{zeros}'"), ActionsFinding::HeadHash),
        ("UPDATE actions_head SET last_row_hash = 'x'".into(), ActionsFinding::HeadMissing),
        ("UPDATE actions SET exit_no = NULL, outcome = 'running' WHERE sequence_no = 5".into(),
            ActionsFinding::Implausible { sequence_no: 5, column: "outcome" }),
        ("UPDATE actions SET outcome = 'lost' WHERE sequence_no = 6".into(), ActionsFinding::NeitherOpenNorClosed { rows: 1 }),
        ("UPDATE actions SET entered_at = 'now' WHERE sequence_no = 6".into(),
            ActionsFinding::Implausible { sequence_no: 6, column: "entered_at" }),
        ("UPDATE actions SET sequence_no = 8 WHERE sequence_no = 6".into(), ActionsFinding::SequenceMissing { sequence_no: 6 }),
        ("UPDATE actions SET exited_at = NULL WHERE sequence_no = 2".into(), ActionsFinding::Unreadable { exit_no: 2 }),
        // Two closed rows change places.
        ("UPDATE actions SET exit_no = 9 WHERE exit_no = 2; UPDATE actions SET exit_no = 2 WHERE exit_no = 3;
          UPDATE actions SET exit_no = 3 WHERE exit_no = 9".into(), ActionsFinding::RowChanged { sequence_no: 3 }),
    ] {
        assert_eq!(after(&sql), Some(expected), "{sql}");
    }
}

#[test]
fn a_row_that_is_hashed_anew_breaks_the_link_to_the_next() {
    let place = Place::new();
    let mut store = place.store();
    for _ in 0..3 {
        call(&mut store, "any_tool");
    }
    store.close().unwrap();
    let foreign = place.foreign();
    foreign
        .execute_batch(
            "DROP TRIGGER actions_enter_kept; DROP TRIGGER actions_close_once;
             UPDATE actions SET tool = 'other' WHERE sequence_no = 2",
        )
        .unwrap();
    let sql = format!("SELECT {} FROM actions WHERE sequence_no = 2", crate::log::rows::CLOSED_COLUMNS);
    let hash = foreign
        .query_row(&sql, [], |row| {
            Ok(crate::log::rows::read_closed(&crate::db::Row::from(crate::db::sqlite::row::SqliteRow(row)))?
                .0
                .hash())
        })
        .unwrap();
    foreign.execute("UPDATE actions SET row_hash = ?1 WHERE sequence_no = 2", [hash.as_str()]).unwrap();
    assert_eq!(verify(&place.path()).finding, Some(ActionsFinding::LinkBroken { sequence_no: 3 }));
}
