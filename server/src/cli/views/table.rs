//! Tables and lines that fit a terminal.

use std::io::{self, Write};

use colibri_visible::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a view is printed on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Screen {
    /// How many columns a line has; `None` where nothing is cut.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub color: bool,
}

/// How a text looks where there are colours. The text alone says as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Plain,
    Bold,
    Dim,
    Green,
    Yellow,
    Red,
}

impl Style {
    /// Returns a printable text in this style, where the screen has colours.
    pub fn paint(self, text: &str, screen: Screen) -> String {
        match self.code().filter(|_| screen.color) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }

    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Green => Some("32"),
            Self::Yellow => Some("33"),
            Self::Red => Some("31"),
        }
    }
}

/// What a cell without a value shows.
pub const NO_VALUE: &str = "-";

/// A stored text in a cell, with what cannot be seen escaped.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub fn styled(text: &str, style: Style) -> Self {
        Self { text: printable(text).into_owned(), style }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::styled(text, Style::Plain)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        Self::from(text.unwrap_or(NO_VALUE))
    }
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    /// Where the table is too wide, the column is cut down to this width.
    least: Option<usize>,
    right: bool,
}

impl Column {
    /// A column that is never cut.
    pub const fn whole(title: &'static str) -> Self {
        Self { title, least: None, right: false }
    }

    /// A column of numbers.
    pub const fn number(title: &'static str) -> Self {
        Self { title, least: None, right: true }
    }

    /// A column that gives way down to a width.
    pub const fn giving(title: &'static str, least: usize) -> Self {
        Self { title, least: Some(least), right: false }
    }
}

/// The space between two columns.
pub const GAP: usize = 2;

/// Rows under titles.
#[derive(Debug)]
pub struct Table<const N: usize> {
    columns: [Column; N],
    rows: Vec<[Cell; N]>,
}

impl<const N: usize> Table<N> {
    pub fn new(columns: [Column; N]) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub fn push(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// Prints the titles and the rows; nothing without rows.
    pub fn print(&self, out: &mut dyn Write, screen: Screen) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let widths = self.widths(screen.width);
        let titles = self.columns.map(|column| Cell::styled(column.title, Style::Bold));
        for row in std::iter::once(&titles).chain(&self.rows) {
            self.print_row(out, row, widths, screen)?;
        }
        Ok(())
    }

    /// Returns the width of each column: that of its widest text, less what does not fit. Where the table is too wide, columns that may give
    /// way and have no value in any row are left out, which is a width of 0.
    fn widths(&self, room: Option<usize>) -> [usize; N] {
        let mut widths = self.columns.map(|column| column.title.width());
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.width());
            }
        }
        let total: usize = widths.iter().sum::<usize>() + GAP * (N - 1);
        if room.is_some_and(|room| total > room) {
            for (at, width) in widths.iter_mut().enumerate() {
                let says_nothing = self.rows.iter().all(|row| row[at].text == NO_VALUE);
                if says_nothing && self.columns[at].least.is_some() {
                    *width = 0;
                }
            }
        }
        give_way(&mut widths, &self.columns.map(|column| column.least.unwrap_or(usize::MAX)), room);
        widths
    }

    fn print_row(
        &self,
        out: &mut dyn Write,
        row: &[Cell; N],
        widths: [usize; N],
        screen: Screen,
    ) -> io::Result<()> {
        let mut line = Line::new(screen);
        for (at, cell) in row.iter().enumerate().filter(|(at, _)| widths[*at] > 0) {
            let text = cut(&cell.text, widths[at]);
            let blank = widths[at] - text.width();
            let (before, after) = if self.columns[at].right { (blank, 0) } else { (0, blank) };
            line.blank(before);
            line.push(&text, cell.style);
            line.blank(after + GAP);
        }
        line.print(out)
    }
}

/// Makes columns narrower, each down to its least width, until they have room beside each other. The widest of those that can give way
/// gives, so that none vanishes for another's sake.
pub fn give_way(widths: &mut [usize], least: &[usize], room: Option<usize>) {
    let Some(room) = room else { return };
    loop {
        let shown = widths.iter().filter(|width| **width > 0).count();
        let total: usize = widths.iter().sum::<usize>() + GAP * shown.saturating_sub(1);
        let widest = (0..widths.len()).filter(|at| widths[*at] > least[*at]).max_by_key(|at| widths[*at]);
        let Some(at) = widest.filter(|_| total > room) else { return };
        widths[at] -= 1;
    }
}

/// A line of parts, which ends where the screen does.
#[derive(Debug)]
pub struct Line {
    screen: Screen,
    used: usize,
    text: String,
    /// Blanks that are written if a part follows.
    blank: usize,
}

impl Line {
    pub fn new(screen: Screen) -> Self {
        Self { screen, used: 0, text: String::new(), blank: 0 }
    }

    /// Adds blanks, unless the line ends there.
    pub fn blank(&mut self, count: usize) {
        self.blank += count;
    }

    /// Adds a part, as much of it as there is room for. The text is printable.
    pub fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let room = self.screen.width.map_or(usize::MAX, |width| width.saturating_sub(self.used + self.blank));
        let text = cut(text, room);
        if text.is_empty() {
            return;
        }
        self.text.extend(std::iter::repeat_n(' ', self.blank));
        self.used += self.blank + text.width();
        self.blank = 0;
        self.text.push_str(&style.paint(&text, self.screen));
    }

    pub fn print(self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.text)
    }
}

/// Prints a line of one part; the text is printable.
pub fn line(out: &mut dyn Write, screen: Screen, text: &str, style: Style) -> io::Result<()> {
    let mut line = Line::new(screen);
    line.push(text, style);
    line.print(out)
}

/// Returns the text, or its beginning with `…` if it is wider.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for character in text.chars() {
        let next = character.width().unwrap_or(0);
        if used + next + 1 > width {
            break;
        }
        kept.push(character);
        used += next;
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// Returns a text in lines that are not wider than that, the further ones behind blanks. They break between words, or within a word that
/// is wider than a line.
pub fn wrapped(text: &str, width: Option<usize>, hanging: usize) -> Vec<String> {
    let Some(width) = width.filter(|width| text.width() > *width) else { return vec![text.to_owned()] };
    // Where the blanks would take most of a line, there are none.
    let hanging = if hanging * 2 < width { hanging } else { 0 };
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > hanging && used + word.trim_end().width() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(hanging)).trim_end().to_owned());
            used = hanging;
        }
        for character in word.chars() {
            let next = character.width().unwrap_or(0);
            if used + next > width && used > hanging {
                if character == ' ' {
                    continue;
                }
                lines.push(std::mem::replace(&mut line, " ".repeat(hanging)).trim_end().to_owned());
                used = hanging;
            }
            line.push(character);
            used += next;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Cell, Column, Screen, Style, Table, cut, wrapped};
    use unicode_width::UnicodeWidthStr;

    fn printed(width: Option<usize>, color: bool) -> String {
        let mut table = Table::new([Column::whole("ID"), Column::giving("TITLE", 5), Column::number("N")]);
        table.push(["5c1d7e3b".into(), "Write the migration".into(), "7".into()]);
        table.push([Cell::styled("63f615aa", Style::Red), "日本語の題名です\u{1b}[2J".into(), "1200".into()]);
        let mut out = Vec::new();
        table.print(&mut out, Screen { width, color }).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_stand_below_their_titles() {
        assert_eq!(
            printed(None, false),
            "ID        TITLE                         N\n\
             5c1d7e3b  Write the migration           7\n\
             63f615aa  日本語の題名です\\u{1b}[2J  1200\n"
        );
    }

    #[test]
    fn a_column_without_a_value_gives_way_first() {
        let columns = [Column::whole("ID"), Column::giving("PROJECT", 4), Column::giving("TITLE", 5)];
        let mut table = Table::new(columns);
        table.push(["5c1d7e3b".into(), None.into(), "Write the migration".into()]);
        let print = |table: &Table<3>, width| {
            let mut out = Vec::new();
            table.print(&mut out, Screen { width, color: false }).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(print(&table, Some(38)).starts_with("ID        PROJECT  TITLE\n"));
        assert_eq!(print(&table, Some(37)), "ID        TITLE\n5c1d7e3b  Write the migration\n");
        table.push(["63f615aa".into(), "shop".into(), "Measure the import".into()]);
        assert!(print(&table, Some(37)).starts_with("ID        PROJECT  TITLE"));
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for width in [10, 16, 23, 24, 30, 39, 80] {
            for line in printed(Some(width), false).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
        assert!(printed(Some(30), false).contains("Write the mig…"));
    }

    #[test]
    fn colours_are_all_that_colours_add() {
        let plain = printed(Some(60), false);
        assert!(!plain.contains('\u{1b}'));
        let colored = printed(Some(60), true);
        assert!(colored.contains("\u{1b}[31m63f615aa\u{1b}[0m"));
        let parts = colored.split("\u{1b}[").enumerate();
        let bare: String =
            parts.map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 }).collect();
        assert_eq!(bare, plain);
    }

    #[test]
    fn a_wrapped_text_keeps_every_word_and_no_line_is_too_wide() {
        for (text, width, hanging, lines) in [
            ("one two three", Some(20), 2, &["one two three"][..]),
            ("one two three", None, 2, &["one two three"]),
            ("one two three", Some(8), 2, &["one two", "  three"]),
            ("  one two", Some(6), 2, &["  one", "  two"]),
            ("abcdefghij", Some(4), 0, &["abcd", "efgh", "ij"]),
            ("one two", Some(5), 4, &["one", "two"]),
            ("日本語 日本語", Some(7), 0, &["日本語", "日本語"]),
            ("日本", Some(1), 0, &["日", "本"]),
        ] {
            assert_eq!(wrapped(text, width, hanging), lines, "{text}");
        }
    }

    #[test]
    fn a_cut_text_shows_that_it_is_cut() {
        for (text, width, shown) in
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本", 3, "日…"), ("ab", 1, "…"), ("ab", 0, "")]
        {
            assert_eq!(cut(text, width), shown);
        }
    }
}
