//! The operator's tools: they go through the same five stages, and no client can reach them.

use super::*;
use crate::chain::admission::{Admission, Denial};
use crate::chain::audit::{MemorySink, NoOpSink};
use crate::chain::selection::Selection;
use crate::wire::protocol::Protocol;

async fn operate(chain: &mut Chain<FaultyStore, Handlers>, arguments: Value) -> Vec<Reply> {
    let mut replies = Vec::new();
    chain.operate(Call { arguments: arguments.into(), ..call(1, "import") }, &mut replies).await;
    replies
}

#[tokio::test]
async fn an_operation_leaves_one_enter_and_one_exit() {
    let mut chain = chain(FaultyStore::sound());
    let replies = operate(&mut chain, json!({ "key": "a" })).await;
    assert_eq!(envelope(&replies[0]), json!({ "ok": true, "data": { "kept": 1 } }));
    let rows: Vec<_> = chain.store.inner.rows().map(|row| (row.tool.clone(), row.outcome)).collect();
    assert_eq!(rows, [("import".to_owned(), Some(crate::chain::audit::RowOutcome::Ok))]);
    assert_eq!((chain.store.begun, chain.store.synced), (2, 1), "enter, effects with exit, one sync");
}

#[tokio::test]
async fn what_fails_in_an_operation_is_undone_and_closed() {
    for (key, told) in
        [("refuse", "STORAGE: refused"), ("panic", "handler panicked"), ("nan", "result is not serialisable")]
    {
        let mut chain = chain(FaultyStore::sound());
        assert_eq!(message(&operate(&mut chain, json!({ "key": key })).await), told);
        assert!(chain.store.inner.data().is_empty(), "{key}");
        assert_eq!(outcomes(&chain), [Some("error")], "{key}");
    }
}

#[tokio::test]
async fn a_rehearsal_succeeds_and_keeps_nothing() {
    let mut chain = chain(FaultyStore::sound());
    let rehearsed = operate(&mut chain, json!({ "key": "a", "rehearse": true })).await;
    assert_eq!(envelope(&rehearsed[0]), json!({ "ok": true, "data": { "kept": 1 } }));
    assert!(chain.store.inner.data().is_empty());
    // The next call is not a rehearsal, even if the last one was.
    assert!(succeeded(&operate(&mut chain, json!({ "key": "b" })).await[0]));
    assert_eq!(chain.store.inner.data(), &["b"]);
    assert_eq!(outcomes(&chain), [Some("ok"); 2]);
}

#[tokio::test]
async fn a_rehearsal_beside_another_sink_keeps_nothing_either() {
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(NoOpSink)));
    assert!(succeeded(&operate(&mut chain, json!({ "key": "a", "rehearse": true })).await[0]));
    assert!(chain.store.inner.data().is_empty());
    assert!(succeeded(&operate(&mut chain, json!({ "key": "a" })).await[0]));
    assert_eq!(chain.store.inner.data(), &["a"]);
}

#[tokio::test]
async fn a_client_cannot_call_an_operation_nor_see_it() {
    for audit in [Audit::Store { kind: "memory" }, Audit::Sink(Box::new(MemorySink::default()))] {
        let mut chain = chain_with(FaultyStore::sound(), audit);
        let replies = run(&mut chain, vec![call(1, "import")]).await;
        assert!(matches!(&replies[0].answer, Answer::UnknownTool { .. }), "{replies:?}");
        assert!(chain.store.inner.data().is_empty());
        assert!(chain.registry().lookup("import").is_none());
        assert!(chain.registry().tools().iter().all(|tool| !tool.is_operation()));
    }
    let protocol = Protocol::new(&CATALOGUE, CATALOGUE.tools, &Selection::All, None, "0.0.0");
    assert!(!format!("{protocol:?}").contains("import"));
}

#[tokio::test]
async fn an_operator_cannot_call_a_clients_tool_as_an_operation() {
    let mut chain = chain(FaultyStore::sound());
    let mut replies = Vec::new();
    chain.operate(call(1, "keep"), &mut replies).await;
    assert!(matches!(&replies[0].answer, Answer::UnknownTool { .. }), "{replies:?}");
    assert!(chain.store.inner.data().is_empty());
}

#[tokio::test]
async fn stages_one_and_two_judge_an_operation_too() {
    struct Closed;
    impl Admission for Closed {
        fn lists(&self, _: &ToolSpec) -> bool {
            true
        }
        fn admit(&self, tool: &ToolSpec) -> Result<(), Denial> {
            assert!(tool.mutates() && tool.is_operation());
            Err(Denial { code: "DENIED", message: "closed".to_owned(), details: serde_json::Map::new() })
        }
    }
    let mut chain = chain(FaultyStore::sound());
    let replies = operate(&mut chain, json!("no object")).await;
    assert_eq!(envelope(&replies[0])["error"]["code"], "INVALID");
    chain.add_admission(Box::new(Closed));
    assert_eq!(message(&operate(&mut chain, json!({ "key": "a" })).await), "closed");
    assert_eq!(outcomes(&chain), [Some("invalid"), Some("denied")]);
    assert!(chain.store.inner.data().is_empty());
}
