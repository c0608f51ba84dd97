//! Draws the board: a row of columns, what lies over them, and a line at the foot.

use colibri_visible::printable;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style as Look};
use unicode_width::UnicodeWidthStr;

use super::card::card;
use super::state::{Over, State};
use super::widths::widths;
use crate::cli::moments::Clock;
use crate::cli::views::table::{GAP, Style, cut, wrapped};
use crate::cli::views::task::HANGING;
use crate::domains::tasks::shown::Filter;
use crate::domains::tasks::shown::columns::{Field, StateColumn};

/// From this height on, what lies over the board leaves its upper half free.
const TWO_HALVES: u16 = 16;
/// From this height on, a column says how many tasks are not drawn.
const SAYS_MORE: usize = 5;

/// What the keys do.
const HELP: [&str; 13] = [
    "arrows, h j k l   go to another task or line",
    "Page, Home, End   go further",
    "Enter             show the task, or take the choice",
    "/                 only tasks with a text in their title or description",
    "p                 only tasks of one project",
    "a                 only tasks of one assignee",
    "b                 only blocked tasks",
    "d                 finished tasks, too",
    "Esc               close what lies over the board, or show all tasks again",
    "?                 these lines",
    "q, Ctrl-C         end the board",
    "",
    "Green tasks are free, yellow ones held, and red ones wait for another task.",
];

/// How it is drawn.
#[derive(Debug)]
pub struct Paint {
    pub clock: Clock,
    pub color: bool,
}

impl Paint {
    fn look(&self, style: Style) -> Look {
        let look = Look::default();
        match style {
            Style::Plain => look,
            Style::Bold => look.add_modifier(Modifier::BOLD),
            Style::Dim => look.add_modifier(Modifier::DIM),
            Style::Green | Style::Yellow | Style::Red if !self.color => look,
            Style::Green => look.fg(Color::Green),
            Style::Yellow => look.fg(Color::Yellow),
            Style::Red => look.fg(Color::Red),
        }
    }
}

/// Draws all of it. Where lists are longer than the screen, it is moved to what is selected.
pub fn draw(frame: &mut Frame<'_>, state: &mut State, paint: &Paint) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let [body, foot] = split(area, area.height.saturating_sub(1));
    let [upper, lower] = match state.over {
        None => [body, Rect::default()],
        Some(_) if body.height < TWO_HALVES => [Rect::default(), body],
        Some(_) => split(body, body.height / 2),
    };
    draw_board(buffer, upper, state, paint);
    draw_over(buffer, lower, state, paint);
    draw_foot(buffer, foot, state, paint);
}

/// Returns the first rows of an area, and the others.
fn split(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + rows, height: area.height - rows, ..area }]
}

/// Writes a printable text into a row of the area, as much of it as there is room for.
fn write(buffer: &mut Buffer, area: Rect, row: usize, text: &str, look: Look) {
    if row < usize::from(area.height) {
        let width = usize::from(area.width);
        // Fewer rows than the area has, which are a u16.
        let y = area.y + u16::try_from(row).unwrap_or(0);
        buffer.set_stringn(area.x, y, cut(text, width), width, look);
    }
}

fn draw_board(buffer: &mut Buffer, area: Rect, state: &mut State, paint: &Paint) {
    if area.is_empty() {
        return;
    }
    let Some(columns) = &state.columns else {
        return write(buffer, area, 0, "reading the tasks", paint.look(Style::Dim));
    };
    let count = columns.len();
    let natural: Vec<usize> = columns.iter().map(|column| natural(column, paint)).collect();
    let (left, widths) = part(columns, &natural, (state.left, state.column), usize::from(area.width));
    state.left = left;
    let mut x = area.x;
    for (place, width) in (left..).zip(&widths) {
        // No wider than the area, which is a u16.
        let width = u16::try_from(*width).unwrap_or(0).min(area.width);
        let shown = Rect { x, width, ..area };
        x = x.saturating_add(width).saturating_add(u16::try_from(GAP).unwrap_or(0)).min(area.right());
        let column = &columns[place];
        let before = if place == left && place > 0 { "< " } else { "" };
        let after = if place + 1 == left + widths.len() && place + 1 < count { " >" } else { "" };
        let title = format!("{before}{}{after}", title(column));
        let is_selected = place == state.column;
        let line = if is_selected { Modifier::UNDERLINED } else { Modifier::empty() };
        let shown = shown.intersection(area);
        write(buffer, shown, 0, &title, paint.look(Style::Bold).add_modifier(line));
        let [_, shown] = split(shown, 1);
        if let Some(top) = state.tops.get_mut(place) {
            draw_column(buffer, shown, column, top, is_selected.then_some(state.row), paint);
        }
    }
    if columns.iter().all(|column| column.count == 0) {
        let filter = &state.wanted.filter;
        let text = match (
            filter == &(Filter { all: filter.all, limit: filter.limit, ..Filter::default() }),
            filter.all,
        ) {
            (true, true) => "No task yet. Agents make tasks.",
            (true, false) => "No open task. Agents make tasks; d shows finished ones.",
            (false, _) => "No task matches.",
        };
        write(buffer, split(area, 2)[1], 0, text, Look::default());
    }
}

fn title(column: &StateColumn) -> String {
    format!("{} {}", column.status.as_str(), column.count)
}

/// Returns how wide a column is whose texts are not cut.
fn natural(column: &StateColumn, paint: &Paint) -> usize {
    let cards = column.tasks.iter().flat_map(|shown| card(shown, &paint.clock));
    let more = match column.tasks.is_empty() {
        true => 0,
        false => format!("↑ {0}  ↓ {0}", column.count).width(),
    };
    cards.map(|(text, _)| text.width()).chain([title(column).width(), more]).max().unwrap_or(0)
}

/// Returns the first column that is shown and the widths of those from there on. The selected one is among them, and none is left out
/// to the left while there is room for it.
fn part(
    columns: &[StateColumn],
    natural: &[usize],
    (left, selected): (usize, usize),
    room: usize,
) -> (usize, Vec<usize>) {
    let count = columns.len();
    let from = |left: usize| {
        widths(count.saturating_sub(left), Some(room), |at, shown| {
            let (place, mark) = (left + at, " >".width());
            let before = if at == 0 && left > 0 { mark } else { 0 };
            let after = if at + 1 == shown && place + 1 < count { mark } else { 0 };
            natural[place].max(title(&columns[place]).width() + before + after)
        })
    };
    let mut left = left.min(selected).min(count.saturating_sub(1));
    while left < selected && left + 1 < count && left + from(left).len() <= selected {
        left += 1;
    }
    while left > 0 && left - 1 + from(left - 1).len() == count {
        left -= 1;
    }
    (left, from(left))
}

/// Draws the cards of a column from `top` on, which is moved so that the selected card is whole.
fn draw_column(
    buffer: &mut Buffer,
    area: Rect,
    column: &StateColumn,
    top: &mut usize,
    selected: Option<usize>,
    paint: &Paint,
) {
    let cards: Vec<_> = column.tasks.iter().map(|shown| card(shown, &paint.clock)).collect();
    let heights: Vec<usize> = cards.iter().map(|lines| lines.len() + 1).collect();
    let height = usize::from(area.height);
    // The blank line behind the last card needs no room.
    let is_whole = heights.iter().sum::<usize>() <= height + 1 && column.count == cards.len() as i64;
    let says_more = !is_whole && height >= SAYS_MORE;
    let room = height - usize::from(says_more);
    *top = top_of(&heights, *top, selected, room);
    let (mut row, mut drawn) = (0, 0);
    for (place, lines) in cards.iter().enumerate().skip(*top) {
        if row >= room {
            break;
        }
        for (text, style) in lines {
            if row < room {
                let look = paint.look(*style);
                if Some(place) == selected {
                    let width = usize::from(area.width);
                    let blank = width.saturating_sub(cut(text, width).width());
                    let text = format!("{}{}", cut(text, width), " ".repeat(blank));
                    write(buffer, area, row, &text, look.add_modifier(Modifier::REVERSED));
                } else {
                    write(buffer, area, row, text, look);
                }
            }
            row += 1;
        }
        row += 1;
        drawn += 1;
    }
    if says_more {
        let below = column.count - (*top + drawn) as i64;
        let parts = [("↑", *top as i64), ("↓", below)];
        let parts = parts.iter().filter(|(_, count)| *count > 0);
        let text: Vec<String> = parts.map(|(way, count)| format!("{way} {count}")).collect();
        write(buffer, area, room, &text.join("  "), paint.look(Style::Dim));
    }
}

/// Returns the first card to draw: no card is left out above while there is room below, and the selected card is whole.
fn top_of(heights: &[usize], top: usize, selected: Option<usize>, room: usize) -> usize {
    let fits = |from: usize, to: usize| heights[from..to].iter().sum::<usize>() <= room + 1;
    let mut top = top.min(heights.len().saturating_sub(1));
    if let Some(row) = selected.filter(|row| *row < heights.len()) {
        top = top.min(row);
        while top < row && !fits(top, row + 1) {
            top += 1;
        }
    }
    while top > 0 && fits(top - 1, heights.len()) {
        top -= 1;
    }
    top
}

fn draw_over(buffer: &mut Buffer, area: Rect, state: &mut State, paint: &Paint) {
    let Some(over) = &state.over else { return };
    let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let (title, lines, is_choice) = match over {
        Over::Task(lines) => {
            let width = Some(usize::from(area.width));
            let wrap =
                |lines: &Vec<String>| lines.iter().flat_map(|line| wrapped(line, width, HANGING)).collect();
            ("Task", lines.as_ref().map(wrap), false)
        }
        Over::Help => ("Keys", Some(own(&HELP)), false),
        Over::Choice(field, names) => {
            let (title, all) = match field {
                Field::Project => ("Project", "all projects"),
                Field::Assignee => ("Assignee", "all assignees"),
            };
            let names = names.as_ref().map(|names| names.iter().map(|name| printable(name).into_owned()));
            (title, names.map(|names| own(&[all]).into_iter().chain(names).collect()), true)
        }
    };
    let lines: Vec<String> = lines.unwrap_or_else(|| own(&["reading"]));
    let room = usize::from(area.height.saturating_sub(1));
    state.line = state.line.min(if is_choice { lines.len() - 1 } else { lines.len().saturating_sub(room) });
    let top = if is_choice { (state.line + 1).saturating_sub(room) } else { state.line };
    let rule = format!("{title} {}", "─".repeat(usize::from(area.width)));
    let rule: String = rule.chars().take(usize::from(area.width)).collect();
    write(buffer, area, 0, &rule, paint.look(Style::Bold));
    let [_, area] = split(area, 1);
    for (row, (place, line)) in lines.iter().enumerate().skip(top).take(room).enumerate() {
        let is_chosen = is_choice && place == state.line;
        let look = if is_chosen { Look::default().add_modifier(Modifier::REVERSED) } else { Look::default() };
        write(buffer, area, row, line, look);
    }
}

fn draw_foot(buffer: &mut Buffer, area: Rect, state: &State, paint: &Paint) {
    if let Some(typed) = &state.typed {
        // The end of what is typed stays in sight.
        let text = format!("/{}", printable(typed));
        let room = usize::from(area.width).saturating_sub(1);
        let mut from = 0;
        while text[from..].width() > room {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
        }
        write(buffer, area, 0, &format!("{}_", &text[from..]), Look::default());
    } else if let Some(trouble) = &state.trouble {
        write(buffer, area, 0, &printable(trouble), paint.look(Style::Red));
    } else {
        let filter = &state.wanted.filter;
        let mut parts = Vec::new();
        for (name, value) in
            [("project", &filter.project), ("assignee", &filter.assignee), ("text", &filter.search)]
        {
            if let Some(value) = value {
                parts.push(format!("{name} {}", printable(value)));
            }
        }
        if filter.group.is_some() {
            parts.push("blocked".to_owned());
        }
        let only = if parts.is_empty() { String::new() } else { format!("only {}  ", parts.join(", ")) };
        let finished = if filter.all { "with finished tasks  " } else { "" };
        write(buffer, area, 0, &format!("{only}{finished}? keys  q end"), paint.look(Style::Dim));
    }
}
