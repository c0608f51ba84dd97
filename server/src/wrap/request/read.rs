//! Reads a line of the client's.

use std::borrow::Cow;

use colibri_runtime::wire::era::{CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY, PROTOCOL_VERSION_KEY, call_meta};
use colibri_runtime::wire::flaw::request_id;
use colibri_runtime::wire::message::reason_hash;
use colibri_runtime::wire::params::{member, members, text_of};
use colibri_runtime::wire::scan;
use serde_json::value::RawValue;

use super::hash::{args_hash, raw_hash};
use super::message::{
    Asked, BadCall, Call, INVALID_REQUEST, Line, Message, PARSE_ERROR, Refusal, TaskRequest, Told,
    WRONG_PARAMETERS,
};
use super::object::{Elements, Object};
use crate::wrap::flights::Id;
use crate::wrap::limits::{IN_FLIGHT, REQUEST_DEPTH};
use crate::wrap::rounds::LaterRound;
use crate::wrap::text::unescaped;

/// The members of a message, in the order of their places below.
const MEMBERS: [&str; 5] = ["id", "method", "params", "result", "error"];
/// The members of a call's parameters.
const PARAMS: [&str; 3] = ["name", "arguments", "_meta"];
/// The members of `_meta` that a stateless request must have.
const PROTOCOL_KEYS: [&str; 3] = [PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY];

impl Line {
    /// Reads a line.
    pub(super) fn read(bytes: Vec<u8>) -> Self {
        let (messages, batch) = match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let lone = "Invalid params: a carriage return stands inside the line of the call";
                read(text, has_lone_return(text).then_some(lone))
            }
            Err(_) => read(&String::from_utf8_lossy(&bytes), Some("Invalid params: the call is not UTF-8")),
        };
        Self { bytes, messages, batch }
    }
}

/// Returns whether a carriage return stands anywhere but directly before the line feed. To JSON it is white space, but some servers
/// (Python's text streams, for one) read several lines then, and a call could hide inside a message of another kind.
fn has_lone_return(text: &str) -> bool {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text).contains('\r')
}

/// A message of a line that is not for the server. A call leaves its row, and the answer to a request has its id.
fn spoilt(message: Message, problem: &'static str) -> Message {
    match message {
        Message::Refused(refusal) => Message::Refused(Refusal::parse_error(refusal.id)),
        message => message.refused(problem, WRONG_PARAMETERS, PARSE_ERROR),
    }
}

/// Returns the messages of a line, and whether it is an array; `problem` says why none of them is for the server, if so.
fn read(text: &str, problem: Option<&'static str>) -> (Vec<Message>, bool) {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let refused = |refusal| (vec![Message::Refused(refusal)], false);
    if text.is_empty() {
        return (Vec::new(), false);
    }
    // The reader of members below takes control characters in their names.
    if serde_json::from_str::<&RawValue>(text).is_err() {
        let id = request_id(text).and_then(|id| Id::read(id.as_str().as_bytes()));
        return refused(Refusal::parse_error(id));
    }
    let deep = scan::check_nesting(text.as_bytes(), REQUEST_DEPTH).is_err();
    let problem = problem.or(deep.then_some("Invalid params: the call nests more than 512 levels"));
    let (messages, batch) = match serde_json::from_str(text) {
        Ok(Elements(elements)) if elements.len() > IN_FLIGHT => {
            return refused(Refusal::invalid(None, "Invalid Request: a batch has at most 4096 messages"));
        }
        Ok(Elements(elements)) if !elements.is_empty() => {
            (elements.into_iter().map(|raw| element(raw.get())).collect(), true)
        }
        Ok(_) => return refused(Refusal::invalid(None, "Invalid Request: the batch is empty")),
        Err(_) => (vec![element(text)], false),
    };
    let Some(problem) = problem else { return (messages, batch) };
    let messages: Vec<Message> = messages.into_iter().map(|message| spoilt(message, problem)).collect();
    if messages.iter().all(|message| matches!(message, Message::Refused(refusal) if refusal.id.is_none())) {
        return refused(Refusal::parse_error(None));
    }
    (messages, batch)
}

fn element(text: &str) -> Message {
    Object::read(text, MEMBERS).map_or_else(
        || Message::Refused(Refusal::invalid(None, "Invalid Request: a message is an object")),
        |object| message(&object),
    )
}

fn message(object: &Object<'_, 5>) -> Message {
    let [id, method, params, result, error] = object.values;
    let [id_twice, method_twice, params_twice, ..] = object.twice;
    let usable = id.filter(|_| !id_twice).and_then(|id| Id::read(id.get().as_bytes()));
    let Some(method) = method else {
        if result.is_some() || error.is_some() {
            return Message::Answer;
        }
        return Message::Refused(Refusal::invalid(usable, "Invalid Request: it has no \"method\""));
    };
    let [_, first, ..] = object.firsts;
    if [first, Some(method)].into_iter().flatten().any(is_call) {
        return call(object, usable);
    }
    let method = unescaped(method.get().as_bytes());
    let problem = if id_twice {
        "Invalid Request: it has \"id\" twice, or in another case"
    } else if method_twice {
        "Invalid Request: it has \"method\" twice, or in another case"
    } else if params_twice {
        "Invalid Request: it has \"params\" twice, or in another case"
    } else if method.is_none() {
        "Invalid Request: \"method\" is not a string"
    } else if id.is_some() && usable.is_none() {
        "Invalid Request: \"id\" is not a string or number of at most 1024 bytes"
    } else {
        let method = method.as_deref().unwrap_or_default();
        return match usable {
            Some(id) => Message::Request(id, asked(method, params)),
            None => Message::Notification(told(method, params)),
        };
    };
    Message::Refused(Refusal::invalid(usable, problem))
}

fn is_call(method: &RawValue) -> bool {
    unescaped(method.get().as_bytes()).as_deref() == Some(b"tools/call")
}

fn asked(method: &[u8], params: Option<&RawValue>) -> Asked {
    match method {
        b"tools/list" => {
            let cursor = params.and_then(|params| member(params, "cursor")).map(RawValue::get);
            // A cursor of another type is kept as it is written: its page belongs to no listing.
            let text = |cursor: &str| text_of(cursor).map_or_else(|| cursor.to_owned(), Cow::into_owned);
            Asked::Tools { cursor: cursor.filter(|cursor| *cursor != "null").map(text) }
        }
        b"initialize" => {
            let client_info = params.and_then(|params| member(params, "clientInfo"));
            Asked::Initialize { client_info: client_info.map(|info| info.get().into()) }
        }
        b"server/discover" => Asked::Discover,
        b"subscriptions/listen" => Asked::Listen,
        b"tasks/get" | b"tasks/result" | b"tasks/cancel" => {
            let task_id = params.and_then(|params| text_of(member(params, "taskId")?.get()));
            let is_result = method == b"tasks/result";
            task_id
                .map_or(Asked::Other, |id| Asked::Task(TaskRequest { task_id: id.into_owned(), is_result }))
        }
        _ => Asked::Other,
    }
}

fn told(method: &[u8], params: Option<&RawValue>) -> Told {
    match method {
        b"notifications/initialized" => Told::Initialized,
        b"notifications/cancelled" => {
            let id = params.and_then(|params| member(params, "requestId"));
            let id = id.and_then(|id| Id::read(id.get().as_bytes()));
            id.map_or(Told::Other, |id| Told::Cancelled(id, params.and_then(reason_hash)))
        }
        _ => Told::Other,
    }
}

fn call(object: &Object<'_, 5>, id: Option<Id>) -> Message {
    let [own_id, _, params, _, _] = object.values;
    let read = params.and_then(|params| Object::read(params.get(), PARAMS)).unwrap_or_default();
    let [name, arguments, meta] = read.values;
    let name = name.and_then(|name| text_of(name.get())).map(Cow::into_owned);
    let problem = twice(object, &read);
    let alone = (read.others && problem.is_none()).then(|| args_hash(arguments, arguments, false));
    let args_hash = match problem {
        None => args_hash(params, arguments, read.others),
        Some(_) => raw_hash(params),
    };
    let arguments_hash = alone.unwrap_or(args_hash);
    let round = params.filter(|_| read.others).and_then(LaterRound::read);
    let (trace_context, _) = call_meta(meta);
    let stateless = meta.and_then(stateless);
    match (problem, id, name) {
        (None, Some(id), Some(name)) => {
            let call = Call { id, name, args_hash, stateless, trace_context, arguments_hash, round };
            Message::Call(Box::new(call))
        }
        (problem, id, name) => {
            let problem = problem.unwrap_or(match name {
                None => "Invalid params: tools/call requires a string \"name\"",
                Some(_) => {
                    "Invalid Request: tools/call requires an \"id\": a string or number of at most 1024 bytes"
                }
            });
            // Without a usable id the message is not a request.
            let code = if id.is_some() { WRONG_PARAMETERS } else { INVALID_REQUEST };
            let waits = own_id.is_some();
            Message::BadCall(Box::new(BadCall { id, waits, name, args_hash, problem, code }))
        }
    }
}

/// Returns what is wrong with a call that has a member twice.
fn twice(call: &Object<'_, 5>, params: &Object<'_, 3>) -> Option<&'static str> {
    let [id, method, own, ..] = call.twice;
    let [name, arguments, _] = params.twice;
    let problems = [
        (id, "Invalid Request: the call has \"id\" twice, or in another case"),
        (method, "Invalid params: the call has \"method\" twice, or in another case"),
        (own, "Invalid params: the call has \"params\" twice, or in another case"),
        (name, "Invalid params: the call has \"name\" twice, or in another case"),
        (arguments, "Invalid params: the call has \"arguments\" twice, or in another case"),
    ];
    problems.into_iter().find_map(|(twice, problem)| twice.then_some(problem))
}

/// Returns the members of a stateless call's `_meta` that every request to the same server has to carry.
fn stateless(meta: &RawValue) -> Option<String> {
    let values = members(meta, PROTOCOL_KEYS)?;
    let [Some(version), ..] = values else { return None };
    text_of(version.get())?;
    let present = PROTOCOL_KEYS.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?)));
    let members: Vec<String> = present.map(|(key, value)| format!("\"{key}\":{}", value.get())).collect();
    Some(format!("{{{}}}", members.join(",")))
}
