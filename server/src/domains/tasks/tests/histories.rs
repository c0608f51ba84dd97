//! Histories: what is stored of each call folds into the task, and any change of it is seen.

use crate::catalogue::{Task, TaskEventKind, TaskStatus};
use crate::domains::tasks::change::{NOTHING, difference, held_by, patched, whole};
use crate::domains::tasks::event::{ClaimPart, Event, may_earn, skipped};
use crate::domains::tasks::fold::{Flaw, Fold};
use crate::domains::tasks::history::{each_event, history};
use crate::domains::tasks::input::{NewTask, TaskPatch};
use crate::domains::tasks::tests::support::Engine;
use colibri_canonical::{NumberRule, canonical_json};
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c\"\\\\\n\u{1}é\u{1f600}]{1,4}"]
}

fn optional() -> impl Strategy<Value = Option<Option<String>>> {
    prop::option::of(prop::option::of(text()))
}

fn patch() -> impl Strategy<Value = TaskPatch> {
    (prop::option::of("[a-b]{1,2}"), optional(), optional(), optional(), optional()).prop_map(
        |(title, project_id, description, priority, assignee)| TaskPatch {
            title,
            project_id,
            description,
            priority,
            assignee,
            ..TaskPatch::default()
        },
    )
}

fn events(engine: &Engine, id: &str) -> Vec<Event> {
    let mut events = Vec::new();
    each_event(&engine.db, |task_id, event| {
        if task_id == id {
            events.push(event.unwrap());
        }
        Ok(())
    })
    .unwrap();
    events
}

fn fold(id: &str, events: &[Event]) -> (Fold, Vec<Flaw>) {
    let mut fold = Fold::new(id);
    let flaws = events.iter().flat_map(|event| fold.take(event)).collect();
    (fold, flaws)
}

/// A change of an event behind the server's back.
type Edit = fn(&mut Event);

/// A task with a title, a step and a claim behind it.
fn told() -> (Engine, Task, Vec<Event>) {
    let engine = Engine::new();
    let id = engine.task("one").id;
    engine.update(&id, TaskPatch { title: Some("two".into()), ..TaskPatch::default() }).unwrap();
    engine.go(&id, TaskStatus::Gather).unwrap();
    let task = engine.get(&id).unwrap();
    let mut events = events(&engine, &id);
    let claim = |no: i64, agent: &str, until: &str| {
        Some(ClaimPart { no, agent_id: agent.into(), lease_until: until.into() })
    };
    let last = events.last().unwrap().clone();
    let mut add = |kind, claim, changes: String| {
        let event_no = events.len() as i64 + 1;
        let (from, sequence_no) = (Some(TaskStatus::Gather), Some(100 + event_no));
        events.push(Event { event_no, sequence_no, kind, from, claim, changes, ..last.clone() });
    };
    add(TaskEventKind::Claimed, claim(1, "a", "2026-01-01T00:15:00.000Z"), NOTHING.into());
    add(TaskEventKind::Renewed, claim(1, "a", "2026-01-01T00:16:00.000Z"), NOTHING.into());
    add(TaskEventKind::TakenOver, claim(2, "b", "2026-01-01T02:00:00.000Z"), held_by("a", "b"));
    add(TaskEventKind::Released, claim(2, "b", "2026-01-01T02:00:00.000Z"), NOTHING.into());
    add(TaskEventKind::Claimed, claim(3, "a", "2026-01-01T03:00:00.000Z"), NOTHING.into());
    (engine, task, events)
}

#[test]
fn a_sound_history_folds_into_the_task_and_its_claim() {
    let (_engine, task, events) = told();
    let (fold, flaws) = fold(&task.id, &events);
    assert_eq!((fold.task, flaws), (task, Vec::new()));
    let claim = fold.claim.unwrap();
    assert_eq!((claim.no, claim.agent_id.as_str(), claim.released_at), (3, "a", None));
}

#[test]
fn every_change_of_a_single_event_is_seen() {
    let (_engine, task, events) = told();
    let edits: [(&str, Edit); 9] = [
        ("number", |event| event.event_no += 1),
        ("kind", |event| event.kind = TaskEventKind::Deleted),
        ("from", |event| event.from = Some(TaskStatus::Plan)),
        ("to", |event| event.to = TaskStatus::Done),
        ("changes", |event| event.changes = "{\"title\":[\"two\",\"two\"]}".into()),
        ("form", |event| event.changes.insert(1, ' ')),
        ("unknown", |event| event.changes = "{\"color\":[null,\"red\"]}".into()),
        ("claim", |event| {
            event.claim = Some(ClaimPart { no: 9, agent_id: "z".into(), lease_until: "t".into() })
        }),
        ("call", |event| event.task_call = Some(99)),
    ];
    for (name, edit) in edits {
        for at in 0..events.len() {
            let mut edited = events.clone();
            edit(&mut edited[at]);
            // A change of another kind of event that names the same fields is the call's affair.
            let same = name == "kind" && events[at].kind == TaskEventKind::Changed;
            let (after, flaws) = fold(&task.id, &edited);
            assert!(same || !flaws.is_empty() || after.claim.unwrap().no == 9, "{name} of event {at}");
        }
    }
    for at in 0..events.len() - 1 {
        let mut cut = events.clone();
        cut.remove(at);
        assert!(fold(&task.id, &cut).1.contains(&Flaw::Gap), "event {at} is gone");
        let mut swapped = events.clone();
        swapped.swap(at, at + 1);
        assert!(fold(&task.id, &swapped).1.contains(&Flaw::Gap), "events {at} and the next");
    }
}

#[test]
fn skipped_states_are_those_before_the_birth_and_earn_nothing() {
    use TaskEventKind::{Created, Migrated};
    assert!(
        skipped(Created, TaskStatus::Init).is_empty() && skipped(Created, TaskStatus::Cancelled).is_empty()
    );
    assert_eq!(skipped(Created, TaskStatus::Verify).len(), 5);
    assert!(skipped(Migrated, TaskStatus::Verify).is_empty());
    assert!(may_earn(Created, TaskStatus::Init) && may_earn(Migrated, TaskStatus::Verify));
    assert!(!may_earn(Created, TaskStatus::Gather));
}

#[test]
fn a_task_without_a_stored_event_shows_the_one_that_its_row_stands_for() {
    let engine = Engine::new();
    let id = engine.create(NewTask { priority: Some("high".into()), ..NewTask::titled("one") }).id;
    assert!(events(&engine, &id).is_empty());
    let shown = history(&engine.db, &id, 50, None).unwrap().unwrap();
    assert_eq!((shown.total_count, shown.events[0].stored, shown.next_before), (1, false, None));
    engine.go(&id, TaskStatus::Gather).unwrap();
    let shown = history(&engine.db, &id, 1, None).unwrap().unwrap();
    assert_eq!((shown.total_count, shown.events[0].stored, shown.next_before), (2, true, Some(2)));
    assert_eq!(history(&engine.db, &id, 1, Some(2)).unwrap().unwrap().next_before, None);
    assert_eq!(history(&engine.db, "nothing", 1, None).unwrap(), None);
}

#[test]
fn the_database_shows_the_same_events_as_the_tool() {
    let engine = Engine::new();
    let first = engine.task("one").id;
    let id = engine
        .create(NewTask { depends_on: vec![first], assignee: Some("é\"".into()), ..NewTask::titled("two") })
        .id;
    let list = |id: &str| -> Vec<(i64, String, String, i64)> {
        engine
            .db
            .query_all(
                "SELECT event_no, kind, changes, stored FROM task_event_list WHERE task_id = ?1 ORDER BY event_no",
                colibri_store::params![id],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .unwrap()
    };
    let shown = list(&id);
    assert_eq!((shown.len(), shown[0].3), (1, 0));
    engine.go(&id, TaskStatus::Gather).unwrap();
    let told = list(&id);
    let stored: Vec<i64> = told.iter().map(|event| event.3).collect();
    assert_eq!(stored, [1, 1]);
    let known = |event: &(i64, String, String, i64)| (event.0, event.1.clone(), event.2.clone());
    assert_eq!(known(&shown[0]), known(&told[0]), "the same as the event that is stored later");
}

proptest! {
    /// What a patch does to a task in memory is what the database holds, and its changes are canonical and lead there.
    #[test]
    fn patches_are_stored_as_they_are_told(patches in prop::collection::vec(patch(), 1..8)) {
        let engine = Engine::new();
        let id = engine.task("one").id;
        for patch in patches {
            let before = engine.get(&id).unwrap();
            let after = engine.update(&id, patch.clone()).unwrap();
            prop_assert_eq!(&engine.get(&id).unwrap(), &after);
            let told = difference(&before, &patched(&before, &patch, &after.updated_at));
            for changes in [told, whole(&after, false), whole(&after, true)] {
                let value = serde_json::from_str(&changes).unwrap();
                prop_assert_eq!(canonical_json(&value, NumberRule::Wire).unwrap(), changes);
            }
        }
        let (fold, flaws) = fold(&id, &events(&engine, &id));
        prop_assert_eq!(flaws, Vec::new());
        if fold.event_no > 0 {
            prop_assert_eq!(fold.task, engine.get(&id).unwrap());
        }
    }
}
