//! The program `colibri-proof` says of each file what the commands of the server say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SERVER: &str = env!("CARGO_BIN_EXE_colibri-under-test");
const PROOF: &str = env!("CARGO_BIN_EXE_colibri-proof-under-test");
/// The key that signed the genuine files of the corpus.
const KEY: &str = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";

fn corpus(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push("no-such-file".into());
    files.sort();
    files
}

fn run(program: &str, arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).arg(file).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn both_programs_say_the_same_of_every_file() {
    let mut codes = [0; 4];
    for (command, kind) in [("check-proof", "proof"), ("verify-export", "export")] {
        for file in corpus(kind) {
            let zeros = "0".repeat(64);
            let more: [&[&str]; 5] =
                [&[], &["--json"], &["--key", KEY], &["--require-key"], &["--root", &zeros, "--json"]];
            for more in more {
                let arguments = [&[command], more].concat();
                let (server, alone) = (run(SERVER, &arguments, &file), run(PROOF, &arguments, &file));
                let told = |output: &Output, name: &str| {
                    String::from_utf8_lossy(&output.stderr).replace(&format!("{name}: "), "")
                };
                assert_eq!(server.stdout, alone.stdout, "{arguments:?} {}", file.display());
                assert_eq!(told(&server, "colibri"), told(&alone, "colibri-proof"), "{}", file.display());
                assert_eq!(server.status.code(), alone.status.code(), "{arguments:?} {}", file.display());
                codes[server.status.code().unwrap() as usize] += 1;
            }
        }
    }
    assert!(codes.iter().all(|count| *count > 3), "each exit code is met: {codes:?}");
}
