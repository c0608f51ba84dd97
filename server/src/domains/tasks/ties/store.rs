//! The SQL of verification: tasks exactly as stored, tampered ones included.

use colibri_runtime::handler::Fault;

use crate::catalogue::Task;
use crate::domains::tasks::store::{COLUMNS, dependencies, listed, read_task};
use crate::domains::ties::Place;
use colibri_store::RowError;
use colibri_store::ahead::Page;
use colibri_store::db::Db;
use colibri_store::params;
use colibri_store::walk::Stop;

/// Hands over each row with its key and call; the task is `None` if the row is malformed.
pub(super) fn each(
    db: &Db,
    mut take: impl FnMut(&str, Option<i64>, Option<Task>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    // Most tasks depend on no other, and need no further question.
    let sql = format!(
        "SELECT {COLUMNS}, sequence_no, EXISTS (SELECT 1 FROM task_dependencies AS d WHERE d.task_id = tasks.id) \
         FROM tasks ORDER BY rowid"
    );
    db.walk(&sql, &[], |row| {
        let key: String = row.get(0).map_err(Fault::from)?;
        // Behind the ten of `COLUMNS`.
        let sequence_no = row.get(10).map_err(Fault::from)?;
        let mut task = read_task(row).ok();
        let depends: bool = row.get(11).map_err(Fault::from)?;
        if let Some(task) = task.as_mut().filter(|_| depends) {
            task.depends_on = listed(dependencies(db, &key)?);
        }
        take(&key, sequence_no, task)?;
        Ok(true)
    })
}

/// Returns a task's place: tasks listed together come in the order of their rowids.
pub(super) fn place(db: &Db, key: &str) -> Result<Option<Place>, Fault> {
    db.query_opt("SELECT rowid, sequence_no FROM tasks WHERE id = ?1", params![key], |row| {
        Ok(Place { number: Some(row.get(0)?), sequence_no: row.get(1)? })
    })
}

/// The same for the tasks from an id on.
pub(super) fn places(db: &Db, first: &str, page: &mut Page<String, Place>) -> Result<(), Fault> {
    let sql = "SELECT id, rowid, sequence_no FROM tasks WHERE id >= ?1 ORDER BY id LIMIT ?2";
    db.walk(sql, params![first, page.wanted()], |row| {
        let read = || Ok((row.get(0)?, Place { number: Some(row.get(1)?), sequence_no: row.get(2)? }));
        page.take(read().map_err(|error: RowError| Fault::from(error)), 0)
    })
}

/// Hands over dependencies whose tasks do not exist.
pub(super) fn each_stray(db: &Db, take: &mut dyn FnMut(String) -> Result<(), Stop>) -> Result<(), Stop> {
    let sql = "SELECT task_id, depends_on_id FROM task_dependencies AS d \
               WHERE NOT EXISTS (SELECT 1 FROM tasks AS t WHERE t.id = d.task_id)";
    db.walk(sql, &[], |row| {
        let (task_id, depends_on_id): (String, String) =
            (row.get(0).map_err(Fault::from)?, row.get(1).map_err(Fault::from)?);
        take(format!("task_dependencies {task_id} -> {depends_on_id}"))?;
        Ok(true)
    })
}
