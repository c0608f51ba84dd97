//! The system tools: a probe, and the state of the server. They run in every mode and both phases, and never fail.

use super::Domains;
use super::callers::begin_caller;
use super::cx::Cx;
use super::notes::add_note;
use crate::catalogue::{
    CallNote, CallNoteError, CallNoteInput, Caller, CallerBeginError, CallerBeginInput, ServerHealthError,
    ServerHealthInput, ServerHealthOutput, ServerPingError, ServerPingInput, ServerPingOutput, SystemTools,
};
use crate::domains::callers::Asserted;
use crate::domains::callers::published;
use crate::domains::notes::published as published_note;
use crate::domains::system::health::{self, Moment};
use crate::domains::system::published_mode;
use colibri_runtime::handler::{Fault, Outcome};
use serde_json::Value;

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

    fn caller_begin(&mut self, cx: &mut Cx, input: CallerBeginInput) -> Outcome<Caller, CallerBeginError> {
        let CallerBeginInput { source, client_name, client_title, client_version, protocol } = input;
        let source = source.to_string();
        let asserted = Asserted { source, client_name, client_title, client_version, protocol };
        let row = begin_caller(cx, asserted)?;
        let caller = published(row);
        Ok(caller.ok_or_else(|| Fault::Other("the stored caller has no published form".to_owned()))?)
    }

    fn call_note(&mut self, cx: &mut Cx, input: CallNoteInput) -> Outcome<CallNote, CallNoteError> {
        let CallNoteInput { about, kind, body } = input;
        let body = Value::Object(body.into_iter().collect());
        Ok(published_note(add_note(cx, about, kind.as_str().to_owned(), &body)?))
    }
}
