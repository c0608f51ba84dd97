//! Values on their way into a statement and out of a row.

use rusqlite::types::{FromSqlResult, ToSqlOutput, ValueRef};

/// A stored value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes; in PostgreSQL also a text that may hold U+0000.
    Blob(Vec<u8>),
}

/// What a statement takes as a parameter.
pub trait ToSql {
    /// The value.
    fn to_value(&self) -> Value;
}

/// What is read from a column.
pub trait FromSql: Sized {
    /// Returns `None` for a value of another kind.
    fn from_value(value: &Value) -> Option<Self>;
}

/// The parameters of a statement.
pub trait Params {
    /// Their values, in order.
    fn values(self) -> Vec<Value>;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl ToSql for $type {
            fn to_value(&self) -> Value {
                i64::try_from(*self).map_or(Value::Null, Value::Integer)
            }
        }
        impl FromSql for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(number) => Self::try_from(*number).ok(),
                    _ => None,
                }
            }
        }
    )*};
}
integers!(i32, u32, i64, u64, usize);

impl ToSql for bool {
    fn to_value(&self) -> Value {
        Value::Integer((*self).into())
    }
}

impl FromSql for bool {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl ToSql for str {
    fn to_value(&self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl ToSql for String {
    fn to_value(&self) -> Value {
        self.as_str().to_value()
    }
}

impl FromSql for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            Value::Blob(bytes) => Self::from_utf8(bytes.clone()).ok(),
            _ => None,
        }
    }
}

impl ToSql for [u8] {
    fn to_value(&self) -> Value {
        Value::Blob(self.to_owned())
    }
}

impl ToSql for Vec<u8> {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl FromSql for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone().into_bytes()),
            Value::Blob(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

impl<T: ToSql> ToSql for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, ToSql::to_value)
    }
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl ToSql for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl FromSql for Value {
    fn from_value(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl Params for () {
    fn values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl Params for [&dyn ToSql; 0] {
    fn values(self) -> Vec<Value> {
        Vec::new()
    }
}

impl Params for &[&dyn ToSql] {
    fn values(self) -> Vec<Value> {
        self.iter().map(|value| value.to_value()).collect()
    }
}

macro_rules! arrays {
    ($($length:literal),*) => {$(
        impl<T: ToSql> Params for [T; $length] {
            fn values(self) -> Vec<Value> {
                self.iter().map(ToSql::to_value).collect()
            }
        }
    )*};
}
arrays!(1, 2, 3, 4, 5, 6);

macro_rules! tuples {
    ($($(($name:ident, $at:tt)),+;)*) => {$(
        impl<$($name: ToSql),+> Params for ($($name,)+) {
            fn values(self) -> Vec<Value> {
                vec![$(self.$at.to_value()),+]
            }
        }
    )*};
}
tuples! {
    (A, 0);
    (A, 0), (B, 1);
    (A, 0), (B, 1), (C, 2);
    (A, 0), (B, 1), (C, 2), (D, 3);
    (A, 0), (B, 1), (C, 2), (D, 3), (E, 4);
    (A, 0), (B, 1), (C, 2), (D, 3), (E, 4), (F, 5);
    (A, 0), (B, 1), (C, 2), (D, 3), (E, 4), (F, 5), (G, 6);
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl rusqlite::types::FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_owned()),
        })
    }
}
