//! Create, update, deleted rows and the writeback gate.

use crate::catalogue::TaskStatus::*;
use crate::catalogue::{TaskCreateError, TaskUpdateError};
use crate::domains::tasks::input::{NewTask, TaskPatch};
use crate::domains::tasks::service::enforce_writeback;
use crate::domains::tasks::state::{TASK_STATES, allowed, can_transition};
use crate::domains::trail::count_thoughts;
use colibri_store::params;

use crate::domains::tasks::tests::support::{Engine, refusal};

#[test]
fn no_task_is_created_finished() {
    let engine = Engine::new();
    let refused = refusal(engine.try_create(NewTask { status: Done, ..NewTask::titled("A") }));
    let missing_fields = vec!["thought_record".to_owned()];
    assert_eq!(refused, TaskCreateError::ErrWritebackRequired { task_id: None, missing_fields });
    assert!(engine.dump().is_empty());
}

#[test]
fn what_create_returns_is_what_is_stored() {
    let engine = Engine::new();
    let dependency = engine.task("first").id;
    let text = |text: &str| Some(text.to_owned());
    let created = engine.create(NewTask {
        title: "'); DROP TABLE tasks;--".into(),
        status: Plan,
        project_id: text(""),
        description: text("ä\n"),
        priority: text(" p0 "),
        assignee: text("ada"),
        depends_on: vec![dependency],
    });
    assert_eq!(engine.get(&created.id), Some(created.clone()));
    assert_eq!(created.updated_at, created.created_at);
}

/// The truth table of tasks#writeback-gate for a step to DONE, from every state, without and with a thought record.
#[test]
fn to_21_done_needs_the_right_state_first_and_then_a_thought() {
    for from in TASK_STATES {
        for thoughts in [0, 1] {
            let engine = Engine::new();
            let task = engine.task_in(from);
            let other = engine.task("another task's thoughts do not count");
            engine.think(&other.id);
            (0..thoughts).for_each(|_| engine.think(&task.id));
            let outcome = engine.go(&task.id, Done);
            let task_id = task.id.clone();
            match (from, thoughts) {
                (Verify, 0) => {
                    let missing_fields = vec!["thought_record".to_owned()];
                    assert_eq!(
                        refusal(outcome),
                        TaskUpdateError::ErrWritebackRequired { task_id, missing_fields }
                    );
                }
                (Verify, _) => assert_eq!(outcome.unwrap().status, Done),
                _ => {
                    let allowed = allowed(from).to_vec();
                    let refused = TaskUpdateError::ErrInvalidTransition { task_id, from, to: Done, allowed };
                    assert_eq!(refusal(outcome), refused, "{from} with {thoughts} thoughts");
                }
            }
        }
    }
}

#[test]
fn to_24_updates_take_legal_steps_only() {
    for from in TASK_STATES {
        for to in TASK_STATES.into_iter().filter(|to| *to != Done) {
            let engine = Engine::new();
            let task = engine.task_in(from);
            let outcome = engine.go(&task.id, to);
            assert_eq!(outcome.is_ok(), can_transition(from, to), "{from} -> {to}: {outcome:?}");
            if outcome.is_err() {
                assert_eq!(engine.get(&task.id), Some(task), "{from} -> {to}");
            }
        }
    }
}

#[test]
fn a_bad_status_spoils_the_whole_patch() {
    let engine = Engine::new();
    let task = engine.task("old");
    let before = engine.dump();
    refusal(engine.update(
        &task.id,
        TaskPatch { title: Some("new".into()), status: Some(Done), ..TaskPatch::default() },
    ));
    assert_eq!(engine.dump(), before);
}

#[test]
fn an_empty_patch_writes_nothing() {
    let engine = Engine::new();
    let task = engine.task("A");
    let before = engine.dump();
    engine.now_ms.set(engine.now_ms.get() + 1000);
    assert_eq!(engine.update(&task.id, TaskPatch::default()), Ok(task));
    assert_eq!(engine.dump(), before);
    let refused = refusal(engine.update("nope", TaskPatch::default()));
    assert_eq!(refused, TaskUpdateError::ErrNotFound { task_id: "nope".into() });
}

#[test]
fn null_clears_and_absent_keeps() {
    let engine = Engine::new();
    let text = |text: &str| Some(text.to_owned());
    let task =
        engine.create(NewTask { description: text("d"), assignee: text("ada"), ..NewTask::titled("A") });
    let patch = TaskPatch { description: Some(None), priority: Some(text("low")), ..TaskPatch::default() };
    let updated = engine.update(&task.id, patch).unwrap();
    assert_eq!((updated.description, updated.priority, updated.assignee), (None, text("low"), text("ada")));
}

#[test]
fn fields_of_finished_tasks_may_still_be_edited() {
    let engine = Engine::new();
    for state in [Done, Cancelled] {
        let task = engine.task_in(state);
        let patch = TaskPatch { title: Some("typo mended".into()), ..TaskPatch::default() };
        let updated = engine.update(&task.id, patch).unwrap();
        assert_eq!((updated.title.as_str(), updated.status), ("typo mended", state));
    }
}

#[test]
fn the_time_of_the_last_change_never_moves_backwards() {
    let engine = Engine::new();
    let task = engine.task("A");
    engine.now_ms.set(engine.now_ms.get() - 3_600_000);
    let updated = engine.go(&task.id, Gather).unwrap();
    assert_eq!((updated.updated_at, updated.created_at), (task.created_at.clone(), task.created_at));
}

#[test]
fn each_row_keeps_the_number_of_the_call_that_last_changed_it() {
    let engine = Engine::new();
    let stored = |id: &str| {
        engine
            .db
            .query_one("SELECT sequence_no FROM tasks WHERE id = ?1", params![id], |row| {
                row.get::<Option<i64>>(0)
            })
            .unwrap()
    };
    let task = engine.task("A");
    assert_eq!(stored(&task.id), Some(engine.calls()));
    engine.go(&task.id, Gather).unwrap();
    let last_change = engine.calls();
    refusal(engine.go(&task.id, Done));
    engine.update(&task.id, TaskPatch::default()).unwrap();
    assert_eq!(stored(&task.id), Some(last_change));
    engine.wait_for(&task.id, &[]).unwrap();
    assert_eq!(stored(&task.id), Some(engine.calls()));
}

#[test]
fn a_deleted_task_is_gone_for_every_operation() {
    let engine = Engine::new();
    let task = engine.task("A");
    engine.delete(&task.id);
    let refused = refusal(engine.go(&task.id, Gather));
    assert_eq!(refused, TaskUpdateError::ErrNotFound { task_id: task.id.clone() });
    assert_eq!(engine.get(&task.id), None);
}

#[test]
fn the_database_knows_the_states() {
    let engine = Engine::new();
    let task = engine.task("A");
    let refused =
        engine.db.execute("UPDATE tasks SET status = 'FOO' WHERE id = ?1", params![&task.id]).unwrap_err();
    assert!(refused.to_string().contains("constraint"), "{refused}");
}

#[test]
fn the_gate_names_what_is_missing() {
    let engine = Engine::new();
    let refused = refusal(enforce_writeback(&engine.db, "T"));
    assert_eq!(refused.to_string(), "Task T needs a thought record before it can be DONE");
    engine.think("T");
    assert_eq!(enforce_writeback(&engine.db, "T"), Ok(()));
    assert_eq!(count_thoughts(&engine.db, "T"), Ok(1));
}
