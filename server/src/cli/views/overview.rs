//! `colibri overview`: a database as one HTML page. This module gathers what [`crate::report::overview`] renders, all of one moment.
//!
//! ```text
//! overview   what is asked for, and the verdict
//! parts      tasks, decisions, sessions and standing, for the page
//! bars       calls by time
//! ```

mod bars;
mod parts;

use std::io::Write;
use std::path::Path;

use colibri_runtime::handler::Fault;
use colibri_visible::{counted, printable};
use serde::Serialize;

use super::{Look, Screen};
use crate::cli::Failure;
use crate::cli::arguments::views::Overview as Arguments;
use crate::cli::database::place_of;
use crate::cli::output::{print_json, write_to};
use crate::cli::verify::{configuration, end, in_words, verify_open};
use crate::cli::work::Work;
use crate::report::overview::model::{Overview, Part};
use crate::report::overview::render;
use crate::settings::environment::Environment;
use crate::settings::place::Place;
use crate::verification::finding::Found;
use crate::verification::judgement::Judgement;
use colibri_proof::Verdict;
use colibri_store::db::Db;

/// What the command prints of a page that it wrote.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    since: &'a str,
    /// `None` with `--no-verify`.
    sound: Option<bool>,
    /// `None` with `--no-verify`.
    verdict: Option<Verdict>,
    warnings: &'a [Found],
    /// Whether the page has all of its parts.
    whole: bool,
    /// `None` if they cannot be read.
    open_tasks: Option<i64>,
    calls: Option<i64>,
}

/// Writes the page; [`Failure::Finding`] if the database is not sound, or a part of it cannot be read. The page then says so.
pub(super) fn run(
    arguments: &Arguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let look = Look::open(&arguments.view, env, Screen::default(), err)?;
    let mut work = Work::begin("overview", err, arguments.progress);
    let since = look.clock.parse(&arguments.since).map_err(Failure::Usage)?;
    let judged = judged(arguments, &look, env, &mut work)?;
    let epoch_seconds = configuration(env)?.epoch_seconds;
    let place = place_of(env, arguments.view.database.db.as_deref())?.0;
    let page = Overview {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: look.clock.dated_now(),
        database: name(&place),
        since: look.clock.dated(&since),
        zone: look.clock.zone(),
        judged,
        tasks: part(&look.db, || parts::tasks(&look))?,
        dependencies: part(&look.db, || parts::dependencies(&look))?,
        calls: part(&look.db, || bars::calls(&look, &since))?,
        decisions: part(&look.db, || parts::decisions(&look, &since))?,
        sessions: part(&look.db, || parts::sessions(&look))?,
        standing: part(&look.db, || parts::standing(&look, epoch_seconds))?,
    };
    work.settle(Ok(()))?;
    write_to(Some(&arguments.html), out, |to| Ok(to.write_all(render(&page).as_bytes())?))?;
    work.clear();
    let whole = written(&arguments.html.to_string_lossy(), &since, &page, arguments.view.json, out)?;
    out.flush()?;
    if whole { end(&page.judged) } else { Err(Failure::Finding) }
}

/// Returns what the page calls the database: of a file its name only, as the folders above may name its owner.
fn name(place: &Place) -> String {
    let file = place.file().and_then(Path::file_name);
    file.map_or_else(|| place.to_string(), |file| file.to_string_lossy().into_owned())
}

/// Verifies what the page is about to show.
fn judged(
    arguments: &Arguments,
    look: &Look,
    env: &Environment,
    work: &mut Work<'_>,
) -> Result<Judgement, Failure> {
    if arguments.no_verify {
        return Ok(Judgement::NONE);
    }
    let place = place_of(env, arguments.view.database.db.as_deref())?.0;
    let report = verify_open((&look.db, &place), env, &arguments.keys, work);
    Ok(Judgement::of(&work.settle(report)?))
}

/// Reads a part of the page. Damage to it leaves the others as they are.
fn part<T>(db: &Db, read: impl FnOnce() -> Result<T, Fault>) -> Result<Part<T>, Failure> {
    match db.apart(read) {
        Ok(found) => Ok(Ok(found)),
        Err(fault) if db.is_cut_off() => Err(fault.into()),
        Err(fault) => Ok(Err(fault.to_string())),
    }
}

/// Says what was written, and returns whether the page has all of its parts.
fn written(
    file: &str,
    since: &str,
    page: &Overview,
    json: bool,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let Overview { judged, tasks, dependencies, calls, decisions, sessions, standing, .. } = page;
    let verdict = judged.verdict;
    let sound = verdict.map(|verdict| verdict != Verdict::Fails);
    let whole = tasks.is_ok()
        && dependencies.is_ok()
        && calls.is_ok()
        && decisions.is_ok()
        && sessions.is_ok()
        && standing.is_ok();
    let open_tasks = tasks.as_ref().ok().map(|tasks| tasks.ready + tasks.held + tasks.blocked);
    let calls = calls.as_ref().ok().map(|calls| calls.total.total());
    if json {
        print_json(
            out,
            &Written { file, since, sound, verdict, warnings: &judged.warnings, whole, open_tasks, calls },
        )?;
    } else {
        let verdict = in_words(judged, "database");
        let parts = if whole { "" } else { "; parts of it cannot be read" };
        let open = open_tasks.map_or(String::new(), |count| counted(count, "open task") + ", ");
        let calls =
            calls.map_or(String::new(), |count| format!("{} since {}; ", counted(count, "call"), page.since));
        writeln!(out, "{}: {open}{calls}{verdict}{parts}", printable(file))?;
    }
    Ok(whole)
}
