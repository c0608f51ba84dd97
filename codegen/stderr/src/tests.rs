#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};

use super::target::opened_again;
use super::*;

/// A stderr that is a pipe; its end that others share stays open.
fn over_pipe() -> (Stderr, PipeReader, PipeWriter) {
    let (reader, shared) = pipe().unwrap();
    let target = opened_again(shared.as_fd()).map_or(Target::Asked, Target::Own);
    (Stderr::over(target), reader, shared)
}

fn note(dropped: u64) -> String {
    format!("dropped {dropped}\n")
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_that_cannot_be_written_is_dropped_and_the_number_is_told() {
    const LINES: u64 = 5000;
    let (stderr, mut reader, shared) = over_pipe();
    let began = Instant::now();
    for number in 0..LINES {
        stderr.line(&format!("{number:0>99}\n"), note);
    }
    assert!(began.elapsed() < Duration::from_secs(30));
    let mut full = vec![0; 1 << 20];
    let length = reader.read(&mut full).unwrap();
    // Where a line has no room any more, the shorter note may still have some.
    let (notes, lines): (Vec<&str>, Vec<&str>) =
        std::str::from_utf8(&full[..length]).unwrap().lines().partition(|line| line.starts_with("dropped "));
    let told: u64 = notes.iter().map(|note| note["dropped ".len()..].parse::<u64>().unwrap()).sum();
    let lines: Vec<u64> = lines.iter().map(|line| line.parse().unwrap()).collect();
    assert_eq!(lines, (0..lines.len() as u64).collect::<Vec<_>>(), "the first lines, whole");
    stderr.line("after\n", note);
    stderr.line("and more\n", note);
    drop((stderr, shared));
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, format!("dropped {}\nafter\nand more\n", LINES - lines.len() as u64 - told));
}

#[test]
fn a_descriptor_that_others_share_keeps_its_flags() {
    let (stderr, _reader, shared) = over_pipe();
    stderr.line("a line\n", note);
    assert!(!fcntl_getfl(&shared).unwrap().contains(OFlags::NONBLOCK));
}

#[test]
fn a_line_that_was_taken_in_part_is_completed_before_the_next() {
    let (ours, mut reader) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let stderr = Stderr::over(Target::Own(File::from(OwnedFd::from(ours))));
    let long = format!("{}\n", "x".repeat(8 << 20));
    stderr.line(&long, note);
    stderr.line("does not fit\n", note);
    let mut read = vec![0; long.len()];
    let mut length = 0;
    while length < long.len() {
        length += reader.read(&mut read[length..]).unwrap();
        stderr.line("again\n", note);
    }
    assert!(read[..long.len() - 1].iter().all(|byte| *byte == b'x') && read.ends_with(b"\n"));
    drop(stderr);
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.starts_with("dropped ") && rest.ends_with("again\n"), "{rest}");
}

#[test]
fn the_bytes_of_another_writer_pass_as_far_as_there_is_room() {
    let (stderr, mut reader, shared) = over_pipe();
    let text = "a line of the server\n".repeat(10_000);
    let taken = stderr.pass(text.as_bytes());
    assert!(taken > 0 && taken < text.len() && text[..taken].ends_with('\n'), "{taken}");
    assert_eq!(stderr.pass(&text.as_bytes()[taken..]), 0);
    let mut read = vec![0; taken];
    reader.read_exact(&mut read).unwrap();
    assert_eq!(stderr.pass(b"no end"), 6);
    drop((stderr, shared));
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "no end");
}

#[test]
fn a_writer_that_is_stuck_holds_up_no_other() {
    let (stderr, _reader, _shared) = over_pipe();
    let stderr = Arc::new(stderr);
    let stuck = stderr.output.lock().unwrap();
    let other = stderr.clone();
    let began = Instant::now();
    std::thread::spawn(move || other.line("dropped\n", note)).join().unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(stderr.dropped.load(Ordering::Relaxed), 1);
    drop(stuck);
}
