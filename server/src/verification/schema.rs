//! Is it the database that the migrations make, and does SQLite itself find it sound? What the other checks
//! rely on: constraints, indexes and references.

use colibri_runtime::handler::Fault;

use super::run::{Run, Stop};
use crate::store::db::Db;
use crate::store::inspect::{self, Sanity};
use crate::store::schema::{self, Schema};

/// The check's name.
pub const NAME: &str = "schema";

/// Compares the schema with `expected` and asks SQLite for its own opinion; whether that included the indexes.
///
/// # Errors
/// The engine's.
pub fn check(
    run: &mut Run<'_>,
    expected: &Schema,
    sanity: impl FnOnce(&Db) -> Result<Sanity, Fault>,
) -> Result<bool, Stop> {
    run.begin(NAME, 0);
    let found = schema::read(run.db)?;
    compare(run, &found, expected);
    run.count("objects", found.objects.len() as u64);
    let sanity = sanity(run.db)?;
    for complaint in sanity.complaints {
        run.found("FILE_DAMAGED", || ("file".to_owned(), format!("SQLite's integrity check: {complaint}")));
    }
    for complaint in inspect::dangling_references(run.db)? {
        run.found("REFERENCE_BROKEN", || {
            (complaint.split(" refers").next().unwrap_or_default().to_owned(), complaint.clone())
        });
    }
    Ok(sanity.indexes)
}

fn compare(run: &mut Run<'_>, found: &Schema, expected: &Schema) {
    let headers = [
        ("APPLICATION_ID", "application_id", found.application_id, expected.application_id),
        ("USER_VERSION", "user_version", found.user_version, expected.user_version),
    ];
    for (code, name, found, expected) in headers {
        if found != expected {
            run.found(code, || (name.to_owned(), format!("{name} is {found}, not {expected}")));
        }
    }
    for (object, sql) in &expected.objects {
        match found.objects.get(object) {
            Some(same) if same == sql => {}
            Some(_) => run.found("OBJECT_CHANGED", || {
                (object.clone(), format!("{object} is not what the migrations make"))
            }),
            None => run.found("OBJECT_MISSING", || (object.clone(), format!("{object} is missing"))),
        }
    }
    for object in found.objects.keys().filter(|object| !expected.objects.contains_key(*object)) {
        run.found("OBJECT_UNKNOWN", || (object.clone(), format!("{object} is not Colibri's")));
    }
}
