//! What a client hears of a call that lasts (chain#progress): `notifications/progress`, for clients that ask for it.
//!
//! A handler, in its own thread or on the loop's, only writes down how far it is. The loop looks once a second and sends what is new. A handler
//! on the loop's own thread keeps the loop from looking, so its report sends the line itself, through the same outbox.

use std::cell::RefCell;
use std::fmt;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use colibri_canonical::escape::push_string;

/// A call that lasts less has no notification, and no call has more than one in this time, in milliseconds.
pub(crate) const INTERVAL_MS: f64 = 1000.0;

/// How far a call is. Does nothing unless its client has asked. Clones share it.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Meter>>, Option<Shown>);

/// What shows how much is done, of how much in all, in this process.
type Shown = Arc<dyn Fn(u64, u64) + Send + Sync>;

struct Meter {
    /// JSON text of the client's token.
    token: Box<str>,
    /// The client's revision has messages.
    words: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    began_ms: f64,
    /// When the next line may leave.
    due_ms: f64,
    /// The value sent last; the next one must be larger.
    sent: f64,
    stage: Stage,
}

#[derive(Default)]
enum Stage {
    /// No handler has begun.
    #[default]
    Waiting,
    /// A handler runs and has not said how far it is.
    Running,
    /// How much is done, of how much in all, and the words for it.
    At(u64, u64, Words),
    /// The reply has left, or the client wants none.
    Over,
}

/// What a notification says beside its numbers.
enum Words {
    /// The numbers count records.
    Records,
    Text(String),
}

impl Progress {
    /// Progress that is reported under a token (JSON text), with messages if the client's revision has them.
    pub(crate) fn under(token: &str, words: bool) -> Self {
        Self(Some(Arc::new(Meter { token: token.into(), words, state: Mutex::default() })), None)
    }

    /// Progress that a command shows itself.
    pub fn shown(show: Arc<dyn Fn(u64, u64) + Send + Sync>) -> Self {
        Self(None, Some(show))
    }

    /// Returns whether the client has asked. Handlers need not count for nothing.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some() || self.1.is_some()
    }

    /// Notes that `done` of `total` records have been read.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(show) = &self.1 {
            show(done, total);
        }
        self.at(|| Stage::At(done, total, Words::Records));
        if self.0.is_some()
            && let Some(notify) = AT_ONCE.with_borrow(Clone::clone)
        {
            notify(self);
        }
    }

    /// Notes that the step with this number has begun, of `steps` in all. The text must hold nothing secret.
    pub fn step(&self, step: u64, steps: u64, text: impl FnOnce() -> String) {
        self.at(|| Stage::At(step, steps, Words::Text(text())));
    }

    /// Begins the time in which nothing is sent.
    pub(crate) fn start(&self, now_ms: f64) {
        if let Some(mut state) = self.state() {
            (state.began_ms, state.due_ms) = (now_ms, now_ms + INTERVAL_MS);
        }
    }

    /// Notes that the call waits no longer.
    pub(crate) fn run(&self) {
        self.at(|| Stage::Running);
    }

    /// Ends all notifications.
    pub(crate) fn end(&self) {
        self.at(|| Stage::Over);
    }

    /// Returns whether there may be something to send until the call's reply.
    pub(crate) fn is_open(&self) -> bool {
        self.state().is_some_and(|state| !matches!(state.stage, Stage::Over))
    }

    /// Returns when the next line may leave.
    pub(crate) fn due_ms(&self) -> f64 {
        self.state().map_or(f64::INFINITY, |state| state.due_ms)
    }

    /// Returns the next line, if its time has come and there is news.
    pub(crate) fn line(&self, now_ms: f64) -> Option<String> {
        let (meter, mut state) = (self.0.as_ref()?, self.state()?);
        if now_ms < state.due_ms {
            return None;
        }
        state.due_ms = now_ms + INTERVAL_MS;
        let (value, shown, total, text) = match &state.stage {
            Stage::Running | Stage::Over => return None,
            Stage::Waiting => {
                let seconds = ((now_ms - state.began_ms) / 1000.0).floor();
                let value = seconds / (seconds + 1.0);
                (value, value.to_string(), None, "waiting for another call".to_owned())
            }
            Stage::At(done, total, words) => {
                let text = match words {
                    Words::Records => format!("{done} of {total} records"),
                    Words::Text(text) => text.clone(),
                };
                // Counts of rows are far below 2^53.
                (*done as f64, done.to_string(), Some(*total), text)
            }
        };
        if value <= state.sent {
            return None;
        }
        state.sent = value;
        let mut line = String::with_capacity(160 + meter.token.len() + text.len());
        line.push_str(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
        line.push_str(&meter.token);
        // Writing to a String cannot fail.
        let _ = write!(line, r#","progress":{shown}"#);
        if let Some(total) = total {
            let _ = write!(line, r#","total":{total}"#);
        }
        if meter.words {
            line.push_str(r#","message":"#);
            push_string(&mut line, &text);
        }
        line.push_str("}}\n");
        Some(line)
    }

    fn at(&self, stage: impl FnOnce() -> Stage) {
        if let Some(mut state) = self.state()
            && !matches!(state.stage, Stage::Over)
        {
            state.stage = stage();
        }
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        Some(self.0.as_ref()?.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_wanted() { "Progress(wanted)" } else { "Progress(none)" })
    }
}

/// Equal if they are of one call.
impl PartialEq for Progress {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        };
        same && match (&self.1, &other.1) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl Eq for Progress {}

/// Sends what is new of a call at once, if it is time.
pub(crate) type Notify = Rc<dyn Fn(&Progress)>;

thread_local! {
    /// How reports leave while a handler of this thread keeps the loop from looking.
    static AT_ONCE: RefCell<Option<Notify>> = const { RefCell::new(None) };
}

/// Runs a handler on the loop's thread. What it reports leaves at once.
pub(crate) fn at_once<T>(notify: Option<Notify>, handler: impl FnOnce() -> T) -> T {
    let before = AT_ONCE.replace(notify);
    let result = handler();
    AT_ONCE.set(before);
    result
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn started() -> Progress {
        let progress = Progress::under("\"t\"", true);
        progress.start(500.0);
        progress
    }

    fn said(progress: &Progress, now_ms: f64) -> Option<Value> {
        let line = progress.line(now_ms)?;
        assert!(line.ends_with('\n'), "{line}");
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        assert_eq!(message["params"]["progressToken"], "t", "{line}");
        Some(message["params"].clone())
    }

    #[test]
    fn the_first_second_is_silent_and_then_one_line_a_second_says_more() {
        let progress = started();
        progress.run();
        progress.report(64, 1000);
        assert_eq!(said(&progress, 1499.0), None);
        let first =
            json!({ "progressToken": "t", "progress": 64, "total": 1000, "message": "64 of 1000 records" });
        assert_eq!(said(&progress, 1500.0), Some(first));
        progress.report(128, 1000);
        assert_eq!(said(&progress, 2499.0), None);
        assert_eq!(said(&progress, 2500.0).unwrap_or_default()["progress"], 128);
        // Nothing new, so nothing is said.
        assert_eq!(said(&progress, 3500.0), None);
        progress.report(100, 1000);
        assert_eq!(said(&progress, 4500.0), None);
    }

    #[test]
    fn a_call_that_waits_says_for_how_long_until_it_runs() {
        let progress = started();
        let waited: Vec<_> =
            [1500.0, 2500.0, 3700.0].map(|now| said(&progress, now).unwrap_or_default()).into();
        assert_eq!(
            waited[0],
            json!({ "progressToken": "t", "progress": 0.5, "message": "waiting for another call" })
        );
        let values: Vec<_> = waited.iter().filter_map(|params| params["progress"].as_f64()).collect();
        assert_eq!(values, [0.5, 2.0 / 3.0, 0.75]);
        progress.run();
        assert_eq!(said(&progress, 5000.0), None);
        progress.step(1, 2, || "asking".to_owned());
        let params = said(&progress, 6000.0).unwrap_or_default();
        assert_eq!((&params["progress"], &params["message"]), (&json!(1), &json!("asking")));
    }

    #[test]
    fn nothing_follows_the_end() {
        let progress = started();
        progress.end();
        progress.report(64, 1000);
        progress.run();
        assert_eq!((progress.is_open(), said(&progress, 5000.0)), (false, None));
        assert_eq!(Progress::default().line(5000.0), None);
    }

    #[test]
    fn a_report_on_the_loops_thread_leaves_at_once() {
        let seen: Rc<RefCell<Vec<Progress>>> = Rc::default();
        let sent = seen.clone();
        let notify: Notify = Rc::new(move |progress| sent.borrow_mut().push(progress.clone()));
        let progress = started();
        at_once(Some(notify), || progress.report(64, 1000));
        progress.report(128, 1000);
        assert_eq!(*seen.borrow(), [progress]);
    }
}
