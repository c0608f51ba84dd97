//! The page of the causes. `COLIBRI_WRITE_FROZEN=1` writes it anew, and the change shows in the diff.

use std::path::{Path, PathBuf};

use super::site::Finding;
use super::{Cause, Start};

/// The heading of the part about files.
pub const FILE: &str = "## A file";
/// The heading of the part about shared databases.
pub const SHARED: &str = "## A shared database";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/doctor.md")
}

/// One part of the page: its heading and its table.
fn part(heading: &str, causes: &[&Cause], lines: &[Finding]) -> String {
    let mut part = format!(
        "{heading}\n\n| Cause | Doctor | The start | Line | What to do |\n| --- | --- | --- | --- | --- |\n"
    );
    for (cause, found) in causes.iter().zip(lines) {
        let start = match cause.start {
            Start::Refuses => "ends",
            Start::Warns => "warns",
        };
        let cell = |text: &str| text.replace('|', "\\|").replace('<', "\\<");
        part.push_str(&format!(
            "| {} | {} `{}` | {start} | `` {} `` | {} |\n",
            cause.name,
            cause.level,
            found.check,
            found.message.replace('|', "\\|"),
            cell(&found.advice)
        ));
    }
    part
}

/// Demands that the page has this part as it is.
pub fn assert_holds(heading: &str, causes: &[&Cause], lines: &[Finding]) {
    let found = part(heading, causes, lines);
    let page = std::fs::read_to_string(path()).unwrap();
    let (before, rest) = page.split_once(heading).unwrap();
    let after = rest.find("\n## ").map_or("", |end| &rest[end..]);
    let wanted = format!("{before}{found}{after}");
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(path(), &wanted).unwrap();
    }
    let page = std::fs::read_to_string(path()).unwrap();
    let differs = page.lines().zip(wanted.lines()).find(|(page, wanted)| page != wanted);
    assert!(
        page == wanted,
        "docs/reference/doctor.md has changed, first: {differs:?}; COLIBRI_WRITE_FROZEN=1 if it should"
    );
}
