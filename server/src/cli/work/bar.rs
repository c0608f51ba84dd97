//! The bar of a long command, on a terminal's stderr. It has no colours, and appears only after a while.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A command that takes less shows no bar.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two pictures.
const PAUSE: Duration = Duration::from_millis(100);
/// The pictures of work whose length is unknown.
const TURNS: &str = "-\\|/-";

/// A bar. Clones show the same one. It draws from a thread of its own, so it moves while the engine works on one statement.
#[derive(Clone)]
pub struct Bar {
    bar: ProgressBar,
    began: Instant,
    shown: Arc<Mutex<Shown>>,
}

/// What the bar shows.
#[derive(PartialEq)]
enum Shown {
    Nothing,
    Counted(&'static str),
    Uncounted(&'static str),
}

impl Bar {
    /// Returns a bar if stderr is a terminal that can erase one.
    pub fn on_terminal(command: &'static str) -> Option<Self> {
        if !io::stderr().is_terminal() || ProgressDrawTarget::stderr().is_hidden() {
            return None;
        }
        let bar = ProgressBar::hidden();
        bar.set_prefix(command);
        Some(Self { bar, began: Instant::now(), shown: Arc::new(Mutex::new(Shown::Nothing)) })
    }

    /// Shows how far the work is; 0 in all means that this is unknown.
    pub fn at(&self, check: &'static str, done: u64, total: u64) {
        if self.began.elapsed() < DELAY {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let now = if total == 0 { Shown::Uncounted(check) } else { Shown::Counted(check) };
        if *shown != now {
            let template = match total {
                0 => "{prefix}: {msg} {spinner}",
                _ => "{prefix}: {msg} [{wide_bar}] {human_pos} of {human_len}",
            };
            // The templates above are valid; a bar in another style is as good.
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style.progress_chars("=> ").tick_chars(TURNS));
            }
            self.bar.set_message(check);
            if *shown == Shown::Nothing {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
                self.bar.enable_steady_tick(PAUSE);
            }
            *shown = now;
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
