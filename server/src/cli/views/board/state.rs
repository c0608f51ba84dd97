//! What the board shows, and what each key does. Pure: the loop reads the database and draws.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::reader::{Answer, Wanted};
use crate::domains::tasks::shown::columns::{Field, StateColumn};
use crate::domains::tasks::shown::{Group, Shown};

/// How many tasks or lines a page key moves by.
const PAGE: usize = 10;

/// How the board goes on after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It stays.
    Stay,
    /// It ends.
    Quit,
    /// Ctrl-C ends it.
    Interrupt,
}

/// What lies over the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// A task; its lines, once they are read.
    Task(Option<Vec<String>>),
    /// The names to choose one from, once they are read. The first choice is all of them.
    Choice(Field, Option<Vec<String>>),
    /// What the keys do.
    Help,
}

/// The board as a person looks at it.
#[derive(Debug)]
pub struct State {
    /// What is read from the database.
    pub wanted: Wanted,
    /// The tasks, as they were read last; `None` before.
    pub columns: Option<Vec<StateColumn>>,
    /// The place of the selected column.
    pub column: usize,
    /// The place of the selected task in its column.
    pub row: usize,
    /// The first task that is drawn of each column.
    pub tops: Vec<usize>,
    /// The first column that is drawn.
    pub left: usize,
    pub over: Option<Over>,
    /// The line of what lies over the board: the first that is drawn, or the choice.
    pub line: usize,
    /// The text that is being typed.
    pub typed: Option<String>,
    /// Why the tasks could not be read again.
    pub trouble: Option<String>,
    /// The selected task, which stays selected when it moves.
    selected: Option<String>,
}

impl State {
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            columns: None,
            column: 0,
            row: 0,
            tops: Vec::new(),
            left: 0,
            over: None,
            line: 0,
            typed: None,
            trouble: None,
            selected: None,
        }
    }

    /// Returns the selected task.
    pub fn task(&self) -> Option<&Shown> {
        self.tasks(self.column).get(self.row)
    }

    fn tasks(&self, column: usize) -> &[Shown] {
        let column = self.columns.as_ref().and_then(|columns| columns.get(column));
        column.map_or(&[], |column| &column.tasks)
    }

    /// Takes what was read. An answer to an earlier question is left aside, since the next one is under way.
    pub fn take(&mut self, answer: Answer) {
        if answer.of != self.wanted {
            return;
        }
        self.trouble = None;
        self.tops.resize(answer.columns.len(), 0);
        self.columns = Some(answer.columns);
        match &mut self.over {
            Some(Over::Task(lines)) if answer.of.task.is_some() => *lines = answer.task,
            Some(Over::Choice(_, names)) => *names = answer.names,
            Some(Over::Help | Over::Task(_)) | None => {}
        }
        self.find_selected();
    }

    /// Finds the selected task where it is now. If it is gone, the selection stays in its place.
    fn find_selected(&mut self) {
        let columns = self.columns.as_deref().unwrap_or_default();
        let places = columns.iter().enumerate().flat_map(|(column, of_state)| {
            of_state.tasks.iter().enumerate().map(move |(row, shown)| (column, row, &shown.task.id))
        });
        let mut places = places.filter(|(_, _, id)| Some(*id) == self.selected.as_ref());
        let found = places.next().map(|(column, row, _)| (column, row));
        // Before anything is selected, the first task is.
        let first = || columns.iter().position(|column| !column.tasks.is_empty()).map(|column| (column, 0));
        let place = found.or_else(|| self.selected.is_none().then(first).flatten());
        (self.column, self.row) = place.unwrap_or((self.column, self.row));
        self.select(self.column, self.row);
    }

    /// Selects the place nearest to that one.
    fn select(&mut self, column: usize, row: usize) {
        let count = self.columns.as_ref().map_or(0, Vec::len);
        self.column = column.min(count.saturating_sub(1));
        self.row = row.min(self.tasks(self.column).len().saturating_sub(1));
        if let Some(shown) = self.task() {
            self.selected = Some(shown.task.id.clone());
        }
    }

    /// Does what a key says.
    pub fn press(&mut self, key: KeyEvent) -> Next {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
            return if is_interrupt { Next::Interrupt } else { Next::Stay };
        }
        if self.typed.is_some() {
            self.type_key(key.code);
            return Next::Stay;
        }
        match key.code {
            KeyCode::Char('q') => return Next::Quit,
            KeyCode::Char('?') => self.lay_over(Over::Help),
            _ if self.over.is_some() => self.press_over(key.code),
            code => self.press_board(code),
        }
        Next::Stay
    }

    fn press_board(&mut self, code: KeyCode) {
        let filter = &mut self.wanted.filter;
        match code {
            KeyCode::Left | KeyCode::Char('h') => self.select(self.column.saturating_sub(1), self.row),
            KeyCode::Right | KeyCode::Char('l') => self.select(self.column + 1, self.row),
            KeyCode::Enter => {
                let id = self.task().map(|shown| shown.task.id.clone());
                let lines =
                    id.is_none().then(|| vec!["No task is selected: this column has none.".to_owned()]);
                self.wanted.task = id;
                self.lay_over(Over::Task(lines));
            }
            KeyCode::Char('/') => self.typed = Some(filter.search.clone().unwrap_or_default()),
            KeyCode::Char('p') => self.choose(Field::Project),
            KeyCode::Char('a') => self.choose(Field::Assignee),
            KeyCode::Char('b') => {
                filter.group = if filter.group.is_none() { Some(Group::Blocked) } else { None };
            }
            KeyCode::Char('d') => filter.all = !filter.all,
            KeyCode::Esc => {
                (filter.group, filter.project, filter.assignee, filter.search) = (None, None, None, None);
            }
            code => {
                if let Some(row) = moved(self.row, code) {
                    self.select(self.column, row);
                }
            }
        }
    }

    fn choose(&mut self, field: Field) {
        self.wanted.names = Some(field);
        self.lay_over(Over::Choice(field, None));
    }

    fn lay_over(&mut self, over: Over) {
        self.line = 0;
        self.over = Some(over);
    }

    fn press_over(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => {
                if let Some(Over::Choice(field, Some(names))) = &self.over {
                    // The line before the names is all of them.
                    let name = self.line.checked_sub(1).and_then(|at| names.get(at)).cloned();
                    match field {
                        Field::Project => self.wanted.filter.project = name,
                        Field::Assignee => self.wanted.filter.assignee = name,
                    }
                }
                self.uncover();
            }
            KeyCode::Esc => self.uncover(),
            code => {
                let last = match &self.over {
                    Some(Over::Choice(_, names)) => names.as_ref().map_or(0, Vec::len),
                    // The drawing knows how many lines there are and have room.
                    _ => usize::MAX,
                };
                self.line = moved(self.line, code).unwrap_or(self.line).min(last);
            }
        }
    }

    fn uncover(&mut self) {
        self.over = None;
        (self.wanted.task, self.wanted.names) = (None, None);
    }

    fn type_key(&mut self, code: KeyCode) {
        let Some(typed) = &mut self.typed else { return };
        match code {
            KeyCode::Enter => {
                self.wanted.filter.search = self.typed.take().filter(|text| !text.is_empty());
            }
            KeyCode::Esc => self.typed = None,
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Char(character) => typed.push(character),
            _ => {}
        }
    }
}

/// Returns where a key leads from a line.
fn moved(from: usize, code: KeyCode) -> Option<usize> {
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => from.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => from.saturating_add(1),
        KeyCode::PageUp => from.saturating_sub(PAGE),
        KeyCode::PageDown => from.saturating_add(PAGE),
        KeyCode::Home => 0,
        KeyCode::End => usize::MAX,
        _ => return None,
    })
}
