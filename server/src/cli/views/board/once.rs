//! The board as a text. Where the screen is too narrow for all columns, the rest of them stands below.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::card::card;
use super::widths::widths;
use crate::cli::moments::Clock;
use crate::cli::views::table::{GAP, Line, Screen, Style, cut, line};
use crate::domains::tasks::shown::columns::StateColumn;

/// A column with its lines, title first.
struct Printed {
    lines: Vec<(String, Style)>,
    width: usize,
}

impl Printed {
    fn of(column: &StateColumn, clock: &Clock) -> Self {
        let title = format!("{} {}", column.status.as_str(), column.count);
        let mut lines = vec![(title, Style::Bold)];
        for (at, shown) in column.tasks.iter().enumerate() {
            if at > 0 {
                lines.push((String::new(), Style::Plain));
            }
            lines.extend(card(shown, clock));
        }
        let left_out = column.count - column.tasks.len() as i64;
        if left_out > 0 {
            lines.extend([(String::new(), Style::Plain), (format!("{left_out} more (--limit)"), Style::Dim)]);
        }
        let width = lines.iter().map(|(text, _)| text.width()).max().unwrap_or(0);
        Self { lines, width }
    }
}

pub(super) fn print(
    columns: &[StateColumn],
    clock: &Clock,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns: Vec<Printed> = columns.iter().map(|column| Printed::of(column, clock)).collect();
    let mut rest = columns.as_slice();
    while !rest.is_empty() {
        let widths = widths(rest.len(), screen.width, |at, _| rest[at].width);
        let (band, others) = rest.split_at(widths.len());
        print_band(band, &widths, screen, out)?;
        rest = others;
        if !rest.is_empty() {
            line(out, screen, "", Style::Plain)?;
        }
    }
    Ok(())
}

fn print_band(band: &[Printed], widths: &[usize], screen: Screen, out: &mut dyn Write) -> io::Result<()> {
    let height = band.iter().map(|column| column.lines.len()).max().unwrap_or(0);
    for at in 0..height {
        let mut line = Line::new(screen);
        for (column, width) in band.iter().zip(widths) {
            let (text, style) =
                column.lines.get(at).map_or(("", Style::Plain), |(text, style)| (text, *style));
            let text = cut(text, *width);
            line.push(&text, style);
            line.blank(width - text.width() + GAP);
        }
        line.print(out)?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::print;
    use crate::cli::views::board::sample::{clock, columns};
    use crate::cli::views::table::Screen;

    fn printed(width: Option<usize>) -> String {
        let mut out = Vec::new();
        print(&columns(), &clock(), Screen { width, color: false }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_board_has_a_column_for_each_state() {
        assert_eq!(
            printed(None),
            "INIT 2                GATHER 1            ANALYZE 0  PLAN 0  APPLY 3                  VERIFY 0\n\
             0b9c8d7e              63f615aa  high                         5c1d7e3b  high\n\
             Announce the release  Measure the import                     Write the migration\n\
             waits for 5c1d7e3b                                           \"claude-1\", 11 min left\n\
             \n\
             77777777                                                     2 more (--limit)\n\
             日本語\\u{1b}[2J題名\n"
        );
    }

    #[test]
    fn columns_without_room_stand_below() {
        assert_eq!(
            printed(Some(40)),
            "INIT 2                GATHER 1\n\
             0b9c8d7e              63f615aa  high\n\
             Announce the release  Measure the import\n\
             waits for 5c1d7e3b\n\
             \n\
             77777777\n\
             日本語\\u{1b}[2J題名\n\
             \n\
             ANALYZE 0  PLAN 0  APPLY 3\n\
             \x20                  5c1d7e3b  high\n\
             \x20                  Write the migration\n\
             \x20                  \"claude-1\", 11 min l…\n\
             \n\
             \x20                  2 more (--limit)\n\
             \n\
             VERIFY 0\n"
        );
        for width in [1, 5, 17, 18, 20, 37, 60, 80, 200] {
            for line in printed(Some(width)).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
