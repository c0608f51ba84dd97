//! `colibri log`: the audit log, filtered, newest last.

use std::io::{self, BufWriter, Write};

use colibri_runtime::handler::Fault;
use colibri_visible::printable;

use super::Failure;
use super::arguments::audit::Log;
use super::database::open_for_reading;
use super::ids::{Kind, fitting};
use super::moments::not_after;
use super::output::print_json_line;
use super::views::cut;
use super::who::{UNCHECKED, Who};
use crate::catalogue::ToolId;
use crate::domains::notes::words;
use crate::domains::wrap::store::names;
use crate::settings::environment::Environment;
use colibri_store::callers::each_caller;
use colibri_store::db::Db;
use colibri_store::log::log_query::{LogFilter, LogRow, each_call};

/// The width of the longest outcome.
const OUTCOME_WIDTH: usize = "domain_error".len();
/// The width of the time stamps.
const TIME_WIDTH: usize = "2026-05-01T10:00:00.000Z".len();
/// The widest that the column of callers becomes; longer names stand over the next column.
const MOST_WHO_WIDTH: usize = 40;
/// The same of the column of tools, whose names may be another server's or a client's own.
const MOST_TOOL_WIDTH: usize = 64;

/// Prints the calls that match, one line each. Where the lines are wider than the screen they go on below, as ids and messages must be
/// whole; the titles of the columns end there.
pub fn run(
    arguments: &Log,
    env: &Environment,
    screen_width: Option<usize>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let (Some(since), Some(until)) = (&arguments.since, &arguments.until)
        && until <= since
    {
        return Err(not_after(since, until));
    }
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    let who_width = if arguments.json { 0 } else { who_width(&db)? };
    let mut filter = arguments.filter();
    if let Some(fragment) = &filter.subject
        && let Some(id) = fitting(&db, Kind::Subject, fragment)?
    {
        filter.subject = Some(id);
    }
    let mut page = Page {
        out: BufWriter::new(out),
        json: arguments.json,
        tool_width: if arguments.json { 0 } else { tool_width(&db, &filter) },
        who_width,
        screen_width,
        callers: false,
        shown: 0,
        last: None,
        failed: None,
    };
    let read = each_call(&db, &filter, |row| page.take(row));
    if let Some(error) = page.failed {
        return Err(Failure::Output(error));
    }
    // What could be read is shown before what is wrong.
    page.out.flush()?;
    read.map_err(|fault| {
        let after = page.last.map_or_else(String::new, |number| format!(" after call {number}"));
        Failure::Failed(format!(
            "the log cannot be read{after}: {fault}; `colibri verify` says what is wrong"
        ))
    })?;
    if page.shown == 0 && !arguments.json {
        writeln!(page.out, "{}", nothing(arguments, &db))?;
    }
    if page.callers {
        writeln!(page.out, "{UNCHECKED}")?;
    }
    page.out.flush()?;
    Ok(())
}

/// Returns how wide the column of tools is: as wide as the widest name of all tools and of the calls that are shown.
fn tool_width(db: &Db, filter: &LogFilter) -> usize {
    let own = ToolId::ALL.iter().chain(&ToolId::OPERATIONS).map(|tool| tool.name().len());
    let mut widest = own.max().unwrap_or(0);
    // What cannot be read is told where the calls are shown.
    let _ = each_call(db, filter, |row| {
        widest = widest.max(printable(row.tool).chars().count().min(MOST_TOOL_WIDTH));
        true
    });
    widest
}

/// Returns how wide the column of callers is: as wide as the widest caller of the whole log, which are few.
fn who_width(db: &Db) -> Result<usize, Failure> {
    let mut widest = "WHO".len();
    each_caller(db, |_, _, caller| {
        let width = Who::caller(caller.as_ref()).to_string().chars().count();
        widest = widest.max(width.min(MOST_WHO_WIDTH));
        Ok(())
    })
    .map_err(|fault: Fault| Failure::Failed(format!("the callers cannot be read: {fault}")))?;
    Ok(widest)
}

/// The writer of the lines.
struct Page<'a> {
    out: BufWriter<&'a mut dyn Write>,
    json: bool,
    tool_width: usize,
    who_width: usize,
    /// How many columns the terminal has, if there is one.
    screen_width: Option<usize>,
    /// A call with a caller was shown.
    callers: bool,
    shown: u64,
    /// The last call shown.
    last: Option<i64>,
    failed: Option<io::Error>,
}

impl Page<'_> {
    /// Writes a row; returns whether more are wanted.
    fn take(&mut self, row: &LogRow<'_>) -> bool {
        let written = if self.json { self.json_line(row) } else { self.text_line(row) };
        self.shown += 1;
        self.last = Some(row.sequence_no);
        self.failed = written.err();
        self.failed.is_none()
    }

    fn json_line(&mut self, row: &LogRow<'_>) -> io::Result<()> {
        print_json_line(&mut self.out, row)
    }

    fn text_line(&mut self, row: &LogRow<'_>) -> io::Result<()> {
        let (widest, who_width) = (self.tool_width, self.who_width);
        if self.shown == 0 {
            let titles = format!(
                "{:>8}  {:TIME_WIDTH$}  {:widest$}  {:OUTCOME_WIDTH$}  {:>7}  {:who_width$}  SUBJECT OR ERROR",
                "CALL", "ENTERED", "TOOL", "OUTCOME", "MS", "WHO"
            );
            writeln!(self.out, "{}", self.screen_width.map_or(titles.clone(), |width| cut(&titles, width)))?;
        }
        self.callers |= row.caller.is_some();
        let duration = row.duration_ms.map_or_else(|| "-".to_owned(), |ms| ms.to_string());
        let note = match (row.subject, row.error_code) {
            (Some(subject), _) => printable(subject).into_owned(),
            (None, Some(code)) => failure(code, row.error_message.unwrap_or_default()),
            (None, None) => String::new(),
        };
        let line = format!(
            "{:>8}  {:TIME_WIDTH$}  {:widest$}  {:OUTCOME_WIDTH$}  {duration:>7}  {:who_width$}  {note}",
            row.sequence_no,
            printable(row.entered_at),
            printable(row.tool),
            printable(row.outcome),
            Who::caller(row.caller).to_string(),
        );
        writeln!(self.out, "{}", line.trim_end())?;
        row.notes.iter().try_for_each(|note| {
            writeln!(self.out, "{:>8}  note {}: {}", "", note.note_no, words(&note.kind, &note.body))
        })
    }
}

/// Returns a failed call's code and message. Some messages begin with the code already.
fn failure(code: &str, message: &str) -> String {
    match message.strip_prefix(code) {
        Some(rest) if rest.starts_with(": ") => printable(message).into_owned(),
        _ => format!("{}: {}", printable(code), printable(message)),
    }
}

/// Returns the text that is printed if no call matches.
fn nothing(arguments: &Log, db: &Db) -> String {
    let unknown = arguments.tool.as_deref().filter(|tool| ToolId::from_name(tool).is_none());
    let tool = unknown.and_then(|tool| {
        colibri_suggest::closest(tool, ToolId::ALL.iter().chain(&ToolId::OPERATIONS).map(|tool| tool.name()))
    });
    let servers = names(db).unwrap_or_default();
    let unknown = arguments.server.as_ref().filter(|name| !servers.contains(name));
    let server = unknown.and_then(|name| colibri_suggest::closest(name, servers.iter().map(String::as_str)));
    match (tool, server) {
        (Some(close), _) => format!("No call matches; did you mean --tool {close}?"),
        (None, Some(close)) => format!("No call matches; did you mean --server {close}?"),
        (None, None) => "No call matches.".to_owned(),
    }
}
