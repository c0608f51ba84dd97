//! A whole server in one call.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use crate::chain::log::NoLog;
use crate::chain::redact::Redactor;
use crate::chain::registry::Registry;
use crate::chain::store::Store;
use crate::chain::{Audit, Chain, Kernel};
use crate::handler::Dispatch;
use crate::kernel::{SystemClock, SystemIds};
use crate::memory::{MemoryCx, MemoryStore};
use crate::serve::{Control, Finish, Serve};
use crate::spec::CatalogueSpec;
use crate::wire::stdio;

/// Serves a catalogue over stdin and stdout until the input ends: a whole `main`. What handlers keep in `cx.data` begins with its
/// default; what they keep in themselves begins as it was made. Clients read the catalogue's version as the server's.
///
/// Returns failure, with the reason on stderr, if the catalogue or the streams cannot be used.
pub fn serve_stdio<T, D>(catalogue: &'static CatalogueSpec, dispatch: D) -> ExitCode
where
    T: Default + Clone + Send + 'static,
    D: Dispatch<MemoryCx<T>>,
{
    serve_stdio_with(catalogue, dispatch, MemoryStore::new(T::default()))
}

/// As [`serve_stdio`], with a store that is ready at once. Clock and ids are the system's, and there is no log. A server that needs more
/// puts [`Chain`], [`Kernel`] and [`Serve`] together itself.
///
/// Returns failure, with the reason on stderr, if the catalogue or the streams cannot be used or the store fails for good.
pub fn serve_stdio_with<S, D>(catalogue: &'static CatalogueSpec, dispatch: D, store: S) -> ExitCode
where
    S: Store + Clone,
    D: Dispatch<S::Cx>,
{
    let modes = stdio::Modes::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let finish = runtime.and_then(|runtime| runtime.block_on(serve(&modes, catalogue, dispatch, store)));
    modes.restore();
    let reason = match finish {
        Ok(Finish::EndOfInput | Finish::Stopped | Finish::ClientGone) => return ExitCode::SUCCESS,
        Ok(Finish::Forced) => return ExitCode::FAILURE,
        Ok(Finish::StartupFailed(reason) | Finish::Fatal(reason)) => reason,
        Err(error) => error.to_string(),
    };
    colibri_stderr::say(catalogue.name, &format!("{}: {reason}", catalogue.name));
    ExitCode::FAILURE
}

async fn serve<S, D>(
    modes: &stdio::Modes,
    catalogue: &'static CatalogueSpec,
    dispatch: D,
    store: S,
) -> io::Result<Finish>
where
    S: Store + Clone,
    D: Dispatch<S::Cx>,
{
    let kernel = Kernel {
        clock: Arc::new(SystemClock::default()),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::new([]),
    };
    let registry = Registry::of(catalogue).map_err(io::Error::other)?;
    let mut chain = Chain::new(registry, store.clone(), dispatch, Audit::Buffer, kernel);
    let (controls, received) = tokio::sync::mpsc::unbounded_channel();
    // A store that has to be opened says so later; this one is ready.
    controls
        .send(Control::Opened(Ok((store, "memory"))))
        .map_err(|_| io::Error::other("the loop is gone"))?;
    let streams = stdio::open(modes)?;
    Ok(Serve::new(&mut chain, catalogue.version, streams.reader, streams.writer, received).run().await)
}
