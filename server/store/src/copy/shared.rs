//! Fills an empty database of PostgreSQL, inside one transaction, as the owner of its schema. Servers cannot write meanwhile.
//! (PostgreSQL manual, COPY, "Binary Format".)

use std::collections::BTreeMap;

use colibri_canonical::HexDigest;

use crate::db::postgres::{DatabaseUrl, Limit, PgError, Session, SessionOptions, reason};
use crate::db::{Db, Row, Value};
use crate::params;
use crate::postgres::flight::{self, Lock, MARK, integer, text};
use crate::postgres::schema::{self, SharedSchema, Stage};
use crate::postgres::setup;
use crate::sqlite::look::tables::{Kind, Table};

use super::{CopyError, ENDED, HEAD, LOG, RowsCopied, Source, Step, as_stored, same_end};

/// What is sent at once.
const BYTES_AT_ONCE: usize = 64 << 10;
/// How a binary COPY begins: signature, flags, and no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// How it ends: a row with -1 columns.
const TRAILER: &[u8] = &[0xff, 0xff];
/// The tables that a copy leaves out: PostgreSQL's alone.
const OWN: [&str; 2] = ["schema_version", "processes"];
/// The table that migrations fill.
const SEEDED: &str = "mcp_model_candidates";

/// A filled database whose rows equal those of the source. It is not there yet: dropping it undoes everything.
#[derive(Debug)]
pub struct Filled {
    db: Db,
    rows: RowsCopied,
}

impl Filled {
    /// Keeps the copy; returns how many rows it has.
    ///
    /// # Errors
    /// The server's. It may be kept or not if the connection was lost; the next copy says so.
    pub fn keep(self) -> Result<RowsCopied, CopyError> {
        let handle = self.db.postgres().map_err(|fault| CopyError::Differs(fault.0))?;
        let mut session = handle.session();
        session.simple("SET LOCAL synchronous_commit = on; COMMIT").map_err(server)?;
        session.query(MARK, &[], Limit::ALL).map_err(server)?;
        Ok(self.rows)
    }
}

/// Fills a database.
///
/// # Errors
/// [`CopyError`]; the database is as it was.
pub fn fill(
    url: &DatabaseUrl,
    options: &SessionOptions,
    schema: &SharedSchema,
    tables: &[Table],
    source: &mut Source<'_>,
) -> Result<Filled, CopyError> {
    let mut session = setup::connect(url, options)?;
    setup::become_owner(&mut session)?;
    flight::lock(&mut session, Lock::Enter).map_err(server)?;
    flight::lock(&mut session, Lock::Exit).map_err(server)?;
    must_be_empty(&mut session, schema)?;
    let guarded = guarded(&mut session).map_err(server)?;
    // Triggers compare rows of calls with each other. A copy has them all, and they are verified at its end.
    for table in &guarded {
        session.simple(&format!("ALTER TABLE {table} DISABLE TRIGGER USER")).map_err(server)?;
    }
    session.simple(&format!("DELETE FROM {SEEDED}")).map_err(server)?;
    let steps = steps(&mut session, tables)?;
    source.count(&steps)?;
    let sent = steps.iter().map(|step| copy(&mut session, step, source)).collect::<Result<Vec<_>, _>>()?;
    for table in &guarded {
        session.simple(&format!("ALTER TABLE {table} ENABLE TRIGGER USER")).map_err(server)?;
    }
    finish(&mut session, &steps).map_err(server)?;
    let (db, rows) = (Db::from(session), source.rows);
    for (step, sent) in steps.iter().zip(sent) {
        same_rows(&db, step, &sent)?;
    }
    same_end(source.db, &db)?;
    Ok(Filled { db, rows })
}

fn server(error: PgError) -> CopyError {
    CopyError::Setup(error.into())
}

/// Refuses a database of another schema, with records, or in use.
fn must_be_empty(session: &mut Session, schema: &SharedSchema) -> Result<(), CopyError> {
    let stage = schema::stage(session).map_err(server)?;
    if stage != Stage::At(schema.version()) {
        let found = if let Stage::At(found) = stage { found } else { 0 };
        return Err(CopyError::Schema(format!("its version is {found}, not {}", schema.version())));
    }
    let differences = schema::differences(session, schema).map_err(server)?;
    if let Some((object, difference)) = differences.first() {
        return Err(CopyError::Schema(difference.sentence(object)));
    }
    let tables = schema.catalog.lines().filter_map(|line| line.strip_prefix("table ")?.split(' ').next());
    for table in tables.filter(|table| !OWN.contains(table) && *table != SEEDED) {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        let rows = session.query(&sql, &[], Limit::ONE).map_err(server)?;
        if rows.row(0).and_then(|row| integer(&row, 0)) != Some(0) {
            return Err(CopyError::NotEmpty(table.to_owned()));
        }
    }
    // An idle server has a connection, whose name says whose it is, and perhaps no lease.
    let sql = "SELECT greatest((SELECT count(*) FROM processes WHERE lease_until > now()), \
               (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
                AND application_name LIKE '% % on %'))";
    let rows = session.query(sql, &[], Limit::ONE);
    match rows.map_err(server)?.row(0).and_then(|row| integer(&row, 0)) {
        Some(0) => Ok(()),
        servers => Err(CopyError::InUse(servers.unwrap_or(1))),
    }
}

/// Returns the tables with triggers of Colibri's.
fn guarded(session: &mut Session) -> Result<Vec<String>, PgError> {
    let sql = "SELECT DISTINCT c.relname FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid \
               WHERE NOT t.tgisinternal AND c.relnamespace = 'colibri'::regnamespace";
    let rows = session.query(sql, &[], Limit::ALL)?;
    Ok(rows.iter().filter_map(|row| text(&row, 0).map(str::to_owned)).collect())
}

/// Returns the columns of a table with their types.
fn columns(session: &mut Session, table: &str) -> Result<BTreeMap<String, i64>, PgError> {
    let sql = "SELECT attname, atttypid FROM pg_catalog.pg_attribute \
               WHERE attrelid = CAST(CAST(?1 AS text) AS regclass) AND attnum > 0 AND NOT attisdropped";
    let rows = session.query(sql, params![table], Limit::ALL)?;
    let column = |row| Some((text(&row, 0)?.to_owned(), integer(&row, 1)?));
    Ok(rows.iter().filter_map(column).collect())
}

/// Returns what is copied for which table: the log in its two halves, and everything but what is computed.
fn steps(session: &mut Session, tables: &[Table]) -> Result<Vec<Step>, CopyError> {
    let mut steps = Vec::new();
    for table in tables.iter().filter(|table| table.name != HEAD) {
        if table.name != LOG {
            steps.push(Step::of(table));
            continue;
        }
        for (half, only) in [("enters", ""), ("exits", ENDED)] {
            let known = columns(session, half).map_err(server)?;
            let mut step = Step { table: half.to_owned(), only, ..Step::of(table) };
            step.columns.retain(|(name, _)| known.contains_key(name));
            steps.push(step);
        }
    }
    Ok(steps)
}

/// What was sent for a table.
struct Sent {
    forms: Vec<(Kind, Form)>,
    digest: HexDigest,
}

/// Copies the rows of one table.
fn copy(session: &mut Session, step: &Step, source: &mut Source<'_>) -> Result<Sent, CopyError> {
    let known = columns(session, &step.table).map_err(server)?;
    let forms: Vec<(Kind, Form)> = step
        .columns
        .iter()
        .map(|(name, kind)| {
            let form = known.get(name).and_then(|oid| Form::of(*oid));
            form.map(|form| (*kind, form))
                .ok_or_else(|| CopyError::Schema(format!("column {name} of {}", step.table)))
        })
        .collect::<Result<_, _>>()?;
    let refused = |error: PgError| CopyError::Write { table: step.table.clone(), reason: reason(&error) };
    let sql = format!("COPY {} ({}) FROM STDIN (FORMAT BINARY)", step.table, step.names());
    let mut copy = session.copy_in(&sql).map_err(refused)?;
    copy.write(HEADER).map_err(refused)?;
    let mut rows = Encoded::default();
    source.each(step, |row| {
        rows.add(row, &forms)
            .map_err(|text| CopyError::Write { table: step.table.clone(), reason: text.to_owned() })?;
        rows.pass_on(BYTES_AT_ONCE, |part| copy.write(part)).map_err(refused)
    })?;
    rows.pass_on(0, |part| copy.write(part)).map_err(refused)?;
    copy.write(TRAILER).map_err(refused)?;
    copy.finish().map_err(refused)?;
    Ok(Sent { forms, digest: rows.digest })
}

/// Reads a table again, and compares it with what was sent.
fn same_rows(db: &Db, step: &Step, sent: &Sent) -> Result<(), CopyError> {
    let mut rows = Encoded::default();
    let stored = format!("SELECT {} FROM {} ORDER BY {}", step.names(), step.table, step.key);
    let differs = || CopyError::Differs(format!("{} does not hold the rows that were sent", step.table));
    db.walk(&stored, &[], |row| {
        rows.add(row, &sent.forms).map_err(|_| differs())?;
        rows.pass_on(BYTES_AT_ONCE, |_| Ok::<_, CopyError>(()))?;
        Ok::<_, CopyError>(true)
    })?;
    rows.pass_on(0, |_| Ok::<_, CopyError>(()))?;
    if rows.digest == sent.digest { Ok(()) } else { Err(differs()) }
}

/// The binary form of a type.
#[derive(Debug, Clone, Copy)]
enum Form {
    Integer,
    Real,
    Text,
    Bytes,
}

impl Form {
    fn of(oid: i64) -> Option<Self> {
        Some(match oid {
            20 => Self::Integer,
            701 => Self::Real,
            25 => Self::Text,
            17 => Self::Bytes,
            _ => return None,
        })
    }
}

/// Rows in the form of a binary COPY, and the digest of all that have been passed on: each part is hashed with the digest before it.
struct Encoded {
    buffer: Vec<u8>,
    digest: HexDigest,
}

impl Default for Encoded {
    fn default() -> Self {
        Self { buffer: Vec::new(), digest: HexDigest::of(b"") }
    }
}

impl Encoded {
    /// Adds a row: the number of its columns, and each value behind its length.
    fn add(&mut self, row: &Row<'_>, forms: &[(Kind, Form)]) -> Result<(), &'static str> {
        let out = &mut self.buffer;
        out.extend_from_slice(&u16::try_from(forms.len()).unwrap_or(u16::MAX).to_be_bytes());
        for (at, (kind, form)) in forms.iter().enumerate() {
            let value: Value<'_> = row.get(at).map_err(|_| "a value cannot be read")?;
            let field: &[u8] = match (as_stored(value, *kind), form) {
                (Value::Null, _) => {
                    out.extend_from_slice(&(-1_i32).to_be_bytes());
                    continue;
                }
                (Value::Integer(number), Form::Integer) => &number.to_be_bytes(),
                (Value::Integer(number), Form::Real) => &(number as f64).to_be_bytes(),
                (Value::Real(number), Form::Real) => &number.to_be_bytes(),
                (Value::Text(text), Form::Text) if text.contains('\0') => {
                    return Err("a text has U+0000, which PostgreSQL's text cannot hold");
                }
                (Value::Text(text), Form::Text | Form::Bytes) => text.as_bytes(),
                (Value::Blob(bytes), Form::Bytes) => bytes,
                _ => return Err("a value does not have its column's type"),
            };
            let length = i32::try_from(field.len()).map_err(|_| "a value is too long")?;
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(field);
        }
        Ok(())
    }

    /// Hands over the rows once they have more than that many bytes.
    fn pass_on<E>(&mut self, least: usize, mut send: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if self.buffer.len() <= least {
            return Ok(());
        }
        send(&self.buffer)?;
        self.buffer.extend_from_slice(self.digest.as_str().as_bytes());
        self.digest = HexDigest::of(&self.buffer);
        self.buffer.clear();
        Ok(())
    }
}

/// Counts what the planner goes by.
fn finish(session: &mut Session, steps: &[Step]) -> Result<(), PgError> {
    steps.iter().try_for_each(|step| session.simple(&format!("ANALYZE {}", step.table)))
}
