//! From a frame to what the loop does with it: an answer at once, a call, a cancellation, or nothing.

use crate::chain::call::{Answer as CallAnswer, Call, Reply, ReplyTo};
use crate::chain::registry::Registry;
use crate::wire::era::Era;
use crate::wire::fault::{INVALID_PARAMS, ProtocolFault};
use crate::wire::frame::Frame;
use crate::wire::message::{Incoming, Notification, decode};
use crate::wire::protocol::{Answer, Protocol};
use crate::wire::reply::encode_error;

/// What a frame comes to.
pub enum Inbound {
    /// The answer is in the buffer.
    Answered,
    /// Nothing is answered; odd input carries a warning for the log.
    Ignored(Option<String>),
    /// The client does not want the answer to that request any more (JSON text of its id).
    Cancel(Box<str>),
    /// A tool call.
    Call(Call),
}

/// Decodes frames and encodes replies, from one catalogue.
#[derive(Debug)]
pub struct Intake {
    protocol: Protocol,
}

impl Intake {
    /// Prepares the protocol's fixed answers.
    pub fn new(registry: &Registry, server_version: &str) -> Self {
        Self {
            protocol: Protocol::new(registry.catalogue(), registry.tools().iter().copied(), server_version),
        }
    }

    /// Takes one frame; answers of protocol methods are appended to `out`.
    pub fn take(&self, frame: Frame, out: &mut Vec<u8>) -> Inbound {
        let line = match frame {
            Frame::TooLong => {
                out.extend_from_slice(&ProtocolFault::too_large().to_line());
                return Inbound::Answered;
            }
            Frame::Line(line) => line,
        };
        match decode(&line) {
            Incoming::Response => Inbound::Ignored(None),
            Incoming::Notification(notification) => notified(&notification),
            Incoming::Fault(fault) => {
                out.extend_from_slice(&fault.to_line());
                Inbound::Answered
            }
            Incoming::Request(request) => match self.protocol.answer(request) {
                Answer::Reply(reply) => {
                    out.extend_from_slice(&reply);
                    Inbound::Answered
                }
                Answer::Call(call) => Inbound::Call(Call {
                    reply_to: ReplyTo { id: call.id.as_str().into(), stateless: call.era == Era::Stateless },
                    name: call.name.into_owned(),
                    arguments: call.arguments,
                    trace_context: call.trace_context,
                    bytes: line.len(),
                    since_ms: 0.0,
                }),
            },
        }
    }

    /// Appends a reply's line.
    pub fn encode(&self, out: &mut Vec<u8>, reply: &Reply) {
        let line = match &reply.answer {
            CallAnswer::Tool { envelope, is_error } => {
                let era = if reply.to.stateless { Era::Stateless } else { Era::Handshake };
                self.protocol.tool_result(era, &reply.to.id, envelope, *is_error)
            }
            CallAnswer::UnknownTool { message, data } => {
                encode_error(Some(&reply.to.id), INVALID_PARAMS, message, Some(data))
            }
        };
        out.extend_from_slice(&line);
    }
}

fn notified(notification: &Notification<'_>) -> Inbound {
    if let Some(request_id) = notification.cancelled() {
        return Inbound::Cancel(request_id.as_str().into());
    }
    // A call without an id could not be answered; running it all the same would hide its outcome.
    let call = notification.method == "tools/call";
    Inbound::Ignored(call.then(|| "tools/call without an id was not executed".to_owned()))
}
