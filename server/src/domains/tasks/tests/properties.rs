//! The properties of tasks#properties over random histories.

use crate::catalogue::{Task, TaskStatus};
use crate::domains::tasks::dependencies::find_cycle;
use crate::domains::tasks::input::{ListFilter, NewTask, TaskPatch};
use crate::domains::tasks::service;
use crate::domains::tasks::state::{TASK_STATES, allowed, can_transition};
use colibri_store::params;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::domains::tasks::tests::support::Engine;

#[derive(Debug, Clone)]
enum Step {
    Create {
        status: Index,
        project: Option<bool>,
        waits_for: Vec<Index>,
    },
    /// One of the legal steps, so that histories get somewhere.
    Advance {
        task: Index,
        choice: Index,
    },
    Patch {
        task: Index,
        title: bool,
        status: Option<Index>,
        waits_for: Option<Vec<Index>>,
    },
    Think {
        task: Index,
    },
    Delete {
        task: Index,
    },
    /// The clock moves, at times backwards.
    Tick {
        by_ms: i64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let some = || any::<Index>();
    let others = || prop::collection::vec(any::<Index>(), 0..3);
    prop_oneof![
        3 => (some(), any::<Option<bool>>(), others())
            .prop_map(|(status, project, waits_for)| Step::Create { status, project, waits_for }),
        8 => (some(), some()).prop_map(|(task, choice)| Step::Advance { task, choice }),
        5 => (some(), any::<bool>(), prop::option::of(some()), prop::option::of(others()))
            .prop_map(|(task, title, status, waits_for)| Step::Patch { task, title, status, waits_for }),
        2 => some().prop_map(|task| Step::Think { task }),
        1 => some().prop_map(|task| Step::Delete { task }),
        2 => (-5_i64..20).prop_map(|by_ms| Step::Tick { by_ms }),
    ]
}

/// A history: the engine and the ids of all tasks ever created.
struct History {
    engine: Engine,
    ids: Vec<String>,
}

impl History {
    fn id(&self, task: &Index) -> String {
        if self.ids.is_empty() { "nobody".to_owned() } else { task.get(&self.ids).clone() }
    }

    fn distinct_ids(&self, tasks: &[Index]) -> Vec<String> {
        let mut ids: Vec<String> = tasks.iter().map(|task| self.id(task)).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Create { status, project, waits_for } => self.create(status, *project, waits_for)?,
            Step::Advance { task, choice } => {
                let id = self.id(task);
                let next = self.engine.get(&id).map_or(&[][..], |task| allowed(task.status));
                if !next.is_empty() {
                    self.update(&id, TaskPatch { status: Some(*choice.get(next)), ..TaskPatch::default() })?;
                }
            }
            Step::Patch { task, title, status, waits_for } => {
                let patch = TaskPatch {
                    title: title.then(|| "patched".to_owned()),
                    status: status.map(|status| *status.get(&TASK_STATES)),
                    depends_on: waits_for.as_ref().map(|tasks| self.distinct_ids(tasks)),
                    ..TaskPatch::default()
                };
                self.update(&self.id(task), patch)?;
            }
            Step::Think { task } => self.engine.think(&self.id(task)),
            Step::Delete { task } => self.engine.delete(&self.id(task)),
            Step::Tick { by_ms } => self.engine.now_ms.set(self.engine.now_ms.get() + by_ms),
        }
        self.no_orphans()
    }

    fn create(
        &mut self,
        status: &Index,
        project: Option<bool>,
        waits_for: &[Index],
    ) -> Result<(), TestCaseError> {
        let before = self.engine.dump();
        let new = NewTask {
            status: *status.get(&TASK_STATES),
            project_id: project.map(|project| project.to_string()),
            depends_on: self.distinct_ids(waits_for),
            ..NewTask::titled("task")
        };
        match self.engine.try_create(new) {
            Ok(task) => {
                prop_assert_eq!(self.engine.get(&task.id), Some(task.clone()));
                self.ids.push(task.id);
            }
            Err(_) => prop_assert_eq!(self.engine.dump(), before),
        }
        Ok(())
    }

    fn update(&self, id: &str, patch: TaskPatch) -> Result<(), TestCaseError> {
        let before = self.engine.dump();
        let old = self.engine.get(id);
        match self.engine.update(id, patch.clone()) {
            Ok(new) => {
                let old = old.expect("only live tasks are updated");
                match patch.status {
                    Some(to) => {
                        prop_assert!(can_transition(old.status, to), "{} -> {}", old.status, to);
                        prop_assert_eq!(new.status, to);
                    }
                    None => prop_assert_eq!(new.status, old.status),
                }
                prop_assert!(new.updated_at >= old.updated_at);
                prop_assert_eq!(&new.created_at, &old.created_at);
                prop_assert_eq!(self.engine.get(id), Some(new));
            }
            Err(_) => prop_assert_eq!(self.engine.dump(), before),
        }
        Ok(())
    }

    fn no_orphans(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.engine.orphans(), 0);
        Ok(())
    }

    fn waits_for(&self, id: &str) -> Vec<String> {
        let sql = "SELECT depends_on_id FROM task_dependencies WHERE task_id = ?1";
        self.engine.db.query_all(sql, params![id], |row| row.get(0)).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// (a) only legal edges are walked, (b) no task is finished without a thought, (c) a refused call
    /// changes nothing stored; and no history closes a loop of dependencies.
    #[test]
    fn histories_keep_the_rules_of_the_pipeline(steps in prop::collection::vec(step(), 1..60)) {
        let mut history = History { engine: Engine::new(), ids: Vec::new() };
        for step in &steps {
            history.take(step)?;
        }
        for id in &history.ids {
            let waits_for = history.waits_for(id);
            let cycle = find_cycle(id, &waits_for, |id| Ok::<_, TestCaseError>(history.waits_for(id)))?;
            prop_assert_eq!(cycle, None);
        }
    }

    /// (d) pages of any size concatenate to the full list, and each says how long that is.
    #[test]
    fn pages_of_any_size_concatenate_to_the_full_list(
        steps in prop::collection::vec(step(), 1..60),
        limit in 1_i64..9,
        status in prop::option::of(any::<Index>()),
        project in any::<Option<Option<bool>>>(),
        include_deleted in any::<bool>(),
    ) {
        let mut history = History { engine: Engine::new(), ids: Vec::new() };
        for step in &steps {
            history.take(step)?;
        }
        let db = &history.engine.db;
        let status: Option<TaskStatus> = status.map(|status| *status.get(&TASK_STATES));
        let project_id = project.map(|project| project.map(|project| project.to_string()));
        let filter = ListFilter { status, project_id, limit: 500, offset: 0, include_deleted };
        let full = service::list_tasks::<Task>(db, &filter).unwrap();
        prop_assert_eq!(full.tasks.len() as i64, full.total);
        prop_assert!(full.tasks.windows(2).all(|pair| pair[0].id < pair[1].id));
        let mut joined = Vec::new();
        for offset in (0..=full.total).step_by(limit as usize) {
            let page = service::list_tasks::<Task>(db, &ListFilter { limit, offset, ..filter.clone() }).unwrap();
            prop_assert_eq!(page.total, full.total);
            joined.extend(page.tasks);
        }
        prop_assert_eq!(joined, full.tasks);
    }

    /// The queue and its counts say what the definition says, task by task.
    #[test]
    fn the_queue_is_the_open_unblocked_tasks(steps in prop::collection::vec(step(), 1..60)) {
        let mut history = History { engine: Engine::new(), ids: Vec::new() };
        for step in &steps {
            history.take(step)?;
        }
        let db = &history.engine.db;
        let all = ListFilter { include_deleted: true, limit: 500, ..ListFilter::default() };
        let all = service::list_tasks::<Task>(db, &all).unwrap().tasks;
        let done = |id: &String| all.iter().any(|task| &task.id == id && task.status == TaskStatus::Done);
        let open: Vec<_> =
            all.iter().filter(|task| task.deleted_at.is_none() && !allowed(task.status).is_empty()).collect();
        let mut actionable: Vec<String> = open
            .iter()
            .filter(|task| task.depends_on.iter().flatten().all(done))
            .map(|task| task.id.clone())
            .collect();
        let filter = crate::domains::tasks::input::QueueFilter { limit: 500, ..Default::default() };
        let queue = service::next_actions::<Task>(db, &filter).unwrap();
        let mut shown: Vec<String> = queue.tasks.into_iter().map(|task| task.id).collect();
        prop_assert_eq!((queue.actionable, queue.blocked), (actionable.len() as i64, (open.len() - actionable.len()) as i64));
        shown.sort();
        actionable.sort();
        prop_assert_eq!(shown, actionable);
    }
}
