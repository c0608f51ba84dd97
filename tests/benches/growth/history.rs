//! A history as the server itself would have written it: each task and each thought with the call that made it, all
//! hashes by the server's own functions, ids and times from its own clock and ids. It passes
//! `colibri verify`.
//!
//! A thread of its own makes and hashes the calls while this one stores them.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use colibri::catalogue::{Task, TaskStatus, ThoughtRecordOutput};
use colibri::domains::ties::Reply;
use colibri_canonical::HexDigest;
use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_proof::log_row::ClosedRow;
use colibri_proof::record::{THOUGHT_TYPES, ThoughtRecord, compute_hash};
use colibri_runtime::kernel::{Clock, Ids, SystemClock, SystemIds, rfc3339_ms};
use colibri_test_support::dice::Dice;
use serde::Serialize;
use serde_json::{Value, json};

use super::store::Loading;

/// The session that all thoughts are bound to.
pub const SESSION: &str = "growth";
/// Thoughts for each chain, on the average.
const PER_CHAIN: i64 = 100;
/// Projects that the tasks are spread over.
const PROJECTS: u64 = 100;
/// Calls that go to the storing thread together.
const CHUNK: usize = 5_000;
/// Chunks that are made ahead.
const AHEAD: usize = 4;

/// How many rows there are, or are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Tasks, each with a call of its own.
    pub tasks: i64,
    /// Thoughts, each with a call of its own.
    pub thoughts: i64,
}

impl Extent {
    fn calls(self) -> i64 {
        self.tasks + self.thoughts
    }
}

/// Where the log ends.
#[derive(Debug, Clone, Copy)]
pub struct LogEnd {
    /// The last number given to a call.
    pub sequence_no: i64,
    /// The last number given to a closed row.
    pub exit_no: i64,
    /// That row's hash.
    pub row_hash: HexDigest,
}

/// Where the chain of a task ends.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The task.
    pub task_id: String,
    /// Its records.
    pub length: i64,
    /// The last one's id.
    pub tip_id: String,
    /// The last one's hash.
    pub tip_hash: HexDigest,
}

/// What a call has left besides its row in the log.
pub enum Effect {
    /// A task.
    Task(Task),
    /// A thought at the end of its chain.
    Thought(ThoughtRecord),
}

impl Effect {
    /// The id of the row, which the log calls the call's subject.
    pub fn id(&self) -> &str {
        match self {
            Self::Task(task) => &task.id,
            Self::Thought(record) => &record.id,
        }
    }
}

/// A call that has ended well: a closed row of the log and its effect. Enter and exit fall into one millisecond.
#[allow(missing_docs)] // The columns of the log, under their names.
pub struct Call {
    pub sequence_no: i64,
    pub correlation_id: String,
    pub boot_id: String,
    pub request_id: String,
    pub tool: &'static str,
    pub args_hash: String,
    pub at: String,
    pub enter_ms: i64,
    pub result_hash: HexDigest,
    pub exit_no: i64,
    pub prev_hash: HexDigest,
    pub row_hash: HexDigest,
    pub effect: Effect,
}

/// The mode of the server that is supposed to have run the calls.
pub const MODE: &str = "FULL";

/// What has been stored so far, as far as the next calls depend on it.
pub struct History {
    /// Rows.
    pub extent: Extent,
    /// The end of the log.
    pub log: LogEnd,
    /// The ends of all chains, in the order of their names.
    pub chains: Vec<Chain>,
}

/// The name of a chain. Padded, so that names are in the order of numbers.
pub fn chain_name(number: usize) -> String {
    format!("trail-{number:06}")
}

/// A project, chosen by a random number.
pub fn project_name(random: u64) -> String {
    format!("project-{:02}", random % PROJECTS)
}

/// Grows a database that a server has made to an extent, and returns how many calls that took. Their times are spread over this
/// long before now. No other process may use it.
pub fn grow(database: &Path, target: Extent, span: Duration) -> i64 {
    let loading = Loading::begin(database);
    let mut history = loading.history();
    let before = history.log.exit_no;
    let (sender, chunks) = sync_channel::<Vec<Call>>(AHEAD);
    std::thread::scope(|scope| {
        let making = scope.spawn(|| {
            let sender = sender;
            let mut maker = Maker::new(&mut history, target, span);
            loop {
                let chunk: Vec<Call> = std::iter::from_fn(|| maker.next()).take(CHUNK).collect();
                if chunk.is_empty() || sender.send(chunk).is_err() {
                    return;
                }
            }
        });
        for chunk in chunks {
            loading.store(&chunk);
        }
        making.join().expect("calls are made");
    });
    let made = history.log.exit_no - before;
    loading.finish(&history);
    made
}

/// Makes one call after the other.
struct Maker<'a> {
    history: &'a mut History,
    clock: SystemClock,
    ids: SystemIds,
    boot_id: String,
    dice: Dice,
    target: Extent,
    /// Milliseconds from one call to the next.
    pace: f64,
}

impl<'a> Maker<'a> {
    fn new(history: &'a mut History, target: Extent, span: Duration) -> Self {
        let missing = target.calls() - history.extent.calls();
        let pace = span.as_millis() as f64 / missing.max(1) as f64;
        let (clock, mut ids) = (SystemClock::default(), SystemIds::default());
        let boot_id = ids.v7(clock.wall_ms());
        let dice = Dice::new(history.log.exit_no.unsigned_abs());
        Self { history, clock, ids, boot_id, dice, target, pace }
    }

    /// The time of the next call.
    fn wall_ms(&self) -> i64 {
        let missing = self.target.calls() - self.history.extent.calls();
        self.clock.wall_ms() - (missing as f64 * self.pace) as i64
    }

    /// The next call; `None` when the target is reached. Tasks and thoughts keep their proportion all the way.
    fn next(&mut self) -> Option<Call> {
        let (now, target) = (self.history.extent, self.target);
        let task_is_due = now.tasks * target.thoughts <= now.thoughts * target.tasks;
        match (now.tasks < target.tasks, now.thoughts < target.thoughts) {
            (false, false) => None,
            (true, thoughts) if task_is_due || !thoughts => Some(self.task()),
            (_, true) => Some(self.thought()),
            (true, false) => Some(self.task()),
        }
    }

    fn task(&mut self) -> Call {
        let wall_ms = self.wall_ms();
        let at = rfc3339_ms(wall_ms);
        let id = self.ids.v7(wall_ms);
        let project_id = project_name(self.dice.roll());
        let title = format!("Task {}: see that every append reads the tip", self.history.extent.tasks + 1);
        let priority = ["critical", "high", "medium", "low"][self.dice.place(4)];
        let arguments = json!({ "title": title, "project_id": project_id, "priority": priority });
        let task = Task {
            task_id: id.clone(),
            id,
            project_id: Some(project_id),
            title,
            description: None,
            status: TaskStatus::Init,
            priority: Some(priority.to_owned()),
            assignee: None,
            created_at: at.clone(),
            updated_at: at.clone(),
            deleted_at: None,
            depends_on: None,
            held: None,
        };
        self.history.extent.tasks += 1;
        let result = result_hash(&task);
        self.call("task_create", &arguments, result, at, Effect::Task(task))
    }

    fn thought(&mut self) -> Call {
        let wall_ms = self.wall_ms();
        let at = rfc3339_ms(wall_ms);
        let number = self.history.extent.thoughts + 1;
        let place = self.place(number);
        let id = self.ids.v7(wall_ms);
        let chain = &mut self.history.chains[place];
        let mut record = ThoughtRecord {
            id,
            kind: THOUGHT_TYPES[self.dice.place(4)],
            task_id: chain.task_id.clone(),
            agent_id: format!("agent-{}", self.dice.place(8)),
            content: format!("Thought {number}: the invariant holds, for the tip is read where it is moved."),
            timestamp: at.clone(),
            prev_hash: chain.tip_hash,
            hash: HexDigest::ZERO,
            session_id: Some(SESSION.to_owned()),
        };
        record.hash = compute_hash(&record);
        chain.length += 1;
        chain.tip_id.clone_from(&record.id);
        chain.tip_hash = record.hash;
        self.history.extent.thoughts = number;
        let arguments = json!({
            "type": record.kind.as_str(), "task_id": record.task_id, "agent_id": record.agent_id,
            "content": record.content, "session_id": SESSION,
        });
        let result = result_hash(&ThoughtRecordOutput::from(record.clone()));
        self.call("thought_record", &arguments, result, at, Effect::Thought(record))
    }

    /// The chain of the thought with that number: a new one for every hundredth, otherwise any that there is.
    fn place(&mut self, number: i64) -> usize {
        let chains = &mut self.history.chains;
        let due = usize::try_from((number - 1) / PER_CHAIN + 1).expect("a number of chains");
        if chains.len() < due {
            let task_id = chain_name(chains.len());
            chains.push(Chain { task_id, length: 0, tip_id: String::new(), tip_hash: HexDigest::ZERO });
            return chains.len() - 1;
        }
        self.dice.place(chains.len())
    }

    /// Enters and closes a call in the log.
    fn call(
        &mut self,
        tool: &'static str,
        arguments: &Value,
        result_hash: HexDigest,
        at: String,
        effect: Effect,
    ) -> Call {
        let log = &mut self.history.log;
        let mut call = Call {
            sequence_no: log.sequence_no + 1,
            correlation_id: self.ids.v4(),
            boot_id: self.boot_id.clone(),
            request_id: (log.sequence_no + 1).to_string(),
            tool,
            args_hash: args_hash(arguments),
            at,
            enter_ms: self.clock.monotonic_ms() as i64,
            result_hash,
            exit_no: log.exit_no + 1,
            prev_hash: log.row_hash,
            row_hash: HexDigest::ZERO,
            effect,
        };
        call.row_hash = row_hash(&call);
        *log = LogEnd { sequence_no: call.sequence_no, exit_no: call.exit_no, row_hash: call.row_hash };
        call
    }
}

/// The hash of a row as it will be stored.
fn row_hash(call: &Call) -> HexDigest {
    let row = ClosedRow {
        args_hash: &call.args_hash,
        boot_id: &call.boot_id,
        correlation_id: &call.correlation_id,
        duration_ms: Some(0),
        enter_ms: call.enter_ms,
        entered_at: &call.at,
        error_code: None,
        error_message: None,
        exit_no: call.exit_no,
        exited_at: &call.at,
        mode: MODE,
        outcome: "ok",
        prev_hash: call.prev_hash.as_str(),
        request_id: Some(&call.request_id),
        result_hash: Some(call.result_hash.as_str()),
        sequence_no: call.sequence_no,
        subject: Some(call.effect.id()),
        tool: call.tool,
        trace_context: None,
    };
    row.hash()
}

/// The hash of the reply that carries this.
fn result_hash(output: &impl Serialize) -> HexDigest {
    match Reply::of(output) {
        Reply::Hash(hash) => hash,
        other => panic!("a reply without a hash: {other:?}"),
    }
}

fn args_hash(arguments: &Value) -> String {
    sha256_hex(canonical_json(arguments, NumberRule::Wire).expect("canonical").as_bytes())
}
