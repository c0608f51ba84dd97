//! What the client says, written straight into the buffer that is sent. (PostgreSQL manual, "Message Formats".)
//!
//! A message that cannot be sent leaves nothing in the buffer.

use std::fmt;
use std::io::Write as _;

use super::error::PgError;
use crate::Value;

/// Protocol 3.0.
const PROTOCOL: u32 = 3 << 16;
/// Stands where a protocol's number stands, and asks for TLS.
const SSL_REQUEST: u32 = 80_877_103;
/// The longest message that a server takes: its largest piece of memory but one byte, less one. (PostgreSQL, `PQ_LARGE_MESSAGE_LIMIT`.)
const MOST_BYTES: usize = 0x3fff_fffe;
/// The format of parameters and results.
const BINARY: u16 = 1;
/// NULL instead of a length.
const NULL: u32 = u32::MAX;
/// The type of an integer parameter (`int8`), of a number with a fraction (`float8`), of bytes (`bytea`), and of one whose type the server infers.
const INT8: u32 = 20;
const FLOAT8: u32 = 701;
const BYTEA: u32 = 17;
const INFERRED: u32 = 0;

pub(super) const ZERO_BYTE: PgError = PgError::Usage("a statement's text has a zero byte");
const TOO_LONG: PgError = PgError::Usage("a message to the database is longer than 1 GiB");
const TOO_MANY: PgError = PgError::Usage("a statement has more than 65,535 parameters");

/// Returns the type that a parameter announces. The bytes of a text fit `text` and `bytea`, so the server says which one it is.
pub(super) fn type_of(value: &Value<'_>) -> u32 {
    match value {
        Value::Integer(_) => INT8,
        Value::Real(_) => FLOAT8,
        Value::Blob(_) => BYTEA,
        Value::Null | Value::Text(_) => INFERRED,
    }
}

/// What a statement or a portal is called at the server. The numbers are the connection's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// A prepared statement.
    Statement(u64),
    /// A portal that lives as long as its transaction.
    Portal(u64),
    /// The portal without a name. The next statement closes it.
    Unnamed,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Statement(number) => write!(f, "s{number}"),
            Self::Portal(number) => write!(f, "p{number}"),
            Self::Unnamed => Ok(()),
        }
    }
}

impl Name {
    fn tag(self) -> u8 {
        if let Self::Statement(_) = self { b'S' } else { b'P' }
    }

    fn write(self, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _written = write!(out, "{self}\0");
    }
}

/// Writes a message's body behind its length.
fn counted(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>) -> Result<(), PgError>) -> Result<(), PgError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let written = body(out);
    let length = out.len() - start;
    match (written, out.get_mut(start..start + 4)) {
        (Ok(()), Some(field)) if length <= MOST_BYTES => {
            // The limit fits four bytes.
            field.copy_from_slice(&u32::try_from(length).unwrap_or(0).to_be_bytes());
            Ok(())
        }
        (written, _) => {
            out.truncate(start);
            written.and(Err(TOO_LONG))
        }
    }
}

/// Writes a message: its tag, its length, its body.
fn message(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), PgError>,
) -> Result<(), PgError> {
    let start = out.len();
    out.push(tag);
    let written = counted(out, body);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Writes a text with the zero byte that ends it.
fn text(out: &mut Vec<u8>, text: &str) -> Result<(), PgError> {
    if text.as_bytes().contains(&0) {
        return Err(ZERO_BYTE);
    }
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

fn put16(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_be_bytes());
}

fn put32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_be_bytes());
}

/// Writes a value behind its length.
fn value(out: &mut Vec<u8>, value: &Value<'_>) -> Result<(), PgError> {
    let (integer, real);
    let bytes: &[u8] = match *value {
        Value::Null => {
            put32(out, NULL);
            return Ok(());
        }
        Value::Integer(number) => {
            integer = number.to_be_bytes();
            &integer
        }
        Value::Real(number) => {
            real = number.to_be_bytes();
            &real
        }
        Value::Text(text) => text.as_bytes(),
        Value::Blob(bytes) => bytes,
    };
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length as usize <= MOST_BYTES);
    put32(out, length.ok_or(TOO_LONG)?);
    out.extend_from_slice(bytes);
    Ok(())
}

/// SSLRequest.
pub(super) fn ask_for_tls(out: &mut Vec<u8>) {
    put32(out, 8);
    put32(out, SSL_REQUEST);
}

/// StartupMessage: parameters by name.
pub(super) fn start<'p>(
    out: &mut Vec<u8>,
    parameters: impl IntoIterator<Item = (&'p str, &'p str)>,
) -> Result<(), PgError> {
    counted(out, |out| {
        put32(out, PROTOCOL);
        for (name, value) in parameters {
            text(out, name)?;
            text(out, value)?;
        }
        out.push(0);
        Ok(())
    })
}

/// SASLInitialResponse.
pub(super) fn sasl_first(out: &mut Vec<u8>, mechanism: &str, response: &str) -> Result<(), PgError> {
    message(out, b'p', |out| {
        text(out, mechanism)?;
        value(out, &Value::Text(response))
    })
}

/// SASLResponse.
pub(super) fn sasl_next(out: &mut Vec<u8>, response: &str) -> Result<(), PgError> {
    message(out, b'p', |out| {
        out.extend_from_slice(response.as_bytes());
        Ok(())
    })
}

/// Parse: prepares a statement for parameters of these kinds.
pub(super) fn parse(
    out: &mut Vec<u8>,
    statement: Name,
    sql: &str,
    parameters: &[Value<'_>],
) -> Result<(), PgError> {
    message(out, b'P', |out| {
        statement.write(out);
        text(out, sql)?;
        put16(out, u16::try_from(parameters.len()).map_err(|_| TOO_MANY)?);
        parameters.iter().for_each(|parameter| put32(out, type_of(parameter)));
        Ok(())
    })
}

/// Describe.
pub(super) fn describe(out: &mut Vec<u8>, name: Name) -> Result<(), PgError> {
    named(out, b'D', name)
}

/// Close.
pub(super) fn close(out: &mut Vec<u8>, name: Name) -> Result<(), PgError> {
    named(out, b'C', name)
}

fn named(out: &mut Vec<u8>, tag: u8, name: Name) -> Result<(), PgError> {
    message(out, tag, |out| {
        out.push(name.tag());
        name.write(out);
        Ok(())
    })
}

/// Bind: gives a statement its parameters.
pub(super) fn bind(
    out: &mut Vec<u8>,
    portal: Name,
    statement: Name,
    parameters: &[Value<'_>],
) -> Result<(), PgError> {
    message(out, b'B', |out| {
        portal.write(out);
        statement.write(out);
        // One format stands for all parameters, and one for all columns.
        put16(out, 1);
        put16(out, BINARY);
        put16(out, u16::try_from(parameters.len()).map_err(|_| TOO_MANY)?);
        for parameter in parameters {
            value(out, parameter)?;
        }
        put16(out, 1);
        put16(out, BINARY);
        Ok(())
    })
}

/// Execute: asks for at most `most_rows` rows, or for all of them by 0.
pub(super) fn execute(out: &mut Vec<u8>, portal: Name, most_rows: u32) -> Result<(), PgError> {
    message(out, b'E', |out| {
        portal.write(out);
        // The field is signed.
        put32(out, most_rows.min(i32::MAX as u32));
        Ok(())
    })
}

/// Sync.
pub(super) fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// Query: a script of statements.
pub(super) fn query(out: &mut Vec<u8>, script: &str) -> Result<(), PgError> {
    message(out, b'Q', |out| text(out, script))
}

/// CopyData.
pub(super) fn copy_data(out: &mut Vec<u8>, part: &[u8]) -> Result<(), PgError> {
    if part.len() >= MOST_BYTES {
        return Err(TOO_LONG);
    }
    message(out, b'd', |out| {
        out.extend_from_slice(part);
        Ok(())
    })
}

/// CopyDone.
pub(super) fn copy_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"c\0\0\0\x04");
}

/// CopyFail.
pub(super) fn copy_fail(out: &mut Vec<u8>, why: &str) -> Result<(), PgError> {
    message(out, b'f', |out| text(out, why))
}

/// Terminate.
pub(super) fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(b"X\0\0\0\x04");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a message is written as, behind a byte that must stay.
    fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), PgError>) -> Result<Vec<u8>, PgError> {
        let mut out = vec![b'!'];
        let result = write(&mut out);
        assert_eq!(out.remove(0), b'!');
        if result.is_err() {
            assert!(out.is_empty(), "a part of a message is left: {out:?}");
        }
        result.map(|()| out)
    }

    #[track_caller]
    fn writes(write: impl FnOnce(&mut Vec<u8>) -> Result<(), PgError>, bytes: &[u8]) {
        assert_eq!(written(write).as_deref(), Ok(bytes));
    }

    #[test]
    fn a_login_is_written_as_the_manual_says() {
        let mut out = Vec::new();
        ask_for_tls(&mut out);
        assert_eq!(out, b"\0\0\0\x08\x04\xd2\x16\x2f");
        writes(|out| start(out, [("user", "u"), ("x", "")]), b"\0\0\0\x13\0\x03\0\0user\0u\0x\0\0\0");
        writes(|out| sasl_first(out, "SCRAM-SHA-256", "n,,"), b"p\0\0\0\x19SCRAM-SHA-256\0\0\0\0\x03n,,");
        writes(|out| sasl_next(out, "c=biws"), b"p\0\0\0\x0ac=biws");
    }

    #[test]
    fn statements_are_written_as_the_manual_says() {
        let (one, portal) = (Name::Statement(1), Name::Portal(9));
        let all =
            [Value::Null, Value::Integer(-2), Value::Real(1.5), Value::Text("a\0é"), Value::Blob(b"\xff")];
        writes(
            |out| parse(out, Name::Statement(12), "SELECT", &all),
            b"P\0\0\0\x25s12\0SELECT\0\0\x05\0\0\0\0\0\0\0\x14\0\0\x02\xbd\0\0\0\0\0\0\0\x11",
        );
        writes(|out| describe(out, one), b"D\0\0\0\x08Ss1\0");
        writes(
            |out| bind(out, portal, one, &all),
            b"B\0\0\0\x3dp9\0s1\0\0\x01\0\x01\0\x05\xff\xff\xff\xff\
              \0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\x08\x3f\xf8\0\0\0\0\0\0\
              \0\0\0\x04a\0\xc3\xa9\0\0\0\x01\xff\0\x01\0\x01",
        );
        writes(|out| bind(out, Name::Unnamed, one, &[]), b"B\0\0\0\x12\0s1\0\0\x01\0\x01\0\0\0\x01\0\x01");
        writes(|out| execute(out, Name::Unnamed, 1), b"E\0\0\0\x09\0\0\0\0\x01");
        writes(|out| execute(out, portal, u32::MAX), b"E\0\0\0\x0bp9\0\x7f\xff\xff\xff");
        writes(|out| close(out, portal), b"C\0\0\0\x08Pp9\0");
        writes(|out| query(out, "BEGIN"), b"Q\0\0\0\x0aBEGIN\0");
        writes(|out| copy_data(out, b"1\t\0\n"), b"d\0\0\0\x081\t\0\n");
        writes(|out| copy_fail(out, "no"), b"f\0\0\0\x07no\0");
        let mut out = Vec::new();
        for write in [sync, copy_done, terminate] {
            write(&mut out);
        }
        assert_eq!(out, b"S\0\0\0\x04c\0\0\0\x04X\0\0\0\x04");
    }

    #[test]
    fn what_cannot_be_sent_leaves_nothing_behind() {
        let many = vec![Value::Null; 65_536];
        for (case, refused, why) in [
            ("Parse", written(|out| parse(out, Name::Statement(1), "a\0b", &[])), ZERO_BYTE),
            ("Parse", written(|out| parse(out, Name::Statement(1), "", &many)), TOO_MANY),
            ("Bind", written(|out| bind(out, Name::Unnamed, Name::Statement(1), &many)), TOO_MANY),
            ("Query", written(|out| query(out, "\0")), ZERO_BYTE),
            ("StartupMessage", written(|out| start(out, [("user", "\0")])), ZERO_BYTE),
            ("CopyFail", written(|out| copy_fail(out, "\0")), ZERO_BYTE),
        ] {
            assert_eq!(refused, Err(why), "{case}");
        }
        assert!(written(|out| bind(out, Name::Unnamed, Name::Statement(1), &many[1..])).is_ok());
    }
}
