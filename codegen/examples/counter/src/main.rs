//! A counter behind two tools.

use std::process::ExitCode;
use std::sync::Arc;

use colibri_runtime::chain::log::NoLog;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::chain::{Audit, Chain, Kernel};
use colibri_runtime::handler::Outcome;
use colibri_runtime::kernel::{SystemClock, SystemIds};
use colibri_runtime::memory::{MemoryCx, MemoryStore};
use colibri_runtime::serve::{Control, Finish, Serve};
use colibri_runtime::wire::stdio;

/// The catalogue, compiled.
mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{
    CATALOGUE, CounterAddError, CounterAddInput, CounterAddOutput, CounterReadError, CounterReadInput,
    CounterReadOutput, CounterTools, Dispatcher, Handlers,
};

/// What the store keeps: the counter's value.
type Cx = MemoryCx<i64>;

struct Server;

impl Handlers<Cx> for Server {}

impl CounterTools<Cx> for Server {
    fn counter_add(
        &mut self,
        cx: &mut Cx,
        input: CounterAddInput,
    ) -> Outcome<CounterAddOutput, CounterAddError> {
        let value = cx.data + input.amount;
        if value > 100 {
            return Err(CounterAddError::OverLimit { value: cx.data }.into());
        }
        cx.data = value;
        Ok(CounterAddOutput { value })
    }

    fn counter_read(
        &mut self,
        cx: &mut Cx,
        _: CounterReadInput,
    ) -> Outcome<CounterReadOutput, CounterReadError> {
        Ok(CounterReadOutput { value: cx.data })
    }
}

fn main() -> ExitCode {
    let modes = stdio::Modes::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let finish = runtime.and_then(|runtime| runtime.block_on(serve(&modes)));
    modes.restore();
    match finish {
        Ok(Finish::EndOfInput | Finish::Stopped | Finish::ClientGone) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Serves stdin until it ends.
async fn serve(modes: &stdio::Modes) -> std::io::Result<Finish> {
    let kernel = Kernel {
        clock: Arc::new(SystemClock::default()),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::new([]),
    };
    let registry = Registry::of(&CATALOGUE).map_err(std::io::Error::other)?;
    let mut chain = Chain::new(registry, MemoryStore::new(0), Dispatcher(Server), Audit::Buffer, kernel);
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    // A store that has to be opened says so later; this one is there at once.
    controls.send(Control::Opened(Ok((MemoryStore::new(0), "memory")))).map_err(std::io::Error::other)?;
    let streams = stdio::open(modes)?;
    let version = env!("CARGO_PKG_VERSION");
    Ok(Serve::new(&mut chain, version, streams.reader, streams.writer, received).run().await)
}
