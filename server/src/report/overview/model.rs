//! The data of an overview: plain values that the command collects. Texts are as stored; times and ids are as people read them.

use crate::report::html::Html;
use crate::verification::judgement::Judgement;

/// The most tasks in a column of the board.
pub const MOST_CARDS: usize = 50;
/// The most tasks in the picture of dependencies.
pub const MOST_DRAWN: usize = 200;
/// The most decisions.
pub const MOST_DECISIONS: usize = 200;
/// The most sessions.
pub const MOST_SESSIONS: usize = 100;
/// The most nodes of a domain.
pub const MOST_NODES: usize = 20;

/// An overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// The release that made it.
    pub version: String,
    /// The time at which it was made.
    pub made_at: String,
    /// The name of the database.
    pub database: String,
    /// The beginning of its period.
    pub since: String,
    /// The zone of all times.
    pub zone: String,
    /// What is known of the database's integrity.
    pub judged: Judgement,
    /// The board.
    pub tasks: Part<Tasks>,
    /// Which tasks wait for which.
    pub dependencies: Part<Dependencies>,
    /// The calls of the period.
    pub calls: Part<Calls>,
    /// The decisions of the period.
    pub decisions: Part<Decisions>,
    /// The newest sessions.
    pub sessions: Part<Sessions>,
    /// The best nodes of each domain that has any.
    pub standing: Part<Vec<Standing>>,
}

/// A part of the page, or the reason why a damaged database does not give it.
pub type Part<T> = Result<T, String>;

/// The board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    /// Open tasks that are free and wait for nothing.
    pub ready: i64,
    /// Open tasks that an agent holds.
    pub held: i64,
    /// Open tasks that are free and wait.
    pub blocked: i64,
    /// The states of open tasks.
    pub open: Vec<Column>,
    /// The states of finished tasks, without their tasks.
    pub finished: Vec<Column>,
}

/// A state with its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The state.
    pub state: &'static str,
    /// How many tasks are in it.
    pub count: i64,
    /// The most urgent of them, at most [`MOST_CARDS`].
    pub cards: Vec<Card>,
}

/// A task on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its short id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its group, which is also the name of its style.
    pub group: &'static str,
    /// Priority, project and assignee, as far as they are known.
    pub facts: Vec<String>,
    /// Who holds it, or what it waits for.
    pub obstacle: Option<String>,
}

/// Which tasks wait for which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependencies {
    /// How many tasks are drawn.
    pub drawn: usize,
    /// How many are left out.
    pub left_out: usize,
    /// The picture.
    pub picture: Html,
}

/// The calls of the period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// How long a bar lasts, in words.
    pub step: String,
    /// The bars in the order of time, without calls, too.
    pub bars: Vec<Bar>,
    /// The times at the beginning, in the middle and at the end of the bars.
    pub axis: Vec<String>,
    /// All calls of the period. A call is a row of the log.
    pub total: Ends,
    /// Those of them by which the server stored a new caller.
    pub callers: i64,
}

/// The calls of one bar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bar {
    /// Where it begins.
    pub from: String,
    /// How its calls ended.
    pub calls: Ends,
}

/// How calls ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ends {
    /// Well.
    pub done: i64,
    /// With an error: they failed or were refused.
    pub refused: i64,
    /// Not at all: they run, their server has died, or another server asks for input or continues in a task.
    pub unfinished: i64,
}

impl Ends {
    /// Returns how many calls there are.
    pub fn total(self) -> i64 {
        self.done + self.refused + self.unfinished
    }
}

/// The decisions of the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decisions {
    /// How many there are.
    pub total: i64,
    /// The newest, newest first.
    pub shown: Vec<Decision>,
    /// What is to be noticed of all agents of the period.
    pub notes: Vec<String>,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// When it was recorded.
    pub at: String,
    /// Who decided.
    pub who: String,
    /// The task's short id.
    pub task: String,
    /// The task's title at that time; `None` if the id is not a task's, because any work may have a trail.
    pub title: Option<String>,
    /// What was decided; `None` if the content is pruned or damaged.
    pub content: Option<String>,
}

/// The newest sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// How many sessions are open, shown or not.
    pub open: i64,
    /// Newest first.
    pub shown: Vec<Session>,
    /// There are older ones.
    pub more: bool,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its short id.
    pub id: String,
    /// Whether it is sealed.
    pub state: &'static str,
    /// How many records it has.
    pub records: String,
    /// When it was started.
    pub started: String,
    /// What it is for.
    pub intent: String,
    /// The short id of its task.
    pub task: String,
    /// What seals it.
    pub seal: String,
}

/// The best nodes of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The domain.
    pub domain: &'static str,
    /// The best first.
    pub nodes: Vec<Node>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id.
    pub id: String,
    /// Its score in basis points, after decay.
    pub score: i64,
    /// It is banned at present.
    pub banned: bool,
}
