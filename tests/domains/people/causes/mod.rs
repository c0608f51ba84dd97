//! What stops or degrades a start, each made, named by `colibri doctor` and by the start in the same words, and mended by what the
//! line says. The page `docs/reference/doctor.md` is this table.

mod content;
mod files;
mod keys;
mod page;
mod parts;
mod settings;
mod shared;
mod site;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use colibri_test_support::postgres::Programs;
use colibri_test_support::sqlite_only;

use site::{Finding, Site};

/// What a start does about a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// It ends with the line.
    Refuses,
    /// It logs the line as a warning, and serves.
    Warns,
}

/// One way in which a set-up may be broken.
struct Cause {
    /// What is wrong, for the page.
    name: &'static str,
    /// How bad doctor finds it.
    level: &'static str,
    start: Start,
    /// Breaks a sound set-up.
    make: fn(&Site),
    /// A part of the line that names the cause.
    says: &'static str,
    /// The part of the line that the start has, too: the whole, unless the start says for how long it has waited.
    alike: fn(&str) -> &str,
    /// Does what the line says.
    mend: fn(&Site, &Finding),
}

const fn fails(name: &'static str, make: fn(&Site), says: &'static str, mend: fn(&Site, &Finding)) -> Cause {
    Cause { name, level: "fail", start: Start::Refuses, make, says, alike: whole, mend }
}

const fn warns(name: &'static str, make: fn(&Site), says: &'static str, mend: fn(&Site, &Finding)) -> Cause {
    Cause { name, level: "warn", start: Start::Warns, make, says, alike: whole, mend }
}

fn whole(line: &str) -> &str {
    line
}

fn table() -> impl Iterator<Item = &'static Cause> {
    [settings::CAUSES, keys::CAUSES, files::CAUSES, content::CAUSES, parts::CAUSES].into_iter().flatten()
}

/// Makes the cause, asks doctor and the start, carries out the remedy; returns doctor's line.
fn carried_out(cause: &Cause) -> Finding {
    let site = Site::new(cause.name);
    (cause.make)(&site);
    site.hand_over();
    let before = site.state();
    let report = site.doctor();
    let found = report.finding(cause.level, cause.says);
    assert_eq!(report.code, Some(i32::from(report.has("fail"))), "{site}: {report:?}");
    let text = site.doctor_in_words();
    for part in [&found.message, &format!("-> {}", found.advice)] {
        assert!(text.contains(part.as_str()), "{site}: {part:?} is missing:\n{text}");
    }
    assert!(
        text.lines().any(|line| line.starts_with(cause.level) && line.contains(&found.message)),
        "{site}:\n{text}"
    );
    site.assert_same(&before);
    let started = site.start((cause.alike)(&found.message), cause.start);
    assert_eq!(started.code == Some(0), cause.start == Start::Warns, "{site}: {}", started.log);
    (cause.mend)(&site, &found);
    site.hand_over();
    let mended = site.doctor();
    assert!(
        !mended.has("fail") && !mended.findings.iter().any(|other| other.message == found.message),
        "{site}: {:?} does not mend {:?}: {mended:#?}",
        found.advice,
        found.message
    );
    site.assert_serves();
    site.shown(found)
}

/// Carries out all causes, a few at a time, so that a failure shows every cause that fails.
fn all(causes: &[&'static Cause]) -> Vec<Finding> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cause) = causes.get(at) else { return };
                    let line = catch_unwind(AssertUnwindSafe(|| carried_out(cause)));
                    found.lock().unwrap().insert(at, line.map_err(|_| cause.name));
                }
            });
        }
    });
    let found: Vec<_> = found.into_inner().unwrap().into_values().collect();
    let failed: Vec<_> = found.iter().filter_map(|line| line.as_ref().err()).collect();
    assert!(failed.is_empty(), "each has panicked above: {failed:#?}");
    found.into_iter().flatten().collect()
}

#[test]
fn people_67_68_each_cause_is_named_by_doctor_and_the_start_alike_and_its_remedy_works() {
    sqlite_only!("it is about files; causes on PostgreSQL have a table of their own");
    let causes: Vec<&Cause> = table().collect();
    assert!(causes.len() >= 30, "{}", causes.len());
    let lines = all(&causes);
    page::assert_holds(page::FILE, &causes, &lines);
}

#[test]
fn people_67_68_each_cause_on_postgresql_is_named_alike_and_its_remedy_works() {
    if Programs::find().is_none() {
        return;
    }
    let causes: Vec<&Cause> = shared::CAUSES.iter().collect();
    let lines = all(&causes);
    page::assert_holds(page::SHARED, &causes, &lines);
}
