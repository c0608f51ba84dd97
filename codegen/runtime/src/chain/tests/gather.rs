//! Calls that wait a moment for one another, so that one sync covers them.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use super::{FaultyStore, chain_over};
use crate::chain::Audit;
use crate::chain::log::NoLog;
use crate::kernel::Clock;
use crate::serve::{Control, Finish, Serve};

const STEP_US: u64 = 10;
const SYNC_US: u64 = 1000;

/// A clock that goes on whenever it is read, and when something is synced.
#[derive(Default)]
pub struct Stepping(AtomicU64);

impl Stepping {
    pub fn pass_a_sync(&self) {
        self.0.fetch_add(SYNC_US, Ordering::Relaxed);
    }
}

impl Clock for Stepping {
    fn monotonic_ms(&self) -> f64 {
        self.0.fetch_add(STEP_US, Ordering::Relaxed) as f64 / 1000.0
    }
    fn wall_ms(&self) -> i64 {
        0
    }
}

/// What comes in one read each; `None` is a moment without anything.
struct Pieces(VecDeque<Option<String>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.0.pop_front() {
            Some(None) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Some(text)) => {
                into.put_slice(text.as_bytes());
                Poll::Ready(Ok(()))
            }
            None => Poll::Ready(Ok(())),
        }
    }
}

fn line(id: usize) -> String {
    let call = format!(r#"{{"name":"keep","arguments":{{"key":"{id}"}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{call}}}"#) + "\n"
}

/// The sizes of the batches, and how often the store was synced and kept up.
fn served(pieces: Vec<Option<String>>, clock: Arc<Stepping>, syncs: bool) -> (String, usize, usize) {
    let mut chain = chain_over(FaultyStore::sound(), Audit::Buffer, clock.clone(), Arc::new(NoLog));
    let store = FaultyStore { clock: syncs.then_some(clock), ..FaultyStore::sound() };
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    assert!(controls.send(Control::Opened(Ok((store, "memory")))).is_ok());
    let (reader, writer) = (Box::new(Pieces(pieces.into())), Box::new(tokio::io::sink()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let finish = runtime.block_on(Serve::new(&mut chain, "0", reader, writer, received).run());
    assert_eq!(finish, Finish::EndOfInput);
    (chain.batch_sizes().to_string(), chain.store.synced, chain.store.upkept)
}

/// Four calls at once; then four that come one by one; then one whose neighbours never come.
fn pieces() -> Vec<Option<String>> {
    let mut pieces = vec![Some((1..5).map(line).collect())];
    for id in 5..9 {
        pieces.extend([Some(line(id)), None, None]);
    }
    pieces.push(Some(line(9)));
    pieces.extend(std::iter::repeat_n(None, 200));
    pieces
}

#[test]
fn calls_that_answer_a_batchs_replies_share_a_sync() {
    let (sizes, synced, upkept) = served(pieces(), Arc::default(), true);
    assert_eq!(sizes, "1:1 2:0 3-4:2 5-8:0 9-16:0 17-32:0 33-64:0");
    assert_eq!((synced, upkept), (3, 3));
}

#[test]
fn nothing_is_waited_for_where_a_sync_costs_nothing() {
    let (sizes, ..) = served(pieces(), Arc::default(), false);
    assert_eq!(sizes, "1:5 2:0 3-4:1 5-8:0 9-16:0 17-32:0 33-64:0");
}

#[test]
fn a_client_with_one_call_at_a_time_is_never_kept_waiting() {
    let clock = Arc::new(Stepping::default());
    let single = (1..4).flat_map(|id| [Some(line(id)), None, None]).collect();
    let (sizes, ..) = served(single, clock.clone(), true);
    assert_eq!(sizes, "1:3 2:0 3-4:0 5-8:0 9-16:0 17-32:0 33-64:0");
    // Three syncs, and what a call reads of the clock by itself: no wait of half a sync is among it.
    assert!(clock.monotonic_ms() < 3.0 * SYNC_US as f64 / 1000.0 + 0.5, "{}", clock.monotonic_ms());
}
