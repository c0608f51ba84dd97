//! An engine that postpones statements up to the commit, as one across a network does.

use super::*;

fn postponing(fails: &[std::ops::Range<usize>], mode: Mode) -> Chain<FaultyStore, Handlers> {
    chain(FaultyStore { postpones: true, ..FaultyStore::new(fails, mode) })
}

fn two() -> Vec<Call> {
    vec![call(0, "keep"), call(1, "keep")]
}

/// The number of the step that commits the effects of [`two`] calls.
async fn last_commit() -> usize {
    let mut clean = postponing(&[], Mode::Refuse);
    run(&mut clean, two()).await;
    clean.store.step - 1
}

#[tokio::test]
async fn calls_of_a_refused_commit_run_again_alone() {
    let commit = last_commit().await;
    let mut chain = postponing(&[commit..commit + 1], Mode::Refuse);
    let replies = run(&mut chain, two()).await;
    assert!(replies.iter().all(succeeded), "{replies:?}");
    assert_eq!(chain.store.inner.data(), &["0", "1"]);
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

#[tokio::test]
async fn a_statement_that_is_refused_fails_its_own_call() {
    let commit = last_commit().await;
    // After the refused commit: begin, savepoint, and the statements of the first call.
    let carried_out = commit + 3;
    let mut chain = postponing(&[commit..commit + 1, carried_out..carried_out + 1], Mode::Drop);
    let replies = run(&mut chain, two()).await;
    assert!(!succeeded(&replies[0]) && succeeded(&replies[1]), "{replies:?}");
    assert!(message(&replies[..1]).starts_with("STORAGE: the disk is full"), "{replies:?}");
    assert_eq!(chain.store.inner.data(), &["1"]);
    assert_eq!(outcomes(&chain), [Some("error"), Some("ok")]);
}

#[tokio::test]
async fn a_refusal_whose_row_is_not_stored_is_no_answer() {
    let one = || vec![call(0, "domain")];
    let mut clean = postponing(&[], Mode::Refuse);
    run(&mut clean, one()).await;
    let commit = clean.store.step - 1;
    // The batch's commit fails, and the call alone at each of its steps.
    for alone in commit + 1..commit + 6 {
        let mut chain = postponing(&[commit..commit + 1, alone..alone + 1_000], Mode::Refuse);
        let replies = run(&mut chain, one()).await;
        assert!(message(&replies).starts_with("UNCOMMITTED: "), "{alone}: {replies:?}");
    }
    let mut chain = postponing(&[], Mode::Refuse);
    chain.store.sync_fails = true;
    assert!(message(&run(&mut chain, one()).await).starts_with("UNCOMMITTED: the disk is gone"));
}

#[tokio::test]
async fn rows_left_open_are_closed_apart_and_one_that_refuses_keeps_no_other_from_it() {
    let commit = last_commit().await;
    let mut chain = postponing(&[commit..commit + 1_000], Mode::Refuse);
    let replies = run(&mut chain, two()).await;
    assert!(!replies.iter().any(succeeded), "{replies:?}");
    assert_eq!(outcomes(&chain), [None, None]);
    chain.store.fail_next(1);
    let replies = run(&mut chain, vec![call(2, "keep")]).await;
    assert!(succeeded(&replies[0]), "{replies:?}");
    assert_eq!(outcomes(&chain), [None, Some("error"), Some("ok")]);
    run(&mut chain, vec![call(3, "keep")]).await;
    assert_eq!(outcomes(&chain), [Some("error"), Some("error"), Some("ok"), Some("ok")]);
}

#[tokio::test]
async fn a_row_that_must_be_closed_keeps_later_calls_out() {
    let mut chain = postponing(&[], Mode::Refuse);
    let mut replies: Vec<Reply> = Vec::new();
    let mut flight = chain.run(vec![call(0, "network")], &mut replies).await.pop().unwrap();
    let result = std::future::poll_fn(|cx| flight.poll(cx)).await;
    chain.store.fail_next(2);
    chain.land(flight, result, &mut replies).await;
    assert!(succeeded(&replies[0]), "{replies:?}");
    let replies = run(&mut chain, vec![call(1, "keep")]).await;
    assert!(message(&replies).contains("the disk is full"), "{replies:?}");
    let replies = run(&mut chain, vec![call(2, "keep")]).await;
    assert!(succeeded(&replies[0]), "{replies:?}");
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

#[test]
fn a_store_that_postpones_nothing_has_nothing_to_carry_out() {
    let mut store = MemoryStore::<Data>::new(Vec::new());
    assert!(!store.postpones());
    assert_eq!(store.carry_out(), Ok(()));
    assert_eq!(store.audit_enter_all(&mut std::iter::empty()).unwrap_err().0, "no call is to be entered");
}

#[tokio::test]
async fn a_row_left_open_that_another_start_has_closed_stays_as_it_is() {
    let commit = last_commit().await;
    let mut chain = postponing(&[commit..commit + 1_000], Mode::Refuse);
    run(&mut chain, two()).await;
    owed::close_as_another_start(&mut chain.store.inner);
    chain.store.fail_next(0);
    let replies = run(&mut chain, vec![call(2, "keep")]).await;
    assert!(succeeded(&replies[0]), "{replies:?}");
    assert_eq!(outcomes(&chain), [Some("aborted"), Some("error"), Some("ok")]);
}
