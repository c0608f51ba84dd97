//! `colibri verify`: recomputes a whole database, for auditors who trust neither the agent nor the server.
//! Exit 0 for a sound one, 1 if something does not fit, 2 if nothing could be verified, 3 if only a key that the reader did
//! not give has signed.

mod print;

use std::io::Write;
use std::path::Path;

use colibri_visible::printable;

use super::Failure;
use super::arguments::VerifyArguments;
use super::database::{self, Role, must_be_file, place_of};
use super::views::Screen;
use super::work::Work;
use crate::domains::proof::keyring::Keyring;
use crate::domains::proof::{Signers, any_signed_by};
use crate::migrations::MIGRATIONS;
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;
use crate::settings::place::{Place, Sharing};
use crate::shared_schema::SCHEMA;
use crate::verification::judgement::Judgement;
use crate::verification::{self, Expected, Options, Report, file};
use colibri_proof::Verdict;
use colibri_proof::command::{Keys, MISTAKEN, conclude};
use colibri_store::DatabaseUrl;
use colibri_store::db::{Db, LogGap};
use colibri_store::shared_look::{self, Examined};
use colibri_store::sqlite::look::inspect::{APPLICATION_ID, Inspection};
use colibri_store::sqlite::look::schema::{self, Schema};
use colibri_store::sqlite::open::MEMORY;
use colibri_store::walk::Stop;

/// Verifies and prints; [`Failure::Finding`] if something was found.
pub fn run(
    arguments: &VerifyArguments,
    env: &Environment,
    screen: Screen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut work = Work::begin("verify", err, arguments.progress);
    let config = configuration(env)?;
    let (place, sharing) = match arguments.db.as_deref() {
        Some(named) => place_of(env, Some(named))?,
        None => (config.place.clone(), config.sharing.clone()),
    };
    let keys = keys(&config, &arguments.keys)?;
    let checkpoint = arguments.checkpoint.as_deref().map(file::read).transpose().map_err(Failure::Usage)?;
    let target = arguments.write_checkpoint.as_deref();
    if let Some(target) = target.filter(|target| target.symlink_metadata().is_ok()) {
        return Err(Failure::Usage(file::exists(target)));
    }
    let expected = schema::expected(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let options = Options {
        expected: match &place {
            Place::File(_) => Expected::File(&expected),
            Place::Shared(_) => Expected::Shared(&SCHEMA),
        },
        signers: Signers {
            trusted: &keys.trusted,
            required: arguments.require_key || !arguments.keys.is_empty(),
        },
        checkpoint: checkpoint.as_ref(),
        take_checkpoint: target.is_some(),
        interrupt: &work.interrupt().clone(),
    };
    let report = match &place {
        Place::File(path) => verify(path, (path, Role::Database), (&keys, &expected), &options, &mut work),
        Place::Shared(url) => verify_shared(url, &sharing, &keys, &options, &mut work),
    };
    let report = work.settle(report)?;
    drop(work);
    // The result is printed even if the checkpoint cannot be written.
    let saved = match (target, &report.checkpoint) {
        (Some(target), Some(checkpoint)) => file::write(target, checkpoint).map(|()| Some(target)),
        _ => Ok(None),
    };
    let written = saved.as_ref().ok().copied().flatten();
    let judged = Judgement::of(&report);
    if arguments.json {
        print::json(&place, &report, written, out)?;
    } else {
        print::text(&place, (&report, &judged), written, (screen, out))?;
    }
    if report.is_sound() {
        saved.map(drop).map_err(Failure::Failed)?;
        return end(&judged);
    }
    if target.is_some() {
        // A closed stderr changes nothing about the result.
        let _ = writeln!(err, "colibri: no checkpoint was written: the database is not sound");
    }
    Err(Failure::Finding)
}

/// Returns how a command ends that judges so.
///
/// # Errors
/// [`Failure::Finding`] for a database that is not sound, [`Failure::Unconfirmed`] for one that holds only by a key that the reader did
/// not give.
pub(super) fn end(judged: &Judgement) -> Result<(), Failure> {
    judged.verdict.map_or(Ok(()), |verdict| conclude(verdict).map_err(Failure::from))
}

/// Says the verdict in a few words, for a line about a page that was written.
pub(super) fn in_words(judged: &Judgement, noun: &str) -> String {
    match judged.verdict {
        None => format!("the {noun} was not verified"),
        Some(Verdict::Holds) => format!("the {noun} is sound{}", warned(judged)),
        Some(Verdict::Unconfirmed) => {
            let why = judged.unknown_key().unwrap_or_default();
            format!(
                "the {noun} holds{}, but only by a key that you did not give: {}",
                warned(judged),
                printable(&why)
            )
        }
        Some(Verdict::Fails) => format!("the {noun} is NOT sound"),
    }
}

/// Names the kinds of warnings of a verification, if it has any.
fn warned(judged: &Judgement) -> String {
    let codes: Vec<&str> = judged.warnings.iter().map(|found| found.first.code).collect();
    if codes.is_empty() { String::new() } else { format!(" (warning: {})", codes.join(", ")) }
}

/// Verifies a backup with the configured keys. It lies at `path`, and messages call it `shown`.
///
/// # Errors
/// Any error that prevents the verification; findings are in the report.
pub(super) fn verify_copy(
    path: &Path,
    shown: &Path,
    env: &Environment,
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    let keys = keys(&configuration(env)?, &[])?;
    let expected = schema::expected(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let options = Options {
        expected: Expected::File(&expected),
        signers: Signers { trusted: &keys.trusted, required: false },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &work.interrupt().clone(),
    };
    verify(path, (shown, Role::Backup), (&keys, &expected), &options, work)
}

/// Verifies a database that is open, with the keys of the command line or, without any, the configured ones.
///
/// # Errors
/// Any error that prevents the verification; findings are in the report.
pub(super) fn verify_open(
    (db, place): (&Db, &Place),
    env: &Environment,
    given: &[String],
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    let keys = keys(&configuration(env)?, given)?;
    let expected = schema::expected(MIGRATIONS).map_err(|fault| Failure::Failed(fault.to_string()))?;
    let options = Options {
        expected: match place {
            Place::File(_) => Expected::File(&expected),
            Place::Shared(_) => Expected::Shared(&SCHEMA),
        },
        signers: Signers { trusted: &keys.trusted, required: !given.is_empty() },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &work.interrupt().clone(),
    };
    let report = recompute(db, None, &keys, &options, work)?;
    Ok(with_gap(report, db.log_gap(), &place.to_string()))
}

/// Adds the warning that calls may be missing.
fn with_gap(mut report: Report, gap: Option<LogGap>, shown: &str) -> Report {
    if let Some(gap) = gap {
        report.warnings.add("file", "LOG_MAY_BE_MISSING", || (shown.to_owned(), gap.to_string()));
    }
    report
}

/// Reads the configuration, whose database and keys are used if the user names none.
pub(super) fn configuration(env: &Environment) -> Result<Config, Failure> {
    match load_config(env, std::process::id()) {
        Ok((config, _)) => Ok(config),
        Err(problems) => Err(Failure::Usage(problems.join("; "))),
    }
}

/// Returns the keys of the command line, or the configured ones if it names none. The two do not mix: `--key` asks whether
/// these keys have signed, and the answer must not depend on where the command runs.
fn keys(config: &Config, given: &[String]) -> Result<Keys, Failure> {
    if given.is_empty() {
        return Ok(Keys::of(
            Keyring::load(config).map_err(|error| Failure::Usage(error.to_string()))?.trusted_keys().clone(),
        ));
    }
    Ok(Keys::read(given)?)
}

/// Checks that the user named no file with a seed in place of the public key: one of the heads may show it.
fn not_mistaken(keys: &Keys, db: &Db) -> Result<(), Failure> {
    if keys.of_seeds().is_empty() {
        return Ok(());
    }
    match any_signed_by(db, keys.of_seeds()) {
        Ok(true) => Err(Failure::Usage(MISTAKEN.to_owned())),
        Ok(false) => Ok(()),
        Err(fault) => Err(Failure::Failed(fault.to_string())),
    }
}

/// Reads the file at one moment. Messages call it what the user called it.
fn verify(
    path: &Path,
    (shown, role): (&Path, Role),
    (keys, expected): (&Keys, &Schema),
    options: &Options<'_>,
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    if path == Path::new(MEMORY) {
        return Err(Failure::Usage(
            "a database in memory cannot be verified; name a file with --db".to_owned(),
        ));
    }
    must_be_file(path, role)?;
    let look =
        Inspection::open(path, MIGRATIONS).map_err(|error| unreadable(shown, role, &error.to_string()))?;
    let verified = look.at_one_moment(|db, beside| {
        let found = schema::read(db).map_err(|fault| unreadable(shown, role, &fault.to_string()))?;
        recognise(&found, expected)
            .map_err(|reason| Failure::Usage(format!("{}: {reason}", shown.display())))?;
        recompute(db, beside, keys, options, work)
    });
    let report = verified.map_err(|fault| unreadable(shown, role, &fault.to_string()))??;
    Ok(with_gap(report, look.log_gap(), &shown.to_string_lossy()))
}

/// Reads a shared database at one moment.
fn verify_shared(
    url: &DatabaseUrl,
    sharing: &Sharing,
    keys: &Keys,
    options: &Options<'_>,
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    let Examined { db, beside } =
        shared_look::examine(url, &sharing.whole(), &SCHEMA).map_err(|error| database::unreadable(&error))?;
    recompute(&db, beside, keys, options, work)
}

fn recompute(
    db: &Db,
    beside: Option<Db>,
    keys: &Keys,
    options: &Options<'_>,
    work: &mut Work<'_>,
) -> Result<Report, Failure> {
    match verification::verify(db, beside, options, &mut |progress| work.show(progress)) {
        Ok(report) => {
            if report.heads.as_ref().is_some_and(|heads| heads.unknown_key > 0) {
                not_mistaken(keys, db)?;
            }
            Ok(report)
        }
        Err(Stop::Interrupted) => Err(Failure::Failed("the verification was interrupted".to_owned())),
        Err(Stop::Fault(fault)) => Err(Failure::Failed(fault.to_string())),
    }
}

/// Returns the failure for a file that SQLite cannot read. It tells a damaged database from another kind of file.
fn unreadable(named: &Path, role: Role, reason: &str) -> Failure {
    let path = named.display();
    if reason.contains("malformed") {
        Failure::Failed(format!("{path} is damaged: {reason}; keep a copy of it as evidence"))
    } else if reason.contains("database is locked") {
        database::locked(named)
    } else if reason.contains("not a database") {
        role.foreign(named)
    } else if reason.contains("unable to open") {
        Failure::Usage(format!("{path} cannot be read: {reason}"))
    } else {
        Failure::Failed(format!("{path} cannot be read: {reason}"))
    }
}

/// Refuses files that are not Colibri databases, or another release's. If the shape is right, wrong header fields
/// are findings: another program has changed them. So are missing or surplus objects if the others are right.
fn recognise(found: &Schema, expected: &Schema) -> Result<(), String> {
    let (ours, version) = (found.application_id == APPLICATION_ID, found.user_version);
    let known = expected.objects.keys().filter(|object| found.objects.contains_key(*object)).count();
    if found.objects == expected.objects || (ours && version == expected.user_version) {
        return Ok(());
    }
    if found.objects.is_empty() {
        return Err("no server has finished its first start on it yet; start a server on it first".to_owned());
    }
    if known == expected.objects.len() && !(ours && version > expected.user_version) {
        return Ok(());
    }
    if !ours && known > expected.objects.len() / 2 {
        return Ok(());
    }
    if !ours || known == 0 {
        return Err("not a Colibri database".to_owned());
    }
    Err(if version > expected.user_version {
        format!(
            "its schema version {version} is newer than {}; verify it with the release that wrote it, or a later one",
            expected.user_version
        )
    } else {
        format!(
            "its schema version {version} is older than {}; verify it with the release that wrote it, or start \
             this release on a copy and verify the copy",
            expected.user_version
        )
    })
}
