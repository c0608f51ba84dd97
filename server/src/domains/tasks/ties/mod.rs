//! How tasks are tied to calls (store#ties). Creating and updating a task reply with the whole task, with
//! dependencies in the order in which they were named.

mod store;

use colibri_runtime::handler::Fault;

use crate::catalogue::ToolId;
use crate::domains::ties::{Place, PlacesFrom, Reply, TiedRow, TiedTable, Writer};
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// `tasks`, with `task_dependencies`.
#[derive(Debug)]
pub struct TaskTie;

impl TiedTable for TaskTie {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn writers(&self) -> &'static [Writer] {
        &[
            Writer { tool: ToolId::TaskCreate, creates: true },
            Writer { tool: ToolId::TaskUpdate, creates: false },
        ]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each(db, |key, sequence_no, task| {
            let reply = task.map_or(Reply::Unreadable, |task| Reply::of(&task));
            take(&TiedRow { key, sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::place(db, key)
    }

    fn places(&self) -> Option<PlacesFrom> {
        Some(store::places)
    }

    fn each_stray(&self, db: &Db, take: &mut dyn FnMut(String) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_stray(db, take)
    }
}
