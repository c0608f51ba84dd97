//! Checks that the database has the schema of the migrations, and that its engine finds it valid. The other checks
//! rely on its constraints, indexes and references.

use colibri_runtime::handler::Fault;

use super::Indexes;
use super::run::Run;
use colibri_store::SharedSchema;
use colibri_store::db::Db;
use colibri_store::shared_look as look;
use colibri_store::sqlite::look::inspect::{self, Sanity};
use colibri_store::sqlite::look::schema::{Difference, Schema, Shape};
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "schema";

/// Reports differences of a file from the `expected` schema and runs SQLite's own check. Returns whether that check
/// included the indexes.
///
/// # Errors
/// The engine's error.
pub fn check(
    run: &mut Run<'_>,
    shape: &Result<Shape, Fault>,
    expected: &Schema,
    sanity: impl FnOnce(&Db, &Shape) -> Result<Sanity, Fault>,
) -> Result<Indexes, Stop> {
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
    Ok(if sanity.indexes { Indexes::Checked } else { Indexes::LeftOut })
}

/// The same for a shared database. `indexes` is what `amcheck` has found, if it could be asked.
///
/// # Errors
/// The server's error.
pub fn check_shared(
    run: &mut Run<'_>,
    expected: &SharedSchema,
    indexes: Option<Result<Option<Vec<String>>, Fault>>,
) -> Result<Indexes, Stop> {
    run.begin(NAME, 0);
    let found = look::compare(run.db, expected)?;
    run.count("objects", found.objects as u64);
    let (version, latest) = (found.version.unwrap_or(0), expected.version());
    if version != latest {
        run.found("USER_VERSION", || {
            ("schema_version".to_owned(), format!("schema_version is {version}, not {latest}"))
        });
    }
    for (object, difference) in &found.differences {
        differs(run, object, *difference);
    }
    for complaint in look::dangling_references(run.db)? {
        run.found("REFERENCE_BROKEN", || {
            (complaint.split(" refers").next().unwrap_or_default().to_owned(), complaint.clone())
        });
    }
    let Some(complaints) = indexes.transpose()?.flatten() else { return Ok(Indexes::NoExtension) };
    for complaint in complaints {
        run.found("FILE_DAMAGED", || ("index".to_owned(), format!("amcheck: {complaint}")));
    }
    Ok(Indexes::Checked)
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
        differs(run, object, difference);
    }
}

fn differs(run: &mut Run<'_>, object: &str, difference: Difference) {
    let code = match difference {
        Difference::Changed => "OBJECT_CHANGED",
        Difference::Missing => "OBJECT_MISSING",
        Difference::Unknown => "OBJECT_UNKNOWN",
    };
    run.found(code, || (object.to_owned(), difference.sentence(object)));
}
