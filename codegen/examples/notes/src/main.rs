//! A two-tool MCP server that keeps its notes in memory: nothing but a catalogue, a build script and
//! a trait's implementation.

mod notes;

use std::process::ExitCode;
use std::sync::Arc;

use colibri_runtime::chain::log::NoLog;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::kernel::{SystemClock, SystemIds};
use colibri_runtime::memory::MemoryStore;
use colibri_runtime::serve::{Control, Finish, Serve};
use colibri_runtime::wire::stdio;

/// The catalogue, compiled.
pub mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{CATALOGUE, Dispatcher};
use notes::{Notes, Server};

fn main() -> ExitCode {
    let modes = stdio::Modes::default();
    let finish = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .and_then(|runtime| runtime.block_on(serve(&modes)));
    modes.restore();
    match finish {
        Ok(Finish::EndOfInput | Finish::Stopped | Finish::ClientGone) => ExitCode::SUCCESS,
        Ok(Finish::Forced | Finish::StartupFailed(_) | Finish::Fatal(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// Serves stdin until it ends.
async fn serve(modes: &stdio::Modes) -> std::io::Result<Finish> {
    let registry = Registry::of(&CATALOGUE).map_err(std::io::Error::other)?;
    let kernel = Kernel {
        clock: Arc::new(SystemClock::default()),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::new([]),
    };
    let store = MemoryStore::new(Notes::new());
    let mut chain = Chain::new(registry, store, Dispatcher(Server), Audit::Buffer, kernel);
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    // There is nothing to wait for: the store is open at once.
    let opened = Control::Opened(Ok((MemoryStore::new(Notes::new()), "memory")));
    controls.send(opened).map_err(|_| std::io::Error::other("the loop does not listen"))?;
    let streams = stdio::open(modes)?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(Serve::new(&mut chain, version, streams.reader, streams.writer, received).run().await)
}
