//! What goes into a statement, and what comes out of it.

use colibri_runtime::handler::Fault;

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

/// A stored value before its type is known. A text may hold bytes that are not UTF-8.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // As [`Value`] has them.
pub enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
    /// Bytes that may be meant as a text.
    Bytes(&'a [u8]),
}

/// A stored value does not have the type that its column should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a stored value has an unexpected type")]
pub struct RowError;

impl From<RowError> for Fault {
    fn from(error: RowError) -> Self {
        Self::Storage(error.to_string())
    }
}
