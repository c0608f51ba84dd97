//! B9: what a command writes is readable by its owner alone, as the database is.

#![cfg(unix)]

use colibri_test_support::engine;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use colibri_test_support::shell::Run;

use super::desk::{self, BINARY, Desk, finish, mode, sealed};

/// Runs a command under a umask that takes no permission away.
fn run(desk: &Desk, arguments: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", "umask 0; exec \"$@\"", "sh", BINARY]).args(arguments);
    let (name, value) = engine::variable(&desk.database());
    desk::run(command.current_dir(desk.folder.path()).env_clear().env(name, value))
}

#[test]
fn finding_b9_every_file_that_a_command_writes_is_readable_by_its_owner_alone() {
    let desk = Desk::new();
    let mut server = desk.serve(None);
    let id = sealed(&mut server, "S");
    finish(server);
    let commands: [(&str, &[&str]); 7] = [
        ("s.jsonl", &["export", "S", "--out"]),
        ("s.json", &["proof", "S", &id, "--out"]),
        ("s.html", &["report", "S", "--html"]),
        ("checkpoint.json", &["verify", "--write-checkpoint"]),
        ("copy.db", &["backup"]),
        ("ledger.jsonl", &["reputation", "export", "--out"]),
        ("seal.key", &["keys", "generate"]),
    ];
    for (name, command) in commands {
        run(&desk, &[command, &[name]].concat()).ends(0);
        assert_eq!(mode(&desk.path(name)), 0o600, "{name}");
        // A file that is there already is never replaced: its mode is its owner's choice.
        let taken = format!("taken-{name}");
        desk.put(&taken, "kept");
        fs::set_permissions(desk.path(&taken), fs::Permissions::from_mode(0o644)).unwrap();
        run(&desk, &[command, &[taken.as_str()]].concat()).ends(2);
        assert_eq!(
            (mode(&desk.path(&taken)), fs::read(desk.path(&taken)).unwrap()),
            (0o644, b"kept".to_vec())
        );
    }
    let all = fs::read_dir(desk.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let open: Vec<_> = all.filter(|path| path.is_file() && mode(path) & 0o077 != 0).collect();
    assert!(
        open.iter().all(|path| path.file_name().unwrap().to_str().unwrap().starts_with("taken-")),
        "{open:?}"
    );
}
