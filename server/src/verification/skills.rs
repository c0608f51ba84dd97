//! The skill registry: whether its rows are still what the last load of a server wrote. The files are the truth;
//! this index of them is written anew at each start, so nothing older than that can be said of it.

use super::run::{Run, Stop};
use crate::domains::skills::{
    SkillFilter, count_skills, has_stray_index, list_skills, recorded_index, registry_digest,
};

/// The check's name.
pub const NAME: &str = "skills";

/// Compares the rows with what was recorded of them.
///
/// # Errors
/// The engine's.
pub fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    run.begin(NAME, 0);
    let count = count_skills(run.db)?;
    run.count("skills", count.unsigned_abs());
    if has_stray_index(run.db)? {
        run.found("INDEX_ROWS", || {
            ("skill_index".to_owned(), "skill_index holds another row than the one with id 1".to_owned())
        });
    }
    let Some(recorded) = recorded_index(run.db)? else {
        if count > 0 {
            run.found("INDEX_MISSING", || {
                ("skill_index".to_owned(), "there are skills, but no record of a load".to_owned())
            });
        }
        return Ok(());
    };
    let digest = registry_digest(run.db)?;
    if digest.as_str() != recorded.digest {
        run.found("SKILLS_CHANGED", || {
            let message =
                format!("the rows give the digest {}, recorded is {}", digest.as_str(), recorded.digest);
            ("skills".to_owned(), message)
        });
    }
    if count != recorded.skill_count {
        run.found("SKILLS_COUNT", || {
            ("skill_index".to_owned(), format!("{count} skills, recorded are {}", recorded.skill_count))
        });
    }
    // One load writes all rows and the record of it at one time.
    for skill in list_skills(run.db, &SkillFilter::default())? {
        if skill.loaded_at != recorded.loaded_at {
            run.found("LOAD_TIME", || {
                let message = format!("skill {} was not loaded when skill_index says so", skill.name);
                (format!("skills {}", skill.name), message)
            });
        }
    }
    Ok(())
}
