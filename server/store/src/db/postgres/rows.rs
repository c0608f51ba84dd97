//! What comes out of a statement, in PostgreSQL's binary form. (PostgreSQL manual, "Formats and Format Codes"; a type's form is what its
//! `…send` function writes.)

use std::sync::Arc;

use super::body::Body;
use super::statements::Statement;

/// The types that are read, by their numbers in `pg_type`.
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const CHAR: u32 = 18;
    pub const NAME: u32 = 19;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const OID: u32 = 26;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const UNKNOWN: u32 = 705;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const VOID: u32 = 2278;
}

/// A value as the server sent it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PgCell<'a> {
    /// NULL, or the result of a function that returns nothing.
    Null,
    /// `smallint`, `integer`, `bigint`, `oid`, or a truth value as 0 or 1.
    Integer(i64),
    /// `real` or `double precision`.
    Real(f64),
    /// A text. PostgreSQL guarantees UTF-8; this client does not rely on it.
    Text(&'a [u8]),
    /// `bytea`, which also holds texts that may have a zero byte.
    Bytes(&'a [u8]),
}

/// A value has a type that Colibri does not store, or not that type's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored value has an unexpected type")]
pub struct PgCellError;

/// NULL instead of a length.
const NULL: u32 = u32::MAX;

/// The rows of a result, as the server sent them: one buffer, and where each value lies in it.
#[derive(Debug)]
pub struct Rows {
    statement: Arc<Statement>,
    bytes: Vec<u8>,
    /// Start and length of each value.
    fields: Vec<(u32, u32)>,
    rows: usize,
    /// How many rows the statement changed.
    pub changed: u64,
    pub(super) suspended: bool,
}

impl Rows {
    pub(super) fn of(statement: Arc<Statement>) -> Self {
        Self { statement, bytes: Vec::new(), fields: Vec::new(), rows: 0, changed: 0, suspended: false }
    }

    /// Appends a DataRow: its bytes, and where each value lies in them.
    ///
    /// Returns `None` if it ends early or late, or has another number of values than the result has columns.
    pub(super) fn push(&mut self, mut row: Body<'_>) -> Option<()> {
        let width = self.statement.columns()?.len();
        if usize::from(row.u16()?) != width {
            return None;
        }
        let values = row;
        self.fields.reserve(width);
        for _ in 0..width {
            let field = match row.u32()? {
                NULL => (0, NULL),
                length => {
                    let at = self.bytes.len() + values.0.len() - row.0.len();
                    row.bytes(usize::try_from(length).ok()?)?;
                    (u32::try_from(at).ok()?, length)
                }
            };
            self.fields.push(field);
        }
        row.end()?;
        self.bytes.extend_from_slice(values.0);
        self.rows += 1;
        Some(())
    }

    /// Returns what the rows take in memory.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.fields.len() * size_of::<(u32, u32)>()
    }

    /// Returns whether the server has more rows, which [`Session::fetch`](super::Session::fetch) returns.
    pub fn suspended(&self) -> bool {
        self.suspended
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns a row, counted from 0.
    pub fn row(&self, at: usize) -> Option<PgRow<'_>> {
        (at < self.rows).then_some(PgRow { rows: self, at })
    }

    /// Returns the rows in their order.
    pub fn iter(&self) -> impl Iterator<Item = PgRow<'_>> {
        (0..self.rows).map(|at| PgRow { rows: self, at })
    }
}

/// A view of one row.
#[derive(Debug, Clone, Copy)]
pub struct PgRow<'a> {
    rows: &'a Rows,
    at: usize,
}

impl<'a> PgRow<'a> {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// [`PgCellError`] if there is no such column, or Colibri stores no values of its type.
    pub fn cell(&self, at: usize) -> Result<PgCell<'a>, PgCellError> {
        let columns = self.rows.statement.columns().unwrap_or(&[]);
        let type_oid = *columns.get(at).ok_or(PgCellError)?;
        let &(start, length) = self.rows.fields.get(self.at * columns.len() + at).ok_or(PgCellError)?;
        if length == NULL {
            return Ok(PgCell::Null);
        }
        let bytes = self.rows.bytes.get(start as usize..).and_then(|rest| rest.get(..length as usize));
        decode(type_oid, bytes.ok_or(PgCellError)?).ok_or(PgCellError)
    }
}

/// Reads a value in its type's binary form.
pub(super) fn decode(type_oid: u32, bytes: &[u8]) -> Option<PgCell<'_>> {
    Some(match type_oid {
        oid::INT8 => PgCell::Integer(i64::from_be_bytes(bytes.try_into().ok()?)),
        oid::INT4 => PgCell::Integer(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::INT2 => PgCell::Integer(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::OID => PgCell::Integer(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::BOOL => match bytes {
            [0] => PgCell::Integer(0),
            [1] => PgCell::Integer(1),
            _ => return None,
        },
        oid::FLOAT8 => PgCell::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        oid::FLOAT4 => PgCell::Real(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::NAME | oid::CHAR | oid::UNKNOWN => PgCell::Text(bytes),
        oid::BYTEA => PgCell::Bytes(bytes),
        oid::VOID => PgCell::Null,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_by_their_type() {
        for (type_oid, bytes, cell) in [
            (oid::INT8, &[0xff; 8][..], Some(PgCell::Integer(-1))),
            (oid::INT4, &[0x80, 0, 0, 0], Some(PgCell::Integer(i64::from(i32::MIN)))),
            (oid::INT2, &[1, 0], Some(PgCell::Integer(256))),
            (oid::OID, &[0xff; 4], Some(PgCell::Integer(i64::from(u32::MAX)))),
            (oid::BOOL, &[1], Some(PgCell::Integer(1))),
            (oid::BOOL, &[2], None),
            (oid::FLOAT8, &[0x3f, 0xf8, 0, 0, 0, 0, 0, 0], Some(PgCell::Real(1.5))),
            (oid::FLOAT4, &[0x3f, 0xc0, 0, 0], Some(PgCell::Real(1.5))),
            (oid::TEXT, b"a\0b", Some(PgCell::Text(b"a\0b"))),
            (oid::BYTEA, b"", Some(PgCell::Bytes(b""))),
            (oid::VOID, b"", Some(PgCell::Null)),
            (oid::INT8, &[0; 7], None),
            (1700, &[0; 8], None),
        ] {
            assert_eq!(decode(type_oid, bytes), cell, "{type_oid} {bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_value_is_too_odd_to_read(type_oid in prop_oneof![0_u32..3000, any::<u32>()], bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _cell = decode(type_oid, &bytes);
        }

        #[test]
        fn a_row_holds_the_values_that_were_sent(rows in proptest::collection::vec(proptest::collection::vec(
            proptest::option::of(proptest::collection::vec(any::<u8>(), 0..9)), 3), 1..5)) {
            let mut kept = Rows::of(Arc::new(Statement::with_columns(vec![oid::BYTEA; 3])));
            for row in &rows {
                let mut body = vec![0, 3];
                for value in row {
                    let length = value.as_ref().map_or(NULL, |value| u32::try_from(value.len()).unwrap());
                    body.extend(length.to_be_bytes());
                    body.extend(value.as_deref().unwrap_or_default());
                }
                prop_assert_eq!(kept.push(Body(&body)), Some(()));
            }
            for (row, values) in kept.iter().zip(&rows) {
                for (at, value) in values.iter().enumerate() {
                    prop_assert_eq!(row.cell(at), Ok(value.as_deref().map_or(PgCell::Null, PgCell::Bytes)));
                }
            }
        }

        #[test]
        fn no_row_is_too_odd_to_keep(columns in 0_usize..5, body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut rows = Rows::of(Arc::new(Statement::with_columns(vec![oid::TEXT; columns])));
            let kept = rows.push(Body(&body)).is_some();
            prop_assert_eq!(rows.len(), usize::from(kept));
            for row in rows.iter() {
                for at in 0..columns {
                    let _cell = row.cell(at);
                }
            }
        }
    }
}
