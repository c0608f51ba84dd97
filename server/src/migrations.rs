//! The migrations, compiled in.

use colibri_store::sqlite::open::migrate::Migration;

macro_rules! migrations {
    ($($file:literal),* $(,)?) => {
        &[$(Migration { file: $file, sql: include_str!(concat!("../migrations/", $file)) }),*]
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
    "014_callers.sql",
    "015_task_history.sql",
    "016_wrap.sql",
    "017_call_notes.sql",
];
