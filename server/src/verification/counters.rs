//! Compares SQLite's counters of rows ever made with the stored rows.

use super::run::Run;
use colibri_store::sqlite::look::counters::{counters_of, stray_counters};
use colibri_store::walk::Stop;

/// Checks that a table's counter names `last` as the last row; 0 if the table has no rows.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>, table: &'static str, last: i64) -> Result<(), Stop> {
    let expected = (last > 0).then_some(last);
    if counters_of(run.db, table)?.is_some_and(|found| !found.iter().eq(&expected)) {
        run.found("SEQ_COUNTER", || {
            let message = format!("sqlite_sequence does not say that the last row of {table} is {last}");
            ("sqlite_sequence".to_owned(), message)
        });
    }
    Ok(())
}

/// Checks that only counted tables have a counter.
///
/// # Errors
/// The engine's error.
pub fn check_strays(run: &mut Run<'_>) -> Result<(), Stop> {
    for name in stray_counters(run.db)? {
        run.found("SEQ_COUNTER", || {
            let message =
                format!("sqlite_sequence counts the rows of {name:?}, which is not a counted table");
            ("sqlite_sequence".to_owned(), message)
        });
    }
    Ok(())
}
