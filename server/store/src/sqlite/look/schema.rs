//! A database's schema, and the one that the server's migrations give an empty database.
//!
//! A schema is code that SQLite runs: a view in place of a table, a computed column, an index on an expression. So a file
//! under examination is compared with the expected schema first, and only the tables that agree with it are read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use colibri_runtime::handler::Fault;
use rusqlite::Connection;

use crate::db::sqlite::handle::storage;
use crate::db::{Db, Row, RowError, Value};
use crate::sqlite::open::connection::{self, Location};
use crate::sqlite::open::header::APPLICATION_ID;
use crate::sqlite::open::migrate::{self, Migration};

/// Tables that SQLite keeps for its planner after an ANALYZE, in the only shape that it gives them. They decide nothing.
const STATISTICS: [(&str, &str); 2] = [
    ("table sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];
/// No schema that the migrations make has half as many objects.
const MOST_OBJECTS: i64 = 1_000;

/// Everything that a file says of its own shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Whose file it is.
    pub application_id: i64,
    /// The last migration that ran.
    pub user_version: i64,
    /// `table tasks`, `trigger actions_keep` and so on, with the text that made it; automatic indexes have
    /// none. A name that comes a second time has a mark.
    pub objects: BTreeMap<String, Option<String>>,
    /// The indexes that SQLite takes for a table's. The schema's rows may say something else.
    indexes: BTreeMap<String, Vec<String>>,
}

/// A schema compared with the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// What the file says.
    pub found: Schema,
    /// The tables that are as expected, with their indexes: what may be read.
    pub readable: BTreeSet<String>,
    /// Every object is as expected, and the file has no others.
    pub whole: bool,
}

/// A difference between a schema and the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// It has another text.
    Changed,
    /// It is missing.
    Missing,
    /// It is not Colibri's.
    Unknown,
}

impl Difference {
    /// Returns the difference as a sentence.
    pub fn sentence(self, object: &str) -> String {
        match self {
            Self::Changed => format!("{object} is not what the migrations make"),
            Self::Missing => format!("{object} is missing"),
            Self::Unknown => format!("{object} is not Colibri's"),
        }
    }
}

impl Shape {
    /// Returns the objects that differ.
    pub fn differences<'a>(&'a self, expected: &'a Schema) -> impl Iterator<Item = (&'a str, Difference)> {
        let found = &self.found.objects;
        let ours = expected.objects.iter().filter_map(|(object, sql)| match found.get(object) {
            Some(same) if same == sql => None,
            Some(_) => Some((object.as_str(), Difference::Changed)),
            None => Some((object.as_str(), Difference::Missing)),
        });
        let others = found.keys().filter(|object| !expected.objects.contains_key(*object)).map(|object| {
            let statistics = STATISTICS.iter().any(|(name, _)| name == object);
            (object.as_str(), if statistics { Difference::Changed } else { Difference::Unknown })
        });
        ours.chain(others)
    }
}

/// Reads the schema of a database.
///
/// # Errors
/// SQLite's error.
pub fn read(db: &Db) -> Result<Schema, Fault> {
    let number = |sql: &str| db.query_one(sql, &[], |row| row.get(0));
    // The table's true name: `sqlite_schema` is another name for it, unless the file has a view that is called so.
    let count = number("SELECT count(*) FROM sqlite_master")?;
    if count > MOST_OBJECTS {
        return Err(Fault::Storage(format!("its schema has {count} objects, far more than Colibri's")));
    }
    let (mut objects, mut indexes) = (BTreeMap::new(), BTreeMap::new());
    db.query_each("SELECT type, name, tbl_name, sql FROM sqlite_master", &[], |row| {
        let (kind, name, table) = (lossy(row, 0)?, lossy(row, 1)?, lossy(row, 2)?);
        let (kind, name, table) =
            (kind.unwrap_or_default(), name.unwrap_or_default(), table.unwrap_or_default());
        let mut shown = object(&kind, &name, &table);
        let sql = lossy(row, 3)?;
        let statistics =
            STATISTICS.iter().any(|known| (shown.as_str(), sql.as_deref()) == (known.0, Some(known.1)));
        if kind == "table" {
            indexes.insert(name, Vec::new());
        }
        if !statistics {
            while objects.contains_key(&shown) {
                shown.push_str(" (again)");
            }
            objects.insert(shown, sql);
        }
        Ok(true)
    })?;
    for (table, indexes) in &mut indexes {
        let list = format!("PRAGMA index_list(\"{}\")", table.replace('"', "\"\""));
        *indexes = db.query_all(&list, &[], |row| row.get(1))?;
    }
    Ok(Schema {
        application_id: number("PRAGMA application_id")?,
        user_version: number("PRAGMA user_version")?,
        objects,
        indexes,
    })
}

/// Returns what an object is called. A name is quoted unless it is one word, since it may be a sentence.
fn object(kind: &str, name: &str, table: &str) -> String {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let shown = if is_word { name.to_owned() } else { format!("{name:?}") };
    if name == table { format!("{kind} {shown}") } else { format!("{kind} {shown} of {table}") }
}

/// Returns a value of any type as text.
fn lossy(row: &Row<'_>, index: usize) -> Result<Option<String>, RowError> {
    Ok(match row.get(index)? {
        Value::Null => None,
        Value::Integer(number) => Some(number.to_string()),
        Value::Real(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.to_owned()),
        Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

/// Compares a database with the expected schema, before anything else of it is read.
///
/// # Errors
/// SQLite's error.
pub fn compare(db: &Db, expected: &Schema) -> Result<Shape, Fault> {
    let found = read(db)?;
    let same = |object: &str| found.objects.get(object) == expected.objects.get(object);
    let readable = |(table, known): (&String, &Vec<String>)| {
        let of_table = |index: &String| known.contains(index) && same(&object("index", index, table));
        let indexes = found.indexes.get(table)?;
        (same(&object("table", table, table)) && indexes.iter().all(of_table)).then(|| table.clone())
    };
    let readable = expected.indexes.iter().filter_map(readable).collect();
    let whole = found.objects == expected.objects;
    Ok(Shape { found, readable, whole })
}

/// Returns where the schema of a file that this process has open differs from the one that the migrations give.
///
/// # Errors
/// SQLite's error.
pub fn differences(path: &Path, migrations: &[Migration]) -> Result<Vec<(String, Difference)>, Fault> {
    // Side files lie beside the file itself, not beside a link to it.
    let file = path.canonicalize().map_err(|error| Fault::Storage(error.to_string()))?;
    let db = connection::read_only(&Location::File(file)).map_err(storage)?;
    let expected = expected(migrations)?;
    let shape = compare(&db, &expected)?;
    Ok(shape.differences(&expected).map(|(object, how)| (object.to_owned(), how)).collect())
}

/// Returns the schema that the migrations give. Built by running them in memory, so that it cannot differ from them.
///
/// # Errors
/// SQLite's error.
pub fn expected(migrations: &[Migration]) -> Result<Schema, Fault> {
    read(&made(migrations)?)
}

/// Returns an empty database with that schema.
///
/// # Errors
/// SQLite's error.
pub(crate) fn made(migrations: &[Migration]) -> Result<Db, Fault> {
    let conn = Connection::open_in_memory().map_err(storage)?;
    connection::settle(&conn).map_err(storage)?;
    migrate::migrate(&conn, migrations, Path::new(crate::sqlite::open::MEMORY))
        .map_err(|error| Fault::Other(error.to_string()))?;
    conn.pragma_update(None, "application_id", APPLICATION_ID).map_err(storage)?;
    Ok(Db::new(conn))
}

/// Returns the schema that the migrations up to a version give: that of a file that waits for the others.
///
/// # Errors
/// SQLite's error.
pub(crate) fn expected_at(migrations: &[Migration], version: i64) -> Result<Schema, Fault> {
    let older =
        |one: &&Migration| migrate::number_of(one.file).is_some_and(|number| i64::from(number) <= version);
    expected(&migrations.iter().filter(older).copied().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::migrations::MIGRATIONS;

    #[test]
    fn the_expected_schema_holds_every_kind_of_object() {
        let schema = expected(MIGRATIONS).unwrap();
        assert_eq!(schema.user_version, migrate::latest(MIGRATIONS));
        for object in ["table tasks", "view action_events", "trigger actions_keep of actions"] {
            assert!(schema.objects.contains_key(object), "{object}: {:?}", schema.objects.keys());
        }
    }

    #[test]
    fn a_name_that_is_a_sentence_is_quoted() {
        let expected = expected(MIGRATIONS).unwrap();
        let db = made(MIGRATIONS).unwrap();
        assert!(compare(&db, &expected).unwrap().readable.contains("callers"));
        db.sqlite().unwrap().execute_batch("DROP TABLE callers").unwrap();
        let shape = compare(&db, &expected).unwrap();
        let told: Vec<_> = shape.differences(&expected).map(|(object, how)| how.sentence(object)).collect();
        let index = "index \"this database was upgraded by a newer Colibri: restart this server\" of callers";
        assert!(told.contains(&format!("{index} is missing")), "{told:?}");
    }

    #[test]
    fn statistics_of_the_planner_are_no_part_of_it() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1); ANALYZE").unwrap();
        let schema = read(&Db::new(conn)).unwrap();
        assert_eq!(schema.objects.keys().collect::<Vec<_>>(), ["table t"]);
    }
}
