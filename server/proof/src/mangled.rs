//! What editors, mail programs and converters do to a proof or an export, so that a damaged file is named as what it is.

/// How a file was changed on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mangled {
    /// A byte order mark comes first.
    #[error("the file begins with a byte order mark, which an editor or a mail program has added")]
    ByteOrderMark,
    /// Another encoding.
    #[error("the file was converted to UTF-16")]
    Utf16,
    /// A packed file.
    #[error("the file is compressed; unpack it")]
    Compressed,
    /// A mail's encoding.
    #[error("the file is in the quoted-printable form of a mail; save the attachment itself")]
    QuotedPrintable,
    /// Line feeds became carriage returns and line feeds.
    #[error("the lines end with CRLF; a mail program, an editor or Git has added the carriage returns")]
    CarriageReturns,
    /// Spaces and line ends between the values.
    #[error("a program has formatted the JSON")]
    Formatted,
    /// Lines became the items of one array.
    #[error("a program has made one JSON array of the lines")]
    Array,
    /// Characters became `\u` escapes.
    #[error("a program has written characters as \\u escapes")]
    Escaped,
}

impl Mangled {
    /// Names what was done to a file that does not begin as its format does, by its first bytes.
    pub(crate) fn beginning(bytes: &[u8], format: &str) -> Option<Self> {
        let named = || contains(bytes, format.as_bytes());
        match bytes {
            [0xef, 0xbb, 0xbf, ..] if named() => Some(Self::ByteOrderMark),
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => Some(Self::Utf16),
            [0x1f, 0x8b, ..] | [b'P', b'K', 3, 4, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                Some(Self::Compressed)
            }
            [b'[', ..] if named() => Some(Self::Array),
            [b'{', ..] if named() => Some(Self::Formatted),
            _ => None,
        }
    }

    /// Names what was done to a text that is not JSON any more.
    pub(crate) fn broken(text: &[u8]) -> Option<Self> {
        // The mail's form breaks each long line with an equals sign.
        let soft = text.ends_with(b"=") || contains(text, b"=\n") || contains(text, b"=\r\n");
        soft.then_some(Self::QuotedPrintable)
    }

    /// Names what was done to a text, at the first byte in which it differs from its canonical form.
    pub(crate) fn difference(text: &[u8], canonical: &[u8], at: usize) -> Option<Self> {
        match (text.get(at..).unwrap_or_default(), canonical.get(at)) {
            ([b'\r'] | [b'\r', b'\n'], None | Some(b'\n')) => Some(Self::CarriageReturns),
            ([b' ' | b'\t' | b'\r' | b'\n', ..], Some(_)) => Some(Self::Formatted),
            ([b'\\', b'u', ..], Some(canonical)) if !canonical.is_ascii() => Some(Self::Escaped),
            _ => None,
        }
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
