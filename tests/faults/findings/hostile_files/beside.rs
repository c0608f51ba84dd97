//! B3: something else, such as a pipe, has the name of a file beside the database.

use std::process::Command;

use colibri_test_support::client::Launch;

use super::place::{PROGRAM, Place};

const COMMANDS: &[&[&str]] = &[
    &["verify"],
    &["doctor"],
    &["log"],
    &["backup", "copy.db"],
    &["report", "s", "--html", "page.html"],
    &["restore", "kept.db"],
    &["call", "server_ping", "{}"],
];

#[test]
fn finding_b3_a_pipe_under_the_name_of_a_side_file_is_refused_with_words() {
    let lock = format!(".{}.lock", "ab".repeat(16));
    for suffix in ["-journal", "-wal", "-shm", ".queue", &lock] {
        let place = Place::new();
        std::fs::copy(&place.database, place.path("kept.db")).unwrap();
        let name = format!("colibri.db{suffix}");
        assert!(Command::new("mkfifo").arg(place.path(&name)).status().unwrap().success());
        for command in COMMANDS {
            let run = place.run(command);
            let said = run.text();
            assert!(run.code > 0, "{suffix} {command:?}: {said}");
            assert!(
                said.contains(&name) && said.contains("not a regular file"),
                "{suffix} {command:?}: {said}"
            );
        }
        for mode in ["FULL", "READONLY"] {
            let server = Launch::new(PROGRAM)
                .env("COLIBRI_DB_PATH", &place.database)
                .env("COLIBRI_MODE", mode)
                .start();
            let ended = server.wait();
            assert!(ended.code() > 0, "{suffix} {mode}: {}", ended.stderr);
            assert!(ended.stderr.contains(&name), "{suffix} {mode}: {}", ended.stderr);
        }
        assert!(!place.path("copy.db").exists());
    }
}
