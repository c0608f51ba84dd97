//! B3 and B5: content and evidence without an end.

use std::process::Command;

use super::place::Place;

/// One value of 120 MB, in a database of the right shape.
#[test]
fn finding_b3_a_huge_value_is_refused_and_not_read() {
    for (table, column) in [
        ("tasks", "title"),
        ("thought_records", "content"),
        ("actions", "tool"),
        ("audit_sessions", "intent"),
    ] {
        let place = Place::new();
        let triggers = "DELETE FROM sqlite_schema WHERE type = 'trigger'";
        place.sql(triggers);
        place
            .sql(&format!("UPDATE {table} SET {column} = CAST(zeroblob(120000000) AS TEXT) WHERE rowid = 1"));
        let run = place.run(&["verify", "--json"]);
        assert_eq!(run.out_of_bounds(), None, "{table}.{column}");
        assert_eq!(run.code, 1, "{}", run.text());
        assert!(run.findings().iter().any(|found| found.contains("UNREADABLE")), "{}", run.text());
        assert!(run.out.contains("a stored value is larger than any that Colibri writes"), "{}", run.text());
        let run = place.run(&["backup", "copy.db"]);
        assert_eq!((run.code, run.out_of_bounds()), (1, None), "{}", run.text());
    }
}

/// Pages that lead to the same page many times: a few kilobytes that hold more rows than can be counted.
#[test]
fn finding_b3_a_tree_that_leads_to_one_page_again_and_again_is_not_walked_to_its_end() {
    for table in ["actions", "thought_records", "tasks"] {
        let place = Place::new();
        multiply(&place, table);
        for command in [&["verify"][..], &["doctor"], &["backup", "copy.db"]] {
            let run = place.run(command);
            assert_eq!((run.code, run.out_of_bounds()), (1, None), "{table} {command:?}: {}", run.text());
        }
        let run = place.run(&["log"]);
        assert_eq!(run.out_of_bounds(), None, "{table}");
    }
}

/// Puts twelve levels of pages over a table, each of which leads sixty times to the next.
fn multiply(place: &Place, table: &str) {
    let conn = place.foreign();
    let root: i64 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1", [table], |row| {
            row.get(0)
        })
        .unwrap();
    let size: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(conn);
    let (root, size) = (usize::try_from(root).unwrap(), usize::try_from(size).unwrap());
    let mut file = std::fs::read(&place.database).unwrap();
    let first = file.len() / size;
    // The old root moves to the end, and the root becomes the first level.
    const LEVELS: usize = 12;
    let old = file[(root - 1) * size..root * size].to_vec();
    for level in 0..LEVELS {
        let below = first + level + 1;
        let page = interior(size, u32::try_from(below).unwrap());
        match level {
            0 => file[(root - 1) * size..root * size].copy_from_slice(&page),
            _ => file.extend(page),
        }
    }
    file.extend(old);
    let pages = u32::try_from(file.len() / size).unwrap();
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(&place.database, file).unwrap();
}

/// An interior page of a table whose sixty cells and last pointer lead to one page.
fn interior(size: usize, below: u32) -> Vec<u8> {
    const CELLS: usize = 60;
    let mut page = vec![0; size];
    page[0] = 5;
    page[3..5].copy_from_slice(&(CELLS as u16).to_be_bytes());
    let start = size - CELLS * 5;
    page[5..7].copy_from_slice(&(start as u16).to_be_bytes());
    page[8..12].copy_from_slice(&below.to_be_bytes());
    for cell in 0..CELLS {
        let at = start + cell * 5;
        page[12 + 2 * cell..14 + 2 * cell].copy_from_slice(&(at as u16).to_be_bytes());
        page[at..at + 4].copy_from_slice(&below.to_be_bytes());
        page[at + 4] = cell as u8 + 1;
    }
    page
}

/// What each command reads beside the database.
const EVIDENCE: &[&[&str]] = &[
    &["verify", "--checkpoint", "FILE"],
    &["verify", "--key", "FILE"],
    &["check-proof", "FILE"],
    &["check-proof", "--key", "FILE", "none.json"],
    &["verify-export", "FILE"],
    &["verify-export", "--key", "FILE", "none.json"],
    &["keys", "show", "FILE"],
    &["reputation", "import", "FILE"],
];

#[test]
fn finding_b5_evidence_is_read_from_regular_files_alone() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    for command in EVIDENCE {
        for file in ["/dev/zero", "/dev/null", "pipe", "."] {
            let arguments: Vec<_> =
                command.iter().map(|word| if *word == "FILE" { file } else { *word }).collect();
            let run = place.run(&arguments);
            assert_eq!((run.code, run.out_of_bounds()), (2, None), "{arguments:?}: {}", run.text());
            assert!(
                run.err.contains(file) && run.err.contains("not a regular file"),
                "{arguments:?}: {}",
                run.err
            );
        }
    }
}

#[test]
fn finding_b5_evidence_that_is_too_long_is_refused_and_not_read() {
    let place = Place::new();
    let long = std::fs::File::create(place.path("long")).unwrap();
    // It takes no room on the disk.
    long.set_len(1 << 40).unwrap();
    for command in EVIDENCE {
        let arguments: Vec<_> =
            command.iter().map(|word| if *word == "FILE" { "long" } else { *word }).collect();
        let run = place.run(&arguments);
        assert_eq!((run.code != 0, run.out_of_bounds()), (true, None), "{arguments:?}: {}", run.text());
    }
    let run = place.run(&["verify", "--checkpoint", "long"]);
    assert!(run.code == 2 && run.err.contains("too long"), "{}", run.err);
    let run = place.run(&["verify", "--key", "long"]);
    assert!(run.code == 2 && run.err.contains("--key long"), "{}", run.err);
}

#[test]
fn finding_b5_standard_input_stays_a_way_in_where_it_is_stated() {
    let place = Place::new();
    for command in ["check-proof", "verify-export"] {
        let run = place.run(&[command, "-"]);
        assert!(run.code != 0 && !run.text().contains("not a regular file"), "{command}: {}", run.text());
    }
}
