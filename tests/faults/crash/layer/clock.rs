//! A machine whose clock shows a time after the year 9999, which no timestamp of four digits can tell.

use std::sync::Arc;

use tempfile::TempDir;

use super::check::check;
use super::load::Script;
use super::replies::Fate;
use super::server;
use super::shim::Layer;
use crate::crash::dice::Dice;

/// About 9,500 years, in milliseconds.
const FAR: i64 = 300_000_000_000_000;

#[test]
fn finding_a8_a_clock_beyond_the_year_9999_is_an_error_of_the_start() {
    let folder = Arc::new(TempDir::new().unwrap());
    let layer = Layer::over(folder.path()).clock(&[(1, FAR)]);
    let served = server::drive(&server::launch(&folder, Some(&layer)), &Script::probe("early"), None);
    assert_eq!((served.status.code(), served.acknowledged()), (Some(1), 0), "{served:?}");
    assert!(
        served.stderr.contains("the machine's clock shows a time after the year 9999; set the clock"),
        "{served:?}"
    );
    check(&folder, &[]).unwrap();
}

#[test]
fn finding_a8_a_clock_that_jumps_beyond_the_year_9999_costs_no_call() {
    let mut dice = Dice::of_run(9999);
    for look in [30, 60, 120, 240] {
        let folder = Arc::new(TempDir::new().unwrap());
        let layer = Layer::over(folder.path()).clock(&[(look, FAR)]);
        let script = Script::drawn(&mut dice, "far", &[], 100);
        let served = server::drive(&server::launch(&folder, Some(&layer)), &script, None);
        assert_eq!(served.status.code(), Some(0), "{served:?}");
        assert!(served.stderr.contains("\n9999-12-31T23:59:59.999Z "), "the clock did not jump: {served:?}");
        // The script also seals a session without thoughts, which is refused.
        let refused =
            |fate: &Fate| matches!(fate, Fate::Failed(why) if why.contains("holds no thought record"));
        assert!(served.fates.iter().all(|fate| *fate == Fate::Done || refused(fate)), "{served:?}");
        check(&folder, &[(&script, &served.fates)]).unwrap();
    }
}

#[test]
fn finding_a8_doctor_names_a_clock_beyond_the_year_9999() {
    let folder = Arc::new(TempDir::new().unwrap());
    let layer = Layer::over(folder.path()).clock(&[(1, FAR)]);
    let output = server::launch(&folder, Some(&layer)).arg("doctor").command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the machine's clock shows a time after the year 9999"), "{said}");
}
