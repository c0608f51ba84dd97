//! A server is put behind the end of a file of TOML (toml.io/en/v1.0.0), and every byte of the file stays. The reader below knows as
//! much of TOML as it takes to be sure that tables can follow. It refuses a file that it does not understand.

use super::hosts::SERVER;
use super::{Change, Left};

/// Appends the tables of a server.
///
/// # Errors
/// Why the file is left alone.
pub fn with_server(text: &str, servers: &str, tables: &str) -> Result<Change, Left> {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let tables = tables.replace('\n', line_end);
    let mut reader = Reader { text, at: 0 };
    let statements = reader.statements().ok_or_else(|| reader.refusal())?;
    for path in &statements {
        let Some(below) = path.names.strip_prefix(&[servers.to_owned()]) else { continue };
        if below.first().is_some_and(|name| name == SERVER) {
            return match text.contains(&tables) {
                true => Ok(Change::Nothing),
                false => Err(Left::new(format!("it has another entry {SERVER:?} already"))),
            };
        }
        // A table that is written as a value, or a list of tables, takes no table behind it.
        if below.is_empty() && !path.is_table {
            return Err(Left::new(format!("its {servers:?} is not a table of tables")));
        }
    }
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => line_end,
        _ => &line_end.repeat(2),
    };
    Ok(Change::To(format!("{text}{gap}{tables}")))
}

/// Checks whether a colibri is among the tables of servers.
pub fn has_server(text: &str, servers: &str) -> bool {
    let statements = Reader { text, at: 0 }.statements().unwrap_or_default();
    statements.iter().any(|path| path.names.starts_with(&[servers.to_owned(), SERVER.to_owned()]))
}

/// What a statement defines.
struct Path {
    names: Vec<String>,
    is_table: bool,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The names that each header and each key define, from the root.
    fn statements(&mut self) -> Option<Vec<Path>> {
        let mut found = Vec::new();
        let mut table = Vec::new();
        loop {
            self.blanks(true);
            if self.rest().is_empty() {
                return Some(found);
            }
            let list = self.takes("[[");
            if list || self.takes("[") {
                table = self.key()?;
                self.takes(if list { "]]" } else { "]" }).then_some(())?;
                found.push(Path { names: table.clone(), is_table: !list });
            } else {
                let key = self.key()?;
                self.takes("=").then_some(())?;
                self.blanks(false);
                self.value(0)?;
                found.push(Path { names: table.iter().cloned().chain(key).collect(), is_table: false });
            }
            self.blanks(false);
            let ends =
                self.rest().is_empty() || self.rest().starts_with('\n') || self.rest().starts_with("\r\n");
            ends.then_some(())?;
        }
    }

    /// Why the text is refused at the present place.
    fn refusal(&self) -> Left {
        let line = self.text[..self.at].matches('\n').count() + 1;
        match self.rest().starts_with('#') {
            true => Left::new(format!("it has a comment in line {line}")),
            false => Left::new(format!("line {line} is not plain TOML")),
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn blanks(&mut self, lines: bool) {
        loop {
            let blank = self.takes(" ") || self.takes("\t");
            if !(blank || lines && (self.takes("\n") || self.takes("\r\n"))) {
                return;
            }
        }
    }

    /// `a.b."c d"`, and the blanks behind it.
    fn key(&mut self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        loop {
            self.blanks(false);
            names.push(match self.rest().chars().next()? {
                '"' | '\'' => self.line_of_text()?,
                _ => self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?,
            });
            self.blanks(false);
            if !self.takes(".") {
                return Some(names);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        // No configuration is deeper, and each level takes a part of the stack.
        (depth < 32).then_some(())?;
        match self.rest().chars().next()? {
            '[' => self.list(depth),
            '{' => self.inline_table(depth),
            '"' | '\'' if self.rest().starts_with("\"\"\"") => self.lines_of_text("\"\"\""),
            '\'' if self.rest().starts_with("'''") => self.lines_of_text("'''"),
            '"' | '\'' => self.line_of_text().map(drop),
            _ => self.number_or_word(),
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.takes("[");
        loop {
            self.blanks(true);
            if self.takes("]") {
                return Some(());
            }
            self.value(depth + 1)?;
            self.blanks(true);
            if !self.takes(",") {
                return self.takes("]").then_some(());
            }
        }
    }

    fn inline_table(&mut self, depth: usize) -> Option<()> {
        self.takes("{");
        self.blanks(false);
        if self.takes("}") {
            return Some(());
        }
        loop {
            self.key()?;
            self.takes("=").then_some(())?;
            self.blanks(false);
            self.value(depth + 1)?;
            self.blanks(false);
            if !self.takes(",") {
                return self.takes("}").then_some(());
            }
        }
    }

    /// A text in one pair of marks, on one line.
    fn line_of_text(&mut self) -> Option<String> {
        let mark = self.rest().chars().next()?;
        let mut escaped = false;
        let inside = self.rest().get(1..)?;
        let length = inside.find(|c: char| {
            let ends = c == '\n' || c == mark && !escaped;
            escaped = c == '\\' && mark == '"' && !escaped;
            ends
        })?;
        let content = inside[..length].to_owned();
        inside[length..].starts_with(mark).then_some(())?;
        // JSON has the escapes of TOML but for \U and \e, which it refuses.
        let text = match mark {
            '"' => serde_json::from_str(&format!("\"{}\"", content.replace('\t', "\\t"))).ok()?,
            _ => content,
        };
        self.at += length + 2;
        Some(text)
    }

    /// A text in three pairs of marks.
    fn lines_of_text(&mut self, marks: &str) -> Option<()> {
        let inside = self.rest().get(3..)?;
        let end = match marks {
            "'''" => inside.find(marks)?,
            _ => {
                let mut at = 0;
                while !inside.get(at..)?.starts_with(marks) {
                    let escape = inside[at..].starts_with('\\');
                    at += inside[at..]
                        .chars()
                        .take(if escape { 2 } else { 1 })
                        .map(char::len_utf8)
                        .sum::<usize>();
                    (at < inside.len()).then_some(())?;
                }
                at
            }
        };
        // Up to two marks may stand before the three that end the text.
        self.at += 3 + end + 3;
        let more = self.rest().chars().take_while(|c| marks.starts_with(*c)).count();
        self.at += more;
        (more <= 2).then_some(())
    }

    /// A number, a time, or one of four words.
    fn number_or_word(&mut self) -> Option<()> {
        let word = self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '.' | ':'))?;
        let unsigned = word.trim_start_matches(['+', '-']);
        let known = matches!(word.as_str(), "true" | "false") || matches!(unsigned, "inf" | "nan");
        (known || unsigned.starts_with(|c: char| c.is_ascii_digit())).then_some(())
    }

    fn word(&mut self, part: impl Fn(char) -> bool) -> Option<String> {
        let length = self.rest().find(|c| !part(c)).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_owned();
        self.at += length;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests;
