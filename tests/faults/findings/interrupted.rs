//! A10: a backup that is interrupted at any moment leaves nothing under the backup's name.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri_test_support::client::Launch;
use serde_json::json;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// So many calls take longer to verify than to copy.
const CALLS: usize = 400;
const MOMENTS: u32 = 24;

fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(PROGRAM).in_folder(folder.clone())
}

/// Runs `colibri backup copy.db` and interrupts it after a while: its exit code and what it said.
fn backup(folder: &Arc<TempDir>, interrupted_after: Option<(Duration, &str)>) -> (Option<i32>, String) {
    let mut command = launch(folder).arg("backup").arg("copy.db").command();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if let Some((after, signal)) = interrupted_after {
        std::thread::sleep(after);
        // The command may have ended by now.
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

fn exists(folder: &TempDir, name: &str) -> bool {
    Path::exists(&folder.path().join(name))
}

#[test]
fn finding_a10_an_interrupted_backup_leaves_nothing_and_says_that_none_was_made() {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut server = launch(&folder).start();
    for number in 0..CALLS {
        server.data("task_create", json!({ "title": format!("T{number}") }));
    }
    assert_eq!(server.finish().code(), 0);
    let began = Instant::now();
    let (code, said) = backup(&folder, None);
    assert_eq!(code, Some(0), "{said}");
    let whole = began.elapsed();
    let copy = folder.path().join("copy.db");
    std::fs::remove_file(&copy).unwrap();
    for moment in 1..=MOMENTS {
        let signal = if moment % 2 == 0 { "-TERM" } else { "-INT" };
        match backup(&folder, Some((whole * moment / MOMENTS, signal))) {
            (Some(0), said) => {
                assert!(said.contains("sound: "), "{moment}: {said}");
                std::fs::remove_file(&copy).unwrap();
            }
            (Some(130), said) => {
                assert!(
                    !exists(&folder, "copy.db"),
                    "{moment}: an unverified copy has the backup's name: {said}"
                );
                assert!(said.contains("interrupted; nothing was written"), "{moment}: {said}");
            }
            // The signal came before the command listened.
            (None, said) => assert_eq!(said, "", "{moment}"),
            (code, said) => panic!("{moment}: {code:?} {said}"),
        }
        assert!(!exists(&folder, "copy.db"), "{moment}: a copy that nothing was said of");
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("copy.db")).collect();
        assert!(left.is_empty(), "{moment}: {left:?}");
    }
    let (code, said) = backup(&folder, None);
    assert_eq!(code, Some(0), "{said}");
}
