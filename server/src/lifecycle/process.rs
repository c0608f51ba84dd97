//! The server as a process: configuration, watchdog, panic hook, exit code.

use std::process::ExitCode;
use std::sync::Arc;

use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::handler::{Dispatch, in_handler};
use colibri_runtime::serve::Finish;
use colibri_runtime::spec::CatalogueSpec;
use colibri_runtime::wire::midline::Midline;
use tokio::sync::oneshot;

use super::exit;
use super::limits;
use super::log::Logger;
use super::options::{AuditChoice, Options};
use super::server::{Server, StartError, create_server};
use super::transport::Stdio;
use super::watchdog::{self, Signals, Watch};
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;
use crate::tools::cx::Cx;

/// Serves a catalogue over the process's own streams until they end.
pub fn serve<D: Dispatch<Cx>>(catalogue: &'static CatalogueSpec, dispatch: D) -> ExitCode {
    serve_with(catalogue, dispatch, Options::default())
}

/// Like [`serve`], with the caller's options; transport and audit are always the process's.
pub fn serve_with<D: Dispatch<Cx>>(
    catalogue: &'static CatalogueSpec,
    dispatch: D,
    options: Options,
) -> ExitCode {
    match run(catalogue, dispatch, options) {
        Ok(code) | Err(code) => ExitCode::from(code),
    }
}

fn run<D: Dispatch<Cx>>(
    catalogue: &'static CatalogueSpec,
    dispatch: D,
    mut options: Options,
) -> Result<u8, u8> {
    let stdio = Stdio::default();
    let modes = stdio.modes();
    let (config, log) = configured(&options.environment, modes.midline())?;
    hook_panics(log.clone());
    options.transport = Box::new(stdio);
    options.audit = AuditChoice::ByMode;
    options.log = Some(log.clone());
    let (startup_timeout_ms, cleanup_timeout_ms) = (config.startup_timeout_ms, options.cleanup_timeout_ms);
    options.config = Some(config);
    let fatal = |reason: String| {
        log.write(Level::Error, &format!("[colibri] fatal: {reason}"));
        exit::FAILURE
    };
    limits::check(&*options.clock).map_err(&fatal)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| fatal(error.to_string()))?;
    let signals = {
        let _inside = runtime.enter();
        limits::ignore_file_size_signal()
            .and_then(|()| Signals::install())
            .map_err(|error| fatal(error.to_string()))?
    };
    let mut server = create_server(catalogue, dispatch, options).map_err(|error| fatal(error.to_string()))?;
    let (done, started) = oneshot::channel();
    let watch = Watch {
        controls: server.controls(),
        modes,
        log: log.clone(),
        startup_timeout_ms,
        cleanup_timeout_ms,
        started,
    };
    server.on_phase2(done);
    let watching = || {
        if let Err(error) = watchdog::start(watch, signals) {
            // Nothing is open yet.
            std::process::exit(i32::from(fatal(error.to_string())));
        }
    };
    runtime.block_on(live(&mut server, watching, &*log))
}

/// Runs the server from start to stop.
async fn live<D: Dispatch<Cx>>(
    server: &mut Server<D>,
    beside: impl FnOnce(),
    log: &dyn Log,
) -> Result<u8, u8> {
    if let Err(error) = server.start().await {
        log.write(Level::Error, &format!("[colibri] fatal: {error}"));
        server.stop();
        return Err(if error == StartError::Timeout { exit::STARTUP_TIMEOUT } else { exit::FAILURE });
    }
    let finish = server.run_beside(beside).await;
    let code = match &finish {
        Finish::EndOfInput | Finish::Stopped => exit::SUCCESS,
        Finish::Forced | Finish::ClientGone => exit::FAILURE,
        Finish::StartupFailed(reason) | Finish::Fatal(reason) => {
            log.write(Level::Error, &format!("[colibri] fatal: {reason}"));
            exit::FAILURE
        }
    };
    let closed = server.stop();
    Ok(if closed { code } else { exit::FAILURE })
}

/// Reads the configuration and makes the log, or reports every problem.
fn configured(environment: &Environment, midline: Midline) -> Result<(Config, Arc<dyn Log>), u8> {
    match load_config(environment, std::process::id()) {
        Ok((config, warnings)) => {
            let log = Logger::beside(config.log_level, Redactor::new(config.secrets()), midline);
            for warning in warnings {
                log.warn(&warning);
            }
            Ok((config, Arc::new(log)))
        }
        Err(problems) => {
            let log = Logger::stderr(Some(Level::Error), Redactor::default());
            for problem in problems {
                log.error(&format!("[colibri] fatal: {problem}"));
            }
            Err(exit::FAILURE)
        }
    }
}

/// Installs the panic hook. A panic inside a handler belongs to its call. A panic anywhere else is a bug:
/// the process reports it and ends without draining.
pub(crate) fn hook_panics(log: Arc<dyn Log>) {
    std::panic::set_hook(Box::new(move |info| {
        if !in_handler() {
            let why = format!("[colibri] uncaughtException: {info}");
            exit::at_once(&*log, Level::Error, &why, exit::FAILURE);
        }
    }));
}
