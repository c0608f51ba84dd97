//! B3: values that a command would keep, longer or more of them than an honest file of that size can hold.

use colibri_test_support::client::Launch;
use rusqlite::{Connection, params};
use serde_json::json;

use super::place::{PROGRAM, Place};

const COMMANDS: [&[&str]; 3] = [&["verify"], &["doctor"], &["backup", "copy.db"]];
const HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const TIME: &str = "2026-01-01T00:00:00.000Z";

/// No command takes more than it may, and each says that the file is not sound.
fn refused(place: &Place, what: &str) {
    for command in COMMANDS {
        let run = place.run(command);
        assert_eq!((run.code, run.out_of_bounds()), (1, None), "{what} {command:?}: {}", run.text());
        let longest = run.text().lines().map(str::len).max().unwrap_or(0);
        assert!(longest < 5_000, "{what} {command:?}: a line of {longest} bytes");
    }
}

fn without_triggers(place: &Place) -> Connection {
    let conn = place.foreign();
    conn.execute_batch("DELETE FROM sqlite_schema WHERE type = 'trigger'").unwrap();
    drop(conn);
    place.foreign()
}

#[test]
fn finding_b3_keys_longer_than_any_that_colibri_writes_are_not_kept() {
    let long = |number: usize| format!("{number:05}{}", "a".repeat(4_900_000));
    type Put = fn(&Connection, usize, &str);
    let cases: [(&str, Put); 3] = [
        ("reputations", |conn, _, long| {
            conn.execute("INSERT INTO reputations VALUES (?1, 'execution', 0, 0, NULL, 0)", [long]).unwrap();
        }),
        ("actions", |conn, number, long| {
            let sql = "INSERT INTO actions (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, \
                       enter_ms) VALUES (?1, ?2, ?3, 'task_create', 'FULL', ?4, ?5, 1)";
            conn.execute(sql, params![1_000 + number as u32, format!("{number:036}"), long, HASH, TIME])
                .unwrap();
        }),
        ("tips", |conn, _, long| {
            conn.execute("INSERT INTO tree_head_tips VALUES (0, ?1, 1, ?2)", [long, HASH]).unwrap();
        }),
    ];
    for (what, put) in cases {
        let place = Place::new();
        let conn = without_triggers(&place);
        let all = conn.unchecked_transaction().unwrap();
        (0..26).for_each(|number| put(&all, number, &long(number)));
        all.commit().unwrap();
        drop(conn);
        refused(&place, what);
    }
}

#[test]
fn finding_b3_evidence_of_many_transitions_is_not_kept() {
    let place = Place::new();
    let conn = without_triggers(&place);
    conn.execute_batch(
        "INSERT INTO mcp_consensus_rounds (round_id, merkle_root, rule_version_hash, prev_merkle_root, leader, n_arbiters, epoch, level)
         SELECT 1, zeroblob(32), zeroblob(32), zeroblob(32), 'a', 1, 1, 'PENDING'",
    )
    .unwrap();
    let all = conn.unchecked_transaction().unwrap();
    for number in 0..26 {
        let sql =
            "INSERT INTO mcp_consensus_transitions VALUES (1, ?1, 'PENDING', 'SOFT', 1, zeroblob(4900000))";
        all.execute(sql, [number]).unwrap();
    }
    all.commit().unwrap();
    drop(conn);
    refused(&place, "transitions");
}

/// Rows of a small file that name the same pages for their long value: 300 MiB in all.
#[test]
fn finding_b3_rows_that_share_the_pages_of_a_long_value_are_not_kept() {
    for column in ["task_id", "content"] {
        let place = Place::new();
        share(&place, column, 300, 16_600, 1_040_000);
        refused(&place, column);
    }
}

/// Puts rows into `thought_records`, the first of them with a value of `shared` bytes or a little less, and lets the overflow
/// pages of that one be those of all others.
fn share(place: &Place, column: &str, rows: usize, own: usize, shared: usize) {
    let conn = without_triggers(place);
    let size: u32 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    let root: u32 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'thought_records'", [], |row| row.get(0))
        .unwrap();
    let (size, root) = (size as usize, root as usize);
    // The same number of bytes stays in the cell.
    let grown = (shared - own) / (size - 4) * (size - 4);
    let all = conn.unchecked_transaction().unwrap();
    for number in 0..=rows {
        let long = format!("{number:08}{}", "a".repeat(own - 8 + if number == 0 { grown } else { 0 }));
        let (task, content) = if column == "task_id" { (long.as_str(), "c") } else { ("t", long.as_str()) };
        let sql = "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, \
                   created_at) VALUES (?1, 'plan', ?2, 'a', ?3, ?4, ?5, ?5, ?4)";
        all.execute(sql, params![format!("{number:036}"), task, content, TIME, HASH]).unwrap();
    }
    all.commit().unwrap();
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(conn);
    let mut file = std::fs::read(&place.database).unwrap();
    let mut cells = Vec::new();
    leaf_cells(&file, size, root, &mut cells);
    let (mut first, mut changed) = (None::<[u8; 4]>, 0);
    for cell in cells {
        let (payload, width) = varint(&file, cell);
        let (_, width_of_rowid) = varint(&file, cell + width);
        if payload < own {
            continue;
        }
        let record = cell + width + width_of_rowid;
        let least = (size - 12) * 32 / 255 - 23;
        let local = least + (payload - least) % (size - 4);
        let pointer = record + if local <= size - 35 { local } else { least };
        let Some(first) = first else {
            first = Some(file[pointer..pointer + 4].try_into().unwrap());
            continue;
        };
        assert!(put_varint(&mut file, cell, width, payload + grown));
        let (header, width) = varint(&file, record);
        let mut at = record + width;
        while at < record + header {
            let (kind, width) = varint(&file, at);
            if kind == own * 2 + 13 {
                assert!(put_varint(&mut file, at, width, (own + grown) * 2 + 13));
            }
            at += width;
        }
        file[pointer..pointer + 4].copy_from_slice(&first);
        changed += 1;
    }
    assert_eq!(changed, rows);
    std::fs::write(&place.database, file).unwrap();
}

/// Where the cells of a table's leaves stand, in their order.
fn leaf_cells(file: &[u8], size: usize, page: usize, cells: &mut Vec<usize>) {
    let start = (page - 1) * size;
    let two = |at: usize| usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
    let four = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let count = two(start + 3);
    if file[start] == 5 {
        for cell in 0..count {
            leaf_cells(file, size, four(start + two(start + 12 + 2 * cell)), cells);
        }
        leaf_cells(file, size, four(start + 8), cells);
    } else {
        cells.extend((0..count).map(|cell| start + two(start + 8 + 2 * cell)));
    }
}

fn varint(file: &[u8], at: usize) -> (usize, usize) {
    let mut value = 0;
    for width in 1..=8 {
        let byte = usize::from(file[at + width - 1]);
        value = value << 7 | byte & 127;
        if byte < 128 {
            return (value, width);
        }
    }
    unreachable!("no length has nine bytes")
}

/// Writes a number where another one of that width stood; whether it fits.
fn put_varint(file: &mut [u8], at: usize, width: usize, value: usize) -> bool {
    for place in 0..width {
        let more = if place + 1 < width { 128 } else { 0 };
        file[at + place] = (value >> (7 * (width - 1 - place)) & 127) as u8 | more;
    }
    value >> (7 * width) == 0
}

/// The longest that the tools take.
#[test]
fn finding_b3_long_keys_and_texts_that_colibri_writes_are_sound() {
    let mut server = Launch::new(PROGRAM).start();
    let wide = |last: usize| format!("{}{last:04}", "\u{1f99c}".repeat(252));
    let session =
        server.data("audit_session_start", json!({ "intent": "\u{1f99c}".repeat(4_000) }))["session_id"]
            .clone();
    let mut think = |task: &str, content: &str| {
        let arguments = json!({ "type": "plan", "task_id": task, "agent_id": task, "content": content, "session_id": session });
        server.data("thought_record", arguments);
    };
    (0..500).for_each(|number| think(&wide(number), "c"));
    (0..20).for_each(|_| think("t", &"x".repeat(1 << 20)));
    server.data("merkle_finalize", json!({ "session_id": session }));
    let (shared, database) = (server.shared_folder(), server.database());
    assert_eq!(server.finish().code(), 0);
    let place = Place::new();
    std::fs::copy(&database, &place.database).unwrap();
    drop(shared);
    for command in COMMANDS {
        let run = place.run(command);
        assert_eq!((run.code, run.out_of_bounds()), (0, None), "{command:?}: {}", run.text());
    }
}
