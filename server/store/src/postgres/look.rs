//! A shared database at one moment, for commands that read it while servers write (postgres#start). A standby serves as well.

use std::collections::BTreeMap;

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::db::postgres::{DatabaseUrl, Limit, PgError, Session, SessionOptions};
use crate::params;
use crate::postgres::ask;
use crate::postgres::flight::{integer, only, text};
use crate::postgres::schema::{self, SharedSchema, Stage, Unfit};
use crate::sqlite::look::schema::Difference;

/// The most complaints of one check that are fetched; more would not help a reader.
const MOST_COMPLAINTS: usize = 20;

/// Why a shared database cannot be read. The texts say what to do, and name no part of the URL.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The server or the connection.
    #[error("{0}")]
    Server(#[from] PgError),
    /// The server is of another version.
    #[error("{0}")]
    Version(String),
    /// The schema is missing, hidden, or of another version.
    #[error("{0}")]
    Schema(#[from] Unfit),
}

/// Opens a database for reading, inside one transaction that sees no later commit and ends with the handle. Nothing is written.
///
/// # Errors
/// [`LookError`].
pub fn open_snapshot(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
) -> Result<Db, LookError> {
    let (mut session, stage) = open(url, options)?;
    stage.fits(schema.version())?;
    begin(&mut session)?;
    Ok(Db::from(session))
}

/// Ends the transaction of a handle that is kept: nothing on the server waits for it until [`begin_again`].
///
/// # Errors
/// The server's.
pub fn end(db: &Db) -> Result<(), Fault> {
    asked(db, |session| session.simple("COMMIT"))
}

/// Opens a transaction like that of [`open_snapshot`] on a kept handle.
///
/// # Errors
/// The server's.
pub fn begin_again(db: &Db) -> Result<(), Fault> {
    asked(db, begin)
}

/// A database under examination, whose schema may not be what its version says.
#[derive(Debug)]
pub struct Examined {
    /// The database at one moment.
    pub db: Db,
    /// A connection of its own for the check of the indexes.
    pub beside: Option<Db>,
}

/// Opens a database for an examination, like [`open_snapshot`]. Another version is a finding if the catalog is that of this one.
///
/// # Errors
/// [`LookError`].
pub fn examine(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
) -> Result<Examined, LookError> {
    let (mut session, stage) = open(url, options)?;
    let known = match stage {
        Stage::Absent => return Err(Unfit::Foreign.into()),
        Stage::Hidden => return Err(Unfit::Hidden.into()),
        Stage::Empty | Stage::At(_) => stage == Stage::At(schema.version()),
    };
    if !known && schema::differences(&mut session, schema)?.len() > schema.catalog.lines().count() / 2 {
        return open_snapshot(url, options, schema).map(|db| Examined { db, beside: None });
    }
    begin(&mut session)?;
    let beside = Session::establish(url, options).ok().map(Db::from);
    Ok(Examined { db: Db::from(session), beside })
}

fn open(url: &DatabaseUrl, options: &SessionOptions) -> Result<(Session, Stage), LookError> {
    let mut session = Session::establish(url, options)?;
    ask::version(&mut session).map_err(LookError::Version)?;
    let stage = schema::stage(&mut session)?;
    Ok((session, stage))
}

/// Opens the transaction; its first statement takes the snapshot.
fn begin(session: &mut Session) -> Result<(), PgError> {
    session.simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1")
}

/// How the catalog of a database under examination compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The schema's version; `None` before the first migration.
    pub version: Option<i64>,
    /// How many objects the schema has.
    pub objects: usize,
    /// The objects that are not what the migrations make.
    pub differences: Vec<(String, Difference)>,
}

/// Compares the catalog with the one that the migrations make.
///
/// # Errors
/// The server's.
pub fn compare(db: &Db, schema: &SharedSchema) -> Result<Comparison, Fault> {
    asked(db, |session| {
        let version = match schema::stage(session)? {
            Stage::At(version) => Some(version),
            _ => None,
        };
        let sql = "SELECT count(*) FROM pg_catalog.pg_class WHERE relnamespace = 'colibri'::regnamespace \
                   AND relkind IN ('r', 'v')";
        let rows = session.query(sql, &[], Limit::ONE)?;
        let objects = integer(&only(&rows)?, 0).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        Ok(Comparison { version, objects, differences: schema::differences(session, schema)? })
    })
}

/// Returns rows that refer to missing rows, as a look at SQLite does. Only a superuser can make them.
///
/// # Errors
/// The server's.
pub fn dangling_references(db: &Db) -> Result<Vec<String>, Fault> {
    asked(db, |session| {
        let mut complaints = Vec::new();
        for reference in references(session)? {
            let rows = session.query(&reference.dangling(), &[], Limit::ALL)?;
            let Reference { child, parent, .. } = &reference;
            for row in rows.iter() {
                let key = text(&row, 0).unwrap_or_default();
                complaints.push(format!("{child} row {key} refers to a missing row of {parent}"));
            }
        }
        complaints.truncate(MOST_COMPLAINTS);
        Ok(complaints)
    })
}

/// A foreign key: both tables, and the pairs of their columns.
struct Reference {
    child: String,
    parent: String,
    columns: Vec<(String, String)>,
}

fn references(session: &mut Session) -> Result<Vec<Reference>, PgError> {
    let sql = "SELECT CAST(k.oid AS bigint), c.relname, p.relname, a.attname, b.attname \
               FROM pg_catalog.pg_constraint AS k \
               JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid JOIN pg_catalog.pg_class AS p ON p.oid = k.confrelid \
               CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u (child, parent, place) \
               JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = u.child \
               JOIN pg_catalog.pg_attribute AS b ON b.attrelid = p.oid AND b.attnum = u.parent \
               WHERE k.contype = 'f' AND k.connamespace = 'colibri'::regnamespace ORDER BY k.oid, u.place";
    let rows = session.query(sql, &[], Limit::ALL)?;
    let mut found: BTreeMap<i64, Reference> = BTreeMap::new();
    for row in rows.iter() {
        let name = |at| text(&row, at).unwrap_or_default().to_owned();
        let entry = found.entry(integer(&row, 0).unwrap_or_default());
        let new = || Reference { child: name(1), parent: name(2), columns: Vec::new() };
        entry.or_insert_with(new).columns.push((name(3), name(4)));
    }
    Ok(found.into_values().collect())
}

impl Reference {
    /// Returns the statement that finds rows without the row that they refer to, by their keys.
    fn dangling(&self) -> String {
        let each = |form: &dyn Fn(&str, &str) -> String, between: &str| {
            self.columns.iter().map(|(a, b)| form(&quoted(a), &quoted(b))).collect::<Vec<_>>().join(between)
        };
        let keys = each(&|a, _| format!("c.{a}"), ", ");
        let set = each(&|a, _| format!("c.{a} IS NOT NULL"), " AND ");
        let same = each(&|a, b| format!("p.{b} = c.{a}"), " AND ");
        format!(
            "SELECT concat_ws(' ', {keys}) FROM colibri.{c} AS c WHERE {set} AND NOT EXISTS \
             (SELECT 1 FROM colibri.{p} AS p WHERE {same}) LIMIT {MOST_COMPLAINTS}",
            c = quoted(&self.child),
            p = quoted(&self.parent)
        )
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Lets `amcheck` compare every index with its table; returns its complaints. `None` if the extension is missing, or the login role may
/// not call it.
///
/// # Errors
/// The server's.
pub fn check_indexes(db: &Db) -> Result<Option<Vec<String>>, Fault> {
    asked(db, |session| {
        let sql = "SELECT n.nspname FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n ON n.oid = e.extnamespace \
                   JOIN pg_catalog.pg_proc AS p ON p.pronamespace = n.oid AND p.proname = 'bt_index_check' AND p.pronargs = 2 \
                   WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE')";
        let rows = session.query(sql, &[], Limit::ONE)?;
        let Some(place) = rows.row(0).and_then(|row| text(&row, 0).map(str::to_owned)) else {
            return Ok(None);
        };
        let sql = "SELECT i.indexrelid, x.relname FROM pg_catalog.pg_index AS i \
                   JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am AS m ON m.oid = x.relam \
                   WHERE x.relnamespace = 'colibri'::regnamespace AND m.amname = 'btree' AND i.indisvalid ORDER BY x.relname";
        let indexes = session.query(sql, &[], Limit::ALL)?;
        let mut complaints = Vec::new();
        let sql = format!(
            "SELECT \"{}\".bt_index_check(CAST(CAST(?1 AS bigint) AS oid)::regclass, true)",
            place.replace('"', "\"\"")
        );
        for row in indexes.iter() {
            let index = integer(&row, 0).unwrap_or_default();
            match session.query(&sql, params![index], Limit::ALL) {
                Err(PgError::Server(error)) if complaints.len() < MOST_COMPLAINTS => {
                    complaints.push(format!("{}: {}", text(&row, 1).unwrap_or_default(), error.message));
                }
                Err(PgError::Server(_)) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(Some(complaints))
    })
}

/// Asks the server something that only PostgreSQL knows.
fn asked<T>(db: &Db, ask: impl FnOnce(&mut Session) -> Result<T, PgError>) -> Result<T, Fault> {
    let handle = db.postgres().map_err(|fault| Fault::Other(fault.0))?;
    handle.ask(ask)
}
