//! What becomes of the tools' inputs before the engine sees them.

use crate::catalogue::{TaskCreateInput, TaskListInput, TaskNextActionsInput, TaskStatus, TaskUpdateInput};
use crate::domains::tasks::input::{ListFilter, NewTask, QueueFilter, TaskPatch};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(arguments: Value) -> T {
    serde_json::from_value(arguments).unwrap()
}

#[test]
fn project_is_an_alias_of_project_id() {
    for (arguments, expected) in [
        (json!({"title": "A", "project": "x"}), Some("x")),
        (json!({"title": "A", "project_id": "x"}), Some("x")),
        (json!({"title": "A", "project_id": "x", "project": "x"}), Some("x")),
        (json!({"title": "A", "project_id": null}), None),
        (json!({"title": "A"}), None),
    ] {
        let new = NewTask::from(read::<TaskCreateInput>(arguments.clone()));
        assert_eq!(new.project_id.as_deref(), expected, "{arguments}");
        assert_eq!(new.status, TaskStatus::Init, "{arguments}");
    }
}

#[test]
fn both_styles_of_an_update_mean_the_same() {
    for fields in [
        json!({}),
        json!({"status": "GATHER"}),
        json!({"title": "t", "description": null, "priority": "low", "depends_on": []}),
        json!({"project_id": null, "assignee": null, "depends_on": ["a"]}),
    ] {
        let mut flat = fields.clone();
        flat["id"] = json!("X");
        let patched = read::<TaskUpdateInput>(json!({"id": "X", "patch": fields}));
        assert_eq!(TaskPatch::from(read::<TaskUpdateInput>(flat)), TaskPatch::from(patched), "{fields}");
    }
}

#[test]
fn null_and_absent_stay_apart() {
    let patch = TaskPatch::from(read::<TaskUpdateInput>(json!({"id": "X", "patch": {"description": null}})));
    assert_eq!(patch, TaskPatch { description: Some(None), ..TaskPatch::default() });
    assert!(TaskPatch::from(read::<TaskUpdateInput>(json!({"id": "X"}))).is_empty());
    assert!(!patch.is_empty());
}

#[test]
fn the_engines_defaults_are_the_catalogues() {
    assert_eq!(ListFilter::from(read::<TaskListInput>(json!({}))), ListFilter::default());
    let (input, queue): (TaskNextActionsInput, _) = (read(json!({})), QueueFilter::default());
    assert_eq!((input.limit, input.blocked_limit), (queue.limit, queue.blocked_limit));
    let create = read::<TaskCreateInput>(json!({"title": "A"}));
    assert_eq!(NewTask::from(create), NewTask::titled("A"));
}
