//! Batches in which no call works in the store: one transaction holds both halves of their rows.

use super::*;
use crate::chain::tests::faults::Slow;

/// Calls of free tools among refused ones.
fn batch() -> Vec<Call> {
    ["early", "nobody", "early", "strict", "early"]
        .iter()
        .enumerate()
        .map(|(id, tool)| call(id, tool))
        .collect()
}

const ENDS: [Option<&str>; 5] = [Some("ok"), Some("denied"), Some("ok"), Some("invalid"), Some("ok")];

#[tokio::test]
async fn a_batch_without_effects_takes_one_transaction() {
    let mut chain = chain(FaultyStore::sound());
    let replies = run(&mut chain, batch()).await;
    assert_eq!(replies.iter().map(succeeded).collect::<Vec<_>>(), [true, false, true, false, true]);
    assert_eq!(outcomes(&chain), ENDS);
    assert_eq!((chain.store.begun, chain.store.synced), (1, 1));
    // One call that works in the store, and the enter rows are there before it runs.
    run(&mut chain, vec![call(6, "early"), call(7, "keep")]).await;
    assert_eq!((chain.store.begun, chain.store.synced), (3, 2));
}

/// A call is acknowledged exactly if its row is there, and no row is left open.
#[tokio::test]
async fn whatever_step_of_the_store_fails_row_and_reply_say_the_same() {
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, batch()).await;
    assert_eq!(clean.store.step, 12, "begin, a step for each half of each row, commit");
    fails_at_every_step(batch).await;
    fails_at_every_step(with_a_failure).await;
}

async fn fails_at_every_step(batch: fn() -> Vec<Call>) {
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, batch()).await;
    let steps = clean.store.step;
    for mode in [Mode::Refuse, Mode::Drop] {
        for first in 0..steps {
            for length in [1, 2, 3, steps] {
                let case = format!("{mode:?} at steps {first}..{}", first + length);
                let mut chain = chain(FaultyStore::new(&[first..first + length], mode));
                let replies = run(&mut chain, batch()).await;
                let order: Vec<&str> = replies.iter().map(|reply| &*reply.to.id).collect();
                assert_eq!(order, ["0", "1", "2", "3", "4"], "{case}");
                assert!(!replies.iter().any(succeeded), "{case}: nothing was stored");
                assert_eq!(outcomes(&chain), [], "{case}");
                assert!(!chain.store.in_transaction(), "{case}: a transaction is left open");
                // Refusals keep their own reason.
                assert_eq!(envelope(&replies[1])["error"]["code"], "UNKNOWN", "{case}");
                chain.store.fails.clear();
                let again = run(&mut chain, vec![call(9, "early")]).await;
                assert!(succeeded(&again[0]), "{case}");
                assert_eq!(outcomes(&chain), [Some("ok")], "{case}");
            }
        }
    }
}

/// Counts its calls, as a tool does that changes something in memory.
struct Counts(usize);

impl Dispatch<MemoryCx<Data>> for Counts {
    fn call(&mut self, _: &mut MemoryCx<Data>, _: usize, _: &Value) -> Dispatched {
        self.0 += 1;
        Dispatched::Value(json!({}))
    }
    fn scan(&mut self, _: usize, _: Value) -> ScanCall<MemoryCx<Data>> {
        panic!("no scan")
    }
    fn network(&mut self, (): (), _: usize, _: Value) -> NetworkCall {
        panic!("no network tool")
    }
}

#[tokio::test]
async fn a_free_tool_that_changes_something_runs_only_once_its_row_is_stored() {
    let mut refused = 0;
    for mode in [Mode::Refuse, Mode::Drop] {
        for first in 0..12 {
            let Chain { registry, kernel, audit, store, .. } =
                chain(FaultyStore::new(&[first..first + 1], mode));
            let mut chain = Chain::new(registry, store, Counts(0), audit, kernel);
            let mut replies = Vec::new();
            chain.run(vec![call(1, "early"), call(2, "change")], &mut replies).await;
            if envelope(&replies[1])["error"]["code"] == "NOT_ENTERED" {
                assert_eq!(chain.dispatch.0, 0, "{mode:?} at step {first}");
                refused += 1;
            }
        }
    }
    assert!(refused > 4, "{refused}");
}

/// The same with a handler that writes although its tool needs no store, and fails.
fn with_a_failure() -> Vec<Call> {
    let mut calls = batch();
    calls[2].arguments = json!({ "key": "refuse" }).into();
    calls
}

#[tokio::test]
async fn nothing_of_a_call_that_fails_stays_but_its_row() {
    let mut chain = chain(FaultyStore::sound());
    let replies = run(&mut chain, with_a_failure()).await;
    assert_eq!(replies.iter().map(succeeded).collect::<Vec<_>>(), [true, false, false, false, true]);
    assert_eq!(envelope(&replies[2])["error"]["message"], "as asked");
    assert_eq!(chain.store.inner.data(), &Vec::<String>::new());
    let ends = [Some("ok"), Some("denied"), Some("error"), Some("invalid"), Some("ok")];
    assert_eq!(outcomes(&chain), ends);
    assert_eq!((chain.store.begun, chain.store.synced), (2, 1));
}

#[tokio::test]
async fn what_earlier_calls_left_open_is_closed_on_the_way() {
    let mut chain = chain(FaultyStore::sound());
    // The last step of a batch of one is its commit.
    run(&mut chain, vec![call(1, "keep")]).await;
    let steps = chain.store.step;
    chain.store.fails = vec![2 * steps - 1..2 * steps];
    run(&mut chain, vec![call(2, "keep")]).await;
    assert_eq!(outcomes(&chain), [Some("ok"), None]);
    assert!(succeeded(&run(&mut chain, vec![call(3, "early")]).await[0]));
    assert_eq!(outcomes(&chain), [Some("ok"), Some("error"), Some("ok")]);
}

#[tokio::test]
async fn a_slow_batch_lets_go_of_the_lock_in_between() {
    let audit = Audit::Store { kind: "memory" };
    let mut chain = chain_over(FaultyStore::sound(), audit, Arc::new(Slow::default()), Arc::new(NoLog));
    let replies = run(&mut chain, batch()).await;
    let order: Vec<&str> = replies.iter().map(|reply| &*reply.to.id).collect();
    assert_eq!(order, ["0", "1", "2", "3", "4"]);
    assert_eq!(outcomes(&chain), ENDS);
    assert!(chain.store.begun > 2 && chain.store.synced > 2, "{}", chain.store.begun);
}

#[tokio::test]
async fn after_a_sync_that_failed_nothing_more_runs() {
    let mut chain = chain(FaultyStore::sound());
    chain.store.sync_fails = true;
    for id in 1..3 {
        let replies = run(&mut chain, vec![call(id, "early")]).await;
        assert_eq!(message(&replies), "UNCOMMITTED: the disk is gone");
    }
    assert_eq!(chain.store.synced, 1, "a sync is not tried again");
}
