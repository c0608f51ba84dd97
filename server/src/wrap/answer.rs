//! The answers that `colibri wrap` gives itself, in the words that models and people read.

use std::fmt::Write as _;

use colibri_canonical::escape::push_string;
use colibri_visible::characters;

use super::name::Name;

/// The longest tool name in a text, in characters.
const SHOWN: usize = 128;

/// Why a call is not passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The patterns do not admit the tool.
    Denied,
    /// Only tools that read are admitted.
    NotReadOnly,
    /// The same of a tool that says so now, and is not pinned with these words.
    ReadOnlySince,
    /// The tool is another than the pinned one.
    ToolChanged,
    /// The tool is not pinned.
    ToolNew,
    /// The tool is neither pinned nor listed.
    ToolUnlisted,
    /// The server's tools could not be read.
    ListUnknown,
    /// The call's row could not be written, for this reason.
    NotRecorded(String),
}

impl Refusal {
    /// Returns the text for the model. `list` are the digits of the server's present list, if it waits.
    pub fn text(&self, tool: &str, server: &Name, list: Option<&str>) -> String {
        let tool = shown(tool);
        let list = list.map_or_else(String::new, |digits| format!(" --list {digits}"));
        let look = format!("Look and accept: colibri pins diff {server}{list}");
        let text = match self {
            Self::Denied => format!("the tool \"{tool}\" of {server} is not admitted here"),
            Self::NotReadOnly => format!(
                "only read-only tools of {server} are admitted here, and \"{tool}\" does not say that it is one"
            ),
            Self::ReadOnlySince => format!(
                "only read-only tools of {server} are admitted here, and \"{tool}\" says that it is one, but is not pinned as one. {look}"
            ),
            Self::ToolUnlisted => {
                format!("{server} lists no tool \"{tool}\", and none is pinned, so it was not called")
            }
            Self::ToolChanged => format!(
                "the tool \"{tool}\" of {server} is not the one that was pinned, and was not called. {look}"
            ),
            Self::ToolNew => format!(
                "the tool \"{tool}\" of {server} is not among the pinned ones, and was not called. {look}"
            ),
            Self::ListUnknown => {
                format!("the tools of {server} could not be read, so \"{tool}\" was not called")
            }
            Self::NotRecorded(reason) => {
                format!("the call could not be recorded and was not made: {reason}")
            }
        };
        format!("colibri wrap: {text}")
    }

    /// Returns the answer to the refused call: a tool result, since models see those.
    pub fn answer(&self, tool: &str, server: &Name, list: Option<&str>, stateless: bool) -> Answer {
        let mut value = "{\"content\":[{\"type\":\"text\",\"text\":".to_owned();
        push_string(&mut value, &self.text(tool, server, list));
        value.push_str("}],\"isError\":true");
        if stateless {
            value.push_str(",\"resultType\":\"complete\"");
        }
        value.push('}');
        Answer { member: "result", value }
    }
}

/// What is said of a request whose server ended first; `how`, for instance, is `exit code 3`.
pub fn server_ended(server: &Name, how: &str, may_take_effect: bool) -> String {
    let effect = if may_take_effect { "; it may have taken effect" } else { "" };
    format!("{server} ended ({how}) before it answered{effect}")
}

/// What is said in place of a reply whose row could not be written.
pub fn reply_withheld(server: &Name) -> String {
    format!(
        "{server} answered, but the answer could not be recorded and is withheld; the call may have taken effect"
    )
}

/// What is said in place of a list of tools that cannot be compared with the pin.
pub fn list_withheld(server: &Name) -> String {
    format!("the tools of {server} could not be read")
}

/// What is said in place of an answer to `initialize` or `server/discover` that is too long to be compared with the pin.
pub(crate) fn greeting_withheld(server: &Name) -> String {
    format!("the instructions of {server} could not be read")
}

/// An answer of `wrap`'s own: the value of `result` or `error`, to be sent under an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    member: &'static str,
    value: String,
}

impl Answer {
    /// Makes a JSON-RPC error. `code` is the project's code, if there is one.
    pub fn error(number: i32, message: &str, code: Option<&str>, server: &Name) -> Self {
        // Writing to a String cannot fail.
        let mut value = String::new();
        let _ = write!(value, "{{\"code\":{number},\"message\":");
        push_string(&mut value, message);
        value.push_str(",\"data\":{");
        if let Some(code) = code {
            value.push_str("\"code\":");
            push_string(&mut value, code);
            value.push(',');
        }
        value.push_str("\"server\":");
        push_string(&mut value, server.as_str());
        value.push_str("}}");
        Self { member: "error", value }
    }

    /// Returns the bytes of the value, which the row of a refused call hashes.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the whole message. `id` is JSON text; without one it is null.
    pub fn message(&self, id: Option<&str>) -> String {
        let (id, member, value) = (id.unwrap_or("null"), self.member, &self.value);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{value}}}")
    }

    /// Returns the message as a line.
    pub fn line(&self, id: Option<&str>) -> Vec<u8> {
        let mut line = self.message(id).into_bytes();
        line.push(b'\n');
        line
    }
}

/// Returns a tool's name as texts show it: what cannot be seen is escaped, and a long name is cut.
pub fn shown(tool: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for (letter, hidden) in characters(tool) {
        let piece: String = match hidden {
            true => letter.escape_default().collect(),
            false => letter.to_string(),
        };
        let more = piece.chars().count();
        if length + more > SHOWN {
            // The mark takes the place of the last character, if there is no room beside it.
            if length == SHOWN {
                text.pop();
            }
            text.push('…');
            break;
        }
        text.push_str(&piece);
        length += more;
    }
    text
}
