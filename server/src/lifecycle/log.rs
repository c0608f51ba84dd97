//! The log: one line on stderr for each event (chain#log-lines). A line that cannot be written immediately is dropped and counted; the
//! log never stops the server and never touches stdout. While a thread has a transaction open, its lines wait for the end of that.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::kernel::{Clock, SystemClock, rfc3339_ms};
use colibri_runtime::wire::midline::Midline;
use colibri_stderr::{PIPE_LIMIT, soon, stderr, told};
use colibri_visible::printable;

use crate::settings::log_level::LogLevel;

/// Returns the word in a line.
const fn word(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warn => "WARN",
        Level::Info => "INFO",
        Level::Debug => "DEBUG",
        Level::Trace => "TRACE",
    }
}

/// Where lines go.
pub trait LogSink: Send + Sync {
    /// Takes one whole line, newline included. It must not fail or wait.
    fn write_line(&self, line: &str);
}

/// How many lines of a transaction are kept. Further ones are dropped.
const HELD_LINES: usize = 256;

/// The process's stderr, one write a line.
#[derive(Debug, Default)]
pub(crate) struct Stderr {
    midline: Midline,
}

impl LogSink for Stderr {
    fn write_line(&self, line: &str) {
        let line = whole_or_cut(line);
        let note = |dropped| {
            // As of the line that it precedes.
            let stamp = line.split(' ').next().unwrap_or_default();
            format!("{stamp} {} [log] {}\n", word(Level::Warn), told(dropped))
        };
        if self.midline.unless_half_written(|| stderr().line(&line, note)).is_none() {
            stderr().count();
        }
    }
}

/// Returns the line, or as much of it as fits into [`PIPE_LIMIT`]: the second half of a longer one could get lost or land in a reply.
fn whole_or_cut(line: &str) -> Cow<'_, str> {
    const MARK: &str = "…\n";
    if line.len() <= PIPE_LIMIT {
        return Cow::Borrowed(line);
    }
    let end = line.floor_char_boundary(PIPE_LIMIT - MARK.len());
    Cow::Owned(format!("{}{MARK}", &line[..end]))
}

/// Filters, redacts and stamps lines. Clones write to the same place.
#[derive(Clone)]
pub struct Logger {
    level: LogLevel,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    sink: Arc<dyn LogSink>,
    held: Arc<Mutex<Option<Held>>>,
}

/// The lines of a transaction.
struct Held {
    of: ThreadId,
    lines: Vec<String>,
}

impl Logger {
    /// Makes a logger that writes to `sink` and takes its time stamps from `clock`.
    pub fn new(level: LogLevel, redactor: Redactor, clock: Arc<dyn Clock>, sink: Arc<dyn LogSink>) -> Self {
        Self { level, redactor: Arc::new(redactor), clock, sink, held: Arc::default() }
    }

    /// Makes a logger on the process's stderr.
    pub fn stderr(level: LogLevel, redactor: Redactor) -> Self {
        Self::beside(level, redactor, Midline::default())
    }

    /// Makes a logger on the process's stderr that drops lines while a reply is half written.
    pub fn beside(level: LogLevel, redactor: Redactor, midline: Midline) -> Self {
        Self::new(level, redactor, Arc::new(SystemClock::default()), Arc::new(Stderr { midline }))
    }

    /// Logs a failure.
    pub fn error(&self, message: &str) {
        self.write(Level::Error, message);
    }

    /// Logs odd input, or something ignored.
    pub(crate) fn warn(&self, message: &str) {
        self.write(Level::Warn, message);
    }

    /// Logs a step of boot or shutdown.
    pub fn info(&self, message: &str) {
        self.write(Level::Info, message);
    }
}

impl Log for Logger {
    fn enabled(&self, level: Level) -> bool {
        Some(level) <= self.level
    }

    /// Writes `<UTC ISO time> <LEVEL> <message>`.
    fn write(&self, level: Level, message: &str) {
        if !self.enabled(level) {
            return;
        }
        let mut line = format!("{} {} ", rfc3339_ms(self.clock.wall_ms()), word(level));
        // Redacted before escaping, or a secret with an odd character would be missed. Escaped text stays in one line and
        // cannot steer a terminal.
        line.push_str(&printable(&self.redactor.redact(message)));
        line.push('\n');
        if let Some(mut held) = soon(&self.held)
            && let Some(held) = held.as_mut()
            && held.of == std::thread::current().id()
        {
            match held.lines.len() < HELD_LINES {
                true => held.lines.push(line),
                false => stderr().count(),
            }
            return;
        }
        self.sink.write_line(&line);
    }

    fn hold(&self) {
        if let Some(mut held) = soon(&self.held) {
            held.get_or_insert_with(|| Held { of: std::thread::current().id(), lines: Vec::new() });
        }
    }

    fn release(&self) {
        let held = soon(&self.held).and_then(|mut held| held.take());
        held.iter().flat_map(|held| &held.lines).for_each(|line| self.sink.write_line(line));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl LogSink for Lines {
        fn write_line(&self, line: &str) {
            self.0.lock().unwrap().push(line.to_owned());
        }
    }

    struct Fixed;

    impl Clock for Fixed {
        fn monotonic_ms(&self) -> f64 {
            0.0
        }
        fn wall_ms(&self) -> i64 {
            1_700_000_000_123
        }
    }

    fn lines_at(level: LogLevel, write: impl FnOnce(&Logger)) -> Vec<String> {
        let sink = Arc::new(Lines::default());
        let redactor = Redactor::new(["sk-very-secret".to_owned()]);
        write(&Logger::new(level, redactor, Arc::new(Fixed), sink.clone()));
        sink.0.lock().unwrap().clone()
    }

    #[test]
    fn an_event_is_one_stamped_line() {
        let lines =
            lines_at(Some(Level::Info), |log| log.info("[colibri] ready\nnot \u{1b}[31ma second line"));
        assert_eq!(lines, ["2023-11-14T22:13:20.123Z INFO [colibri] ready\\nnot \\u{1b}[31ma second line\n"]);
    }

    #[test]
    fn a_line_never_exceeds_what_a_pipe_takes_at_once() {
        let short = format!("{}\n", "é".repeat(2047));
        assert_eq!(whole_or_cut(&short), short);
        let long = format!("x{}\n", "é".repeat(3000));
        let cut = whole_or_cut(&long);
        assert!(cut.len() <= PIPE_LIMIT && cut.ends_with("é…\n"), "{}", cut.len());
    }

    #[test]
    fn lines_of_a_transaction_wait_for_its_end_and_those_of_other_threads_do_not() {
        let lines = lines_at(Some(Level::Info), |log| {
            log.hold();
            log.info("first");
            let other = log.clone();
            std::thread::spawn(move || other.info("beside")).join().unwrap();
            log.info("second");
            log.release();
            log.info("after");
        });
        let words: Vec<_> = lines.iter().map(|line| line.trim_end().rsplit(' ').next().unwrap()).collect();
        assert_eq!(words, ["beside", "first", "second", "after"]);
    }

    #[test]
    fn lines_below_the_level_are_not_written() {
        let write = |log: &Logger| {
            log.error("e");
            log.warn("w");
            log.info("i");
            log.write(Level::Debug, "d");
        };
        for (level, count) in [
            (None, 0),
            (Some(Level::Error), 1),
            (Some(Level::Warn), 2),
            (Some(Level::Info), 3),
            (Some(Level::Trace), 4),
        ] {
            assert_eq!(lines_at(level, write).len(), count, "{level:?}");
        }
    }

    #[test]
    fn configured_keys_are_not_logged() {
        let lines = lines_at(Some(Level::Info), |log| log.error("refused sk-very-secret"));
        assert!(lines[0].ends_with("ERROR refused [redacted]\n"), "{lines:?}");
    }
}
