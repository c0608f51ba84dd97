//! A recording of the file layer, read back.

use std::path::Path;

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A new file of that name in the folder.
    Create(String),
    Write {
        offset: u64,
        data: Vec<u8>,
    },
    /// The file has that size now.
    Truncate(u64),
    /// The file has at least that size now.
    Extend(u64),
    /// A sync has begun.
    Sync,
    /// It is done; 0, or the number of its error.
    Synced(u64),
    /// The name is gone; the file has so many left.
    Unlink(String, u64),
    Rename(String, String),
    /// The file of the first name has the second one too.
    Link(String, String),
    /// What was written to standard output.
    Reply(Vec<u8>),
    /// What was written to another pipe.
    Sent(Vec<u8>),
    /// An injected error: its number, and the file's name.
    Fault(u64, String),
}

/// An operation of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub operation: Operation,
    pub process: u32,
    pub thread: u32,
    /// The file's inode; 0 for an operation without a file.
    pub file: u64,
}

/// Bytes of `struct entry`.
const HEAD: usize = 32;

/// Reads all of a recording; it is empty when no process has begun one.
pub fn read(path: &Path) -> Vec<Entry> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let (mut rest, mut entries) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let (entry, next) = split(rest);
        entries.push(entry);
        rest = next;
    }
    entries
}

fn split(bytes: &[u8]) -> (Entry, &[u8]) {
    let (head, rest) = bytes.split_at(HEAD);
    let short = |at: usize| u32::from_ne_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let (payload, rest) = rest.split_at(short(0) as usize);
    let number = long(24);
    let operation = match short(4) {
        1 => Operation::Create(name(payload)),
        2 => Operation::Write { offset: number, data: payload.to_vec() },
        3 => Operation::Truncate(number),
        4 => Operation::Extend(number),
        5 => Operation::Sync,
        6 => Operation::Synced(number),
        7 => Operation::Unlink(name(payload), number),
        kind @ (8 | 11) => {
            let (old, new) = payload.split_at(payload.iter().position(|byte| *byte == 0).expect("two names"));
            let both = (name(old), name(&new[1..]));
            if kind == 8 { Operation::Rename(both.0, both.1) } else { Operation::Link(both.0, both.1) }
        }
        9 => Operation::Reply(payload.to_vec()),
        12 => Operation::Sent(payload.to_vec()),
        10 => Operation::Fault(number, name(payload)),
        other => panic!("operation {other} in a recording"),
    };
    (Entry { operation, process: short(8), thread: short(12), file: long(16) }, rest)
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the server's names are UTF-8")
}
