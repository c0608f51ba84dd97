//! What the server says. Nothing is copied: a message is a view of the bytes that came. (PostgreSQL manual, "Message Formats".)

use std::io;
use std::ops::Range;

use super::body::Body;
use super::buffer::Buffer;
use super::wire::broken;

/// A whole message in a [`Buffer`].
#[derive(Debug)]
pub(super) struct Frame {
    pub tag: u8,
    /// Where [`Buffer::at`] finds its body.
    pub body: Range<usize>,
}

impl Frame {
    /// Takes the next message out of a buffer. Returns `None` until all of it has come.
    ///
    /// # Errors
    /// It announces a length that no message has, or more than `most_bytes`.
    pub fn take(from: &mut Buffer, most_bytes: usize) -> io::Result<Option<Self>> {
        let &[tag, a, b, c, d, ref rest @ ..] = from.rest() else { return Ok(None) };
        // The length counts itself, and not the tag.
        let length = u32::from_be_bytes([a, b, c, d]);
        let Some(body) = usize::try_from(length).ok().and_then(|length| length.checked_sub(4)) else {
            return Err(broken(&format!("it announced a message of the length {length}")));
        };
        if body >= most_bytes {
            return Err(broken(&format!(
                "it announced a message of the length {length}; the longest that is taken has {most_bytes}"
            )));
        }
        if rest.len() < body {
            return Ok(None);
        }
        from.take(5);
        Ok(Some(Self { tag, body: from.take(body) }))
    }
}

/// A message of the server. What a body holds is read by those who need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Authentication(Request<'a>),
    /// The number of the server's process. What would cancel its statements is not kept.
    BackendKeyData(u32),
    BindComplete,
    CloseComplete,
    /// What was done: `INSERT 0 5`.
    CommandComplete(&'a str),
    CopyInResponse,
    /// The number of values, and each value behind its length.
    DataRow(Body<'a>),
    EmptyQueryResponse,
    /// Fields, each behind its tag.
    ErrorResponse(Body<'a>),
    NoData,
    /// Fields like those of an error.
    NoticeResponse(Body<'a>),
    NotificationResponse,
    ParameterDescription,
    /// Name and value. They are UTF-8 where the database is.
    ParameterStatus(&'a [u8], &'a [u8]),
    ParseComplete,
    PortalSuspended,
    /// The state of the transaction.
    ReadyForQuery(u8),
    /// The columns of a result, for [`column_types`].
    RowDescription(Body<'a>),
}

/// What a server asks for before it lets a client in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request<'a> {
    /// Nothing more.
    Done,
    Cleartext,
    Md5,
    /// One of these mechanisms, for [`mechanisms`].
    Sasl(Body<'a>),
    SaslContinue(&'a [u8]),
    SaslFinal(&'a [u8]),
    /// A method that this client does not have.
    Other(&'static str),
}

impl<'a> Message<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// No server sends it to this client, or it ends too early or too late.
    pub fn read(tag: u8, bytes: &'a [u8]) -> io::Result<Self> {
        let mut body = Body(bytes);
        let message = match tag {
            b'1' => Some(Self::ParseComplete),
            b'2' => Some(Self::BindComplete),
            b'3' => Some(Self::CloseComplete),
            b'A' => {
                body.rest();
                Some(Self::NotificationResponse)
            }
            b'C' => body.text().and_then(|tag| std::str::from_utf8(tag).ok()).map(Self::CommandComplete),
            b'D' => Some(Self::DataRow(Body(body.rest()))),
            b'E' => Some(Self::ErrorResponse(Body(body.rest()))),
            b'G' => {
                body.rest();
                Some(Self::CopyInResponse)
            }
            b'I' => Some(Self::EmptyQueryResponse),
            b'K' => body.u32().map(|pid| {
                body.rest();
                Self::BackendKeyData(pid)
            }),
            b'N' => Some(Self::NoticeResponse(Body(body.rest()))),
            b'R' => Some(Self::Authentication(Request::read(&mut body)?)),
            b'S' => body.text().zip(body.text()).map(|(name, value)| Self::ParameterStatus(name, value)),
            b'T' => Some(Self::RowDescription(Body(body.rest()))),
            b'Z' => body.u8().map(Self::ReadyForQuery),
            b'n' => Some(Self::NoData),
            b's' => Some(Self::PortalSuspended),
            b't' => {
                body.rest();
                Some(Self::ParameterDescription)
            }
            tag => return Err(broken(&format!("it sent a message with the unknown tag {tag}"))),
        };
        let whole = message.filter(|_| body.end().is_some());
        whole.ok_or_else(|| {
            broken(&format!("its message with the tag {tag} has another length than its fields"))
        })
    }
}

impl<'a> Request<'a> {
    fn read(body: &mut Body<'a>) -> io::Result<Self> {
        Ok(match body.u32() {
            Some(0) => Self::Done,
            Some(2) => Self::Other("Kerberos V5"),
            Some(3) => Self::Cleartext,
            // The salt does not matter.
            Some(5) => {
                body.rest();
                Self::Md5
            }
            Some(6) => Self::Other("SCM credentials"),
            Some(7) => Self::Other("GSSAPI"),
            Some(9) => Self::Other("SSPI"),
            Some(10) => Self::Sasl(Body(body.rest())),
            Some(11) => Self::SaslContinue(body.rest()),
            Some(12) => Self::SaslFinal(body.rest()),
            kind => {
                let kind = kind.map_or_else(|| "without a number".to_owned(), |kind| kind.to_string());
                return Err(broken(&format!("it asks for an unknown kind of authentication ({kind})")));
            }
        })
    }
}

/// Reads the list of mechanisms that a server offers. Returns `None` if it has no end.
pub(super) fn mechanisms(mut list: Body<'_>) -> Option<Vec<&[u8]>> {
    let mut names = Vec::new();
    loop {
        match list.text()? {
            [] => return list.end().map(|()| names),
            name => names.push(name),
        }
    }
}

/// Reads the types of a result's columns. Returns `None` if the message has another length than they take.
pub(super) fn column_types(mut columns: Body<'_>) -> Option<Vec<u32>> {
    let count = columns.u16()?;
    let types = (0..count).map(|_| {
        // Name, table and number of the column; then the type, its length and modifier, and the format.
        columns.text()?;
        columns.bytes(6)?;
        let type_oid = columns.u32()?;
        columns.bytes(8)?;
        Some(type_oid)
    });
    let types = types.collect::<Option<_>>()?;
    columns.end().map(|()| types)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_read_as_the_manual_says() {
        let sasl = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
        for (tag, body, message) in [
            (b'1', &b""[..], Message::ParseComplete),
            (b'2', b"", Message::BindComplete),
            (b'3', b"", Message::CloseComplete),
            (b'A', b"\0\0\0\x01channel\0\0", Message::NotificationResponse),
            (b'C', b"INSERT 0 5\0", Message::CommandComplete("INSERT 0 5")),
            (b'D', b"\0\0", Message::DataRow(Body(b"\0\0"))),
            (b'E', b"C42601\0\0", Message::ErrorResponse(Body(b"C42601\0\0"))),
            (b'G', b"\x01\0\0", Message::CopyInResponse),
            (b'I', b"", Message::EmptyQueryResponse),
            // The key has 4 bytes, and up to 256 in protocol 3.2.
            (b'K', b"\0\0\x01\0\0\0\0\x09", Message::BackendKeyData(256)),
            (b'N', b"\0", Message::NoticeResponse(Body(b"\0"))),
            (b'R', b"\0\0\0\0", Message::Authentication(Request::Done)),
            (b'R', b"\0\0\0\x03", Message::Authentication(Request::Cleartext)),
            (b'R', b"\0\0\0\x05salt", Message::Authentication(Request::Md5)),
            (b'R', b"\0\0\0\x07", Message::Authentication(Request::Other("GSSAPI"))),
            (b'R', sasl, Message::Authentication(Request::Sasl(Body(b"SCRAM-SHA-256\0\0")))),
            (b'R', b"\0\0\0\x0br=", Message::Authentication(Request::SaslContinue(b"r="))),
            (b'R', b"\0\0\0\x0cv=", Message::Authentication(Request::SaslFinal(b"v="))),
            (b'S', b"name\0\xff\0", Message::ParameterStatus(b"name", b"\xff")),
            (b'T', b"\0\0", Message::RowDescription(Body(b"\0\0"))),
            (b'Z', b"T", Message::ReadyForQuery(b'T')),
            (b'n', b"", Message::NoData),
            (b's', b"", Message::PortalSuspended),
            (b't', b"\0\0", Message::ParameterDescription),
        ] {
            assert_eq!(Message::read(tag, body).unwrap(), message);
        }
    }

    #[test]
    fn a_message_with_another_length_than_its_fields_is_refused() {
        for (tag, body) in [
            (b'1', &b"x"[..]),
            (b'C', b"BEGIN"),
            (b'C', b"BEGIN\0\0"),
            (b'C', b"\xff\0"),
            (b'K', b"\0\0\0"),
            (b'R', b"\0\0\0"),
            (b'R', b"\0\0\0\0\0"),
            (b'S', b"name\0value"),
            (b'Z', b""),
            (b'Z', b"II"),
            (b'V', b""),
            (0, b""),
        ] {
            assert!(Message::read(tag, body).is_err(), "{tag} {body:?}");
        }
        assert_eq!(mechanisms(Body(b"A\0B\0\0")), Some(vec![&b"A"[..], b"B"]));
        assert!([&b""[..], b"A", b"A\0", b"A\0\0B"].iter().all(|list| mechanisms(Body(list)).is_none()));
        let columns = b"\0\x01name\0\0\0\x40\0\0\x01\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0";
        assert_eq!(column_types(Body(columns)), Some(vec![20]));
        assert!((0..columns.len()).all(|end| column_types(Body(&columns[..end])).is_none()));
        assert_eq!(column_types(Body(&[&columns[..], b"x"].concat())), None);
    }

    #[test]
    fn a_length_is_judged_before_its_message_has_come() {
        let announced = |length: u32| {
            let mut buffer = Buffer::default();
            buffer.end().extend_from_slice(&[&b"D"[..], &length.to_be_bytes()].concat());
            Frame::take(&mut buffer, 100).map(|frame| frame.is_some()).map_err(|error| error.to_string())
        };
        assert_eq!((announced(4), announced(5), announced(103)), (Ok(true), Ok(false), Ok(false)));
        for length in [0, 3, 104, u32::MAX] {
            assert!(announced(length).is_err_and(|error| error.contains("length")), "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_message_is_too_odd_to_read(tag in any::<u8>(), body in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _message = Message::read(tag, &body);
            let _types = column_types(Body(&body));
            let _names = mechanisms(Body(&body));
        }

        #[test]
        fn messages_are_the_same_however_they_are_cut(
            bodies in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..9),
            cuts in proptest::collection::vec(1_usize..30, 1..9),
        ) {
            let bytes: Vec<u8> = bodies.iter().flat_map(|(tag, body)| {
                let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
                [&[*tag][..], &length, body].concat()
            }).collect();
            let (mut buffer, mut came, mut rest) = (Buffer::default(), Vec::new(), &bytes[..]);
            for cut in cuts.iter().cycle() {
                let (part, behind) = rest.split_at(rest.len().min(*cut));
                buffer.end().extend_from_slice(part);
                while let Some(frame) = Frame::take(&mut buffer, 100).unwrap() {
                    came.push((frame.tag, buffer.at(frame.body).to_vec()));
                }
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(came, bodies);
            prop_assert!(buffer.is_empty());
        }

        #[test]
        fn no_bytes_are_too_odd_to_take(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let mut buffer = Buffer::default();
            buffer.end().extend_from_slice(&bytes);
            while let Ok(Some(frame)) = Frame::take(&mut buffer, 50) {
                let _message = Message::read(frame.tag, buffer.at(frame.body));
            }
        }
    }
}
