//! The SQLite that is compiled in: its version, and whether it is compiled as the one that was tested.

use colibri_runtime::handler::Fault;

use crate::db::sqlite::handle::storage;

/// How the tested SQLite was compiled, as `PRAGMA compile_options` tells it: the copy that comes with rusqlite, without flags of ours.
const TESTED: [&str; 49] = [
    "DEFAULT_AUTOVACUUM",
    "DEFAULT_CACHE_SIZE=-2000",
    "DEFAULT_FILE_FORMAT=4",
    "DEFAULT_FOREIGN_KEYS",
    "DEFAULT_JOURNAL_SIZE_LIMIT=-1",
    "DEFAULT_MMAP_SIZE=0",
    "DEFAULT_PAGE_SIZE=4096",
    "DEFAULT_PCACHE_INITSZ=20",
    "DEFAULT_RECURSIVE_TRIGGERS",
    "DEFAULT_SECTOR_SIZE=4096",
    "DEFAULT_SYNCHRONOUS=2",
    "DEFAULT_WAL_AUTOCHECKPOINT=1000",
    "DEFAULT_WAL_SYNCHRONOUS=2",
    "DEFAULT_WORKER_THREADS=0",
    "DIRECT_OVERFLOW_READ",
    "ENABLE_API_ARMOR",
    "ENABLE_COLUMN_METADATA",
    "ENABLE_DBSTAT_VTAB",
    "ENABLE_FTS3",
    "ENABLE_FTS3_PARENTHESIS",
    "ENABLE_FTS5",
    "ENABLE_LOAD_EXTENSION",
    "ENABLE_RTREE",
    "ENABLE_STAT4",
    "HAVE_ISNAN",
    "MALLOC_SOFT_LIMIT=1024",
    "MAX_ATTACHED=10",
    "MAX_COLUMN=2000",
    "MAX_COMPOUND_SELECT=500",
    "MAX_DEFAULT_PAGE_SIZE=8192",
    "MAX_EXPR_DEPTH=1000",
    "MAX_FUNCTION_ARG=1000",
    "MAX_LENGTH=1000000000",
    "MAX_LIKE_PATTERN_LENGTH=50000",
    "MAX_MMAP_SIZE=0x7fff0000",
    "MAX_PAGE_COUNT=0xfffffffe",
    "MAX_PAGE_SIZE=65536",
    "MAX_SCHEMA=10000000",
    "MAX_SQL_LENGTH=1000000000",
    "MAX_TRIGGER_DEPTH=1000",
    "MAX_VARIABLE_NUMBER=32766",
    "MAX_VDBE_OP=250000000",
    "MAX_WORKER_THREADS=8",
    "MUTEX_PTHREADS",
    "SOUNDEX",
    "SYSTEM_MALLOC",
    "TEMP_STORE=1",
    "THREADSAFE=1",
    "USE_URI",
];

/// Options that name the compiler or follow from it.
const OF_THE_COMPILER: [&str; 2] = ["COMPILER=", "ATOMIC_INTRINSICS="];

/// Returns SQLite's version, and how its options differ from those that were tested: `+OPTION` is new, `-OPTION` is missing.
///
/// # Errors
/// [`Fault::Storage`].
pub fn engine() -> Result<(&'static str, Vec<String>), Fault> {
    let conn = rusqlite::Connection::open_in_memory().map_err(storage)?;
    let mut statement = conn.prepare("PRAGMA compile_options").map_err(storage)?;
    let options = statement
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<String>>>);
    let mut options = options.map_err(storage)?;
    options.retain(|option| !OF_THE_COMPILER.iter().any(|name| option.starts_with(name)));
    let more =
        options.iter().filter(|option| !TESTED.contains(&option.as_str())).map(|option| format!("+{option}"));
    let missing = TESTED.iter().filter(|tested| !options.iter().any(|option| option == *tested));
    Ok((rusqlite::version(), more.chain(missing.map(|option| format!("-{option}"))).collect()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tests_run_with_the_options_that_are_said_to_be_tested() {
        assert_eq!(super::engine().map(|(_, differs)| differs), Ok(Vec::new()));
    }
}
