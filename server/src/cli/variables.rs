//! The table of environment variables as `--help` and the reference page show it.

use std::fmt::Write as _;

use crate::settings::keys::{self, Entry};

/// Columns of the help text.
const WIDTH: usize = 100;

/// Returns the part of `--help` that lists the variables.
pub fn help_table() -> String {
    let mut text = String::from("Environment variables:\n");
    for key in keys::all() {
        let _ = writeln!(text, "  {}  ({}; default: {})", key.name(), key.form(), key.default_text());
        for line in wrap(key.help(), WIDTH - 6) {
            let _ = writeln!(text, "      {line}");
        }
    }
    text.trim_end().to_owned()
}

/// Returns the reference page of variables, in Markdown.
pub fn reference_page() -> String {
    let mut owners: Vec<&str> = Vec::new();
    for key in keys::all() {
        if !owners.contains(&key.owner()) {
            owners.push(key.owner());
        }
    }
    let mut page = String::from(PAGE_HEAD);
    for owner in owners {
        page.push_str(&heading(owner));
        page.push_str(TABLE_HEAD);
        keys::all().filter(|key| key.owner() == owner).for_each(|key| page.push_str(&row(key)));
    }
    page
}

const PAGE_HEAD: &str = "\
<!-- Generated from the key table in server/src/settings/keys.rs; do not edit. -->
# Configuration

Colibri is configured by environment variables alone; no file is read. They are checked before anything else happens:
every bad value is reported on stderr, one line each, and the server exits with code 1. A variable that starts with
`COLIBRI_` and is not listed here gives a warning. Variables of the legacy namespace `AMS_*` are refused.
";

const TABLE_HEAD: &str = "\n| Variable | Value | Default | Purpose |\n|---|---|---|---|\n";

fn heading(owner: &str) -> String {
    let mut title = owner.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("\n## {title}\n")
}

fn row(key: &dyn Entry) -> String {
    let cells = [format!("`{}`", key.name()), key.form(), key.default_text(), key.help().to_owned()];
    // Angle brackets would be read as HTML.
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;"));
    format!("| {} |\n", cells.join(" | "))
}

/// Returns the text in lines of at most `width` characters, broken at spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let full = lines.last().is_some_and(|line| !line.is_empty() && line.len() + 1 + word.len() > width);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
