//! The rules of claims, and their operations on a database.

use crate::catalogue::{
    Task, TaskClaimError, TaskClaimOutput, TaskEventKind, TaskReleaseError, TaskReleaseOutput, TaskStatus,
    TaskUpdateError,
};
use crate::domains::tasks::claims::{Judged, claim_task, clock, now, release_task};
use crate::domains::tasks::history::history;
use crate::domains::tasks::input::{ClaimWish, NewTask, QueueFilter, TaskPatch};
use crate::domains::tasks::rules::{Claim, Grant, LONGEST_LEASE_MS, Refusal, Time, decide, may_change};
use crate::domains::tasks::service;
use crate::domains::tasks::tests::support::{Engine, START_MS};
use colibri_runtime::handler::{Failure, Outcome};
use colibri_runtime::kernel::rfc3339_ms;
use proptest::prelude::*;

const HOUR_MS: i64 = 3_600_000;

fn wish(agent: &str) -> ClaimWish {
    ClaimWish { agent_id: agent.to_owned(), id: None, project_id: None, lease_seconds: 900, claim: None }
}

impl Engine {
    fn claim(&self, caller: i64, wish: &ClaimWish) -> Outcome<Judged<TaskClaimOutput>, TaskClaimError> {
        self.stamped(|stamp| claim_task(&self.db, stamp, caller, wish))
    }

    fn claim_id(&self, agent: &str, id: &str) -> Outcome<TaskClaimOutput, TaskClaimError> {
        let wish = ClaimWish { id: Some(id.to_owned()), ..wish(agent) };
        self.claim(1, &wish).map(|judged| judged.reply)
    }

    fn release(&self, id: &str, number: i64) -> Outcome<Judged<TaskReleaseOutput>, TaskReleaseError> {
        self.stamped(|stamp| release_task(&self.db, stamp, id, number))
    }

    fn retitle(&self, id: &str, claim: Option<i64>) -> Result<(), TaskUpdateError> {
        let patch = TaskPatch { title: Some("changed".to_owned()), ..TaskPatch::default() };
        let done = self.stamped(|stamp| service::update_task(&self.db, id, stamp, (&patch, claim), None));
        match done {
            Ok(_) => Ok(()),
            Err(Failure::Domain(refusal)) => Err(refusal),
            Err(Failure::Fault(fault)) => panic!("{fault:?}"),
        }
    }

    fn pass(&self, ms: i64) {
        self.now_ms.set(self.now_ms.get() + ms);
    }

    fn kinds(&self, id: &str) -> Vec<TaskEventKind> {
        let mut events = history(&self.db, id, 500, None).unwrap().unwrap().events;
        events.reverse();
        events.into_iter().map(|event| event.kind).collect()
    }
}

fn at(ms: i64) -> Time {
    Time { ms, set_back: false }
}

fn claim(lease_until: i64, released: bool) -> Claim {
    Claim {
        no: 3,
        agent_id: "a".to_owned(),
        caller_no: 1,
        claimed_at: rfc3339_ms(START_MS),
        lease_until: rfc3339_ms(lease_until),
        released_at: released.then(|| rfc3339_ms(START_MS)),
        sequence_no: 7,
    }
}

#[test]
fn the_time_of_a_call_never_goes_back_unless_a_clock_was_wrong_by_more_than_a_lease() {
    let text = rfc3339_ms(START_MS);
    for (entered, expected) in [
        (START_MS + 5, at(START_MS + 5)),
        (START_MS - HOUR_MS, at(START_MS)),
        (START_MS - LONGEST_LEASE_MS, at(START_MS)),
        (START_MS - LONGEST_LEASE_MS - 1, Time { ms: START_MS - LONGEST_LEASE_MS - 1, set_back: true }),
    ] {
        assert_eq!(Time::of_call(entered, Some(&text)), expected, "{entered}");
    }
    assert_eq!(Time::of_call(START_MS, None), at(START_MS));
    assert_eq!(Time::of_call(START_MS, Some("no time")), at(START_MS));
}

#[test]
fn a_claim_is_live_until_its_lease_ends_or_it_is_released() {
    for (lease, released, live) in [
        (START_MS, false, false),
        (START_MS + 1, false, true),
        (START_MS + 1, true, false),
        (START_MS + LONGEST_LEASE_MS, false, true),
        (START_MS + LONGEST_LEASE_MS + 1, false, false),
    ] {
        assert_eq!(claim(lease, released).is_live(at(START_MS)), live, "{lease} {released}");
    }
}

#[test]
fn who_may_have_a_task_that_was_claimed() {
    let live = claim(START_MS + HOUR_MS, false);
    let (ended, released) = (claim(START_MS - 1, false), claim(START_MS + HOUR_MS, true));
    let held = || Err(Refusal::Held { by: "a".to_owned(), until: rfc3339_ms(START_MS + HOUR_MS) });
    let stale = || Err(Refusal::Stale { newest: Some(3) });
    let next = |from: Option<&str>| Ok(Grant::New { no: 4, taken_over_from: from.map(str::to_owned) });
    for (newest, number, who, expected) in [
        (None, None, ("a", true), Ok(Grant::New { no: 1, taken_over_from: None })),
        (None, Some(3), ("a", true), Err(Refusal::Stale { newest: None })),
        (Some(&live), None, ("a", true), Ok(Grant::Renewed)),
        (Some(&live), None, ("a", false), held()),
        (Some(&live), None, ("b", true), held()),
        (Some(&live), Some(3), ("b", false), Ok(Grant::Renewed)),
        (Some(&live), Some(2), ("a", true), stale()),
        (Some(&ended), None, ("b", true), next(Some("a"))),
        (Some(&ended), Some(3), ("a", true), Ok(Grant::Renewed)),
        (Some(&released), None, ("b", true), next(None)),
        (Some(&released), Some(3), ("a", true), stale()),
    ] {
        assert_eq!(decide(newest, number, who, at(START_MS)), expected, "{newest:?} {number:?} {who:?}");
    }
}

#[test]
fn who_may_change_a_task_that_was_claimed() {
    let live = claim(START_MS + HOUR_MS, false);
    let far = claim(START_MS + 2 * LONGEST_LEASE_MS, false);
    let (ended, released) = (claim(START_MS - 1, false), claim(START_MS + HOUR_MS, true));
    for (newest, number, allowed) in [
        (None, None, true),
        (None, Some(1), false),
        (Some(&live), None, false),
        (Some(&live), Some(3), true),
        (Some(&live), Some(2), false),
        (Some(&ended), None, true),
        (Some(&ended), Some(3), true),
        (Some(&ended), Some(2), false),
        // Whose clock is wrong is not known.
        (Some(&far), None, false),
        (Some(&released), None, true),
        (Some(&released), Some(3), true),
        (Some(&released), Some(4), false),
    ] {
        assert_eq!(may_change(newest, number, at(START_MS)).is_ok(), allowed, "{newest:?} {number:?}");
    }
}

#[test]
fn an_agent_gets_the_most_urgent_task_that_is_free_for_it() {
    let engine = Engine::new();
    let low = engine.create(NewTask { priority: Some("low".into()), ..NewTask::titled("low") });
    let other = engine.create(NewTask { assignee: Some("b".into()), ..NewTask::titled("of b") });
    let mine = engine.create(NewTask { assignee: Some("a".into()), ..NewTask::titled("mine") });
    let waits = engine.create(NewTask {
        priority: Some("critical".into()),
        depends_on: vec![low.id.clone()],
        ..NewTask::titled("waits")
    });
    let given = |agent: &str| engine.claim(1, &wish(agent)).unwrap().reply.task.map(|task| task.id);
    assert_eq!([given("a"), given("a")], [Some(mine.id), Some(low.id.clone())]);
    let none = engine.claim(1, &wish("a")).unwrap();
    let retry_at = rfc3339_ms(START_MS + 900_000);
    assert_eq!((none.reply.task, none.reply.retry_at, none.written), (None, Some(retry_at), false));
    assert_eq!(given("b"), Some(other.id));
    assert!(matches!(
        engine.claim_id("b", &waits.id),
        Err(Failure::Domain(TaskClaimError::ErrBlocked { waiting_for, .. })) if waiting_for == [low.id]
    ));
}

#[test]
fn what_runs_out_is_taken_over_and_the_old_number_refused() {
    let engine = Engine::new();
    let id = engine.task("one").id;
    assert_eq!(engine.claim_id("a", &id).unwrap().claim, Some(1));
    assert!(
        matches!(engine.retitle(&id, None), Err(TaskUpdateError::ErrClaimed { held_by, .. }) if held_by == "a")
    );
    engine.retitle(&id, Some(1)).unwrap();
    engine.pass(901_000);
    engine.retitle(&id, None).unwrap();
    engine.retitle(&id, Some(1)).unwrap();
    let taken = engine.claim_id("b", &id).unwrap();
    assert_eq!((taken.claim, taken.taken_over_from.as_deref(), taken.renewed), (Some(2), Some("a"), false));
    assert!(matches!(
        engine.retitle(&id, Some(1)),
        Err(TaskUpdateError::ErrClaimStale { newest: Some(2), .. })
    ));
    assert!(matches!(
        engine.release(&id, 1),
        Err(Failure::Domain(TaskReleaseError::ErrClaimStale { claim: 1, newest: Some(2), .. }))
    ));
    let first = engine.release(&id, 2).unwrap();
    assert!(first.written);
    let again = engine.release(&id, 2).unwrap();
    assert_eq!((again.reply, again.written), (first.reply, false));
    use TaskEventKind::{Changed, Claimed, Migrated, Released, TakenOver};
    let told = [Migrated, Claimed, Changed, Changed, Changed, TakenOver, Released];
    assert_eq!(engine.kinds(&id), told);
}

#[test]
fn finishing_a_task_ends_its_claim() {
    let engine = Engine::new();
    let id = engine.task("one").id;
    engine.claim_id("a", &id).unwrap();
    let patch = TaskPatch { status: Some(TaskStatus::Cancelled), ..TaskPatch::default() };
    let done = engine.stamped(|stamp| service::update_task(&engine.db, &id, stamp, (&patch, Some(1)), None));
    let at = done.unwrap().updated_at;
    let release = engine.release(&id, 1).unwrap();
    assert_eq!((release.reply.released_at, release.written), (at, false));
    assert!(matches!(
        engine.claim_id("a", &id),
        Err(Failure::Domain(TaskClaimError::ErrFinished { status: TaskStatus::Cancelled, .. }))
    ));
}

#[test]
fn a_clock_that_goes_back_an_hour_revives_no_lease_and_a_year_is_forgotten() {
    let engine = Engine::new();
    let (one, other) = (engine.task("one").id, engine.task("other").id);
    engine.claim_id("a", &one).unwrap();
    engine.pass(901_000);
    engine.claim_id("a", &other).unwrap();
    engine.pass(-HOUR_MS);
    assert_eq!(engine.claim_id("b", &one).unwrap().taken_over_from.as_deref(), Some("a"));
    engine.pass(365 * 24 * HOUR_MS);
    assert_eq!(engine.claim_id("c", &one).unwrap().taken_over_from.as_deref(), Some("b"));
    engine.pass(-365 * 24 * HOUR_MS);
    let ahead = clock(&engine.db).unwrap();
    let back = engine.claim(1, &ClaimWish { id: Some(one.clone()), ..wish("d") }).unwrap();
    assert_eq!(back.reply.taken_over_from.as_deref(), Some("c"), "no lease beyond a day is live");
    assert_eq!(back.set_back, ahead);
    assert_eq!(engine.claim(1, &wish("e")).unwrap().set_back, None, "only one line says so");
}

#[test]
fn held_tasks_are_left_out_of_the_queue_only_if_asked() {
    let engine = Engine::new();
    let id = engine.task("held").id;
    engine.task("free");
    engine.claim_id("a", &id).unwrap();
    let count = |unclaimed: bool, ms| {
        let unclaimed = unclaimed.then(|| now(&engine.db, ms).unwrap().live_between());
        let filter = QueueFilter { unclaimed, ..QueueFilter::default() };
        let queue = service::next_actions::<Task>(&engine.db, &filter).unwrap();
        (queue.tasks.len(), queue.actionable)
    };
    assert_eq!((count(false, START_MS), count(true, START_MS)), ((2, 2), (1, 1)));
    assert_eq!(count(true, START_MS + 900_000), (2, 2));
}

proptest! {
    /// No matter what the clocks do, a number is given to one agent only, and the newest one alone may change the task.
    #[test]
    fn numbers_rise_and_only_the_newest_holder_can_write(
        steps in prop::collection::vec((0..3usize, -2 * HOUR_MS..2 * HOUR_MS, 0..3u8), 1..40),
    ) {
        let engine = Engine::new();
        let id = engine.task("one").id;
        let mut numbers = [None::<i64>; 3];
        for (agent, ms, what) in steps {
            engine.pass(ms);
            let name = ["a", "b", "c"][agent];
            let newest = numbers.iter().flatten().max().copied();
            match what {
                0 => {
                    if let Ok(claimed) = engine.claim_id(name, &id) {
                        let number = claimed.claim.unwrap();
                        prop_assert_eq!(number > newest.unwrap_or(0), !claimed.renewed);
                        if claimed.renewed {
                            prop_assert_eq!(Some(number), numbers[agent]);
                        }
                        numbers[agent] = Some(number);
                    }
                }
                1 => if let Some(number) = numbers[agent] {
                    prop_assert_eq!(engine.retitle(&id, Some(number)).is_ok(), Some(number) == newest);
                },
                _ => if let Some(number) = numbers[agent] {
                    prop_assert_eq!(engine.release(&id, number).is_ok(), Some(number) == newest);
                },
            }
        }
    }
}
