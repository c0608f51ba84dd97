//! The counters that SQLite keeps of rows ever made, against the rows there are.

use super::run::Run;
use crate::store::counters::{counters_of, stray_counters};
use crate::store::walk::Stop;

/// That the counter of a table says that its last row is `last`; 0 when it has none.
///
/// # Errors
/// The engine's.
pub fn check(run: &mut Run<'_>, table: &'static str, last: i64) -> Result<(), Stop> {
    let expected = (last > 0).then_some(last);
    if !counters_of(run.db, table)?.iter().eq(&expected) {
        run.found("SEQ_COUNTER", || {
            let message = format!("sqlite_sequence does not say that the last row of {table} is {last}");
            ("sqlite_sequence".to_owned(), message)
        });
    }
    Ok(())
}

/// That there is no counter of a table that has none.
///
/// # Errors
/// The engine's.
pub fn check_strays(run: &mut Run<'_>) -> Result<(), Stop> {
    for name in stray_counters(run.db)? {
        run.found("SEQ_COUNTER", || {
            let message =
                format!("sqlite_sequence counts the rows of {name:?}, which is no table that is counted");
            ("sqlite_sequence".to_owned(), message)
        });
    }
    Ok(())
}
