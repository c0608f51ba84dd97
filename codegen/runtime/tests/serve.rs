//! The loop over a pipe, with handlers that block: what is answered meanwhile, and how many run at a time.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use colibri_runtime::chain::log::NoLog;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::handler::{Dispatch, Dispatched, Failure, Fault, NetworkCall, ScanCall, in_thread};
use colibri_runtime::kernel::{SystemClock, SystemIds};
use colibri_runtime::schema::{Additional, ObjectRule, Schema, Shape};
use colibri_runtime::serve::{Control, Finish, Serve};
use colibri_runtime::spec::{CatalogueSpec, ChainCode, ChainCodes, Pattern, Profile, Runs, ToolSpec};
use colibri_runtime::wire::frame::LINE_LIMIT;
use colibri_runtime::{MemoryCx, MemoryStore};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};

static ANYTHING: Schema = Schema {
    shape: Shape::Object(&ObjectRule { properties: &[], additional: Additional::Open }),
    nullable: false,
    message: None,
};

const fn tool(name: &'static str, runs: Runs) -> ToolSpec {
    ToolSpec {
        name,
        domain: "test",
        toolset: None,
        pattern: Pattern::C,
        runs,
        early: false,
        sensitive: &[],
        input: &ANYTHING,
        rules: &[],
        output: &ANYTHING,
        codes: &[],
        listing: "{}",
        relaxed: None,
    }
}

const WORD: ChainCode = ChainCode { code: "WORD", message: "WORD", remedy: "WORD" };

static CATALOGUE: CatalogueSpec = CatalogueSpec {
    name: "test",
    title: "Test",
    version: "0.0.0",
    instructions: "",
    profile: Profile::House,
    toolsets: &[],
    announcements: &[],
    tools: &[tool("two", Runs::Network { at_a_time: 2 }), tool("one", Runs::Network { at_a_time: 1 })],
    operations: &[],
    codes: ChainCodes {
        invalid_params: WORD,
        handler_error: ChainCode { code: "FAILED", ..WORD },
        audit_enter_failed: WORD,
        not_admitted: WORD,
        not_in_toolset: WORD,
        unknown_tool: WORD,
        process_aborted: WORD,
        cancelled: WORD,
        storage_failure: WORD,
        store_commit_failed: WORD,
        startup_failed: WORD,
        arguments_redacted: Some(WORD),
    },
    foreign: None,
};

/// Says when a handler has begun, and keeps it until it is told to go on.
struct Blocking {
    begun: Sender<()>,
    go_on: Arc<Mutex<Receiver<()>>>,
}

impl Dispatch<MemoryCx<()>> for Blocking {
    fn call(&mut self, _: &mut MemoryCx<()>, _: usize, _: &Value) -> Dispatched {
        Dispatched::Fault(Fault::Other("nothing runs in the loop".to_owned()))
    }

    fn scan(&mut self, _: usize, _: Value) -> ScanCall<MemoryCx<()>> {
        Box::new(|(), _| Dispatched::Fault(Fault::Other("there is no scan".to_owned())))
    }

    fn network(&mut self, (): (), _: usize, arguments: Value) -> NetworkCall {
        let (begun, go_on) = (self.begun.clone(), self.go_on.clone());
        let work = in_thread::<_, std::convert::Infallible>(move || {
            begun.send(()).unwrap();
            go_on.lock().unwrap().recv().unwrap();
            assert_ne!(arguments["how"], "panic", "as asked");
            Ok(arguments)
        });
        Box::pin(async move {
            match work.await {
                Ok(value) => Dispatched::Value(value),
                Err(Failure::Fault(fault)) => Dispatched::Fault(fault),
                Err(Failure::Domain(never)) => match never {},
            }
        })
    }
}

/// The client's end of the loop.
struct Client {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    begun: Receiver<()>,
    go_on: Sender<()>,
}

impl Client {
    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u32, tool: &str, how: &str) {
        let params = json!({ "name": tool, "arguments": { "how": how } });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).await;
    }

    async fn answer(&mut self) -> Value {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(60), read).await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits until this number of handlers have begun, and checks that no other begins while a ping is answered.
    async fn begun(&mut self, handlers: usize) {
        for _ in 0..handlers {
            while self.begun.try_recv().is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        self.ping().await;
        assert!(self.begun.try_recv().is_err(), "more than {handlers} have begun");
    }

    async fn ping(&mut self) {
        self.send(json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" })).await;
        assert_eq!(self.answer().await, json!({ "jsonrpc": "2.0", "id": "ping", "result": {} }));
    }
}

/// Runs a client against the loop, both in this thread.
fn with_loop<F: Future<Output = ()>>(client: impl FnOnce(Client) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ((begun, seen), (go_on, told)) = (channel(), channel());
        let kernel = Kernel {
            clock: Arc::new(SystemClock::default()),
            ids: Box::new(SystemIds::default()),
            log: Arc::new(NoLog),
            redactor: Redactor::new(["hunter2hunter2".to_owned()]),
        };
        let handlers = Blocking { begun, go_on: Arc::new(Mutex::new(told)) };
        let store = MemoryStore::new(());
        let registry = Registry::of(&CATALOGUE).unwrap();
        let mut chain = Chain::new(registry, store.clone(), handlers, Audit::Buffer, kernel);
        let (controls, received) = tokio::sync::mpsc::unbounded_channel();
        assert!(controls.send(Control::Opened(Ok((store, "memory")))).is_ok());
        let (input, reader) = duplex(1 << 16);
        let (writer, output) = duplex(1 << 16);
        let serve = Serve::new(&mut chain, "1", Box::new(reader), Box::new(writer), received);
        let client = client(Client { input, output: BufReader::new(output), begun: seen, go_on });
        let (finish, ()) = tokio::join!(serve.run(), client);
        assert_eq!(finish, Finish::EndOfInput);
    });
}

#[test]
fn ping_is_answered_while_handlers_block_in_their_threads() {
    with_loop(async |mut client: Client| {
        client.call(1, "one", "well").await;
        client.begun(1).await;
        client.go_on.send(()).unwrap();
        let answer = client.answer().await;
        assert_eq!(answer["result"]["structuredContent"], json!({ "ok": true, "data": { "how": "well" } }));
        client.call(2, "one", "panic").await;
        client.begun(1).await;
        client.go_on.send(()).unwrap();
        let answer = client.answer().await;
        let error = json!({ "code": "FAILED", "message": "handler panicked" });
        assert_eq!(answer["result"]["structuredContent"]["error"], error);
    });
}

#[test]
fn as_many_calls_run_at_a_time_as_the_tool_states() {
    with_loop(async |mut client: Client| {
        for id in 1..=5 {
            client.call(id, "two", "well").await;
        }
        client.begun(2).await;
        let mut answered = Vec::new();
        for waiting in [1, 1, 1, 0, 0] {
            client.go_on.send(()).unwrap();
            answered.push(client.answer().await["id"].as_u64().unwrap());
            // One that ends makes room for one more.
            client.begun(waiting).await;
        }
        // Which of two handlers goes on is up to their threads.
        answered.sort_unstable();
        assert_eq!(answered, [1, 2, 3, 4, 5]);
    });
}

#[test]
fn a_cancelled_call_frees_its_place_and_the_thread_ends_by_itself() {
    with_loop(async |mut client: Client| {
        for id in 1..=3 {
            client.call(id, "two", "well").await;
        }
        client.begun(2).await;
        let params = json!({ "requestId": 1 });
        client.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
        client.begun(1).await;
        for _ in 0..3 {
            client.go_on.send(()).unwrap();
        }
        let mut answered = [client.answer().await["id"].clone(), client.answer().await["id"].clone()];
        answered.sort_by_key(Value::as_u64);
        assert_eq!(answered, [2, 3]);
    });
}

#[test]
fn a_line_that_is_too_long_is_answered_with_its_id() {
    with_loop(async |mut client: Client| {
        for (id, echoed) in [(r#""a\u0041""#, json!("aA")), (r#""hunter2hunter2""#, json!("[redacted]"))] {
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":""#);
            let line = format!("{start}{}\"}}\n", "x".repeat(LINE_LIMIT));
            client.input.write_all(line.as_bytes()).await.unwrap();
            let error = json!({ "code": -32600, "message": "Invalid Request: message too large" });
            assert_eq!(client.answer().await, json!({ "jsonrpc": "2.0", "id": echoed, "error": error }));
        }
        client.ping().await;
    });
}

#[test]
fn what_waits_is_bounded_by_its_bytes_and_nothing_of_it_is_lost() {
    const CALLS: u32 = 13;
    // Calls that wait, a line that is not taken yet, and what is between client and loop.
    const MOST: usize = (8 + 1 + 1) << 20;
    with_loop(async |mut client: Client| {
        client.call(0, "one", "well").await;
        client.begun(1).await;
        let lines: Vec<String> = (1..=CALLS)
            .map(|id| {
                let arguments = json!({ "how": "well", "pad": "x".repeat(1 << 20) });
                let params = json!({ "name": "one", "arguments": arguments });
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
                    + "\n"
            })
            .collect();
        let bytes = lines.concat().into_bytes();
        let mut sent = 0;
        while let Ok(written) =
            tokio::time::timeout(Duration::from_millis(500), client.input.write(&bytes[sent..])).await
        {
            sent += written.unwrap();
        }
        assert!(sent < MOST, "{sent} bytes were read while one call ran");
        for _ in 0..=CALLS {
            client.go_on.send(()).unwrap();
        }
        let Client { mut input, output, .. } = client;
        let send = async move { input.write_all(&bytes[sent..]).await.unwrap() };
        let receive = async move {
            let (mut lines, mut ids) = (output.lines(), Vec::new());
            // The chain keeps the output open for notes of progress. A further answer would find no reader, which ends the loop otherwise.
            for _ in 0..=CALLS {
                let line = lines.next_line().await.unwrap().unwrap();
                ids.push(serde_json::from_str::<Value>(&line).unwrap()["id"].as_u64().unwrap());
            }
            assert_eq!(ids, (0..=u64::from(CALLS)).collect::<Vec<_>>());
        };
        tokio::join!(send, receive);
    });
}
