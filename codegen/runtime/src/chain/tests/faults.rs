//! Whichever step of the store fails, each call is stored whole or not at all, says so, and leaves no transaction
//! open.

use super::*;
use crate::chain::audit::RowOutcome;

/// Returns three good calls among two that fail by themselves and one of an unknown tool.
fn batch() -> Vec<Call> {
    ["keep", "refuse", "keep", "nobody", "panic", "keep"]
        .iter()
        .enumerate()
        .map(|(id, tool)| call(id, tool))
        .collect()
}

/// Every acknowledged effect is there, no other is, and the rows say the same.
fn assert_whole_or_not_there(case: &str, chain: &Chain<FaultyStore, Handlers>, replies: &[Reply]) {
    let store = &chain.store;
    let acknowledged: Vec<String> =
        replies.iter().filter(|reply| succeeded(reply)).map(|reply| reply.to.id.to_string()).collect();
    assert_eq!(store.inner.data(), &acknowledged, "{case}");
    assert!(!store.in_transaction(), "{case}: a transaction is left open");
    let stored = store.inner.rows().filter(|row| row.outcome == Some(RowOutcome::Ok)).count();
    assert_eq!(stored, acknowledged.len(), "{case}");
}

#[tokio::test]
async fn whatever_step_of_the_store_fails_each_call_is_whole_or_not_there() {
    let mut clean = chain(FaultyStore::sound());
    assert_eq!(run(&mut clean, batch()).await.iter().filter(|reply| succeeded(reply)).count(), 3);
    let steps = clean.store.step;
    assert!(steps > 20, "{steps}");
    for mode in [Mode::Refuse, Mode::Drop] {
        for first in 0..steps {
            for length in [1, 2, 3, steps] {
                let case = format!("{mode:?} at steps {first}..{}", first + length);
                let mut chain = chain(FaultyStore::new(&[first..first + length], mode));
                let replies = run(&mut chain, batch()).await;
                let order: Vec<&str> = replies.iter().map(|reply| &*reply.to.id).collect();
                assert_eq!(order, ["0", "1", "2", "3", "4", "5"], "{case}");
                assert_whole_or_not_there(&case, &chain, &replies);
                assert!(chain.store.synced > 0, "{case}: replies left before a sync");
            }
        }
    }
}

#[tokio::test]
async fn rows_left_open_by_a_failed_commit_are_closed_by_the_next_batch() {
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, batch()).await;
    let last_commit = clean.store.step - 1;
    let mut chain = chain(FaultyStore::new(&[last_commit..last_commit + 1], Mode::Refuse));
    let replies = run(&mut chain, batch()).await;
    assert_eq!(replies.iter().filter(|reply| succeeded(reply)).count(), 0);
    assert_eq!(chain.store.inner.rows().filter(|row| row.outcome.is_none()).count(), 6);
    let replies = run(&mut chain, vec![call(9, "keep")]).await;
    assert!(succeeded(&replies[0]));
    assert_eq!(chain.store.inner.rows().filter(|row| row.outcome.is_none()).count(), 0);
    let codes: Vec<_> =
        chain.store.inner.rows().map(|row| row.error_code.clone().unwrap_or_default()).collect();
    assert_eq!(codes, ["UNCOMMITTED", "FAILED", "UNCOMMITTED", "UNKNOWN", "FAILED", "UNCOMMITTED", ""]);
}

#[tokio::test]
async fn a_batch_takes_two_transactions_and_one_sync() {
    let mut chain = chain(FaultyStore::sound());
    let calls = (0..64).map(|id| call(id, "keep")).collect();
    assert_eq!(run(&mut chain, calls).await.len(), 64);
    assert_eq!(chain.store.begun, 2);
    assert_eq!(chain.store.synced, 1);
}

#[tokio::test]
async fn two_faults_far_apart_are_no_worse_than_one() {
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, batch()).await;
    let steps = clean.store.step;
    for mode in [Mode::Refuse, Mode::Drop] {
        for first in 0..steps {
            for second in first + 1..steps + 20 {
                let case = format!("{mode:?} at steps {first} and {second}");
                let mut chain = chain(FaultyStore::new(&[first..first + 1, second..second + 1], mode));
                let replies = run(&mut chain, batch()).await;
                assert_eq!(replies.len(), 6, "{case}");
                assert_whole_or_not_there(&case, &chain, &replies);
                assert_rows_say_what_replies_said(&case, &mut chain, &replies).await;
            }
        }
    }
}

#[tokio::test]
async fn finding_a12_row_and_reply_say_the_same_whichever_three_steps_fail() {
    let two = || vec![call(0, "keep"), call(1, "keep")];
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, two()).await;
    let steps = clean.store.step;
    for first in 0..steps {
        for second in first + 1..steps + 8 {
            for third in second + 1..steps + 12 {
                let case = format!("at steps {first}, {second} and {third}");
                let faults = [first, second, third].map(|step| step..step + 1);
                let mut chain = chain(FaultyStore::new(&faults, Mode::Refuse));
                let replies = run(&mut chain, two()).await;
                assert_whole_or_not_there(&case, &chain, &replies);
                assert_rows_say_what_replies_said(&case, &mut chain, &replies).await;
            }
        }
    }
}

/// Sends a batch after the faults, which closes open rows. Either no call of the batch before has a row, or each has one
/// that commits to the reply.
async fn assert_rows_say_what_replies_said(
    case: &str,
    chain: &mut Chain<FaultyStore, Handlers>,
    replies: &[Reply],
) {
    chain.store.fails.clear();
    assert!(succeeded(&run(chain, vec![call(9, "keep")]).await[0]), "{case}");
    assert!(chain.unclosed.is_empty(), "{case}: a row waits to be closed although nothing fails");
    let said: Vec<Option<String>> =
        replies.iter().map(|reply| Some(crate::chain::envelope::envelope_hash(&envelope(reply)))).collect();
    let mut rows: Vec<Option<String>> = chain.store.inner.rows().map(|row| row.result_hash.clone()).collect();
    rows.pop();
    assert!(rows.is_empty() || rows == said, "{case}: {rows:?} are not the hashes of {replies:?}");
}

#[tokio::test]
async fn a_failed_sync_is_fatal_and_nothing_is_acknowledged() {
    let mut chain = chain(FaultyStore::sound());
    chain.store.sync_fails = true;
    let replies = run(&mut chain, batch()).await;
    assert!(replies.iter().all(|reply| !succeeded(reply)));
    assert_eq!(envelope(&replies[0])["error"]["message"], "UNCOMMITTED: the disk is gone");
    assert_eq!(envelope(&replies[1])["error"]["message"], "STORAGE: refused");
    assert_eq!(chain.fatal(), Some("the disk is gone"));
}

#[tokio::test]
async fn what_is_open_at_the_end_is_closed_by_the_end() {
    let mut chain = chain(FaultyStore::sound());
    chain.close_pending();
    assert_eq!(chain.store.begun, 0, "there was nothing to do");
    // The last step of a batch of one is its commit.
    run(&mut chain, vec![call(1, "keep")]).await;
    let steps = chain.store.step;
    chain.store.fails = vec![2 * steps - 1..2 * steps];
    let replies = run(&mut chain, vec![call(2, "keep")]).await;
    assert_eq!(message(&replies), "UNCOMMITTED: the disk is full");
    for steps in [1, 2] {
        chain.store.fail_next(steps);
        chain.close_pending();
        assert_eq!(outcomes(&chain), [Some("ok"), None], "it waits for a store that works");
    }
    let step = chain.store.step;
    chain.store.fails = vec![step + 4..step + 5];
    chain.close_pending();
    assert_eq!(outcomes(&chain), [Some("ok"), None], "the commit failed");
    chain.close_pending();
    assert_eq!(outcomes(&chain), [Some("ok"), Some("error")]);
}

#[tokio::test]
async fn a_row_that_cannot_be_closed_yet_stops_nobody() {
    let mut chain = chain(FaultyStore::sound());
    run(&mut chain, vec![call(1, "keep")]).await;
    let steps = chain.store.step;
    chain.store.fails = vec![2 * steps - 1..2 * steps];
    run(&mut chain, vec![call(2, "keep")]).await;
    // begin and savepoint work, the open row is refused once more.
    let step = chain.store.step;
    chain.store.fails = vec![step + 2..step + 3];
    assert!(succeeded(&run(&mut chain, vec![call(3, "keep")]).await[0]));
    assert_eq!(outcomes(&chain), [Some("ok"), None, Some("ok")]);
    run(&mut chain, vec![call(4, "keep")]).await;
    assert_eq!(outcomes(&chain), [Some("ok"), Some("error"), Some("ok"), Some("ok")]);
}

#[tokio::test]
async fn a_transaction_lost_under_the_handler_is_run_again_alone() {
    let lost = |tool| vec![call(1, "keep"), keyed(tool, "lose"), call(3, "keep")];
    let mut one = chain(FaultyStore::sound());
    let replies = run(&mut one, lost("keep")).await;
    assert_eq!(replies.iter().map(succeeded).collect::<Vec<_>>(), [true, false, true]);
    let text = "UNCOMMITTED: the store rolled the transaction back";
    assert_eq!(envelope(&replies[1])["error"]["message"], text);
    assert_eq!(one.store.inner.data(), &["1", "3"]);

    // The handler failed as well: its own error is not masked, and its row is closed.
    let mut two = chain(FaultyStore::sound());
    let replies = run(&mut two, lost("refuse")).await;
    assert_eq!(envelope(&replies[1])["error"]["message"], "STORAGE: refused");
    assert_eq!(outcomes(&two), [Some("ok"), Some("error"), Some("ok")]);

    // begin, enter, commit; begin, savepoint; alone: begin, savepoint; then the row by itself fails.
    let mut three = chain(FaultyStore::new(&[7..8], Mode::Refuse));
    let replies = run(&mut three, vec![keyed("refuse", "lose")]).await;
    assert_eq!(message(&replies), "STORAGE: refused");
    assert_eq!(outcomes(&three), [None]);
}

/// A clock that advances by 60 ms each time it is read.
#[derive(Default)]
pub struct Slow(std::sync::atomic::AtomicU64);

impl Clock for Slow {
    fn monotonic_ms(&self) -> f64 {
        self.0.fetch_add(60, std::sync::atomic::Ordering::Relaxed) as f64
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

#[tokio::test]
async fn a_slow_batch_lets_go_of_the_lock_in_between() {
    let clock = Arc::new(Slow::default());
    let audit = Audit::Store { kind: "memory" };
    let mut chain = chain_over(FaultyStore::sound(), audit, clock, Arc::new(NoLog));
    let replies = run(&mut chain, batch()).await;
    assert_eq!(replies.len(), 6);
    assert_whole_or_not_there("slow", &chain, &replies);
    assert!(chain.store.begun > 2 && chain.store.synced > 1, "{}", chain.store.begun);

    // A sync that fails in between is not tried again, and the rest of the batch does not run.
    let clock = Arc::new(Slow::default());
    let audit = Audit::Store { kind: "memory" };
    let mut chain = chain_over(FaultyStore::sound(), audit, clock, Arc::new(NoLog));
    chain.store.sync_fails = true;
    let replies = run(&mut chain, batch()).await;
    assert_eq!((replies.len(), replies.iter().any(succeeded)), (6, false));
    assert_eq!((chain.store.begun, chain.store.synced), (2, 1));
}
