//! A whole server in one call.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use crate::chain::log::NoLog;
use crate::chain::redact::Redactor;
use crate::chain::registry::Registry;
use crate::chain::store::Store;
use crate::chain::{Audit, Chain, Kernel};
use crate::handler::Dispatch;
use crate::kernel::{SystemClock, SystemIds};
use crate::serve::{Control, Finish, Serve};
use crate::spec::CatalogueSpec;
use crate::wire::stdio;

/// Serves a catalogue over stdin and stdout until the input ends, with the system's clock and ids, no log, and a store that is
/// ready at once. `version` is the server's own. A server that needs more puts [`Chain`], [`Kernel`] and [`Serve`] together itself.
///
/// Returns failure, with the reason on stderr, if the catalogue or the streams cannot be used or the store fails for good.
pub fn serve_stdio<S, D>(catalogue: &'static CatalogueSpec, version: &str, dispatch: D, store: S) -> ExitCode
where
    S: Store + Clone,
    D: Dispatch<S::Cx>,
{
    let modes = stdio::Modes::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let finish =
        runtime.and_then(|runtime| runtime.block_on(serve(&modes, catalogue, version, dispatch, store)));
    modes.restore();
    let reason = match finish {
        Ok(Finish::EndOfInput | Finish::Stopped | Finish::ClientGone) => return ExitCode::SUCCESS,
        Ok(Finish::Forced) => return ExitCode::FAILURE,
        Ok(Finish::StartupFailed(reason) | Finish::Fatal(reason)) => reason,
        Err(error) => error.to_string(),
    };
    // A closed stderr changes nothing about the exit code.
    let _ = writeln!(io::stderr(), "{}: {reason}", catalogue.name);
    ExitCode::FAILURE
}

async fn serve<S, D>(
    modes: &stdio::Modes,
    catalogue: &'static CatalogueSpec,
    version: &str,
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
    Ok(Serve::new(&mut chain, version, streams.reader, streams.writer, received).run().await)
}
