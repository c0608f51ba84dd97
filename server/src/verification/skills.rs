//! The skill registry: whether its rows still match the last load of each root. The files are authoritative, and a
//! start rewrites this index of them, so the check cannot cover anything older.

use super::run::Run;
use crate::domains::skills::{count_of, load_times, recorded_index, registry_digest, roots};
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "skills";

/// Compares the rows of each root with the record of its load.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    run.begin(NAME, 0);
    let mut skills = 0;
    for root in roots(run.db)? {
        skills += one_root(run, &root)?;
    }
    run.count("skills", skills.unsigned_abs());
    Ok(())
}

/// Compares one root and returns its number of rows.
fn one_root(run: &mut Run<'_>, root: &str) -> Result<i64, Stop> {
    let place = || format!("skill_roots {root}");
    let count = count_of(run.db, root)?;
    let Some(recorded) = recorded_index(run.db, root)? else {
        run.found("INDEX_MISSING", || {
            (place(), "there are skills of this root, but no record of a load".to_owned())
        });
        return Ok(count);
    };
    let digest = registry_digest(run.db, root)?;
    if digest.as_str() != recorded.digest {
        run.found("SKILLS_CHANGED", || {
            let message =
                format!("the rows give the digest {}, but {} is recorded", digest.as_str(), recorded.digest);
            (format!("skills of {root}"), message)
        });
    }
    if count != recorded.skill_count {
        run.found("SKILLS_COUNT", || {
            (place(), format!("there are {count} skills, but {} are recorded", recorded.skill_count))
        });
    }
    // One load writes all rows and its record with the same time.
    for (name, loaded_at) in load_times(run.db, root)? {
        if loaded_at != recorded.loaded_at {
            run.found("LOAD_TIME", || {
                let message = format!("skill {name} was not loaded when skill_roots says so");
                (format!("skills {name}"), message)
            });
        }
    }
    Ok(count)
}
