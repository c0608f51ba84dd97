//! The SQL of verification: tasks exactly as stored, tampered ones included.

use colibri_runtime::handler::Fault;

use crate::catalogue::Task;
use crate::domains::tasks::store::{COLUMNS, dependencies, listed, read_task};
use crate::domains::ties::Place;
use colibri_store::db::Db;
use colibri_store::params;
use colibri_store::walk::Stop;

/// Hands over each row with its key and call; the task is `None` if the row is malformed.
pub(super) fn each(
    db: &Db,
    mut take: impl FnMut(&str, Option<i64>, Option<Task>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let sql = format!("SELECT {COLUMNS}, sequence_no FROM tasks ORDER BY rowid");
    db.walk(&sql, &[], |row| {
        let key: String = row.get(0).map_err(Fault::from)?;
        // Behind the ten of `COLUMNS`.
        let sequence_no = row.get(10).map_err(Fault::from)?;
        let mut task = read_task(row).ok();
        if let Some(task) = &mut task {
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
