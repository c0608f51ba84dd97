//! Server-sent events, as far as Streamable HTTP needs them: the data of each event.

use std::io::{self, BufRead, Read};

/// The longest event that is read, in bytes.
const EVENT_BYTES: u64 = 64 * 1024 * 1024;

/// The events of a stream.
pub struct Events<R>(R);

impl<R: BufRead> Events<R> {
    pub fn new(stream: R) -> Self {
        Self(stream)
    }

    /// Returns the data of the next event that has some; `None` at the end of the stream.
    pub fn next_data(&mut self) -> io::Result<Option<String>> {
        let mut data: Option<String> = None;
        let mut read = 0;
        loop {
            let mut line = Vec::new();
            read += self.0.by_ref().take(EVENT_BYTES).read_until(b'\n', &mut line)?;
            if read as u64 >= EVENT_BYTES {
                return Err(io::Error::other("an event is too long"));
            }
            let at_end = line.is_empty();
            let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line)).into_owned();
            let line = line.strip_suffix('\r').unwrap_or(&line).trim_start_matches('\u{feff}');
            if let Some(part) = line.strip_prefix("data:") {
                let part = part.strip_prefix(' ').unwrap_or(part);
                match &mut data {
                    Some(data) => data.extend(["\n", part]),
                    None => data = Some(part.to_owned()),
                }
            } else if line.is_empty() && data.is_some() {
                // An event without its blank line was cut off, and yet it may hold a whole message.
                return Ok(data.filter(|data| !at_end || data.ends_with('}')));
            } else if at_end {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn data_is_read_over_lines_and_nothing_else() {
        let stream = ": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\ndata: {\"a\":\ndata: 1}\nretry: 5\n\n\n\ndata: {}";
        let mut events = Events::new(stream.as_bytes());
        let mut found = Vec::new();
        while let Some(data) = events.next_data().unwrap() {
            found.push(data);
        }
        assert_eq!(found, ["", "{\"a\":\n1}", "{}"]);
        assert_eq!(Events::new(&b"data: {\"a\""[..]).next_data().unwrap(), None);
    }
}
