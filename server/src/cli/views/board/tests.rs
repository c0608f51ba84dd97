//! Each key on a terminal in memory.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};

use super::draw::{Paint, draw};
use super::reader::{Answer, Wanted};
use super::sample::{clock, column, columns, task};
use super::state::{Next, Over, State};
use crate::catalogue::TaskStatus;
use crate::domains::tasks::shown::columns::{Field, StateColumn};
use crate::domains::tasks::shown::{Filter, Group};

struct Board {
    terminal: Terminal<TestBackend>,
    state: State,
    color: bool,
}

impl Board {
    fn of(columns: Vec<StateColumn>, width: u16, height: u16) -> Self {
        let mut board = Self::unread(width, height);
        board.read(columns);
        board
    }

    fn unread(width: u16, height: u16) -> Self {
        let wanted = Wanted { filter: Filter { limit: 100, ..Filter::default() }, task: None, names: None };
        let terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        Self { terminal, state: State::new(wanted), color: true }
    }

    /// The database answers the present question.
    fn read(&mut self, columns: Vec<StateColumn>) {
        let of = self.state.wanted.clone();
        let task = of.task.as_ref().map(|id| (1..=30).map(|line| format!("{line} of {id}")).collect());
        let names = of.names.map(|_| vec!["shop".to_owned(), "si\u{1b}te".to_owned()]);
        self.state.take(Answer { of, columns, task, names });
    }

    fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                '\u{8}' => KeyCode::Backspace,
                other => KeyCode::Char(other),
            };
            assert_eq!(self.code(code), Next::Stay);
        }
    }

    fn code(&mut self, code: KeyCode) -> Next {
        self.state.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    /// The screen, line by line.
    fn shown(&mut self) -> Vec<String> {
        let paint = Paint { clock: clock(), color: self.color };
        self.terminal.draw(|frame| draw(frame, &mut self.state, &paint)).unwrap();
        let buffer = self.terminal.backend().buffer();
        let mut lines = Vec::new();
        for y in 0..buffer.area.height {
            let (mut line, mut hidden) = (String::new(), 0);
            for x in 0..buffer.area.width {
                // Behind a wide character is a cell that shows nothing.
                let symbol = buffer[(x, y)].symbol();
                if hidden == 0 {
                    line.push_str(symbol);
                    hidden = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
                } else {
                    hidden -= 1;
                }
            }
            lines.push(line.trim_end().to_owned());
        }
        lines
    }

    /// What is drawn in reverse.
    fn marked(&mut self) -> String {
        self.shown();
        let cells = self.terminal.backend().buffer().content().iter();
        cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED)).map(|cell| cell.symbol()).collect()
    }

    fn selected(&self) -> &str {
        self.state.task().map_or("", |shown| &shown.task.id[28..])
    }
}

#[test]
fn columns_have_cards_and_the_selected_one_is_marked() {
    let mut board = Board::of(columns(), 80, 10);
    assert_eq!(
        board.shown(),
        [
            "INIT 2                GATHER 1            ANALYZE 0  PLAN 0  APPLY 3 >",
            "0b9c8d7e              63f615aa  high                         5c1d7e3b  high",
            "Announce the release  Measure the import                     Write the migration",
            "waits for 5c1d7e3b                                           \"claude-1\", 11 min…",
            "",
            "77777777",
            "日本語\\u{1b}[2J題名",
            "",
            "                                                             ↓ 2",
            "? keys  q end",
        ]
    );
    let marked = board.marked();
    assert!(marked.starts_with("0b9c8d7e") && marked.contains("waits for 5c1d7e3b"), "{marked}");
    let colors = |board: &Board| {
        let cells = board.terminal.backend().buffer().content().iter();
        cells.filter(|cell| cell.fg == Color::Red || cell.fg == Color::Green).count()
    };
    assert!(colors(&board) >= 8);
    board.color = false;
    board.shown();
    assert_eq!(colors(&board), 0);
}

#[test]
fn arrows_and_letters_go_from_task_to_task() {
    let mut board = Board::of(columns(), 80, 24);
    for (key, expected) in [
        (KeyCode::Down, "77777777"),
        (KeyCode::Down, "77777777"),
        (KeyCode::Char('k'), "0b9c8d7e"),
        (KeyCode::Char('j'), "77777777"),
        (KeyCode::Up, "0b9c8d7e"),
        (KeyCode::Right, "63f615aa"),
        (KeyCode::Char('l'), ""),
        (KeyCode::Char('h'), "63f615aa"),
        (KeyCode::Left, "0b9c8d7e"),
        (KeyCode::Left, "0b9c8d7e"),
        (KeyCode::End, "77777777"),
        (KeyCode::Home, "0b9c8d7e"),
        (KeyCode::PageDown, "77777777"),
        (KeyCode::PageUp, "0b9c8d7e"),
    ] {
        assert_eq!(board.code(key), Next::Stay);
        assert_eq!(board.selected(), expected, "{key:?}");
    }
    for _ in 0..9 {
        board.press("l");
    }
    let shown = board.shown();
    assert!(shown[0].starts_with("< GATHER 1") && shown[0].ends_with("VERIFY 0"), "{shown:?}");
}

#[test]
fn enter_shows_a_task_that_can_be_scrolled() {
    let mut board = Board::of(columns(), 80, 24);
    board.press("\n");
    assert_eq!(board.state.over, Some(Over::Task(None)));
    assert!(board.shown().iter().any(|line| line == "reading"));
    board.read(columns());
    let shown = board.shown();
    assert!(shown[0].starts_with("INIT 2"), "the upper half is still the board: {shown:?}");
    assert!(shown[11].starts_with("Task ──"), "{shown:?}");
    assert!(shown[12].starts_with("1 of 01a204cb") && shown[12].ends_with("0b9c8d7e"), "{shown:?}");
    board.press("jj");
    assert!(board.shown()[12].starts_with("3 of"));
    board.code(KeyCode::End);
    assert!(board.shown()[22].starts_with("30 of"), "the last line is at the bottom");
    board.press("k");
    assert!(board.shown()[22].starts_with("29 of"), "one line up from there");
    board.press("\u{1b}");
    assert_eq!((&board.state.over, &board.state.wanted.task), (&None, &None));
    // On a small terminal the task has all the room.
    let mut board = Board::of(columns(), 20, 5);
    board.press("\n");
    board.read(columns());
    let shown = board.shown();
    assert!(shown[0].starts_with("Task ──"));
    assert!(
        shown[1].starts_with("1 of") && !shown.concat().contains('…'),
        "long lines go on below: {shown:?}"
    );
    assert!(shown[2..4].concat().ends_with("0b9c8d7e"), "{shown:?}");
}

#[test]
fn a_text_is_searched() {
    let mut board = Board::of(columns(), 80, 24);
    board.press("/relx\u{8}ease q");
    assert_eq!(board.shown()[23], "/release q_");
    assert_eq!(board.state.wanted.filter.search, None, "not while it is typed");
    board.press("\n");
    assert_eq!(board.state.wanted.filter.search.as_deref(), Some("release q"));
    assert_eq!(board.shown()[23], "only text release q  ? keys  q end");
    board.press("/more\u{1b}");
    assert_eq!(board.state.wanted.filter.search.as_deref(), Some("release q"), "Esc leaves it as it was");
    board.press("\u{1b}");
    assert_eq!(board.state.wanted.filter.search, None);
    board.press(&format!("/{}", "日本".repeat(40)));
    assert!(board.shown()[23].ends_with("日本_"), "the end of what is typed stays in sight");
}

#[test]
fn a_project_and_an_assignee_are_chosen() {
    for (key, field, title, all) in [
        ("p", Field::Project, "Project ──", "all projects"),
        ("a", Field::Assignee, "Assignee ──", "all assignees"),
    ] {
        let mut board = Board::of(columns(), 80, 24);
        board.press(key);
        assert_eq!(board.state.wanted.names, Some(field));
        board.read(columns());
        let shown = board.shown();
        assert!(shown[11].starts_with(title), "{shown:?}");
        assert_eq!(shown[12..15], [all, "shop", "si\\u{1b}te"]);
        board.press("jjj");
        assert!(board.marked().ends_with("si\\u{1b}te"));
        board.press("\n");
        let filter = &board.state.wanted.filter;
        let chosen = if field == Field::Project { &filter.project } else { &filter.assignee };
        assert_eq!(chosen.as_deref(), Some("si\u{1b}te"));
        assert_eq!((&board.state.over, board.state.wanted.names), (&None, None));
        assert!(board.shown()[23].contains("si\\u{1b}te"));
        board.press(key);
        board.read(columns());
        board.press("\n");
        let filter = &board.state.wanted.filter;
        assert_eq!((&filter.project, &filter.assignee), (&None, &None), "the first choice is all of them");
    }
}

#[test]
fn blocked_and_finished_tasks_are_asked_for() {
    let mut board = Board::of(columns(), 80, 24);
    board.press("b");
    assert_eq!(board.state.wanted.filter.group, Some(Group::Blocked));
    assert!(board.shown()[23].starts_with("only blocked"));
    board.press("bd");
    assert_eq!((board.state.wanted.filter.group, board.state.wanted.filter.all), (None, true));
    board.press("d");
    assert!(!board.state.wanted.filter.all);
}

#[test]
fn help_names_every_key_and_q_ends() {
    let mut board = Board::of(columns(), 80, 40);
    board.press("?");
    let shown = board.shown().join("\n");
    for key in ["arrows, h j k l", "Enter", "/", "p", "a", "b", "d", "Esc", "?", "q, Ctrl-C"] {
        assert!(shown.contains(&format!("\n{key} ")), "{key}: {shown}");
    }
    assert_eq!(board.code(KeyCode::Char('q')), Next::Quit);
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(board.state.press(control_c), Next::Interrupt);
    board.press("\u{1b}/");
    assert_eq!(board.code(KeyCode::Char('q')), Next::Stay, "in a text q is a letter");
    assert_eq!(board.state.press(control_c), Next::Interrupt);
}

#[test]
fn the_selected_task_stays_selected_when_it_moves() {
    let mut board = Board::of(columns(), 80, 24);
    board.press("j");
    assert_eq!(board.selected(), "77777777");
    let mut moved = columns();
    let odd = moved[0].tasks.remove(1);
    moved[1].tasks.push(odd);
    board.read(moved.clone());
    assert_eq!((board.selected(), board.state.column, board.state.row), ("77777777", 1, 1));
    moved[1].tasks.remove(1);
    board.read(moved);
    assert_eq!(board.selected(), "63f615aa", "what stands in its place when it is gone");
    board.read(Vec::new());
    assert_eq!(board.selected(), "");
    board.read(columns());
    assert_eq!(board.selected(), "63f615aa", "and again when it is back");
}

#[test]
fn answers_to_earlier_questions_are_left_aside() {
    let mut board = Board::of(columns(), 80, 24);
    let of = board.state.wanted.clone();
    board.press("b");
    board.state.take(Answer { of, columns: Vec::new(), task: None, names: None });
    assert_eq!(board.selected(), "0b9c8d7e");
}

#[test]
fn trouble_is_shown_until_it_is_over() {
    let mut board = Board::unread(40, 5);
    assert_eq!(board.shown()[0], "reading the tasks");
    board.state.trouble = Some("there is no database at /a\n/b".to_owned());
    assert_eq!(board.shown()[4], "there is no database at /a\\n/b");
    board.read(columns());
    assert_eq!(board.shown()[4], "? keys  q end");
    let empty = columns().into_iter().map(|of_state| column(of_state.status, Vec::new())).collect();
    let mut board = Board::of(empty, 80, 8);
    for (keys, told, foot) in [
        ("", "No open task. Agents make tasks; d shows finished ones.", "? keys  q end"),
        ("d", "No task yet. Agents make tasks.", "with finished tasks  ? keys  q end"),
        ("b", "No task matches.", "only blocked  with finished tasks  ? keys  q end"),
    ] {
        board.press(keys);
        let shown = board.shown();
        assert!(shown.contains(&told.to_owned()) && shown[7] == foot, "{shown:?}");
    }
    board.press("\n");
    assert!(board.shown().contains(&"No task is selected: this column has none.".to_owned()));
    board.read(columns());
    assert!(board.shown().contains(&"No task is selected: this column has none.".to_owned()));
}

/// A column of many tasks.
fn many(count: usize) -> Vec<StateColumn> {
    let tasks = (0..count).map(|at| task(&format!("{at:08}"), &format!("Task {at}"), TaskStatus::Init));
    let mut all = columns();
    all[0] = StateColumn { count: count as i64 + 900, ..column(TaskStatus::Init, tasks.collect()) };
    all
}

#[test]
fn a_long_column_is_moved_to_the_selected_task() {
    let mut board = Board::of(many(100), 80, 24);
    let shown = board.shown();
    assert!(shown[0].starts_with("INIT 1000") && shown[1].starts_with("00000000"), "{shown:?}");
    assert!(shown[22].starts_with("↓ 993  "), "{shown:?}");
    for at in 1..100 {
        board.press("j");
        let marked = board.marked();
        assert!(marked.contains(&format!("{at:08}")) && marked.contains(&format!("Task {at}")), "{marked}");
    }
    assert!(board.shown()[22].starts_with("↑ 93  ↓ 900  "));
    board.code(KeyCode::Home);
    assert!(board.shown()[1].starts_with("00000000"));
}

#[test]
fn every_size_of_terminal_has_a_board() {
    let sizes = [(1, 1), (2, 2), (5, 3), (17, 4), (20, 5), (38, 6), (80, 24), (200, 60), (500, 2)];
    for (width, height) in sizes {
        let mut board = Board::of(many(1_000), width, height);
        for keys in ["", "j", "l", "\n", "\u{1b}", "?", "\u{1b}", "p", "\u{1b}", "/text", "\u{1b}"] {
            board.press(keys);
            board.read(many(1_000));
            board.shown();
        }
        board.code(KeyCode::End);
        board.terminal.backend_mut().resize(height, width);
        board.shown();
        board.read(Vec::new());
        board.shown();
    }
    let mut board = Board::of(columns(), 20, 5);
    assert_eq!(
        board.shown(),
        ["INIT 2 >", "0b9c8d7e", "Announce the release", "waits for 5c1d7e3b", "? keys  q end"]
    );
    let wide = Board::of(columns(), 200, 60).shown();
    assert!(wide[0].contains("VERIFY 0") && !wide[0].contains('>'), "{wide:?}");
    assert!(wide[3].contains("\"claude-1\", 11 min left"), "{wide:?}");
}
