//! The system tools: a probe, and the state of the server. They run in every mode and both phases, and never fail.

use super::Domains;
use super::cx::Cx;
use crate::catalogue::{
    ServerHealthError, ServerHealthInput, ServerHealthOutput, ServerPingError, ServerPingInput,
    ServerPingOutput, SystemTools,
};
use crate::domains::system::health::{self, Moment};
use crate::domains::system::published_mode;
use colibri_runtime::handler::Outcome;

impl SystemTools<Cx> for Domains {
    fn server_ping(&mut self, cx: &mut Cx, _: ServerPingInput) -> Outcome<ServerPingOutput, ServerPingError> {
        Ok(ServerPingOutput {
            version: cx.parts.facts.version.clone(),
            mode: published_mode(cx.parts.config.mode),
            uptime_ms: cx.parts.facts.uptime_ms(cx.monotonic_ms()),
        })
    }

    fn server_health(
        &mut self,
        cx: &mut Cx,
        _: ServerHealthInput,
    ) -> Outcome<ServerHealthOutput, ServerHealthError> {
        Ok(health::report(&Moment {
            facts: &cx.parts.facts,
            call: cx.status(),
            now_ms: cx.monotonic_ms(),
            mode: cx.parts.config.mode,
            db: cx.db(),
            skills_root: &cx.parts.skills_root,
        }))
    }
}
