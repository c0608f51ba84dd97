//! The system tools (alpha §10): is the server alive, and in what state. They run in every mode and
//! both phases, and never fail.

pub mod facts;
mod health;
mod store;

use colibri_runtime::handler::Outcome;

use super::Domains;
use crate::catalogue::{
    self, ServerHealthError, ServerHealthInput, ServerHealthOutput, ServerPingError, ServerPingInput,
    ServerPingOutput, SystemTools,
};
use crate::context::Cx;
use crate::settings::mode::Mode;

impl SystemTools<Cx> for Domains {
    fn server_ping(&mut self, cx: &mut Cx, _: ServerPingInput) -> Outcome<ServerPingOutput, ServerPingError> {
        Ok(ServerPingOutput {
            version: cx.facts().version.clone(),
            mode: published_mode(cx.config().mode),
            uptime_ms: cx.facts().uptime_ms(cx.monotonic_ms()),
        })
    }

    fn server_health(
        &mut self,
        cx: &mut Cx,
        _: ServerHealthInput,
    ) -> Outcome<ServerHealthOutput, ServerHealthError> {
        Ok(health::report(cx))
    }
}

/// The mode as the catalogue publishes it.
fn published_mode(mode: Mode) -> catalogue::Mode {
    match mode {
        Mode::Full => catalogue::Mode::Full,
        Mode::Readonly => catalogue::Mode::Readonly,
        Mode::Test => catalogue::Mode::Test,
        Mode::Minimal => catalogue::Mode::Minimal,
    }
}

#[cfg(test)]
mod tests;
