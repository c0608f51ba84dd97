//! The judge: holds what clients were told against the rows, as an independent client reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use colibri_test_support::client::Launch;
use colibri_test_support::log_chain::{LogCount, assert_log_is_sound};
use colibri_test_support::sql::Connection;

use serde_json::json;
use tempfile::TempDir;

use super::agent::{Deed, Reply, Told};
use super::world::{Target, World, launch};

/// How the calls of a run have ended.
#[derive(Debug, Default)]
pub struct Tally {
    pub acknowledged: usize,
    /// Failed, and nothing of them is stored.
    pub refused: usize,
    /// Their client was not told, or that the outcome is unknown; whether they are stored.
    pub unknown_there: usize,
    pub unknown_absent: usize,
    /// How often a failure was told, by its message.
    pub said: BTreeMap<String, usize>,
    /// Acknowledged calls that are not there, by their ids; they are also wrong.
    pub lost: Vec<String>,
    /// What must not be.
    pub wrong: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        self.unknown_there += other.unknown_there;
        self.unknown_absent += other.unknown_absent;
        for (message, times) in other.said {
            *self.said.entry(message).or_default() += times;
        }
        self.lost.extend(other.lost);
        self.wrong.extend(other.wrong);
    }
}

/// How the log has a call.
struct Row {
    outcome: String,
    sequence_no: i64,
}

/// What the database holds of the calls.
struct Stored {
    /// By request id.
    rows: BTreeMap<String, Vec<Row>>,
    /// Which calls have recorded thoughts, by the thoughts' content.
    thoughts: BTreeMap<String, Vec<i64>>,
    /// The titles of tasks, by their ids.
    titles: BTreeMap<String, String>,
    /// How often a title is there.
    titled: BTreeMap<String, usize>,
}

impl Stored {
    fn read(conn: &Connection) -> Self {
        let all = |sql: &str| conn.prepare(sql).unwrap().query([]).unwrap();
        let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        let sql = "SELECT request_id, outcome, sequence_no FROM actions WHERE request_id IS NOT NULL ORDER BY sequence_no";
        for row in all(sql) {
            let id: String = row.get(0).unwrap();
            let row = Row { outcome: row.get(1).unwrap(), sequence_no: row.get(2).unwrap() };
            rows.entry(id.trim_matches('"').to_owned()).or_default().push(row);
        }
        let mut thoughts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for row in all("SELECT convert_from(content, 'UTF8'), sequence_no FROM thought_records") {
            thoughts.entry(row.get(0).unwrap()).or_default().push(row.get(1).unwrap());
        }
        let (mut titles, mut titled) = (BTreeMap::new(), BTreeMap::new());
        for row in all("SELECT id, title FROM tasks") {
            let title: String = row.get(1).unwrap();
            *titled.entry(title.clone()).or_default() += 1;
            titles.insert(row.get(0).unwrap(), title);
        }
        Self { rows, thoughts, titles, titled }
    }
}

/// Judges a run whose servers have all ended.
pub fn judge(world: &World, database: &str, told: &[Told]) -> Tally {
    let conn = Connection::in_cluster(&world.cluster, database);
    judge_at(&Target::of(world, database, world.cluster.port()), &conn, told)
}

/// Judges it by the server that has the database in the end.
pub fn judge_at(target: &Target, conn: &Connection, told: &[Told]) -> Tally {
    close_for_the_dead(target, conn);
    let LogCount { rows, closed } = assert_log_is_sound(conn);
    let stored = Stored::read(conn);
    let mut tally = Tally::default();
    let verified = started_by(target).arg("verify").command().output().unwrap();
    if !verified.status.success() {
        let said = String::from_utf8_lossy(&verified.stdout).into_owned();
        tally.wrong.push(format!("colibri verify: {said}{}", String::from_utf8_lossy(&verified.stderr)));
    }
    if rows != closed {
        tally.wrong.push(format!("{} calls of processes that have ended are running", rows - closed));
    }
    for call in told {
        let wrong = stored.hold_against(call, &mut tally);
        tally.wrong.extend(wrong.map(|what| format!("{what}: {call:?}")));
    }
    tally.wrong.extend(stored.renamed(told));
    tally.wrong.extend(claimed_twice(told));
    let halves = "SELECT (SELECT count(*) FROM tasks) - (SELECT count(*) FROM actions WHERE outcome = 'ok' AND tool = 'task_create')";
    let halves: i64 = conn.query_row(halves, [], |row| row.get(0)).unwrap();
    if halves != 0 {
        tally.wrong.push(format!("{halves} more tasks than calls that created one"));
    }
    tally
}

/// Ends the leases of all processes, and has another start close their calls.
pub fn close_for_the_dead(target: &Target, conn: &Connection) {
    conn.execute_batch("UPDATE processes SET lease_until = clock_timestamp() - interval '1 second'").unwrap();
    let mut last = started_by(target).start();
    last.data("task_list", json!({ "limit": 1 }));
    let ended = last.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

fn started_by(target: &Target) -> Launch {
    launch(target, &Arc::new(TempDir::new().expect("a folder")))
}

impl Stored {
    /// Holds a reply against the rows; returns what is wrong.
    fn hold_against(&self, call: &Told, tally: &mut Tally) -> Option<String> {
        let rows = self.rows.get(&call.id).map_or(&[][..], Vec::as_slice);
        let succeeded: Vec<&Row> = rows.iter().filter(|row| row.outcome == "ok").collect();
        if succeeded.len() > 1 {
            return Some(format!("it is there {} times", succeeded.len()));
        }
        if let Reply::Failed(message) = &call.reply {
            // Without what differs from call to call.
            let message = message.split(" with hash ").next().unwrap_or_default();
            let message = message.replace(|c: char| c.is_ascii_digit(), "");
            *tally.said.entry(message).or_default() += 1;
        }
        // What is lost was acknowledged, too.
        tally.acknowledged += usize::from(matches!(call.reply, Reply::Done(_) | Reply::Declined));
        if matches!(call.reply, Reply::Done(_)) && (rows.len() != 1 || succeeded.is_empty()) {
            tally.lost.push(call.id.clone());
            return Some("it was acknowledged, and is lost or has another row".to_owned());
        }
        if let Some(wrong) = self.effect_differs(call, succeeded.first().map(|row| row.sequence_no)) {
            return Some(wrong);
        }
        match &call.reply {
            // A process that stood still finds that another one has closed the call.
            Reply::Declined
                if rows.len() != 1 || !["domain_error", "aborted"].contains(&rows[0].outcome.as_str()) =>
            {
                if rows.is_empty() {
                    tally.lost.push(call.id.clone());
                    return Some("it was declined, and is lost".to_owned());
                }
                let outcomes: Vec<_> = rows.iter().map(|row| (row.sequence_no, &row.outcome)).collect();
                Some(format!("it was declined, and the log says otherwise ({outcomes:?})"))
            }
            Reply::Done(_) | Reply::Declined => None,
            Reply::Failed(message) if !is_open(message) => {
                tally.refused += 1;
                (!succeeded.is_empty()).then(|| "it was refused, and is there".to_owned())
            }
            Reply::Failed(_) | Reply::Silence if succeeded.is_empty() => {
                tally.unknown_absent += 1;
                None
            }
            Reply::Failed(_) | Reply::Silence => {
                tally.unknown_there += 1;
                None
            }
        }
    }

    /// Whether a call's effect is there exactly if its row says so.
    fn effect_differs(&self, call: &Told, sequence_no: Option<i64>) -> Option<String> {
        let differs = match &call.deed {
            Deed::Think => {
                self.thoughts.get(&call.id).map_or(&[][..], Vec::as_slice) != sequence_no.as_slice()
            }
            Deed::Create => match &call.reply {
                // Its title may have been changed since.
                Reply::Done(data) => !data["id"].as_str().is_some_and(|id| self.titles.contains_key(id)),
                _ => self.titled.get(&call.id).copied().unwrap_or(0) != usize::from(sequence_no.is_some()),
            },
            _ => false,
        };
        differs.then(|| format!("its effect is not what its row says ({sequence_no:?})"))
    }

    /// Whether each task has the title that was stored last.
    fn renamed(&self, told: &[Told]) -> Vec<String> {
        let mut last: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
        for call in told {
            let Deed::Rename(task) = &call.deed else { continue };
            let rows = self.rows.get(&call.id).map_or(&[][..], Vec::as_slice);
            if let Some(row) = rows.iter().find(|row| row.outcome == "ok") {
                let newest = last.entry(task).or_insert((0, ""));
                *newest = (*newest).max((row.sequence_no, &call.id));
            }
        }
        let differing = last
            .into_iter()
            .filter(|(task, (_, title))| self.titles.get(*task).is_none_or(|stored| stored != title));
        differing.map(|(task, (_, title))| format!("task {task} has not the title {title}")).collect()
    }
}

/// Whether a failure leaves open whether the call is stored.
fn is_open(message: &str) -> bool {
    message.contains("STORE_COMMIT_FAILED")
        && !message.contains("nothing of it is stored")
        && !message.contains("nothing of the call is stored")
}

/// Claims of one task have different numbers.
fn claimed_twice(told: &[Told]) -> Vec<String> {
    let mut given = BTreeSet::new();
    let mut twice = Vec::new();
    for call in told {
        let (Deed::Claim, Reply::Done(data)) = (&call.deed, &call.reply) else { continue };
        if let (Some(task), Some(number)) = (data["task"]["id"].as_str(), data["claim"].as_i64())
            && !given.insert((task.to_owned(), number))
        {
            twice.push(format!("claim {number} of {task} was given twice: {}", call.id));
        }
    }
    twice
}
