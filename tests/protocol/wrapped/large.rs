//! Replies that are longer than what is held.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use colibri_test_support::client::Launch;
use serde_json::json;

use super::{COLIBRI, ODD};

/// How much more memory the replies may take than small ones: not two outboxes of 1 MiB.
const ABOVE_KIB: u64 = 1792;
/// How many bytes of a long reply the client reads at once, and how long it then does something else.
const PIECE: usize = 16 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

/// The most memory that a process has had, in KiB.
fn peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn wrap_26_memory_does_not_follow_the_size_of_replies_that_a_client_reads_slowly() {
    // Pins are compared in a thread, at a time of its own.
    let options = ["wrap", "--name", "odd", "--pin", "off", "--", ODD];
    let launch = options.iter().fold(Launch::new(COLIBRI), |launch, option| launch.arg(option));
    let mut child = launch.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut call = |id: u64, size: u64| {
        let steps = json!([
            { "write": "{\"jsonrpc\":\"2.0\",\"id\":${id},\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" },
            { "repeat": ["x", size] },
            { "write": "\"}]}}\n" },
        ]);
        let params = json!({ "name": "play", "arguments": { "steps": steps } });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        writeln!(stdin, "{call}").unwrap();
        let (mut piece, mut read) = (vec![0; PIECE], 0);
        loop {
            let length = stdout.read(&mut piece).unwrap();
            assert_ne!(length, 0, "the reply ends early");
            read += length as u64;
            if piece[length - 1] == b'\n' {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        assert!(read > size, "a reply of {size} bytes has {read}");
    };
    (1..11).for_each(|id| call(id, 200));
    let small = peak(&child);
    (11..14).for_each(|id| call(id, 8 << 20));
    let large = peak(&child);
    assert!(large <= small + ABOVE_KIB, "{large} KiB, with small replies {small} KiB");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
