//! Findings as text: as rustc shows its errors, and one a line for `cargo::error=`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use colibri_visible::is_hidden;

use super::{Finding, MAX_FILE_BYTES};

/// The most characters of a source line that are shown.
const MAX_SNIPPET: usize = 160;

/// Shows findings with their source lines, read from the files the findings name.
///
/// ```text
/// error[unknown-keyword]: unsupported schema keyword `minLenght`
///   --> catalogue/tools/notes.yaml:45:9
///    |
/// 45 |         minLenght: 1
///    |         ^^^^^^^^^
///    = help: write `minLength`
/// ```
#[must_use]
pub fn render(findings: &[Finding]) -> String {
    let mut texts: HashMap<PathBuf, Option<String>> = HashMap::new();
    render_with(findings, |path, line| {
        let text = texts.entry(path.to_path_buf()).or_insert_with(|| read(path));
        text.as_deref()?.lines().nth(line.checked_sub(1)?).map(str::to_owned)
    })
}

/// Shows findings; `source` gives a line of a file, `None` when there is nothing to show.
pub(crate) fn render_with(
    findings: &[Finding],
    mut source: impl FnMut(&Path, usize) -> Option<String>,
) -> String {
    let mut text = String::new();
    for finding in findings {
        let line = source(&finding.at.path, finding.at.line);
        one(&mut text, finding, line.as_deref());
    }
    text
}

/// One line: where, what, and what to write instead.
#[must_use]
pub fn line(finding: &Finding) -> String {
    format!("{}: {}; {}", finding.at, finding.message, finding.help)
}

fn one(text: &mut String, finding: &Finding, line: Option<&str>) {
    let number = finding.at.line.to_string();
    let margin = " ".repeat(number.len());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "error[{}]: {}", finding.rule, finding.message);
    let _ = writeln!(text, "{margin}--> {}", finding.at);
    if let Some(line) = line.filter(|line| !line.trim().is_empty()) {
        let shown: String = line.chars().take(MAX_SNIPPET).map(printable).collect();
        let indent = " ".repeat(finding.at.column.saturating_sub(1).min(MAX_SNIPPET));
        let carets = "^".repeat(width_at(line, finding.at.column));
        let _ = writeln!(text, "{margin} |\n{number} | {}\n{margin} | {indent}{carets}", shown.trim_end());
    }
    let _ = writeln!(text, "{margin} = help: {}\n", finding.help);
}

/// A tab would shift the carets, and a terminal obeys other characters that are not seen.
fn printable(letter: char) -> char {
    if is_hidden(letter) { ' ' } else { letter }
}

/// How many characters the word or quoted text at `column` has; at least one.
fn width_at(line: &str, column: usize) -> usize {
    let rest: Vec<char> = line.chars().take(MAX_SNIPPET).skip(column.saturating_sub(1)).collect();
    let Some(first) = rest.first() else { return 1 };
    if matches!(first, '"' | '\'') {
        return rest.iter().skip(1).position(|letter| letter == first).map_or(rest.len(), |end| end + 2);
    }
    let mut end = 0;
    while let Some(letter) = rest.get(end) {
        let next = rest.get(end + 1);
        let separator = next.is_none_or(|next| next.is_whitespace());
        if matches!(letter, ':' | ',') && separator
            || matches!(letter, ']' | '}')
            || (*letter == ' ' && next == Some(&'#'))
        {
            break;
        }
        end += 1;
    }
    rest[..end].iter().collect::<String>().trim_end().chars().count().max(1)
}

fn read(path: &Path) -> Option<String> {
    if fs::metadata(path).ok()?.len() > MAX_FILE_BYTES {
        return None;
    }
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Location;

    fn finding(line: usize, column: usize) -> Finding {
        Finding {
            at: Location { path: "catalogue/tools/notes.yaml".into(), line, column },
            rule: "unknown-keyword",
            message: "unsupported schema keyword `minLenght`".into(),
            help: "write `minLength`".into(),
        }
    }

    #[test]
    fn a_finding_shows_line_carets_and_help() {
        let shown = render_with(&[finding(45, 9)], |_, _| Some("        minLenght: 1".into()));
        let wanted = "error[unknown-keyword]: unsupported schema keyword `minLenght`
  --> catalogue/tools/notes.yaml:45:9
   |
45 |         minLenght: 1
   |         ^^^^^^^^^
   = help: write `minLength`

";
        assert_eq!(shown, wanted);
    }

    #[test]
    fn without_a_source_line_the_place_stays() {
        let shown = render_with(&[finding(7, 1)], |_, _| None);
        assert!(shown.contains(" --> catalogue/tools/notes.yaml:7:1\n  = help: write"), "{shown}");
    }

    #[test]
    fn one_line_holds_everything() {
        assert_eq!(
            line(&finding(45, 9)),
            "catalogue/tools/notes.yaml:45:9: unsupported schema keyword `minLenght`; write `minLength`"
        );
    }

    #[test]
    fn carets_cover_quoted_text_and_stop_at_flow_ends() {
        assert_eq!(width_at("a: \"b, c\"", 4), 6);
        assert_eq!(width_at("x: { type: strin, a: b }", 12), 5);
        assert_eq!(width_at("x: [one]", 5), 3);
        assert_eq!(width_at("short", 40), 1);
    }
}
