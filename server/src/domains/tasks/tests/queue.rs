//! The queue of next actions and the pages of lists.

use crate::catalogue::Task;
use crate::catalogue::TaskStatus::{self, *};
use crate::domains::tasks::input::{ListFilter, NewTask, QueueFilter};
use crate::domains::tasks::service;
use crate::domains::tasks::state::TASK_STATES;

use crate::domains::tasks::tests::support::{Engine, START_MS};

/// The ranked words, most urgent first. Every other text ranks as [`DEFAULT_RANK`].
const RANKED: [(u8, &[&str]); 4] = [
    (0, &["critical", "urgent", "urgent_important", "p0"]),
    (1, &["high", "important", "not_urgent_important", "p1"]),
    (2, &["medium", "normal", "urgent_not_important", "p2"]),
    (3, &["low", "not_urgent_not_important", "p3"]),
];

/// The rank of a task without a priority, or with one that is not in [`RANKED`].
const DEFAULT_RANK: u8 = 2;

/// Returns the rank of a priority; 0 is the most urgent. Ignores ASCII case and nothing else.
fn rank(priority: Option<&str>) -> u8 {
    let Some(text) = priority else { return DEFAULT_RANK };
    RANKED
        .iter()
        .find(|(_, words)| words.iter().any(|word| word.eq_ignore_ascii_case(text)))
        .map_or(DEFAULT_RANK, |(rank, _)| *rank)
}

const DAY_MS: i64 = 86_400_000;

fn put(engine: &Engine, title: &str, status: TaskStatus, priority: Option<&str>, day: i64) -> String {
    engine.now_ms.set(START_MS + (day - 1) * DAY_MS);
    let new = NewTask { priority: priority.map(str::to_owned), ..NewTask::titled(title) };
    if status == Done {
        let task = engine.create(NewTask { status: Verify, ..new });
        engine.think(&task.id);
        return engine.go(&task.id, Done).unwrap().id;
    }
    engine.create(NewTask { status, ..new }).id
}

#[test]
fn the_worked_example_comes_out_as_written() {
    let engine = Engine::new();
    put(&engine, "t1", Init, None, 1);
    let t2 = put(&engine, "t2", Plan, Some("high"), 2);
    put(&engine, "t3", Verify, Some("low"), 1);
    put(&engine, "t4", Gather, Some("CRITICAL"), 3);
    put(&engine, "t5", Done, Some("critical"), 3);
    put(&engine, "t6", Init, Some("whatever"), 1);
    let t7 = put(&engine, "t7", Apply, Some("high"), 2);
    put(&engine, "t8", Cancelled, None, 1);
    let t9 = put(&engine, "t9", Init, Some("critical"), 1);
    engine.delete(&t9);
    engine.wait_for(&t2, &[&t7]).unwrap();
    let expected = ["t4", "t7", "t1", "t6", "t3"].map(str::to_owned).to_vec();
    assert_eq!(engine.queue(), (expected, 5, 1));
}

#[test]
fn the_six_live_states_are_in_the_queue() {
    let engine = Engine::new();
    TASK_STATES.into_iter().for_each(|state| drop(engine.task_in(state)));
    let (titles, total, blocked) = engine.queue();
    assert_eq!(titles, ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY"]);
    assert_eq!((total, blocked), (6, 0));
}

#[test]
fn ties_are_broken_by_insertion() {
    let engine = Engine::new();
    let titles: Vec<String> = (0..12).map(|number| format!("task {number}")).collect();
    titles.iter().for_each(|title| drop(engine.task(title)));
    assert_eq!(engine.queue().0, titles);
}

#[test]
fn the_queue_narrows_to_a_project_and_an_assignee() {
    let engine = Engine::new();
    for (title, project_id, assignee) in
        [("a", Some("p"), Some("ada")), ("b", Some("p"), None), ("c", None, Some("ada")), ("d", None, None)]
    {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        engine.create(NewTask {
            project_id: owned(project_id),
            assignee: owned(assignee),
            ..NewTask::titled(title)
        });
    }
    let p = Some(Some("p".to_owned()));
    let ada = Some(Some("ada".to_owned()));
    for (project_id, assignee, expected) in [
        (p.clone(), None, vec!["a", "b"]),
        (Some(None), None, vec!["c", "d"]),
        (None, ada.clone(), vec!["a", "c"]),
        (None, Some(None), vec!["b", "d"]),
        (p, Some(None), vec!["b"]),
        (Some(Some("P".into())), None, vec![]),
    ] {
        let filter = QueueFilter { project_id, assignee, limit: 100, ..QueueFilter::default() };
        let queue = service::next_actions::<Task>(&engine.db, &filter).unwrap();
        let titles: Vec<&str> = queue.tasks.iter().map(|task| task.title.as_str()).collect();
        assert_eq!(titles, expected, "{filter:?}");
        assert_eq!((queue.actionable, queue.blocked), (expected.len() as i64, 0), "{filter:?}");
    }
}

#[test]
fn the_limit_cuts_the_queue_but_not_its_count() {
    let engine = Engine::new();
    (0..5).for_each(|number| drop(engine.task(&number.to_string())));
    let queue =
        service::next_actions::<Task>(&engine.db, &QueueFilter { limit: 2, ..QueueFilter::default() })
            .unwrap();
    assert_eq!((queue.tasks.len(), queue.actionable), (2, 5));
}

#[test]
fn the_database_ranks_priorities_as_the_engine_does() {
    let engine = Engine::new();
    let mut words: Vec<Option<String>> =
        vec![None, Some(String::new()), Some(" high".into()), Some("ÜRGENT".into())];
    for word in RANKED.iter().flat_map(|(_, words)| words.iter()) {
        words.extend([word.to_string(), word.to_ascii_uppercase(), format!("{word} ")].map(Some));
    }
    // Worst first, so that the order of insertion cannot be mistaken for the ranking.
    words.sort_by_key(|word| std::cmp::Reverse(rank(word.as_deref())));
    for word in &words {
        engine.create(NewTask { priority: word.clone(), ..NewTask::titled("ranked") });
    }
    let queue =
        service::next_actions::<Task>(&engine.db, &QueueFilter { limit: 500, ..QueueFilter::default() })
            .unwrap();
    let seen: Vec<Option<String>> = queue.tasks.into_iter().map(|task| task.priority).collect();
    words.sort_by_key(|word| rank(word.as_deref()));
    assert_eq!(seen, words);
}

#[test]
fn priorities_are_ranked_by_the_words_of_the_chapter() {
    for (word, expected) in [
        (None, 2),
        (Some("critical"), 0),
        (Some("URGENT"), 0),
        (Some("P0"), 0),
        (Some("high"), 1),
        (Some("Important"), 1),
        (Some("medium"), 2),
        (Some("urgent_not_important"), 2),
        (Some("low"), 3),
        (Some("low "), DEFAULT_RANK),
        (Some(""), DEFAULT_RANK),
    ] {
        assert_eq!(rank(word), expected, "{word:?}");
    }
}

#[test]
fn pages_come_oldest_first_and_end_in_an_empty_one() {
    let engine = Engine::new();
    (0..5).for_each(|number| drop(engine.task(&number.to_string())));
    for (offset, expected) in [(0, vec!["0", "1"]), (2, vec!["2", "3"]), (4, vec!["4"]), (99, vec![])] {
        let filter = ListFilter { limit: 2, offset, ..ListFilter::default() };
        let page = service::list_tasks::<Task>(&engine.db, &filter).unwrap();
        let titles: Vec<&str> = page.tasks.iter().map(|task| task.title.as_str()).collect();
        assert_eq!((titles, page.total), (expected, 5), "offset {offset}");
    }
}

/// The clock may go back; a task that comes later stands behind those that were there, in lists and queue alike.
#[test]
fn the_order_is_that_of_creation_whatever_the_clock_says() {
    let engine = Engine::new();
    let mut ids = Vec::new();
    for step_ms in [0, 60_000, -3_600_000, 5] {
        engine.now_ms.set(engine.now_ms.get() + step_ms);
        ids.push(engine.create(NewTask { project_id: Some("p".to_owned()), ..NewTask::titled("t") }).id);
    }
    let project_id = Some(Some("p".to_owned()));
    for (status, project_id) in
        [(None, None), (Some(Init), None), (None, project_id.clone()), (Some(Init), project_id)]
    {
        let filter = ListFilter { status, project_id, ..ListFilter::default() };
        let page = service::list_tasks::<Task>(&engine.db, &filter).unwrap();
        let listed: Vec<String> = page.tasks.into_iter().map(|task| task.id).collect();
        assert_eq!(listed, ids, "{filter:?}");
    }
    let queue = service::next_actions::<Task>(&engine.db, &QueueFilter::default()).unwrap();
    let queued: Vec<String> = queue.tasks.into_iter().map(|task| task.id).collect();
    assert_eq!(queued, ids);
}

#[test]
fn list_filters_combine_and_match_exactly() {
    let engine = Engine::new();
    for (title, project_id, status) in
        [("a", Some("X"), Plan), ("b", Some("X"), Init), ("c", None, Plan), ("d", None, Init)]
    {
        engine.create(NewTask {
            project_id: project_id.map(str::to_owned),
            status,
            ..NewTask::titled(title)
        });
    }
    for (project_id, status, expected) in [
        (Some(Some("X".to_owned())), Some(Plan), vec!["a"]),
        (Some(Some("X".to_owned())), None, vec!["a", "b"]),
        (Some(None), None, vec!["c", "d"]),
        (None, Some(Plan), vec!["a", "c"]),
        (Some(Some("x".to_owned())), None, vec![]),
    ] {
        let filter = ListFilter { project_id, status, ..ListFilter::default() };
        let page = service::list_tasks::<Task>(&engine.db, &filter).unwrap();
        let titles: Vec<&str> = page.tasks.iter().map(|task| task.title.as_str()).collect();
        assert_eq!((titles, page.total), (expected.clone(), expected.len() as i64), "{filter:?}");
    }
}

#[test]
fn deleted_tasks_are_listed_on_request_only() {
    let engine = Engine::new();
    let task = engine.create(NewTask { project_id: Some("p".into()), ..NewTask::titled("gone") });
    engine.delete(&task.id);
    let filter = ListFilter { project_id: Some(Some("p".into())), ..ListFilter::default() };
    assert_eq!(service::list_tasks::<Task>(&engine.db, &filter).unwrap().total, 0);
    let with_deleted =
        service::list_tasks::<Task>(&engine.db, &ListFilter { include_deleted: true, ..filter }).unwrap();
    assert_eq!(with_deleted.total, 1);
    assert!(with_deleted.tasks[0].deleted_at.is_some());
}
