//! The same on PostgreSQL.

use std::cell::RefCell;
use std::error::Error as StdError;

use ::postgres::types::private::BytesMut;
use ::postgres::types::{FromSql, IsNull, ToSql, Type};
use ::postgres::{Client, SimpleQueryMessage};

use super::{Error, Table, Value};

/// A connection. Its client waits in a runtime of its own, so each use of it has a thread of its own: a test may be inside
/// a runtime already.
pub(super) struct Session(RefCell<Option<Client>>);

impl Session {
    pub(super) fn new(connect: impl FnOnce() -> Client + Send) -> Self {
        let session = Self(RefCell::new(Some(apart(connect))));
        session.batch("SET search_path = colibri, public").expect("a setting");
        session
    }

    pub(super) fn run(&self, sql: &str, params: &[Value]) -> Result<Table, Error> {
        let sql = numbered(sql);
        self.with(|client| {
            let statement = client.prepare(&sql).map_err(|error| told(&sql, &error))?;
            let columns: Vec<String> =
                statement.columns().iter().map(|column| column.name().to_owned()).collect();
            let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|value| value as _).collect();
            if columns.is_empty() {
                let changed = client.execute(&statement, &params).map_err(|error| told(&sql, &error))?;
                return Ok((columns, Vec::new(), usize::try_from(changed).unwrap_or(usize::MAX)));
            }
            let rows = client.query(&statement, &params).map_err(|error| told(&sql, &error))?;
            let values = |row: ::postgres::Row| (0..columns.len()).map(|column| row.get(column)).collect();
            let rows: Vec<Vec<Value>> = rows.into_iter().map(values).collect();
            Ok((columns, rows, 0))
        })
        .map(|(columns, rows, changed)| Table { columns: columns.into(), rows, changed })
    }

    pub(super) fn batch(&self, sql: &str) -> Result<(), Error> {
        self.with(|client| client.batch_execute(sql).map_err(|error| told(sql, &error)))
    }

    /// Drops the checks of every table, and switches triggers and foreign keys off for this connection.
    pub(super) fn disarm(&self) {
        let sql = "DO $$ DECLARE guard record; BEGIN
              FOR guard IN SELECT conrelid::regclass AS owner, conname FROM pg_constraint
                            WHERE contype = 'c' AND connamespace = 'colibri'::regnamespace LOOP
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', guard.owner, guard.conname);
              END LOOP;
            END $$;
            SET session_replication_role = replica";
        self.batch(sql).expect("a superuser may");
    }

    /// Drops the checks for the work, and makes them again as they were; rows that break them stay.
    fn without_checks<T>(&self, work: impl FnOnce() -> T) -> T {
        let keep = "CREATE TEMPORARY TABLE checks AS
            SELECT conrelid::regclass::text AS owner, conname, pg_get_constraintdef(oid) AS rule FROM pg_constraint
             WHERE contype = 'c' AND connamespace = 'colibri'::regnamespace";
        let again = "DO $$ DECLARE guard record; BEGIN
              FOR guard IN SELECT * FROM checks LOOP
                EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', guard.owner, guard.conname, guard.rule);
              END LOOP;
            END $$;
            UPDATE pg_constraint SET convalidated = true WHERE contype = 'c' AND connamespace = 'colibri'::regnamespace;
            DROP TABLE checks";
        self.batch(keep).expect("a superuser may");
        self.disarm();
        let done = work();
        self.batch(again).expect("a superuser may");
        done
    }

    /// Switches triggers and foreign keys off for this connection.
    pub(super) fn ignore_guards(&self) {
        self.batch("SET session_replication_role = replica").expect("a superuser may");
    }

    /// See [`super::Connection::tamper`]. A check is dropped where the change violates it: PostgreSQL cannot ignore one.
    pub(super) fn tamper(&self, sql: &str) -> usize {
        self.ignore_guards();
        let changed = self.changed(sql).or_else(|error| match error.0.contains("check constraint") {
            true => self.without_checks(|| self.changed(sql)),
            false => Err(error),
        });
        self.batch("SET session_replication_role = origin").expect("a superuser may");
        changed.unwrap_or_else(|error| panic!("{error}"))
    }

    fn changed(&self, sql: &str) -> Result<usize, Error> {
        let told = self.with(|client| client.simple_query(sql).map_err(|error| told(sql, &error)))?;
        let counts = told.iter().filter_map(|message| match message {
            SimpleQueryMessage::CommandComplete(count) => usize::try_from(*count).ok(),
            _ => None,
        });
        Ok(counts.last().unwrap_or(0))
    }

    fn with<T: Send>(&self, work: impl FnOnce(&mut Client) -> T + Send) -> T {
        let mut client = self.0.borrow_mut();
        let client = client.as_mut().expect("it is taken at the end only");
        apart(|| work(client))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let client = self.0.borrow_mut().take();
        apart(move || drop(client));
    }
}

fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(work).join().expect("the client does not panic"))
}

fn told(sql: &str, error: &::postgres::Error) -> Error {
    let message = error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string);
    Error(format!("{message} in {sql}"))
}

/// The statement with `$1` for `?1`, outside of its literals.
fn numbered(sql: &str) -> String {
    let parts = sql.split('\'').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { part.replace('?', "$") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("'")
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Integer(number) => match *kind {
                Type::INT2 => out.extend_from_slice(&i16::try_from(*number)?.to_be_bytes()),
                Type::INT4 => out.extend_from_slice(&i32::try_from(*number)?.to_be_bytes()),
                Type::INT8 => out.extend_from_slice(&number.to_be_bytes()),
                Type::BOOL => out.extend_from_slice(&[u8::from(*number != 0)]),
                Type::TEXT => out.extend_from_slice(number.to_string().as_bytes()),
                _ => return Err(format!("a number cannot be {kind}").into()),
            },
            Self::Real(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Blob(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    ::postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => Self::Integer(raw.first().is_some_and(|byte| *byte != 0).into()),
            Type::INT2 => Self::Integer(i16::from_be_bytes(raw.try_into()?).into()),
            Type::INT4 => Self::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT8 => Self::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::FLOAT8 => Self::Real(f64::from_be_bytes(raw.try_into()?)),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => {
                Self::Text(std::str::from_utf8(raw)?.to_owned())
            }
            Type::BYTEA => Self::Blob(raw.to_owned()),
            _ => return Err(format!("a test reads {kind}: cast it").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
