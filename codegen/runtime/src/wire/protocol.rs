//! Answers every method except `tools/call`, from the catalogue and without state (`protocol#eras`).

use std::cell::OnceCell;

use serde_json::json;
use serde_json::value::RawValue;

use super::call::ToolCall;
use super::era::{DISCOVER, Era, HANDSHAKE_VERSIONS, SERVER_INFO_KEY, SUPPORTED_VERSIONS, detect};
use super::fault::ProtocolFault;
use super::message::Request;
use super::params::{Params, text_of};
use super::reply::{encode_result, encode_tool_failure, encode_tool_result};
use crate::chain::redact::Redactor;
use crate::chain::selection::Selection;
use crate::spec::{Announcement, CatalogueSpec, ToolSpec};

/// The handshake era's way in.
pub(crate) const INITIALIZE: &str = "initialize";

/// The method of a tool call.
const CALL: &str = "tools/call";

/// How long a client may keep the tool list and the discovery result, in milliseconds: they change
/// only with the binary.
const TTL_MS: u32 = 3_600_000;

/// The result of answering a request.
#[derive(Debug)]
pub enum Answer<'a> {
    /// A finished line for stdout.
    Reply(Vec<u8>),
    /// The line that answers a handshake, and the revision it settled on.
    Handshake {
        /// The line.
        reply: Vec<u8>,
        /// The revision.
        revision: &'static str,
        /// Who the client says it is, as JSON text of any form.
        client_info: Option<&'a RawValue>,
    },
    /// A call for the chain.
    Call(ToolCall<'a>),
}

/// The protocol's answers, each written once: the short ones when the server starts, the lists of tools at the first
/// request for them. The lists are a hundred times as long, and the first answer never is one.
#[derive(Debug)]
pub struct Protocol {
    /// The members of an `initialize` result behind its `protocolVersion`.
    initialize_rest: String,
    discover: String,
    /// The tools that clients see.
    tools: Vec<&'static ToolSpec>,
    selection: Selection,
    list: OnceCell<String>,
    stateless_list: OnceCell<String>,
    /// What a stateless result holds besides its tools.
    caching: String,
    /// What a stateless tool result holds besides its content.
    stateless_extras: String,
}

impl Protocol {
    /// Prepares the answers for a catalogue; `tools` are those that the server's settings select, `selection` is the operator's
    /// choice among them, `announcement` is what clients are told first, and `server_version` is the package's.
    pub fn new(
        catalogue: &CatalogueSpec,
        tools: impl IntoIterator<Item = &'static ToolSpec>,
        selection: &Selection,
        announcement: Option<&Announcement>,
        server_version: &str,
    ) -> Self {
        let server_info =
            json!({ "name": catalogue.name, "title": catalogue.title, "version": server_version });
        let instructions = json!(selection.instructions(catalogue, announcement));
        let capabilities = json!({ "tools": {} });
        let meta = json!({ SERVER_INFO_KEY: server_info });
        let stateless_extras = format!(r#","resultType":"complete","_meta":{meta}"#);
        let caching = format!(r#","ttlMs":{TTL_MS},"cacheScope":"public"{stateless_extras}"#);
        let versions = json!(SUPPORTED_VERSIONS);
        Self {
            initialize_rest: format!(
                r#""capabilities":{capabilities},"serverInfo":{server_info},"instructions":{instructions}"#
            ),
            discover: format!(
                r#"{{"supportedVersions":{versions},"capabilities":{capabilities},"instructions":{instructions}{caching}}}"#
            ),
            tools: tools.into_iter().collect(),
            selection: selection.clone(),
            list: OnceCell::new(),
            stateless_list: OnceCell::new(),
            caching,
            stateless_extras,
        }
    }

    /// Answers a request, or decodes it for the chain. Redacts what the answer repeats of the request.
    pub fn answer<'a>(&self, request: Request<'a>, redactor: &Redactor) -> Answer<'a> {
        self.dispatch(request.redacted(redactor))
            .unwrap_or_else(|fault| Answer::Reply(fault.redacted(redactor).to_line()))
    }

    fn dispatch<'a>(&self, request: Request<'a>) -> Result<Answer<'a>, ProtocolFault<'a>> {
        let params = Params::read(request.params);
        if let Some(flaw) = request.flaw.as_ref().filter(|_| request.method != CALL) {
            return Err(ProtocolFault::invalid_params(&flaw.problem(), request.id));
        }
        let (era, stateless) = detect(&request, &params)?;
        let id = request.id.as_str();
        Ok(Answer::Reply(match (&*request.method, era) {
            (CALL, _) => return ToolCall::decode(request, &params, era, stateless).map(Answer::Call),
            ("tools/list", _) => encode_result(id, self.list(&request, &params, era)?),
            (INITIALIZE, Era::Handshake) => {
                let revision = negotiated(&params);
                let reply = encode_result(id, &self.initialize(revision));
                return Ok(Answer::Handshake { reply, revision, client_info: params.client_info });
            }
            ("ping", Era::Handshake) => encode_result(id, "{}"),
            (DISCOVER, Era::Stateless) => encode_result(id, &self.discover),
            (method, _) => return Err(ProtocolFault::unknown_method(method, request.id.clone())),
        }))
    }

    /// Returns the answer to a tool call. `envelope` and `notice` are compact JSON text.
    pub fn tool_result(
        &self,
        era: Era,
        id: &str,
        envelope: &str,
        is_error: bool,
        notice: Option<&str>,
    ) -> Vec<u8> {
        encode_tool_result(id, envelope, is_error, notice, self.extras(era))
    }

    /// Returns the answer to a tool call that failed, as a text alone.
    pub(crate) fn tool_failure(&self, era: Era, id: &str, text: &str, notice: Option<&str>) -> Vec<u8> {
        encode_tool_failure(id, text, notice, self.extras(era))
    }

    fn extras(&self, era: Era) -> &str {
        match era {
            Era::Handshake => "",
            Era::Stateless => &self.stateless_extras,
        }
    }

    fn list<'a>(
        &self,
        request: &Request<'a>,
        params: &Params<'a>,
        era: Era,
    ) -> Result<&str, ProtocolFault<'a>> {
        // The list has one page, so the server never gave out a cursor. Some clients write `null` for "none".
        if params.cursor.is_some_and(|cursor| cursor.get() != "null") {
            return Err(ProtocolFault::invalid_params("unknown cursor", request.id.clone()));
        }
        let (list, extras) = match era {
            Era::Handshake => (&self.list, ""),
            Era::Stateless => (&self.stateless_list, &*self.caching),
        };
        let entries =
            || self.tools.iter().map(|tool| self.selection.listing(tool)).collect::<Vec<_>>().join(",");
        Ok(list.get_or_init(|| format!(r#"{{"tools":[{}]{extras}}}"#, entries())))
    }

    fn initialize(&self, revision: &str) -> String {
        format!(r#"{{"protocolVersion":"{revision}",{}}}"#, self.initialize_rest)
    }
}

/// Returns the revision asked for, if it is of the handshake era; otherwise the newest of that era.
fn negotiated(params: &Params<'_>) -> &'static str {
    let wanted = params.protocol_version.and_then(|raw| text_of(raw.get()));
    let version = HANDSHAKE_VERSIONS.iter().find(|version| wanted.as_deref() == Some(**version));
    version.unwrap_or(&HANDSHAKE_VERSIONS[0])
}
