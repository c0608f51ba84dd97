//! Pipes, sockets, files and `/dev/null`; the flags of shared descriptors are as they were afterwards.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rustix::fs::{OFlags, fcntl_getfl};

use crate::stdio::run::{all_answered, creates, exit_code, launch, replies, spawn};

/// Few enough to fit into a pipe together with their replies.
const CALLS: usize = 20;

fn blocks(fd: impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn pipes_are_answered_and_left_blocking() {
    let launch = launch();
    let (server_in, mut client_out) = std::io::pipe().unwrap();
    let (mut client_in, server_out) = std::io::pipe().unwrap();
    let (kept_in, kept_out) = (server_in.try_clone().unwrap(), server_out.try_clone().unwrap());
    let mut child = spawn(&launch, server_in.into(), server_out.into(), Stdio::null());
    client_out.write_all(creates(CALLS).as_bytes()).unwrap();
    drop(client_out);
    assert_eq!(exit_code(&mut child), 0);
    assert!(blocks(&kept_in), "standard input");
    assert!(blocks(&kept_out), "standard output");
    drop(kept_out);
    let mut bytes = Vec::new();
    client_in.read_to_end(&mut bytes).unwrap();
    all_answered(&replies(&bytes), CALLS);
}

/// As Node hands them over: one socket pair a stream.
#[test]
fn socket_pairs_are_answered_and_left_blocking() {
    let launch = launch();
    let (mut client_out, server_in) = UnixStream::pair().unwrap();
    let (mut client_in, server_out) = UnixStream::pair().unwrap();
    let (kept_in, kept_out) = (server_in.try_clone().unwrap(), server_out.try_clone().unwrap());
    let (stdin, stdout) = (OwnedFd::from(server_in), OwnedFd::from(server_out));
    let mut child = spawn(&launch, stdin.into(), stdout.into(), Stdio::null());
    client_out.write_all(creates(CALLS).as_bytes()).unwrap();
    drop(client_out);
    assert_eq!(exit_code(&mut child), 0);
    assert!(blocks(&kept_in), "standard input");
    assert!(blocks(&kept_out), "standard output");
    drop(kept_out);
    let mut bytes = Vec::new();
    client_in.read_to_end(&mut bytes).unwrap();
    all_answered(&replies(&bytes), CALLS);
}

#[test]
fn one_socket_may_be_both_streams() {
    let launch = launch();
    let (mut client, server) = UnixStream::pair().unwrap();
    let kept = server.try_clone().unwrap();
    let (stdin, stdout) = (OwnedFd::from(server.try_clone().unwrap()), OwnedFd::from(server));
    let mut child = spawn(&launch, stdin.into(), stdout.into(), Stdio::null());
    client.write_all(creates(CALLS).as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(exit_code(&mut child), 0);
    assert!(blocks(&kept));
    drop(kept);
    let mut bytes = Vec::new();
    client.read_to_end(&mut bytes).unwrap();
    all_answered(&replies(&bytes), CALLS);
}

#[test]
fn flags_are_restored_after_a_signal_too() {
    let launch = launch();
    let (server_in, _client_out) = std::io::pipe().unwrap();
    let kept = server_in.try_clone().unwrap();
    let server = launch.stdin(server_in.into()).start();
    server.await_stderr("Phase 2 ready");
    assert!(!blocks(&kept), "a pipe is read without blocking");
    server.signal("TERM");
    let ended = server.wait();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    assert!(blocks(&kept));
}

#[test]
fn a_file_is_answered_into_a_file() {
    let launch = launch();
    let folder = launch.folder();
    let (requests, answers) = (folder.path().join("requests"), folder.path().join("answers"));
    std::fs::write(&requests, creates(CALLS)).unwrap();
    let (stdin, stdout) = (File::open(&requests).unwrap(), File::create(&answers).unwrap());
    let mut child = spawn(&launch, stdin.into(), stdout.into(), Stdio::null());
    assert_eq!(exit_code(&mut child), 0);
    all_answered(&replies(&std::fs::read(&answers).unwrap()), CALLS);
}

#[test]
fn dev_null_is_an_end_of_input() {
    let ended = launch().stdin(Stdio::null()).start().wait();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
    assert!(ended.rest.is_empty(), "{:?}", ended.rest);
    assert!(!ended.stderr.contains(" ERROR "), "{}", ended.stderr);
}

#[test]
fn dev_null_may_take_the_answers() {
    let launch = launch();
    let (server_in, mut client_out) = std::io::pipe().unwrap();
    let mut child = spawn(&launch, server_in.into(), Stdio::null(), Stdio::null());
    client_out.write_all(creates(CALLS).as_bytes()).unwrap();
    drop(client_out);
    assert_eq!(exit_code(&mut child), 0);
    let sql = colibri_test_support::engine::open(launch.folder().path().join("colibri.db"));
    let stored: i64 = sql.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, i64::try_from(CALLS).unwrap());
}
