//! Lays out what the demonstration shows: numbered headings, a tool's name, the result.

use std::io::{self, Write};

/// Columns of a tool's name.
const NAME_WIDTH: usize = 20;

/// The look of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A heading.
    Strong,
    /// Of lesser importance.
    Faint,
    /// It went well.
    Good,
    /// It was refused.
    Refused,
}

/// A transcript being written.
pub struct Transcript<'a> {
    out: &'a mut dyn Write,
    color: bool,
    headings: usize,
}

impl<'a> Transcript<'a> {
    /// Writes to `out`, in colours or without.
    pub fn new(out: &'a mut dyn Write, color: bool) -> Self {
        Self { out, color, headings: 0 }
    }

    /// Returns whether it shows colours.
    pub fn has_color(&self) -> bool {
        self.color
    }

    /// Writes a line of its own.
    ///
    /// # Errors
    /// The stream's error, as for all methods.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Writes the next numbered heading.
    pub fn heading(&mut self, text: &str) -> io::Result<()> {
        self.headings += 1;
        let heading = self.paint(Tone::Strong, &format!("{}. {text}", self.headings));
        self.line(&format!("\n{heading}"))
    }

    /// Writes the result of a call. Names and texts are aligned from call to call.
    pub fn call(&mut self, name: &str, text: &str) -> io::Result<()> {
        let name = self.paint(Tone::Faint, &format!("{name:NAME_WIDTH$}"));
        self.line(&format!("   {name} {text}"))
    }

    /// Writes a line that belongs to the call before.
    pub fn more(&mut self, text: &str) -> io::Result<()> {
        self.line(&format!("   {:NAME_WIDTH$} {text}", ""))
    }

    /// Returns the text in a tone, if the transcript has colours.
    pub fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.color => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Refused => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn written(color: bool) -> String {
        let mut out = Vec::new();
        let mut transcript = Transcript::new(&mut out, color);
        transcript.heading("Begin").unwrap();
        transcript.call("short", "done").unwrap();
        transcript.more("and so on").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_are_aligned_below_their_heading() {
        let indent = " ".repeat(3 + NAME_WIDTH + 1);
        assert_eq!(
            written(false),
            format!("\n1. Begin\n   {:NAME_WIDTH$} done\n{indent}and so on\n", "short")
        );
    }

    #[test]
    fn colours_are_only_used_when_wanted() {
        assert!(!written(false).contains('\u{1b}'));
        assert!(written(true).contains("\u{1b}[1m1. Begin\u{1b}[0m"));
    }
}
