//! `colibri proof`: one record of a sealed session with its proof, as a file that stands alone (proof#bundle).

use std::io::Write;

use colibri_runtime::handler::Failure as DomainFailure;
use colibri_visible::printable;
use serde::Serialize;

use super::Failure;
use super::arguments::audit::Proof;
use super::database::open_for_reading;
use super::ids::{Kind, fitting};
use super::output::{print_json, write_to};
use super::session::{id_of, unreadable};
use crate::domains::proof::{ExportError, bundle_of};
use crate::settings::environment::Environment;
use colibri_proof::bundle::verify_bundle;
use colibri_proof::keys::TrustedKeys;

/// What the command prints of a file that it wrote.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    head_hash: &'a str,
}

/// Writes a record's proof file.
pub fn run(arguments: &Proof, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    let session = id_of(&db, &arguments.session)?;
    // A record that is gone is found by its whole id, so that the damage can be named.
    let record = fitting(&db, Kind::Record, &arguments.record)?.unwrap_or_else(|| arguments.record.clone());
    let bundle = bundle_of(&db, &session, &record).map_err(refused)?;
    if !verify_bundle(&bundle, &TrustedKeys::default(), false).valid {
        return Err(Failure::Failed(format!(
            "record {record} has changed since it was sealed, so it cannot be proven; `colibri verify` says what changed"
        )));
    }
    let text = bundle.to_file().map_err(|error| {
        Failure::Failed(format!("the proof cannot be written: {error}; run `colibri verify`"))
    })?;
    write_to(arguments.out.as_deref(), out, |to| Ok(to.write_all(text.as_bytes())?))?;
    if let Some(file) = &arguments.out {
        let (file, head_hash) = (&file.to_string_lossy(), &bundle.tree_head.head_hash);
        if arguments.json {
            print_json(out, &Written { file, head_hash })?;
        } else {
            let file = printable(file);
            writeln!(out, "{file}: check it with `colibri check-proof {file} --root {head_hash}`")?;
        }
    }
    Ok(out.flush()?)
}

fn refused(failure: DomainFailure<ExportError>) -> Failure {
    match failure {
        DomainFailure::Domain(error @ ExportError::Damaged { .. }) => Failure::Failed(error.to_string()),
        DomainFailure::Domain(error) => Failure::Usage(error.to_string()),
        DomainFailure::Fault(fault) => unreadable(fault),
    }
}
