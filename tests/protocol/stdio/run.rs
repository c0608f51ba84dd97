//! Starting the server on given streams, and waiting for its end.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE, response};
use serde_json::{Value, json};

pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// Starts the server with streams that the test chose itself.
pub fn spawn(launch: &Launch, stdin: Stdio, stdout: Stdio, stderr: Stdio) -> Child {
    launch.command().stdin(stdin).stdout(stdout).stderr(stderr).spawn().expect("the server starts")
}

/// Waits for a child; its exit code.
pub fn exit_code(child: &mut Child) -> i32 {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the server can be waited for") {
            return status.code().unwrap_or(-1);
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the server does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A tool call as a line, newline included.
pub fn call(id: usize, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

/// `count` calls that each store a task, with ids from 0.
pub fn creates(count: usize) -> String {
    (0..count).map(|id| call(id, "task_create", json!({ "title": format!("task {id}") }))).collect()
}

/// The replies in a stream that holds nothing else.
pub fn replies(bytes: &[u8]) -> Vec<Value> {
    assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "the last reply is whole");
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(response).collect()
}

/// Every reply is a success, and they come in the order of their ids from 0.
pub fn all_answered(replies: &[Value], count: usize) {
    let ids: Vec<usize> =
        replies.iter().map(|reply| usize::try_from(reply["id"].as_u64().unwrap()).unwrap()).collect();
    assert_eq!(ids, (0..count).collect::<Vec<_>>());
    for reply in replies {
        assert_eq!(reply["result"]["structuredContent"]["ok"], true, "{reply}");
    }
}
