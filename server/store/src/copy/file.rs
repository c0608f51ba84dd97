//! Fills a new file of SQLite.

use std::path::Path;

use crate::db::{Db, Value};
use crate::sqlite::look::backup::Unnamed;
use crate::sqlite::look::fill;
use crate::sqlite::look::tables::Table;
use crate::sqlite::open::migrate::Migration;

use super::{CopyError, RowsCopied, Source, Step, as_stored, same_end};

/// Fills a file that is to have the new name `to`, once the caller has verified it.
///
/// # Errors
/// [`CopyError`]. No file stays.
pub fn fill(
    to: &Path,
    migrations: &[Migration],
    tables: &[Table],
    source: &mut Source<'_>,
) -> Result<(Unnamed, RowsCopied), CopyError> {
    let steps: Vec<Step> = tables.iter().map(Step::of).collect();
    source.count(&steps)?;
    let filled = fill::new_file(to, migrations, |db| {
        for step in &steps {
            copy(db, step, source)?;
        }
        same_end(source.db, db)
    })?;
    Ok((filled, source.rows))
}

fn copy(db: &Db, step: &Step, source: &mut Source<'_>) -> Result<(), CopyError> {
    let places: Vec<String> = (1..=step.columns.len()).map(|place| format!("?{place}")).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({})", step.table, step.names(), places.join(", "));
    source.each(step, |row| {
        let mut values = Vec::with_capacity(step.columns.len());
        for (at, (_, kind)) in step.columns.iter().enumerate() {
            let value: Value<'_> = row.get(at).map_err(colibri_runtime::handler::Fault::from)?;
            values.push(as_stored(value, *kind));
        }
        db.changed(&sql, &values)
            .map(drop)
            .map_err(|fault| CopyError::Write { table: step.table.clone(), reason: fault.to_string() })
    })?;
    Ok(())
}
