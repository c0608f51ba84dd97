//! Turns a frame into what the loop does with it: an answer at once, a call, a cancellation, or nothing.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::chain::call::{Answer as CallAnswer, Arguments, Call, Member, Reply, ReplyTo};
use crate::chain::redact::Redactor;
use crate::chain::selection::Selection;
use crate::progress::Progress;
use crate::spec::{Announcement, CatalogueSpec, ToolSpec};
use crate::wire::array::{Arrays, MEMBERS};
use crate::wire::call::ToolCall;
use crate::wire::era::{BATCH_VERSION, Era, WORDLESS_VERSION};
use crate::wire::fault::{INVALID_PARAMS, ProtocolFault};
use crate::wire::frame::Frame;
use crate::wire::identity::Identities;
use crate::wire::in_flight::{Held, InFlight};
use crate::wire::message::{Incoming, Notification, decode_lossy, decode_member, decode_text};
use crate::wire::protocol::{Answer, INITIALIZE, Protocol};
use crate::wire::reply::encode_error;

/// The result of taking a frame.
pub enum Inbound {
    /// The answer is in the buffer.
    Answered,
    /// The frame gets no answer; odd input carries a warning for the log.
    Ignored(Option<String>),
    /// The client no longer wants the answer to that request.
    Cancel {
        /// JSON text of its id.
        request_id: Box<str>,
        /// SHA-256 (hex) of the reason's text, if it gave one.
        reason_hash: Option<String>,
    },
    /// A tool call.
    Call(Call),
    /// The message is refused, behind the answer to the call that has its id.
    Held,
    /// The results of an array's messages, in their order.
    Array(Vec<Inbound>),
}

/// Decodes frames and encodes replies, from one catalogue.
pub struct Intake {
    protocol: Protocol,
    redactor: Redactor,
    arrays: Arrays,
    in_flight: InFlight,
    /// The connection has negotiated the revision that has arrays.
    takes_arrays: bool,
    /// The connection has negotiated the revision whose notifications of progress have no messages.
    wordless: bool,
    /// Who calls, for the log alone. The intake remembers nothing else of the connection.
    identities: Identities,
}

impl Intake {
    /// Prepares the protocol's fixed answers; `listed` are the tools that clients see. The redactor's secrets are removed
    /// from ids and methods before any other code sees them.
    pub fn new(
        catalogue: &CatalogueSpec,
        listed: impl IntoIterator<Item = &'static ToolSpec>,
        selection: &Selection,
        announcement: Option<&Announcement>,
        redactor: Redactor,
        server_version: &str,
    ) -> Self {
        Self {
            protocol: Protocol::new(catalogue, listed, selection, announcement, server_version),
            redactor,
            arrays: Arrays::default(),
            in_flight: InFlight::default(),
            takes_arrays: false,
            wordless: false,
            identities: Identities::default(),
        }
    }

    /// Takes one frame, and appends answers of protocol methods to `out`.
    pub fn take(&mut self, frame: Frame, out: &mut Vec<u8>) -> Inbound {
        let line = match frame {
            Frame::TooLong(id) => {
                return self.refuse(&ProtocolFault::too_large(id), None, out);
            }
            Frame::Line(line) => line,
        };
        let text = String::from_utf8_lossy(&line);
        let lossy = matches!(text, Cow::Owned(_));
        let incoming = if lossy { decode_lossy(&text) } else { decode_text(&text) };
        match incoming {
            Incoming::Array(members) => self.take_array(&members, lossy, out),
            incoming => self.take_message(incoming, None, line.len(), out),
        }
    }

    fn take_message(
        &mut self,
        incoming: Incoming<'_>,
        member: Option<Member>,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Inbound {
        let request = match incoming {
            Incoming::Response => return Inbound::Ignored(None),
            Incoming::Notification(notification) => return self.notified(&notification, out),
            Incoming::Array(_) => return self.refuse(&ProtocolFault::invalid_request(None), member, out),
            Incoming::Fault(fault) => return self.refuse(&fault, member, out),
            Incoming::Request(request) => request,
        };
        if self.in_flight.has(request.id.as_str()) {
            return self.refuse(&ProtocolFault::repeated(request.id), member, out);
        }
        let answer = match self.protocol.answer(request, &self.redactor) {
            Answer::Reply(reply) => reply,
            Answer::Handshake { reply, revision, client_info } => {
                self.takes_arrays = revision == BATCH_VERSION;
                self.wordless = revision == WORDLESS_VERSION;
                self.identities.greeted(client_info, Some(revision), &self.redactor);
                reply
            }
            Answer::Call(call) => return Inbound::Call(self.call(call, member, bytes)),
        };
        out.extend_from_slice(&answer);
        Inbound::Answered
    }

    fn call(&mut self, call: ToolCall<'_>, member: Option<Member>, bytes: usize) -> Call {
        let stateless = call.era == Era::Stateless;
        let progress = call.progress_token.map_or_else(Progress::default, |token| {
            Progress::under(&self.redactor.redact_json(token), stateless || !self.wordless)
        });
        self.in_flight.begin(call.id.as_str(), member);
        Call {
            reply_to: ReplyTo { id: call.id.as_str().into(), stateless, member, progress },
            name: call.name.into_owned(),
            arguments: Arguments::Text(call.arguments.into()),
            args_hash: call.args_hash,
            trace_context: call.trace_context,
            client: self.identities.of_call(call.stateless, &self.redactor),
            bytes,
            since_ms: 0.0,
            unreadable: call.unreadable,
        }
    }

    /// Answers a message with a fault: at once, or behind the answer to the call in flight that has its id.
    fn refuse(&mut self, fault: &ProtocolFault<'_>, member: Option<Member>, out: &mut Vec<u8>) -> Inbound {
        let fault = fault.clone().redacted(&self.redactor);
        let line = fault.to_line();
        if let Some(id) = &fault.id
            && self.in_flight.delays(id.as_str(), member)
        {
            self.in_flight.hold(id.as_str(), Held { member, line });
            return Inbound::Held;
        }
        out.extend_from_slice(&line);
        Inbound::Answered
    }

    /// Takes the messages of an array one by one, where arrays are received.
    fn take_array(&mut self, messages: &[&RawValue], lossy: bool, out: &mut Vec<u8>) -> Inbound {
        let fault = match messages.len() {
            1..=MEMBERS if self.takes_arrays => None,
            0..=MEMBERS => Some(ProtocolFault::invalid_request(None)),
            _ if self.takes_arrays => Some(ProtocolFault::too_many()),
            _ => Some(ProtocolFault::invalid_request(None)),
        };
        if let Some(fault) = fault {
            return self.refuse(&fault, None, out);
        }
        let busy = self.arrays.is_full();
        let array = self.arrays.open(messages.len());
        let taken = messages.iter().enumerate();
        let taken = taken.map(|(place, message)| {
            let incoming = decode_member(message, lossy);
            self.take_member(incoming, message.get().len(), Member { array, place }, busy)
        });
        let inbound = Inbound::Array(taken.collect());
        self.arrays.taken(array, out);
        self.leave_arrays(out);
        inbound
    }

    fn take_member(&mut self, incoming: Incoming<'_>, bytes: usize, member: Member, busy: bool) -> Inbound {
        let mut answer = Vec::new();
        let incoming = match incoming {
            Incoming::Request(request) if busy => Incoming::Fault(ProtocolFault::busy(request.id)),
            // The revision, and with it whether arrays are allowed, must be settled before the first array.
            Incoming::Request(request) if request.method == INITIALIZE => {
                Incoming::Fault(ProtocolFault::invalid_request(Some(request.id)))
            }
            incoming => incoming,
        };
        let inbound = self.take_message(incoming, Some(member), bytes, &mut answer);
        match &inbound {
            Inbound::Call(call) => self.arrays.expect(member, Some(&call.reply_to.id)),
            Inbound::Held => self.arrays.expect(member, None),
            _ => self.arrays.put(member, answer),
        }
        inbound
    }

    /// Appends a reply's line.
    pub fn encode(&mut self, out: &mut Vec<u8>, reply: &Reply) {
        let line = match &reply.answer {
            CallAnswer::Tool { envelope, is_error } => {
                let era = if reply.to.stateless { Era::Stateless } else { Era::Handshake };
                self.protocol.tool_result(era, &reply.to.id, envelope, *is_error, reply.notice.as_deref())
            }
            CallAnswer::Failure { text } => {
                let era = if reply.to.stateless { Era::Stateless } else { Era::Handshake };
                self.protocol.tool_failure(era, &reply.to.id, text, reply.notice.as_deref())
            }
            CallAnswer::UnknownTool { message, data } => {
                encode_error(Some(&reply.to.id), INVALID_PARAMS, message, Some(data))
            }
        };
        self.send(out, &reply.to, line);
    }

    /// Appends a line that answers a call, or keeps it until its array is complete.
    pub fn send(&mut self, out: &mut Vec<u8>, to: &ReplyTo, line: Vec<u8>) {
        to.progress.end();
        match to.member {
            None => {
                out.extend_from_slice(&line);
                self.answered(&to.id, out);
            }
            Some(member) => {
                self.arrays.answered(member, line, out);
                self.leave_arrays(out);
            }
        }
    }

    /// Notes that a call gets no answer, so that the rest of its array does not wait for it.
    pub fn unanswered(&mut self, out: &mut Vec<u8>, to: &ReplyTo) {
        to.progress.end();
        match to.member {
            None => self.answered(&to.id, out),
            Some(member) => {
                self.arrays.unanswered(member, out);
                self.leave_arrays(out);
            }
        }
    }

    /// Returns whether too many answers wait behind others to read more.
    pub fn is_full(&self) -> bool {
        self.in_flight.is_full()
    }

    /// Ends a call, and sends the refusals that waited for its answer.
    fn answered(&mut self, id: &str, out: &mut Vec<u8>) {
        for held in self.in_flight.end(id) {
            match held.member {
                None => out.extend_from_slice(&held.line),
                Some(member) => self.arrays.answered(member, held.line, out),
            }
        }
    }

    /// Ends the calls of the arrays that have been answered.
    fn leave_arrays(&mut self, out: &mut Vec<u8>) {
        while let Some(id) = self.arrays.next_ended() {
            self.answered(&id, out);
        }
    }

    fn notified(&mut self, notification: &Notification<'_>, out: &mut Vec<u8>) -> Inbound {
        if let Some(request_id) = notification.cancelled() {
            let request_id = request_id.redacted(&self.redactor);
            // The client wants no answer under this id, so the refusals under it go, too.
            for held in self.in_flight.take(request_id.as_str()) {
                if let Some(member) = held.member {
                    self.arrays.unanswered(member, out);
                }
            }
            self.leave_arrays(out);
            let reason_hash = notification.reason_hash();
            return Inbound::Cancel { request_id: request_id.as_str().into(), reason_hash };
        }
        // A call without an id could not be answered; running it anyway would hide its outcome.
        let call = notification.method == "tools/call";
        Inbound::Ignored(call.then(|| "tools/call without an id was not executed".to_owned()))
    }
}
