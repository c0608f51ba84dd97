//! The lists and the queue must stay fast as the table grows: the planner answers each of their
//! statements from an index, and sorts no more than it has to.

use rusqlite::{Connection, params_from_iter};

use super::super::input::{ClaimWish, ListFilter, QueueFilter};
use super::super::store::{self, Query};
use crate::catalogue::{Task, TaskStatus};
use crate::domains::tasks::claims::first_end_query;
use crate::domains::tasks::history::standing_sql;
use colibri_store::db::Value;

fn plan(query: Query) -> String {
    let db = Connection::open_in_memory().unwrap();
    for migration in [
        include_str!("../../../../../migrations/002_tasks.sql"),
        include_str!("../../../../../migrations/003_task_dependencies.sql"),
        include_str!("../../../../../migrations/004_actions.sql"),
        include_str!("../../../../../migrations/014_callers.sql"),
        include_str!("../../../../../migrations/015_task_history.sql"),
    ] {
        db.execute_batch(migration).unwrap();
    }
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {}", query.sql)).unwrap();
    let steps = statement.query_map(params_from_iter(query.params), |row| row.get::<_, String>(3)).unwrap();
    steps.map(|step| step.unwrap()).collect::<Vec<_>>().join("\n")
}

/// Every form of a list, and how its rowids are found.
fn filters() -> Vec<(ListFilter, &'static str)> {
    let all = ListFilter::default();
    let status = ListFilter { status: Some(TaskStatus::Plan), ..all.clone() };
    let project = ListFilter { project_id: Some(Some("p".into())), ..all.clone() };
    let none = ListFilter { project_id: Some(None), ..all.clone() };
    let both = ListFilter { project_id: Some(None), ..status.clone() };
    vec![
        (all, "SCAN tasks\n"),
        (status, "COVERING INDEX idx_tasks_status (status=?"),
        (project, "COVERING INDEX idx_tasks_project_status (project_id=?"),
        (none, "COVERING INDEX idx_tasks_project_status (project_id=?"),
        (both, "COVERING INDEX idx_tasks_project_status (project_id=? AND status=?"),
    ]
}

#[test]
fn a_page_is_found_in_a_covering_index_and_only_its_rows_are_read() {
    for (filter, found) in filters() {
        for include_deleted in [false, true] {
            let filter = ListFilter { include_deleted, ..filter.clone() };
            let plan = plan(store::page_query::<Task>(&filter)) + "\n";
            assert!(plan.contains(found), "{filter:?}:\n{plan}");
            assert!(plan.contains("SEARCH tasks USING INTEGER PRIMARY KEY"), "{filter:?}:\n{plan}");
        }
    }
}

#[test]
fn a_page_of_all_live_tasks_or_of_one_state_comes_out_in_order() {
    for (filter, found) in filters() {
        // The rowids of a project lie state by state: they are sorted, and nothing but they.
        if filter.project_id.is_some() && filter.status.is_none() {
            continue;
        }
        let plan = plan(store::page_query::<Task>(&filter)) + "\n";
        assert!(plan.contains(found), "{filter:?}:\n{plan}");
        assert!(!plan.contains("ORDER BY"), "sorted: {filter:?}:\n{plan}");
    }
}

#[test]
fn counting_never_touches_the_table() {
    for (filter, _) in filters() {
        for include_deleted in [false, true] {
            let filter = ListFilter { include_deleted, ..filter.clone() };
            let plan = plan(store::count_query(&filter));
            assert!(plan.contains("COVERING INDEX"), "{filter:?}:\n{plan}");
        }
    }
}

#[test]
fn the_queue_comes_out_of_its_index_in_order() {
    for assignee in [None, Some(None), Some(Some("ada".to_owned()))] {
        let filter = QueueFilter { assignee, ..QueueFilter::default() };
        for blocked in [false, true] {
            let head = plan(store::queue_query::<Task>(&filter, blocked));
            assert!(head.contains("SCAN t USING INDEX idx_tasks_queue"), "{head}");
            assert!(!head.contains("ORDER BY"), "sorted:\n{head}");
        }
        let counts = plan(store::queue_counts_query(&filter));
        assert!(counts.contains("SCAN t USING INDEX idx_tasks_queue"), "{counts}");
    }
}

#[test]
fn one_projects_queue_is_found_by_project() {
    let filter = QueueFilter { project_id: Some(Some("p".into())), ..QueueFilter::default() };
    for query in [store::queue_query::<Task>(&filter, false), store::queue_counts_query(&filter)] {
        let plan = plan(query);
        assert!(plan.contains("SEARCH t USING INDEX idx_tasks_project_status (project_id=?)"), "{plan}");
    }
}

#[test]
fn the_most_urgent_free_task_comes_out_of_the_queues_index() {
    let bounds = [String::new(), String::new()];
    for (project_id, index) in [
        (None, "SCAN t USING INDEX idx_tasks_queue"),
        (Some(None), "SEARCH t USING INDEX idx_tasks_project_status (project_id=?)"),
    ] {
        let agent_id = "ada".to_owned();
        let wish = ClaimWish { agent_id, id: None, project_id, lease_seconds: 900, claim: None };
        let free = plan(store::first_claimable(&wish, &bounds));
        assert!(free.contains(index), "{free}");
        assert!(free.contains("SEARCH c USING PRIMARY KEY (task_id=?)"), "{free}");
        // What ends first is looked for among the open tasks, not among all that were ever claimed.
        let end = plan(first_end_query(&wish, &bounds));
        assert!(end.contains("SEARCH t USING INDEX idx_tasks_") && !end.contains("SCAN c"), "{end}");
    }
    let filter = QueueFilter { unclaimed: Some(bounds.clone()), ..QueueFilter::default() };
    let queue = plan(store::queue_query::<Task>(&filter, false));
    assert!(queue.contains("SCAN t USING INDEX idx_tasks_queue"), "{queue}");
    assert!(queue.contains("SEARCH c USING PRIMARY KEY (task_id=?)"), "{queue}");
}

#[test]
fn how_a_task_stands_takes_four_seeks() {
    let query = Query { sql: standing_sql("t.deleted_at IS NULL"), params: vec![Value::Text("x")] };
    let plan = plan(query);
    assert!(plan.contains("SEARCH e USING PRIMARY KEY (task_id=?)"), "{plan}");
    let sorts = plan.matches("FOR ORDER BY").count();
    assert_eq!(
        sorts, 1,
        "what it waits for is sorted, and the newest event is found without a sort:\n{plan}"
    );
    assert!(plan.contains("SEARCH d USING"), "{plan}");
}
