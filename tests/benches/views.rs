//! What the views for people cost beside the bare SQL of the same rows, on a database of 100,000 tasks and 1,000,000 calls.
//!
//!     cargo bench -p colibri-tests --bench views -- [TASKS] [CALLS]
//!
//! Makes a history of CALLS calls over 30 days, TASKS of which made a task. A server then adds 1,000 dependencies, 200 claims and 200 sealed
//! sessions. Takes turns, seven rounds: `colibri --version`, the view, and its statements in this process, caches warm. A view's time is
//! that of the command less that of `--version`. Prints medians with the bound, and exits with 1 when a view breaks its own.
//! Before that, each view is printed at 60, 80 and 200 columns of a terminal, with colour and without: no line is wider.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "growth/history.rs"]
mod history;
#[path = "growth/store.rs"]
mod store;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::pty::{shown, widest};
use rusqlite::Connection;
use serde_json::{Value, json};

use self::history::{Extent, SESSION, grow};

const ROUNDS: usize = 7;
const SPAN: Duration = Duration::from_secs(30 * 24 * 3600);
/// The page of `overview`, in the folder of the database.
const PAGE: &str = "overview.html";
const OPEN: &str = "t.deleted_at IS NULL AND t.status NOT IN ('DONE', 'CANCELLED')";
const BRIEF: &str = "t.id, t.title, t.status, t.priority, t.assignee, t.project_id, t.updated_at";

/// A view with the statements that read its rows, and what it may take of their time.
struct View {
    arguments: Vec<String>,
    sql: Vec<String>,
    times: f64,
    more: Duration,
}

impl View {
    fn new(arguments: &[&str], sql: Vec<String>) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { arguments, sql, times: 3.0, more: Duration::from_millis(20) }
    }

    fn large(self) -> Self {
        Self { times: 5.0, more: Duration::from_millis(50), ..self }
    }
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<i64>().ok());
    let (tasks, calls) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(1_000_000));
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_DURABILITY", "normal");
    let folder = launch.folder();
    let mut server = launch.start();
    server.data("audit_session_start", json!({ "intent": "grow", "session_id": SESSION }));
    let database = server.database();
    assert_eq!(server.finish().code(), 0);
    grow(&database, Extent { tasks, thoughts: calls - tasks }, SPAN);
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .in_folder(folder)
        .env("COLIBRI_DURABILITY", "normal")
        .start();
    let busy = tie(&mut server);
    let views = views(&busy, &database);
    views
        .iter()
        .filter(|view| !matches!(view.arguments[0].as_str(), "graph" | "overview"))
        .for_each(|view| fits(view, &database));
    let sound = views.iter().map(|view| measure(view, &database)).fold(true, |all, one| all & one);
    drop(server);
    ExitCode::from(u8::from(!sound))
}

/// Makes tasks wait, lets agents hold some, and seals sessions. Returns the busiest task.
fn tie(server: &mut Server) -> String {
    let listed = server.data("task_list", json!({ "limit": 100, "detail": "brief" }));
    let found: Vec<Value> =
        listed["brief"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
    for task in &found {
        for other in &found[..10] {
            if task != other {
                let name = format!("waits for {other}");
                server.data("task_create", json!({ "title": name, "depends_on": [task, other] }));
            }
        }
    }
    for number in 0..200 {
        let agent = format!("agent-{number}");
        let held = server.data("task_claim", json!({ "agent_id": agent, "lease_seconds": 86_400 }));
        let session = format!("session-{number}");
        server.data("audit_session_start", json!({ "session_id": session, "intent": "seal" }));
        let thought = json!({
            "type": "decision", "task_id": held["task"]["id"], "agent_id": agent, "content": "It is done.", "session_id": session,
        });
        server.data("thought_record", thought);
        server.data("merkle_finalize", json!({ "session_id": session }));
    }
    let busy = found[0].clone();
    for number in 0..30 {
        server.data("task_update", json!({ "id": busy, "title": format!("The busiest task, {number}") }));
        let thought = json!({ "type": "plan", "task_id": busy, "agent_id": "a", "content": "More.", "session_id": SESSION });
        server.data("thought_record", thought);
    }
    busy.as_str().unwrap().to_owned()
}

fn views(task: &str, database: &Path) -> Vec<View> {
    let conn = Connection::open(database).unwrap();
    let waits = "EXISTS (SELECT 1 FROM task_dependencies AS d JOIN tasks AS b ON b.id = d.depends_on_id WHERE d.task_id = t.id AND b.status <> 'DONE')";
    let held = "EXISTS (SELECT 1 FROM task_claims AS h WHERE h.task_id = t.id AND h.released_at IS NULL)";
    let order = "ORDER BY t.priority, t.rowid";
    let counts = format!(
        "SELECT count(*), count(*) FILTER (WHERE {OPEN}), count(*) FILTER (WHERE {OPEN} AND {held}), \
         count(*) FILTER (WHERE {OPEN} AND {waits}) FROM tasks AS t"
    );
    let list =
        |limit| format!("SELECT {BRIEF}, {held}, {waits} FROM tasks AS t WHERE {OPEN} {order} LIMIT {limit}");
    let by = |table: &str, column: &str, rest: &str| {
        format!("SELECT * FROM {table} WHERE {column} = '{task}' {rest}")
    };
    let ties = format!(
        "SELECT d.task_id, d.depends_on_id FROM task_dependencies AS d JOIN tasks AS t ON t.id = d.task_id WHERE {OPEN}"
    );
    let since = |sql: &str| -> i64 { conn.query_row(sql, [], |row| row.get(0)).unwrap() };
    // The session itself is as old as the server that began it, so the log does not begin with its oldest call.
    let hour = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour')";
    let call = since(&format!("SELECT max(sequence_no) + 1 FROM actions WHERE entered_at < {hour}"));
    // A clock may have been set back, so the view looks at 10,000 older calls, too.
    let walk = format!(
        "SELECT sequence_no, entered_at FROM actions WHERE sequence_no >= {} ORDER BY sequence_no DESC",
        call - 10_000
    );
    let log = format!(
        "SELECT a.sequence_no, a.tool, a.entered_at, a.outcome, a.error_code, a.error_message, a.subject, t.title, r.type, r.agent_id, \
         r.content, r.task_id, e.kind, e.from_status, e.to_status, e.changes \
         FROM actions AS a LEFT JOIN tasks AS t ON t.id = a.subject LEFT JOIN thought_records AS r ON r.id = a.subject \
         LEFT JOIN task_events AS e ON e.task_id = a.subject AND e.sequence_no = a.sequence_no \
         WHERE a.sequence_no >= {call} ORDER BY a.sequence_no"
    );
    let sessions = "SELECT s.*, (SELECT count(*) FROM thought_records AS r WHERE r.session_id = s.session_id), h.head_hash \
                    FROM audit_sessions AS s LEFT JOIN tree_heads AS h ON h.session_id = s.session_id ORDER BY s.started_at DESC LIMIT 100";
    let week = "SELECT substr(entered_at, 1, 13), count(*), count(*) FILTER (WHERE error_code IS NOT NULL) FROM actions \
                WHERE entered_at >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days') GROUP BY 1"
        .to_owned();
    let decisions = "SELECT id, type, timestamp FROM thought_records \
                     WHERE timestamp >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days')"
        .to_owned();
    let whole_task = vec![
        format!("SELECT id FROM tasks WHERE id LIKE '%{}'", &task[28..]),
        by("tasks", "id", ""),
        by("task_dependencies", "task_id", ""),
        by("task_dependencies", "depends_on_id", ""),
        by("task_events", "task_id", "ORDER BY event_no DESC LIMIT 20"),
        by("thought_records", "task_id", "ORDER BY seq DESC LIMIT 20"),
    ];
    vec![
        View::new(&["tasks"], vec![list(100), counts.clone()]),
        View::new(&["task", &task[28..]], whole_task),
        View::new(&["sessions"], vec![sessions.to_owned()]),
        View::new(&["next"], vec![list(20), counts.clone()]),
        View::new(&["board", "--once"], vec![list(100_000_000), counts.clone()]),
        View::new(&["timeline", "--since", "1h"], vec![walk, log]),
        View::new(&["graph"], vec![ties.clone(), list(500)]).large(),
        View::new(
            &["overview", "--no-verify", "--html", PAGE],
            vec![counts, list(200), ties, week, decisions, sessions.to_owned()],
        )
        .large(),
    ]
}

/// Prints a view on terminals: no line is wider, with colour or without.
fn fits(view: &View, database: &Path) {
    for columns in [60, 80, 200] {
        for plain in ["", "1"] {
            let mut command = command(database, &view.arguments);
            command.env("NO_COLOR", plain);
            let (status, shown) = shown(&command, columns);
            let wide = widest(&shown);
            assert!(
                status.success() && wide <= columns.into(),
                "{:?}: {wide} of {columns} columns",
                view.arguments
            );
            assert!(plain.is_empty() || !shown.contains('\u{1b}'), "{:?}", view.arguments);
        }
    }
}

/// Times a view, and returns whether it keeps its bound.
fn measure(view: &View, database: &Path) -> bool {
    let (mut bare, mut took) = (Vec::new(), Vec::new());
    for _ in 0..=ROUNDS {
        // As new to the file as the command is.
        bare.push(read(&Connection::open(database).unwrap(), &view.sql));
        let start = run(database, &["--version".to_owned()]);
        took.push(run(database, &view.arguments).saturating_sub(start));
    }
    let [bare, took] = [bare, took].map(|mut times| median(times.split_off(1)));
    let bound = bare.mul_f64(view.times) + view.more;
    let verdict = if took <= bound { "" } else { "   BROKEN" };
    println!(
        "{:26} {took:>9.1?}   SQL {bare:>9.1?}   at most {bound:>9.1?}{verdict}",
        view.arguments.join(" ")
    );
    took <= bound
}

/// Reads every column of every row.
fn read(conn: &Connection, sql: &[String]) -> Duration {
    let began = Instant::now();
    for sql in sql {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                std::hint::black_box(row.get_ref(column).unwrap());
            }
        }
    }
    began.elapsed()
}

fn run(database: &Path, arguments: &[String]) -> Duration {
    let began = Instant::now();
    let status = command(database, arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{arguments:?}");
    began.elapsed()
}

fn command(database: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let folder = database.parent().unwrap();
    let _ = std::fs::remove_file(folder.join(PAGE));
    command.args(arguments).current_dir(folder).env("COLIBRI_DB_PATH", database);
    command
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
