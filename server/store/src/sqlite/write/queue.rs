//! The write queue of all processes that share a database (store#write-queue).
//!
//! SQLite's busy handler polls, and a process that polls can starve: eight writers made one of them
//! wait 7.7 s. Waiting on an operating-system lock first brings that down to milliseconds.
//!
//! That wait cannot be interrupted, and the process at the head of the queue may never leave it. So a thread waits,
//! and the loop goes on meanwhile. In most cases the place is free and no thread is needed.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::private_file;
use crate::side_file;
use crate::sqlite::open::placement::Pair;
use crate::sqlite::write::holder;
use colibri_proof::bounded_file;

/// How long a wait first blocks the calling thread: the place is handed on faster than through an event loop, and while
/// others only take their turns it comes within this time.
pub(crate) const ORDINARY_WAIT: Duration = Duration::from_millis(20);
/// A wish that was given up no longer ago than this and is renewed counts as the same wait.
const SAME_WAIT: Duration = Duration::from_secs(1);
/// The most that is read of the queue's file: its content is far shorter.
const NOTE_BYTES: u64 = 4096;

/// This process's place in the queue: an exclusive lock on `<path>.queue`, held from before `BEGIN
/// IMMEDIATE` until after `COMMIT`, never during a sync. The file is never deleted: two processes
/// locking two files of one name would both believe to be first.
#[derive(Debug)]
pub struct WriteQueue {
    path: PathBuf,
    shared: Arc<Shared>,
    wish: Wish,
    /// When the wait began for the place that is held or wished for, or was given up just now.
    since: Option<Instant>,
}

/// The state of the place, as far as its owner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Neither held nor wanted; the thread does nothing.
    None,
    /// The owner has asked the thread for it.
    Standing,
    /// The thread may still be waiting for it.
    GivenUp(Instant),
    Held,
}

#[derive(Debug)]
struct Shared {
    file: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    step: Step,
    /// Wakes the task that has asked.
    waker: Option<Waker>,
    /// The thread runs.
    running: bool,
}

/// How far the thread has come.
#[derive(Debug, Default)]
enum Step {
    #[default]
    Idle,
    /// It waits for the place, or will do so from that moment on.
    Wanted(Option<Instant>),
    /// The place is free for the owner to take.
    Granted,
    Failed(io::Error),
    /// It waits for a place that the owner has given up.
    Abandoned,
    /// The queue is closed.
    Over,
}

impl WriteQueue {
    /// Opens the queue of the database at `path`; creates its file if it is missing.
    ///
    /// # Errors
    /// The file cannot be opened or created.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = side_file::named(path, ".queue");
        let file = private_file::open_or_create(&path)?;
        Ok(Self::over(path, file))
    }

    /// Opens the queue of the database at `path` if its file exists and may be read; creates nothing.
    pub(crate) fn open_existing(path: &Path) -> Option<Self> {
        let path = side_file::named(path, ".queue");
        let file = bounded_file::open(&path).ok()?;
        Some(Self::over(path, file))
    }

    fn over(path: PathBuf, file: File) -> Self {
        let shared = Arc::new(Shared { file, state: Mutex::default(), changed: Condvar::new() });
        Self { path, shared, wish: Wish::None, since: None }
    }

    /// Asks for the place. Blocks no longer than an ordinary wait takes; after that, `cx` is woken when
    /// the place may be free.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.enter_soon() {
            Ok(true) => return Poll::Ready(Ok(())),
            Ok(false) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        let shared = self.shared.clone();
        let mut state = shared.lock();
        // The place may have come since the last check, and then no call to the waker would follow.
        match self.take(&mut state) {
            Ok(false) => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Ok(true) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    /// Asks for the place, and waits as long as an ordinary wait takes if the wish is new. Returns whether the place has come; if
    /// not, the wish stands.
    ///
    /// # Errors
    /// The operating system's error.
    pub(crate) fn enter_soon(&mut self) -> io::Result<bool> {
        let new = self.wish == Wish::None;
        Ok(self.enter_at_once()? || (new && self.granted_within(ORDINARY_WAIT)?))
    }

    /// Waits for the place, as starts and commands do: they serve no client meanwhile.
    ///
    /// # Errors
    /// The operating system's error, or the holder's name if the place does not come in time.
    pub fn enter(&mut self, limit: Duration) -> io::Result<()> {
        if self.enter_within(limit)? {
            return Ok(());
        }
        let (seconds, holder) = (limit.as_secs_f64().round(), self.holder());
        let text = format!(
            "it has been held for {seconds} s by {holder}; resume or stop that process, then try again"
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    }

    /// Waits for the place; returns whether it has come. If not, the wish is given up.
    ///
    /// # Errors
    /// The operating system's error.
    pub(crate) fn enter_within(&mut self, limit: Duration) -> io::Result<bool> {
        if self.enter_at_once()? || self.granted_within(limit)? {
            return Ok(true);
        }
        self.leave();
        Ok(false)
    }

    /// Takes the place if it is free, and wishes for it otherwise; returns whether this process has it.
    fn enter_at_once(&mut self) -> io::Result<bool> {
        if let Wish::GivenUp(at) = self.wish {
            self.renew(at)?;
        }
        match self.wish {
            Wish::Held => return Ok(true),
            Wish::Standing => {
                let shared = self.shared.clone();
                return self.take(&mut shared.lock());
            }
            Wish::None | Wish::GivenUp(_) => {}
        }
        // The thread is idle now. If two threads locked one open file, both would hold it.
        match try_lock(&self.shared.file)? {
            true => {
                self.wish = Wish::Held;
                Ok(true)
            }
            false => self.ask(None, None).map(|()| false),
        }
    }

    /// Checks whether this process has the place.
    pub fn is_held(&self) -> bool {
        self.wish == Wish::Held
    }

    /// Leaves the place, and asks for it again after a while, because something else kept the call from running.
    ///
    /// # Errors
    /// The operating system's error.
    pub(crate) fn step_back(&mut self, pause: Duration, waker: &Waker) -> io::Result<()> {
        let since = self.since.or_else(|| Some(Instant::now()));
        self.leave();
        self.since = since;
        self.ask(Some(Instant::now() + pause), Some(waker))
    }

    /// Reads what the queue's file says of the database at `path`; `None` if this version does not understand it.
    pub(crate) fn read_note(path: &Path) -> Option<Pair> {
        let mut text = String::new();
        let file = bounded_file::open(&side_file::named(path, ".queue")).ok()?;
        file.take(NOTE_BYTES).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes down what the next start needs. The caller must be in the queue.
    ///
    /// # Errors
    /// The operating system's error.
    pub(crate) fn write_note(&mut self, pair: &Pair) -> io::Result<()> {
        let text = serde_json::to_string(pair)?;
        let mut file = &self.shared.file;
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len().try_into().unwrap_or(u64::MAX))
    }

    /// Lets the next process in, and gives up the wish for the place.
    pub(crate) fn leave(&mut self) {
        match self.wish {
            Wish::Held => {
                unlock(&self.shared.file);
                self.wish = Wish::None;
                self.since = None;
            }
            Wish::Standing => {
                let mut state = self.shared.lock();
                state.waker = None;
                (state.step, self.wish) = match std::mem::take(&mut state.step) {
                    Step::Wanted(_) => (Step::Abandoned, Wish::GivenUp(Instant::now())),
                    Step::Granted => {
                        unlock(&self.shared.file);
                        (Step::Idle, Wish::None)
                    }
                    other => (other, Wish::None),
                };
                self.shared.changed.notify_all();
            }
            Wish::None | Wish::GivenUp(_) => {}
        }
    }

    /// Leaves the place unused. A wish that follows soon counts as the same wait.
    pub(crate) fn give_up(&mut self) {
        let since = self.since.or_else(|| Some(Instant::now()));
        self.leave();
        if self.wish == Wish::None {
            (self.since, self.wish) = (since, Wish::GivenUp(Instant::now()));
        }
    }

    /// Names the process at the head of the queue, as far as that is known.
    pub fn holder(&self) -> String {
        holder::of_queue(&self.path)
    }

    /// Returns how long the wait for the place has lasted.
    pub fn waited(&self) -> Duration {
        self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Renews a wish that was given up, unless the thread has found the place meanwhile and left it.
    fn renew(&mut self, given_up: Instant) -> io::Result<()> {
        if given_up.elapsed() > SAME_WAIT {
            self.since = None;
        }
        let mut state = self.shared.lock();
        self.wish = match std::mem::take(&mut state.step) {
            Step::Abandoned => {
                state.step = Step::Wanted(None);
                self.since.get_or_insert_with(Instant::now);
                Wish::Standing
            }
            Step::Failed(error) => {
                self.wish = Wish::None;
                return Err(error);
            }
            _ => Wish::None,
        };
        Ok(())
    }

    /// Has the thread wait for the place, from `after` on, and then wake its owner.
    fn ask(&mut self, after: Option<Instant>, waker: Option<&Waker>) -> io::Result<()> {
        let mut state = self.shared.lock();
        if !state.running {
            let shared = self.shared.clone();
            std::thread::Builder::new().name("queue".to_owned()).spawn(move || shared.serve())?;
            state.running = true;
        }
        state.step = Step::Wanted(after);
        state.waker = waker.cloned();
        self.shared.changed.notify_all();
        drop(state);
        self.wish = Wish::Standing;
        self.since.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn granted_within(&mut self, limit: Duration) -> io::Result<bool> {
        let shared = self.shared.clone();
        let began = Instant::now();
        let mut state = shared.lock();
        loop {
            if self.take(&mut state)? {
                return Ok(true);
            }
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            (state, _) = shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the place from the thread, if it has it.
    fn take(&mut self, state: &mut State) -> io::Result<bool> {
        match std::mem::take(&mut state.step) {
            Step::Granted => {
                self.wish = Wish::Held;
                Ok(true)
            }
            Step::Failed(error) => {
                self.wish = Wish::None;
                Err(error)
            }
            other => {
                state.step = other;
                Ok(false)
            }
        }
    }
}

impl Drop for WriteQueue {
    fn drop(&mut self) {
        self.leave();
        self.shared.lock().step = Step::Over;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// Locks the state. A thread that panics leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the thread.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            match state.step {
                Step::Over => return,
                Step::Wanted(Some(after)) if Instant::now() < after => {
                    let pause = after.saturating_duration_since(Instant::now());
                    (state, _) =
                        self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
                }
                Step::Wanted(_) => {
                    drop(state);
                    let locked = lock(&self.file);
                    state = self.lock();
                    self.arrive(&mut state, locked);
                }
                // It was not waiting yet.
                Step::Abandoned => state.step = Step::Idle,
                Step::Idle | Step::Granted | Step::Failed(_) => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Notes that the wait for the lock has ended.
    fn arrive(&self, state: &mut State, locked: io::Result<()>) {
        if !matches!(state.step, Step::Wanted(_)) {
            if locked.is_ok() {
                unlock(&self.file);
            }
            return;
        }
        state.step = locked.map_or_else(Step::Failed, |()| Step::Granted);
        self.changed.notify_all();
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }
}

/// Waits for the lock; a signal only restarts the wait.
fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

fn try_lock(file: &File) -> io::Result<bool> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Unlocks the file. Unlocking a held lock fails on no known system; closing the file would unlock it too.
fn unlock(file: &File) {
    let _ = file.unlock();
}
