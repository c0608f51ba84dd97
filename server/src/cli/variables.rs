//! The table of environment variables as `--help` shows it.

use std::fmt::Write as _;

use crate::settings::keys;

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
