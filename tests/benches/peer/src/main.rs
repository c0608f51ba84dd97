//! A peer of Colibri's: `server_ping`, `task_create` and `thought_record` on the official Rust SDK, as an author would
//! write them who has no chain of stages and takes each call as it comes.
//!
//! | Variable | |
//! | --- | --- |
//! | `PEER_DB` | the file; default in memory |
//! | `PEER_SYNC` | SQLite's `synchronous`: `FULL` (default), `NORMAL` |
//! | `PEER_SCHEMA` | `plain` (default), or `colibri` for its tables, indexes and triggers |
//! | `PEER_PING_AUDIT` | set: `server_ping` leaves a row too |
//! | `PEER_RUNTIME` | `default`: the runtime and streams that the SDK's examples take, instead of its fastest |

mod input;
mod plain;
mod same;
mod store;

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::{Json, ServerHandler, ServiceExt, tool, tool_handler, tool_router, transport};
use schemars::JsonSchema;
use serde::Serialize;

use input::{NewTask, NewThought, Task, Thought};
use plain::Plain;
use same::Same;
use store::{Schema, Store};

/// The answer to a ping.
#[derive(Serialize, JsonSchema)]
struct Pong {
    version: &'static str,
    uptime_ms: u64,
}

#[derive(Clone)]
struct Peer {
    store: Arc<Mutex<Store>>,
    started: Instant,
    audits_pings: bool,
    tool_router: ToolRouter<Self>,
}

impl Peer {
    fn run<T>(&self, work: impl FnOnce(&mut Store) -> Result<T, store::Error>) -> Result<Json<T>, String> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut store).map(Json).map_err(|error| error.to_string())
    }
}

#[tool_router]
impl Peer {
    #[tool(description = "Is the server there?", annotations(read_only_hint = true))]
    async fn server_ping(&self) -> Result<Json<Pong>, String> {
        if self.audits_pings {
            self.run(Store::ping)?;
        }
        let uptime_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Json(Pong { version: env!("CARGO_PKG_VERSION"), uptime_ms }))
    }

    #[tool(description = "Create a task in state INIT")]
    async fn task_create(&self, Parameters(new): Parameters<NewTask>) -> Result<Json<Task>, String> {
        self.run(|store| store.task_create(new))
    }

    #[tool(description = "Append a thought to a task's chain")]
    async fn thought_record(&self, Parameters(new): Parameters<NewThought>) -> Result<Json<Thought>, String> {
        self.run(|store| store.thought_record(new))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Peer {}

fn variable(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

fn peer() -> Result<Peer, Box<dyn Error>> {
    let schema: Box<dyn Schema + Send> = match variable("PEER_SCHEMA", "plain").as_str() {
        "plain" => Box::new(Plain),
        "colibri" => Box::new(Same::new()),
        other => return Err(format!("PEER_SCHEMA is plain or colibri, not {other}").into()),
    };
    let store = Store::open(&variable("PEER_DB", ":memory:"), &variable("PEER_SYNC", "FULL"), schema)?;
    Ok(Peer {
        store: Arc::new(Mutex::new(store)),
        started: Instant::now(),
        audits_pings: std::env::var_os("PEER_PING_AUDIT").is_some(),
        tool_router: Peer::tool_router(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    if variable("PEER_RUNTIME", "fastest") == "default" {
        let runtime = tokio::runtime::Runtime::new()?;
        return runtime.block_on(async {
            peer()?.serve(transport::stdio()).await?.waiting().await?;
            Ok(())
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        peer()?.serve(transport::io::stdio_pipes()).await?.waiting().await?;
        Ok(())
    })
}
