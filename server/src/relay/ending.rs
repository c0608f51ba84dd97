//! How the relay and the wrapped server end: what came first, what is asked of the server's group then, and by when. Pure.

use rustix::process::Signal;
use tokio::time::Instant;

use crate::wrap::limits::{END_WAIT, END_WAIT_BUSY, TERM_WAIT};

/// Why the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The client has closed its end, or no longer reads.
    ClientGone,
    /// A signal came.
    Stopped,
    /// The server ended, or closed its output.
    ServerEnded,
}

/// What is to be done to the server's group now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Ask it to end.
    Signal(Signal),
    /// End it.
    Kill,
}

/// The end of a run, from its cause on.
#[derive(Debug, Default)]
pub struct Ending {
    cause: Option<Cause>,
    /// When the group is asked to end, unless it has ended by then.
    ask_at: Option<Instant>,
    /// When it is killed.
    kill_at: Option<Instant>,
}

impl Ending {
    /// Returns why the run ends, if it does.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// The client has closed its end and the server's input is closed. A server that still answers requests gets more time.
    pub(super) fn client_closed(&mut self, busy: bool, now: Instant) {
        self.cause.get_or_insert(Cause::ClientGone);
        if self.kill_at.is_none() {
            self.ask_at = Some(now + if busy { END_WAIT_BUSY } else { END_WAIT });
        }
    }

    /// The last request was answered: a server that has nothing more to do gets no more time.
    pub fn idle(&mut self, now: Instant) {
        self.ask_at = self.ask_at.map(|at| at.min(now + END_WAIT));
    }

    /// The client no longer reads.
    pub fn client_gone(&mut self, now: Instant) -> Act {
        self.ask(Cause::ClientGone, Signal::TERM, now)
    }

    /// A signal came; a second one leaves no time.
    pub(super) fn signalled(&mut self, signal: Signal, now: Instant) -> Act {
        if self.cause == Some(Cause::Stopped) {
            return self.kill();
        }
        let act = self.ask(Cause::Stopped, signal, now);
        self.cause = Some(Cause::Stopped);
        act
    }

    /// The server has ended or closed its output; what is left of its group is to end.
    pub fn server_ended(&mut self, now: Instant) -> Act {
        self.ask(Cause::ServerEnded, Signal::TERM, now)
    }

    fn ask(&mut self, cause: Cause, signal: Signal, now: Instant) -> Act {
        self.cause.get_or_insert(cause);
        self.ask_at = None;
        self.kill_at.get_or_insert(now + TERM_WAIT);
        Act::Signal(signal)
    }

    fn kill(&mut self) -> Act {
        (self.ask_at, self.kill_at) = (None, None);
        Act::Kill
    }

    /// Returns what is due.
    pub fn due(&mut self, now: Instant) -> Option<Act> {
        if self.kill_at.is_some_and(|at| at <= now) {
            return Some(self.kill());
        }
        self.ask_at.is_some_and(|at| at <= now).then(|| self.ask(Cause::ClientGone, Signal::TERM, now))
    }

    /// Returns when something is due next.
    pub fn next(&self) -> Option<Instant> {
        self.ask_at.into_iter().chain(self.kill_at).min()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_client_that_closes_gives_an_idle_server_two_seconds_and_a_busy_one_thirty() {
        let now = Instant::now();
        for (busy, wait) in [(false, END_WAIT), (true, END_WAIT_BUSY)] {
            let mut ending = Ending::default();
            ending.client_closed(busy, now);
            assert_eq!(ending.cause(), Some(Cause::ClientGone));
            assert_eq!(ending.due(now + wait - MS), None);
            assert_eq!(ending.due(now + wait), Some(Act::Signal(Signal::TERM)));
            assert_eq!(ending.due(now + wait + TERM_WAIT - MS), None);
            assert_eq!(ending.due(now + wait + TERM_WAIT), Some(Act::Kill));
            assert!(ending.next().is_none());
        }
    }

    #[test]
    fn a_server_that_has_answered_everything_gets_two_seconds_more() {
        let now = Instant::now();
        let mut ending = Ending::default();
        ending.idle(now);
        assert_eq!(ending.next(), None);
        ending.client_closed(true, now);
        ending.idle(now + MS);
        assert_eq!(ending.next(), Some(now + MS + END_WAIT));
    }

    #[test]
    fn a_signal_is_passed_on_and_a_second_one_kills() {
        let now = Instant::now();
        let mut ending = Ending::default();
        assert_eq!(ending.signalled(Signal::INT, now), Act::Signal(Signal::INT));
        assert_eq!(ending.due(now + TERM_WAIT - MS), None);
        assert_eq!(ending.signalled(Signal::TERM, now), Act::Kill);
        assert_eq!((ending.cause(), ending.next()), (Some(Cause::Stopped), None));
        let mut closed = Ending::default();
        closed.client_closed(true, now);
        assert_eq!(closed.signalled(Signal::TERM, now), Act::Signal(Signal::TERM));
        assert_eq!((closed.cause(), closed.next()), (Some(Cause::Stopped), Some(now + TERM_WAIT)));
    }

    #[test]
    fn what_is_left_of_a_server_that_ended_is_asked_and_then_killed() {
        let now = Instant::now();
        let mut ending = Ending::default();
        assert_eq!(ending.server_ended(now), Act::Signal(Signal::TERM));
        assert_eq!(ending.due(now + TERM_WAIT), Some(Act::Kill));
        assert_eq!(ending.cause(), Some(Cause::ServerEnded));
    }
}
