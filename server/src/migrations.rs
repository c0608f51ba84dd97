//! The migrations, compiled in.

use crate::store::sqlite::open::migrate::Migration;

macro_rules! migrations {
    ($($file:literal),* $(,)?) => {
        &[$(Migration { file: $file, sql: include_str!(concat!("../../migrations/", $file)) }),*]
    };
}

/// All migrations, in order. A test compares the list with the folder.
pub const MIGRATIONS: &[Migration] = migrations![
    "001_init.sql",
    "002_tasks.sql",
    "003_task_dependencies.sql",
    "004_actions.sql",
    "005_thought_records.sql",
    "006_seals.sql",
    "007_skills.sql",
    "008_reputation.sql",
    "009_experience_tokens.sql",
    "010_reputation_ledger.sql",
    "011_consensus.sql",
    "012_model_candidates.sql",
    "013_skill_roots.sql",
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;
    use crate::store::sqlite::open::migrate::{number_of, ordered};

    #[test]
    fn the_compiled_list_is_the_folder_without_gaps() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| number_of(name).is_some())
            .collect();
        files.sort();
        assert_eq!(files, MIGRATIONS.iter().map(|one| one.file).collect::<Vec<_>>());
        let numbers: Vec<_> = ordered(MIGRATIONS).unwrap().into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, (1..=MIGRATIONS.len() as u32).collect::<Vec<_>>());
    }
}
