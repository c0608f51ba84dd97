//! The turn to write belongs to another process for a while: what goes on meanwhile, what waits, and what fails.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::*;
use crate::chain::BUFFERED_CALLS;
use crate::serve::{Control, Finish, Serve};

/// What the test and the loop share.
#[derive(Default)]
pub struct World {
    /// The turn is another process's.
    pub held: AtomicBool,
    ms: AtomicU64,
}

impl Clock for World {
    fn monotonic_ms(&self) -> f64 {
        self.ms.load(Ordering::SeqCst) as f64
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

/// What happens next.
enum Step {
    /// The client writes a line, and time passes.
    Say(String, u64),
    Hold,
    Release,
}

use Step::{Hold, Release, Say};

/// A client whose lines come one at a time.
struct Script(VecDeque<Step>, Arc<World>);

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            match self.0.pop_front() {
                Some(Hold) => self.1.held.store(true, Ordering::SeqCst),
                Some(Release) => self.1.held.store(false, Ordering::SeqCst),
                Some(Say(line, ms)) => {
                    self.1.ms.fetch_add(ms, Ordering::SeqCst);
                    into.put_slice(line.as_bytes());
                    return Poll::Ready(Ok(()));
                }
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}

#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl AsyncWrite for Written {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn says(id: usize, tool: &str) -> Step {
    let call = format!(r#"{{"name":"{tool}","arguments":{{"key":"{id}"}}}}"#);
    Say(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{call}}}"#) + "\n", 0)
}

/// Time passes, as the loop sees it when a ping comes.
fn pass(ms: u64) -> Step {
    Say(format!(r#"{{"jsonrpc":"2.0","id":"{ms}","method":"ping"}}"#) + "\n", ms)
}

fn seconds(count: usize) -> impl Iterator<Item = Step> {
    (0..count).map(|_| pass(1000))
}

/// The answers but those to pings: each id, and its error's message.
fn answers(script: Vec<Step>) -> (Vec<(u64, String)>, Chain<FaultyStore, Handlers>) {
    let world = Arc::new(World::default());
    let mut chain = chain_over(FaultyStore::sound(), Audit::Buffer, world.clone(), Arc::new(NoLog));
    let store = FaultyStore { world: Some(world.clone()), ..FaultyStore::sound() };
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    assert!(controls.send(Control::Opened(Ok((store, "memory")))).is_ok());
    let written = Written::default();
    let (reader, writer) = (Box::new(Script(script.into(), world)), Box::new(written.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let finish = runtime.block_on(Serve::new(&mut chain, "0", reader, writer, received).run());
    assert_eq!(finish, Finish::EndOfInput);
    let lines: Vec<Value> = written
        .0
        .borrow()
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let calls = lines.iter().filter(|line| line["id"].is_number());
    let answers = calls.map(|line| {
        let tool = &line["result"]["structuredContent"]["error"]["message"];
        let message = tool.as_str().or_else(|| line["error"]["message"].as_str()).unwrap_or_default();
        (line["id"].as_u64().unwrap(), message.to_owned())
    });
    (answers.collect(), chain)
}

fn ids(answers: &[(u64, String)]) -> Vec<u64> {
    answers.iter().map(|(id, _)| *id).collect()
}

const HELD: &str = "the call could not be entered in the audit log, so it was not run: held by another";

#[test]
fn calls_wait_for_the_turn_in_their_order() {
    let script = vec![Hold, says(1, "keep"), says(2, "keep"), pass(900), pass(900), says(3, "keep"), Release];
    let (answers, chain) = answers(script);
    assert_eq!(ids(&answers), [1, 2, 3]);
    assert!(answers.iter().all(|(_, message)| message.is_empty()), "{answers:?}");
    assert_eq!(chain.store.inner.data(), &["1", "2", "3"]);
}

#[test]
fn each_call_fails_when_it_has_waited_for_its_own_limit() {
    let mut script = vec![Hold, says(1, "keep"), says(2, "scan"), says(3, "network")];
    script.extend(seconds(3));
    script.push(says(4, "keep"));
    script.extend(seconds(2));
    // The first three have failed, the fourth has two seconds more.
    script.extend(seconds(2));
    script.extend([Release, says(5, "keep")]);
    let (answers, chain) = answers(script);
    let failed: Vec<&(u64, String)> = answers.iter().filter(|(_, message)| !message.is_empty()).collect();
    assert_eq!(failed.len(), 3, "{answers:?}");
    assert!(failed.iter().all(|(id, message)| *id < 4 && message == HELD), "{answers:?}");
    assert_eq!(chain.store.inner.data(), &["4", "5"], "nothing of what failed is stored");
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

#[test]
fn time_in_which_the_process_itself_stood_still_does_not_count() {
    let script = vec![Hold, says(1, "keep"), pass(1000), pass(60_000), pass(1000), Release];
    let (answers, _) = answers(script);
    assert_eq!(answers, [(1, String::new())]);
}

#[test]
fn what_needs_no_store_is_answered_after_a_grace_and_its_row_follows() {
    let script =
        vec![Hold, says(1, "keep"), says(2, "early"), says(3, "nobody"), pass(400), pass(200), Release];
    let (answers, chain) = answers(script);
    assert_eq!(ids(&answers), [2, 3, 1], "what needs no store comes first");
    assert_eq!(outcomes(&chain), [Some("ok"), Some("denied"), Some("ok")], "in the order of the answers");
    assert_eq!(chain.store.inner.data(), &["1"]);

    let soon = vec![Hold, says(1, "keep"), says(2, "early"), pass(400), Release];
    assert_eq!(ids(&super::turn::answers(soon).0), [1, 2], "an ordinary wait changes no order");
}

#[test]
fn no_more_calls_are_answered_without_a_row_than_the_buffer_holds() {
    let calls = BUFFERED_CALLS + 3;
    let mut script = vec![Hold, says(0, "keep"), pass(600)];
    script.extend((1..=calls).map(|id| says(id, "early")));
    script.extend(seconds(7));
    script.push(Release);
    let (answers, chain) = answers(script);
    let failed: Vec<u64> = answers.iter().filter(|(_, message)| message == HELD).map(|(id, _)| *id).collect();
    let expected: Vec<u64> = std::iter::once(0).chain(calls as u64 - 2..=calls as u64).collect();
    assert_eq!(failed, expected);
    assert_eq!(outcomes(&chain).len(), BUFFERED_CALLS);
}

#[test]
fn a_call_that_ended_beside_the_loop_is_answered_in_time_and_its_row_follows() {
    let mut script = vec![says(1, "network"), Hold];
    script.extend(seconds(7));
    script.extend([Release, says(2, "keep")]);
    let (answers, chain) = answers(script);
    // What has happened outside is not denied.
    assert_eq!(answers, [(1, String::new()), (2, String::new())]);
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

#[tokio::test]
async fn what_a_turn_does_not_last_for_runs_at_the_next() {
    let mut chain = chain(FaultyStore::sound());
    let mut replies: Vec<Reply> = Vec::new();
    let batch = chain.check_batch(vec![call(1, "network"), call(2, "keep")]);
    let flights = chain.run_prepared(batch, &mut replies).await;
    assert_eq!((flights.len(), replies.len(), chain.has_rest()), (1, 0, true));
    assert_eq!(outcomes(&chain), [None, None], "entered, synced and not run");
    assert_eq!(chain.store.synced, 1);
    chain.resume(&mut replies);
    assert!(!chain.has_rest() && succeeded(&replies[0]));

    // Without a turn it fails, and its row says so at the next.
    let batch = chain.check_batch(vec![call(3, "network"), call(4, "keep")]);
    replies.clear();
    drop(chain.run_prepared(batch, &mut replies).await);
    chain.store.fail_next(1);
    chain.resume(&mut replies);
    assert_eq!(message(&replies), "UNCOMMITTED: the disk is full");
    run(&mut chain, vec![call(5, "keep")]).await;
    assert_eq!(outcomes(&chain), [None, Some("ok"), None, Some("error"), Some("ok")]);
}
