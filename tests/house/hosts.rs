//! The guide to hosts shows the blocks that `colibri init` prints, so that the two cannot differ. `COLIBRI_WRITE_FROZEN=1` writes
//! them into the guide anew.

use std::process::{Command, Stdio};

use crate::tidy::tree;

const SERVER: &str = env!("CARGO_BIN_EXE_colibri-under-test");
const GUIDE: &str = "docs/guide/hosts.md";

/// The hosts, and their headings in the guide.
const HOSTS: [(&str, &str); 10] = [
    ("claude-code", "Claude Code"),
    ("claude-desktop", "Claude Desktop"),
    ("cursor", "Cursor"),
    ("vscode", "VS Code"),
    ("codex", "Codex CLI"),
    ("gemini", "Gemini CLI"),
    ("zed", "Zed"),
    ("windsurf", "Windsurf"),
    ("jetbrains", "JetBrains IDEs"),
    ("opencode", "opencode"),
];

/// The block that the command prints, with the paths of the guide.
fn block(host: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(SERVER);
    command.args(["init", "--host", host, "--no-key", "--db", "/path/to/colibri.db"]).stdin(Stdio::null());
    let output = command.env_clear().env("HOME", home.path()).current_dir(home.path()).output().unwrap();
    assert!(output.status.success(), "{host}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, block) = text.split_once(":\n\n").unwrap();
    let (block, _) = block.split_once("\n\nThese lines belong in ").unwrap();
    let program = std::path::Path::new(SERVER).canonicalize().unwrap();
    block.replace(program.to_str().unwrap(), "/path/to/colibri") + "\n"
}

/// The guide with the last block of JSON or TOML below the heading replaced.
fn with_block(guide: &str, heading: &str, block: &str) -> String {
    let language = if block.starts_with('{') { "json" } else { "toml" };
    let start = guide.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let length = guide[start + 1..].find("\n## ").map_or(guide.len() - start, |length| length + 1);
    let section = &guide[start..start + length];
    let open = format!("```{language}\n");
    let from = section.rfind(&open).unwrap_or_else(|| panic!("no block of {language} below {heading}"));
    let from = start + from + open.len();
    let to = from + guide[from..].find("```\n").unwrap();
    format!("{}{block}{}", &guide[..from], &guide[to..])
}

#[test]
fn the_guide_has_the_blocks_that_init_prints() {
    let path = tree::root().join(GUIDE);
    let old = std::fs::read_to_string(&path).unwrap();
    let new =
        HOSTS.iter().fold(old.clone(), |guide, (host, heading)| with_block(&guide, heading, &block(host)));
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(&path, &new).unwrap();
        return;
    }
    let differs = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    assert!(
        old == new,
        "{GUIDE} differs from colibri init, first: {differs:?}; COLIBRI_WRITE_FROZEN=1 mends it"
    );
}
