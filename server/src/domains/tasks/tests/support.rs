//! A migrated database with a clock and ids that a test controls.

use colibri_store::params;
use std::cell::Cell;
use std::path::Path;

use crate::catalogue::{Task, TaskStatus, TaskUpdateError};
use crate::domains::tasks::input::{NewTask, QueueFilter, Stamp, TaskPatch};
use crate::domains::tasks::service;
use crate::migrations::MIGRATIONS;
use colibri_runtime::handler::{Failure, Outcome};
use colibri_runtime::kernel::rfc3339_ms;
use colibri_store::db::{Db, Value};
use colibri_store::sqlite::open::migrate::migrate;
use rusqlite::Connection;

/// Midnight of 2026-01-01, UTC.
pub const START_MS: i64 = 1_767_225_600_000;

/// A database in memory with every migration applied and the pragmas of store#settings.
pub fn connection() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA trusted_schema = OFF;",
        )
        .unwrap();
    migrate(&connection, MIGRATIONS, Path::new(":memory:")).unwrap();
    connection
}

/// The engine under test.
pub struct Engine {
    pub db: Db,
    pub now_ms: Cell<i64>,
    calls: Cell<i64>,
}

impl Engine {
    pub fn new() -> Self {
        Self { db: Db::new(connection()), now_ms: Cell::new(START_MS), calls: Cell::new(0) }
    }

    pub fn stamped<T>(&self, work: impl FnOnce(Stamp<'_>) -> T) -> T {
        self.calls.set(self.calls.get() + 1);
        let entered_ms = self.now_ms.get();
        work(Stamp { now: &rfc3339_ms(entered_ms), entered_ms, sequence_no: Some(self.calls.get()) })
    }

    pub fn calls(&self) -> i64 {
        self.calls.get()
    }

    pub fn try_create(&self, new: NewTask) -> Outcome<Task, crate::catalogue::TaskCreateError> {
        let id = format!("00000000-0000-7000-8000-{:012x}", self.calls.get() + 1);
        self.stamped(|stamp| service::create_task(&self.db, id, stamp, new))
    }

    pub fn create(&self, new: NewTask) -> Task {
        self.try_create(new).unwrap()
    }

    pub fn task(&self, title: &str) -> Task {
        self.create(NewTask::titled(title))
    }

    pub fn task_in(&self, status: TaskStatus) -> Task {
        match status {
            // No task is created finished; it is walked there.
            TaskStatus::Done => {
                let task = self.create(NewTask { status: TaskStatus::Verify, ..NewTask::titled("finished") });
                self.think(&task.id);
                self.go(&task.id, TaskStatus::Done).unwrap()
            }
            _ => self.create(NewTask { status, ..NewTask::titled(status.to_string()) }),
        }
    }

    pub fn update(&self, id: &str, patch: TaskPatch) -> Outcome<Task, TaskUpdateError> {
        self.stamped(|stamp| service::update_task(&self.db, id, stamp, (&patch, None), None))
    }

    pub fn go(&self, id: &str, status: TaskStatus) -> Outcome<Task, TaskUpdateError> {
        self.update(id, TaskPatch { status: Some(status), ..TaskPatch::default() })
    }

    pub fn wait_for(&self, id: &str, others: &[&str]) -> Outcome<Task, TaskUpdateError> {
        let depends_on = Some(others.iter().map(|id| (*id).to_owned()).collect());
        self.update(id, TaskPatch { depends_on, ..TaskPatch::default() })
    }

    /// Marks a task as deleted. No tool does; the schema can, and every operation respects it.
    pub fn delete(&self, id: &str) {
        self.db.execute("UPDATE tasks SET deleted_at = updated_at WHERE id = ?1", params![id]).unwrap();
    }

    /// Counts finished tasks without a thought record, deleted ones too.
    pub fn orphans(&self) -> i64 {
        let sql = "SELECT count(*) FROM tasks WHERE status = 'DONE' \
                   AND id NOT IN (SELECT task_id FROM thought_records)";
        self.db.query_one(sql, &[], |row| row.get(0)).unwrap()
    }

    pub fn get(&self, id: &str) -> Option<Task> {
        service::get_task(&self.db, id).unwrap()
    }

    /// Titles of the queue, with the counts of actionable and blocked tasks.
    pub fn queue(&self) -> (Vec<String>, i64, i64) {
        let queue = service::next_actions::<Task>(&self.db, &QueueFilter::default()).unwrap();
        (queue.tasks.into_iter().map(|task| task.title).collect(), queue.actionable, queue.blocked)
    }

    /// A thought record for the task, outside any session.
    pub fn think(&self, task_id: &str) {
        let number =
            self.db.query_one("SELECT count(*) FROM thought_records", &[], |row| row.get::<i64>(0)).unwrap();
        let id = format!("00000000-0000-7000-9000-{number:012x}");
        self.db
            .execute(
                "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
                 VALUES (?1, 'reflection', ?2, 'tester', 'done', 't', coalesce((SELECT hash FROM thought_records \
                 WHERE task_id = ?2 ORDER BY seq DESC LIMIT 1), ?3), ?4, 't')",
                params![id, task_id, "0".repeat(64), format!("{:064x}", number + 1)],
            )
            .unwrap();
    }

    /// Everything stored of tasks and their dependencies, value by value.
    pub fn dump(&self) -> Vec<Vec<String>> {
        let rows = |sql: &str| {
            self.db
                .query_all(sql, &[], |row| {
                    Ok((0..)
                        .map_while(|column| row.get::<Value>(column).ok())
                        .map(|value| format!("{value:?}"))
                        .collect())
                })
                .unwrap()
        };
        let mut all: Vec<Vec<String>> = rows("SELECT rowid, * FROM tasks ORDER BY rowid");
        all.extend(rows("SELECT rowid, * FROM task_dependencies ORDER BY rowid"));
        all
    }
}

/// The declared error a refusal carries.
pub fn refusal<T: std::fmt::Debug, E: std::fmt::Debug>(outcome: Outcome<T, E>) -> E {
    match outcome {
        Err(Failure::Domain(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

impl NewTask {
    /// Makes a task in the first state with only a title.
    pub fn titled(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            status: TaskStatus::Init,
            project_id: None,
            description: None,
            priority: None,
            assignee: None,
            depends_on: Vec::new(),
        }
    }
}
