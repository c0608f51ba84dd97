//! Checks that the database has the schema of the migrations, and that SQLite itself finds it valid. The other checks
//! rely on its constraints, indexes and references.

use colibri_runtime::handler::Fault;

use super::run::Run;
use colibri_store::db::Db;
use colibri_store::sqlite::look::inspect::{self, Sanity};
use colibri_store::sqlite::look::schema::{Difference, Schema, Shape};
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "schema";

/// Reports differences from the `expected` schema and runs SQLite's own check. Returns whether that check included
/// the indexes.
///
/// # Errors
/// SQLite's error.
pub fn check(
    run: &mut Run<'_>,
    shape: &Result<Shape, Fault>,
    expected: &Schema,
    sanity: impl FnOnce(&Db, &Shape) -> Result<Sanity, Fault>,
) -> Result<bool, Stop> {
    run.begin(NAME, 0);
    let shape = shape.as_ref().map_err(Clone::clone)?;
    compare(run, shape, expected);
    run.count("objects", shape.found.objects.len() as u64);
    let sanity = sanity(run.db, shape)?;
    for complaint in sanity.complaints {
        run.found("FILE_DAMAGED", || ("file".to_owned(), format!("SQLite's integrity check: {complaint}")));
    }
    for complaint in inspect::dangling_references(run.db, shape)? {
        run.found("REFERENCE_BROKEN", || {
            (complaint.split(" refers").next().unwrap_or_default().to_owned(), complaint.clone())
        });
    }
    Ok(sanity.indexes)
}

fn compare(run: &mut Run<'_>, shape: &Shape, expected: &Schema) {
    let found = &shape.found;
    let headers = [
        ("APPLICATION_ID", "application_id", found.application_id, expected.application_id),
        ("USER_VERSION", "user_version", found.user_version, expected.user_version),
    ];
    for (code, name, found, expected) in headers {
        if found != expected {
            run.found(code, || (name.to_owned(), format!("{name} is {found}, not {expected}")));
        }
    }
    for (object, difference) in shape.differences(expected) {
        let code = match difference {
            Difference::Changed => "OBJECT_CHANGED",
            Difference::Missing => "OBJECT_MISSING",
            Difference::Unknown => "OBJECT_UNKNOWN",
        };
        run.found(code, || (object.to_owned(), difference.sentence(object)));
    }
}
