//! What goes into a statement. No engine is named but to say how it takes a value.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value of a statement or of a row. A stored text that is not UTF-8 is read as its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(&'a str),
    /// Bytes.
    Blob(&'a [u8]),
}

/// What a statement's parameter is made from; [`params!`](crate::params) calls it.
pub trait Bind {
    /// Returns the value, borrowed.
    fn bind(&self) -> Value<'_>;
}

/// The parameters of a statement, in order: `params![id, &task.title, 7]`.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::Bind::bind(&$value)),*] };
}

impl Bind for Value<'_> {
    fn bind(&self) -> Value<'_> {
        *self
    }
}

impl<T: Bind + ?Sized> Bind for &T {
    fn bind(&self) -> Value<'_> {
        (**self).bind()
    }
}

impl<T: Bind> Bind for Option<T> {
    fn bind(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::bind)
    }
}

impl Bind for i64 {
    fn bind(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl Bind for u32 {
    fn bind(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl Bind for f64 {
    fn bind(&self) -> Value<'_> {
        Value::Real(*self)
    }
}

impl Bind for str {
    fn bind(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for String {
    fn bind(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Bind for Vec<u8> {
    fn bind(&self) -> Value<'_> {
        Value::Blob(self)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(number),
            Self::Real(number) => ValueRef::Real(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
