//! What the file holds at the end, as the checks read it.

use colibri_test_support::sql::{Connection, Error, Row};

/// A row of the audit log.
#[derive(Debug, Clone)]
pub struct Entry {
    pub sequence_no: i64,
    pub correlation_id: String,
    pub boot_id: String,
    pub tool: String,
    pub args_hash: String,
    pub outcome: String,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub result_hash: Option<String>,
    pub exit_no: Option<i64>,
    pub subject: Option<String>,
}

/// A row of tasks, with what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub status: String,
    pub project_id: Option<String>,
    pub description: Option<String>,
    pub priority: Option<String>,
    pub assignee: Option<String>,
    /// The call that changed it last.
    pub sequence_no: i64,
    pub depends_on: Vec<String>,
}

/// A row of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    pub id: String,
    pub task_id: String,
    pub agent_id: String,
    pub kind: String,
    pub content: String,
    pub session_id: String,
    pub sequence_no: i64,
    pub prev_hash: String,
    pub hash: String,
}

fn all<T>(conn: &Connection, sql: &str, read: impl FnMut(&Row) -> Result<T, Error>) -> Vec<T> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The log, in the order in which calls took effect; rows that are still open come first.
pub fn entries(conn: &Connection) -> Vec<Entry> {
    let sql = "SELECT sequence_no, correlation_id, boot_id, tool, args_hash, outcome, error_code, error_message, \
               result_hash, exit_no, subject FROM actions ORDER BY exit_no";
    all(conn, sql, |row| {
        Ok(Entry {
            sequence_no: row.get(0)?,
            correlation_id: row.get(1)?,
            boot_id: row.get(2)?,
            tool: row.get(3)?,
            args_hash: row.get(4)?,
            outcome: row.get(5)?,
            error_code: row.get(6)?,
            error_message: row.get(7)?,
            result_hash: row.get(8)?,
            exit_no: row.get(9)?,
            subject: row.get(10)?,
        })
    })
}

/// All tasks, by id.
pub fn tasks(conn: &Connection) -> Vec<Task> {
    let sql = "SELECT id, title, status, project_id, description, priority, assignee, sequence_no FROM tasks \
               WHERE deleted_at IS NULL ORDER BY id";
    let mut tasks = all(conn, sql, |row| {
        Ok(Task {
            id: row.get(0)?,
            title: row.get(1)?,
            status: row.get(2)?,
            project_id: row.get(3)?,
            description: row.get(4)?,
            priority: row.get(5)?,
            assignee: row.get(6)?,
            sequence_no: row.get(7)?,
            depends_on: Vec::new(),
        })
    });
    let sql = "SELECT task_id, depends_on_id FROM task_dependencies ORDER BY rowid";
    for (id, depends_on) in all(conn, sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))) {
        tasks.iter_mut().find(|task| task.id == id).expect("a task").depends_on.push(depends_on);
    }
    tasks
}

/// All thoughts, in the order in which they were recorded.
pub fn thoughts(conn: &Connection) -> Vec<Thought> {
    let sql = "SELECT id, task_id, agent_id, type, content, session_id, sequence_no, prev_hash, hash \
               FROM thought_records ORDER BY seq";
    all(conn, sql, |row| {
        Ok(Thought {
            id: row.get(0)?,
            task_id: row.get(1)?,
            agent_id: row.get(2)?,
            kind: row.get(3)?,
            content: row.get(4)?,
            session_id: row.get(5)?,
            sequence_no: row.get(6)?,
            prev_hash: row.get(7)?,
            hash: row.get(8)?,
        })
    })
}

/// All audit sessions, by id: the call that began each, and the size of its seal.
pub fn sessions(conn: &Connection) -> Vec<(String, i64, Option<i64>)> {
    let sql = "SELECT session_id, s.sequence_no, r.record_count FROM audit_sessions AS s \
               LEFT JOIN merkle_roots AS r USING (session_id) ORDER BY session_id";
    all(conn, sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// What reputation was told, sorted.
pub fn reputation(conn: &Connection) -> Vec<String> {
    let sql = "SELECT event_id || ' ' || node_id FROM reputation_history ORDER BY 1";
    all(conn, sql, |row| row.get(0))
}

/// Every value of every table, for comparing two runs.
pub fn everything(conn: &Connection) -> Vec<String> {
    let mut stored = colibri_test_support::stored::stored(conn);
    stored.extend(entries(conn).iter().map(|entry| format!("{entry:?}")));
    stored
}
