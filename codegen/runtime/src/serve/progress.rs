//! The calls whose clients want to hear how far they are (chain#progress), and the alarm for the next notification.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

use crate::chain::call::ReplyTo;
use crate::chain::store::Store;
use crate::handler::Dispatch;
use crate::kernel::Clock;
use crate::progress::{INTERVAL_MS, Notify, Progress};
use crate::serve::Serve;
use crate::wire::outbox::Outbox;

/// While more bytes than these wait to be sent, notifications are dropped.
const CROWDED_BYTES: usize = 64 * 1024;

/// Calls whose clients have asked, by request.
#[derive(Default)]
pub(super) struct Watched {
    calls: Vec<(Box<str>, Progress)>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Watched {
    /// Sends nothing more of a request's calls.
    pub fn forget(&mut self, request_id: &str) {
        let of_request = self.calls.iter().filter(|(id, _)| &**id == request_id);
        of_request.for_each(|(_, progress)| progress.end());
    }

    /// Waits until a notification may be due; for ever without calls.
    pub fn poll_due(&mut self, cx: &mut Context<'_>, now_ms: impl FnOnce() -> f64) -> Poll<()> {
        if self.calls.is_empty() {
            return Poll::Pending;
        }
        let calls = &self.calls;
        let alarm = self.alarm.get_or_insert_with(|| {
            let due = calls.iter().map(|(_, progress)| progress.due_ms()).fold(f64::INFINITY, f64::min);
            let after = due - now_ms();
            // What could not be sent when it was due waits for its next turn.
            let after = if after > 0.0 { after.min(INTERVAL_MS) } else { INTERVAL_MS };
            // One millisecond more, so that the line is surely due when the alarm rings.
            Box::pin(tokio::time::sleep(Duration::from_secs_f64(after / 1000.0) + Duration::from_millis(1)))
        });
        alarm.as_mut().poll(cx)
    }
}

/// Sends the next line of a call, if there is one and the client keeps up. It leaves at once: it acknowledges nothing.
pub(super) fn notifier(outbox: &Outbox, clock: &Arc<dyn Clock>) -> Notify {
    let (outbox, clock) = (outbox.clone(), clock.clone());
    Rc::new(move |progress| {
        if outbox.waiting() <= CROWDED_BYTES
            && let Some(line) = progress.line(clock.monotonic_ms())
        {
            outbox.buffer().extend_from_slice(line.as_bytes());
            outbox.flush_now();
        }
    })
}

impl<S: Store, D: Dispatch<S::Cx>> Serve<'_, S, D> {
    /// Remembers a call whose client wants to hear of it.
    pub(super) fn watch(&mut self, to: &ReplyTo) {
        if !to.progress.is_wanted() {
            return;
        }
        to.progress.start(self.now_ms());
        let calls = &mut self.watched.calls;
        if calls.len() == calls.capacity() {
            // Before the list grows: most of its calls have ended.
            calls.retain(|(_, progress)| progress.is_open());
        }
        calls.push((to.id.clone(), to.progress.clone()));
    }

    /// Tells the clients of running and waiting calls what is new.
    pub(super) fn notify(&mut self) {
        self.watched.alarm = None;
        self.watched.calls.retain(|(_, progress)| progress.is_open());
        let notify = notifier(&self.outbox, &self.chain.kernel().clock);
        self.watched.calls.iter().for_each(|(_, progress)| notify(progress));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::task::Waker;

    use tokio::io::AsyncWrite;

    use super::*;
    use crate::kernel::SystemClock;

    /// Takes nothing.
    struct Blocked;

    impl AsyncWrite for Blocked {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    fn due() -> Progress {
        let progress = Progress::under("1", true);
        progress.start(-10_000.0);
        progress
    }

    #[test]
    fn a_client_that_does_not_read_gets_no_notifications() {
        let outbox = Outbox::new(Box::new(Blocked));
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let notify = notifier(&outbox, &clock);
        outbox.buffer().resize(CROWDED_BYTES, b'x');
        notify(&due());
        let after = outbox.waiting();
        assert!(after > CROWDED_BYTES);
        notify(&due());
        assert_eq!(outbox.waiting(), after);
    }

    #[test]
    fn a_cancelled_request_is_forgotten_and_others_are_not() {
        let mut watched = Watched::default();
        let (one, two) = (due(), due());
        watched.calls.extend([("1".into(), one.clone()), ("2".into(), two.clone())]);
        watched.forget("1");
        assert_eq!((one.is_open(), two.is_open()), (false, true));
    }

    #[test]
    fn without_calls_nothing_is_awaited() {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Watched::default().poll_due(&mut cx, || 0.0).is_pending());
    }
}
