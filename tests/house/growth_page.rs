//! The page on growth, and the guide that begins a new file after it: their commands are run in their order, and measure what
//! the page says they measure.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// The blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).map(|rest| rest.split_once("```\n").expect("a block ends").0).collect()
}

/// `tool: N calls, M bytes each`: tool, calls, bytes.
fn measured(line: &str) -> Option<(&str, i64, i64)> {
    let (tool, rest) = line.split_once(": ")?;
    let mut numbers = rest.split_whitespace().filter_map(|word| word.parse().ok());
    line.ends_with("bytes each").then_some(())?;
    Some((tool, numbers.next()?, numbers.next()?))
}

#[test]
fn the_commands_work_and_measure_what_the_page_says() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let read = |name: &str| std::fs::read_to_string(docs.join(name)).unwrap();
    let page = read("explanation/growth.md") + &read("guide/new-file.md");
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_colibri-under-test"), folder.path().join("bin/colibri")).unwrap();
    let output = Command::new("sh")
        .args(["-euc", &blocks(&page, "sh").concat()])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().join("bin").display()))
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));

    let shown: Vec<_> = blocks(&page, "text").concat().lines().map(str::to_owned).collect();
    let shown: Vec<_> = shown.iter().filter_map(|line| measured(line)).collect();
    let printed: Vec<_> = out.lines().filter_map(measured).collect();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert_eq!(printed.len(), 4, "{out}");
    for (shown, printed) in shown.iter().zip(&printed) {
        assert_eq!((shown.0, shown.1), (printed.0, printed.1), "every call succeeds");
        assert!((shown.2 - printed.2).abs() * 20 <= shown.2, "the page says {shown:?}, measured {printed:?}");
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}`", shown.0)));
        assert!(row.unwrap().ends_with(&format!(" {} |", shown.2)), "{row:?}");
    }
    // The archive, the export and the new file, one after the other.
    assert_eq!(out.matches("Sound: everything that can be recomputed").count(), 3, "{out}");
    assert!(out.contains("The export is valid"), "{out}");
    assert!(out.contains("ok    --root         it is the head hash"), "{out}");
    let linked = std::fs::read_to_string(folder.path().join("linked.json")).unwrap();
    assert!(linked.contains("\"ok\": true"), "{linked}");
}
