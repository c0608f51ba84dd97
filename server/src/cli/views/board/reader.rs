//! Reads the database in a thread of its own, so that keys are answered while it does not answer. It reads when another question is
//! asked, when the database has changed, and when a lease has ended. Between two looks no transaction is open.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use colibri_runtime::kernel::ms_of_rfc3339;

use crate::cli::Failure;
use crate::cli::moments::Clock;
use crate::cli::source::{Seen, Source};
use crate::cli::views::{Look, Screen, task};
use crate::domains::tasks::shown::Filter;
use crate::domains::tasks::shown::columns::{Field, StateColumn, columns, names};
use colibri_store::db::Db;

/// How often the database is asked whether it has changed.
const POLL: Duration = Duration::from_millis(500);
/// How long after a change a file is read at each look. Files note the time of a change in steps, and a change in the same step as
/// an earlier one does not show.
const UNSETTLED: Duration = Duration::from_millis(1_200);
/// Without any sign of a change, the database is read this often.
const AT_LEAST: Duration = Duration::from_secs(30);

/// What is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub filter: Filter,
    /// All of this task, too.
    pub task: Option<String>,
    /// The names that the tasks have in this field, too.
    pub names: Option<Field>,
}

/// What was read.
#[derive(Debug)]
pub struct Answer {
    pub of: Wanted,
    pub columns: Vec<StateColumn>,
    /// The lines of the task.
    pub task: Option<Vec<String>>,
    pub names: Option<Vec<String>>,
}

/// What the thread tells.
#[derive(Debug)]
pub enum Told {
    Read(Box<Answer>),
    /// The database could not be read. The next look tries again.
    Trouble(String),
    /// It was looked at, and nothing has changed.
    Same,
}

/// The thread's two ends. It ends when they are dropped.
pub struct Reader {
    pub ask: Sender<Wanted>,
    pub told: Receiver<Told>,
}

impl Reader {
    /// Starts the thread with a first question.
    ///
    /// # Errors
    /// The operating system has no thread for it.
    pub fn start(source: Source, clock: Clock, wanted: Wanted) -> io::Result<Self> {
        let (ask, asked) = channel();
        let (tell, told) = channel();
        let reading = Reading { source, kept: None, clock, wanted, seen: None, lease: None, tell };
        thread::Builder::new().name("reader".to_owned()).spawn(move || reading.run(&asked))?;
        Ok(Self { ask, told })
    }
}

struct Reading {
    source: Source,
    /// A connection to a server, which is kept.
    kept: Option<Db>,
    clock: Clock,
    wanted: Wanted,
    /// How the database looked at the last look, and when it began to look so.
    seen: Option<(Seen, Instant)>,
    /// When the next of the shown leases ends, in milliseconds since the Unix epoch.
    lease: Option<i64>,
    tell: Sender<Told>,
}

impl Reading {
    fn run(mut self, asked: &Receiver<Wanted>) {
        let mut read_at: Option<Instant> = None;
        let mut is_new = true;
        loop {
            let told = match self.look(is_new || read_at.is_none_or(|at| at.elapsed() > AT_LEAST)) {
                Ok(Some(answer)) => {
                    read_at = Some(Instant::now());
                    Told::Read(Box::new(answer))
                }
                Ok(None) => Told::Same,
                Err(failure) => {
                    (self.kept, self.seen, read_at) = (None, None, None);
                    Told::Trouble(words(failure))
                }
            };
            if self.tell.send(told).is_err() {
                return;
            }
            is_new = match asked.recv_timeout(POLL) {
                Ok(wanted) => {
                    // Of several questions only the last one counts.
                    self.wanted = asked.try_iter().last().unwrap_or(wanted);
                    true
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return,
            };
        }
    }

    /// Reads the database, if it must be or if it has changed.
    fn look(&mut self, must: bool) -> Result<Option<Answer>, Failure> {
        self.clock = self.clock.again();
        // Seen before it is read: what changes meanwhile is seen at the next look.
        let seen = self.source.seen(self.kept.as_ref())?;
        let since = match &self.seen {
            Some((before, since)) if Some(before) == seen.as_ref() => Some(*since),
            _ => None,
        };
        let is_settled =
            |since: Instant| seen.as_ref().is_some_and(Seen::is_exact) || since.elapsed() > UNSETTLED;
        let lease_ended = self.lease.is_some_and(|end| end <= self.clock.now_ms());
        if since.is_some_and(is_settled) && !must && !lease_ended {
            return Ok(None);
        }
        let db = self.source.begin(self.kept.take())?;
        let look = Look { db, clock: self.clock.clone(), screen: Screen::default(), json: false };
        let answer = read(&look, &self.wanted)?;
        self.lease = next_lease(&answer, &self.clock);
        self.kept = self.source.end(look.db)?;
        self.seen = seen.map(|seen| (seen, since.unwrap_or_else(Instant::now)));
        Ok(Some(answer))
    }
}

fn read(look: &Look, wanted: &Wanted) -> Result<Answer, Failure> {
    let columns = columns(&look.db, &wanted.filter, look.clock.now_ms())?;
    let task = wanted.task.as_deref().map(|id| task::lines(id, look)).transpose()?;
    let names = wanted.names.map(|field| names(&look.db, field)).transpose()?;
    Ok(Answer { of: wanted.clone(), columns, task, names })
}

fn next_lease(answer: &Answer, clock: &Clock) -> Option<i64> {
    let held =
        answer.columns.iter().flat_map(|column| &column.tasks).filter_map(|shown| shown.task.held.as_ref());
    held.filter_map(|held| ms_of_rfc3339(&held.until)).filter(|end| *end > clock.now_ms()).min()
}

/// Returns what a failure says, for the last line of the board.
fn words(failure: Failure) -> String {
    match failure {
        Failure::Failed(text) | Failure::Usage(text) => text,
        Failure::Output(error) => error.to_string(),
        Failure::Finding | Failure::Unconfirmed | Failure::BadInput | Failure::Interrupted(_) => {
            "the database cannot be read".to_owned()
        }
    }
}
