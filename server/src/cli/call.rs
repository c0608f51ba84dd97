//! `colibri call`: one tool call, through a server of its own and so through the whole chain, audit row
//! included.

use std::io::{Read, Write};

use colibri_runtime::wire::frame::LINE_LIMIT;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Failure;
use super::client::{Client, Launch, Reply};
use super::output::print_json;
use crate::catalogue::ToolId;
use crate::settings::environment::Environment;
use crate::settings::keys;
use colibri_proof::bounded_file;

/// The parameters of `tools/call`.
#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

/// Calls the tool and prints the envelope; [`Failure::Finding`] if the envelope holds an error.
pub fn run(
    tool: &str,
    arguments: Option<&str>,
    env: &Environment,
    out: &mut dyn Write,
    input: &mut dyn Read,
) -> Result<(), Failure> {
    let tool =
        ToolId::from_name(tool).filter(|tool| !tool.spec().is_operation()).ok_or_else(|| unknown(tool))?;
    let arguments = read_arguments(arguments.unwrap_or("{}"), input)?;
    // Otherwise the server answers a probe at once, and the answer would say nothing about the database.
    let mut launch = Launch { after_start: true, ..Launch::default() };
    if env.get_os(keys::LOG_LEVEL.name).is_none() {
        launch.set.push((keys::LOG_LEVEL.name, "warn".into()));
    }
    let mut client = Client::start(&launch)?;
    client.introduce("colibri-call")?;
    let reply = client.last_request("tools/call", Params { name: tool.name(), arguments: &arguments })?;
    client.stop()?;
    match reply {
        Reply::Result(result) => print(&result, out),
        Reply::Error { code, message } => {
            Err(Failure::Failed(format!("the server refused the call: {message} ({code})")))
        }
    }
}

fn unknown(tool: &str) -> Failure {
    let hint = match colibri_suggest::closest(tool, ToolId::ALL.map(ToolId::name)) {
        Some(close) => format!("did you mean {close}?"),
        None => "colibri tools lists them".to_owned(),
    };
    Failure::Usage(format!("there is no tool {tool}; {hint}"))
}

/// Reads the arguments as they were typed, checks that they are one JSON text, and brings them into one line.
fn read_arguments(given: &str, input: &mut dyn Read) -> Result<Box<RawValue>, Failure> {
    let text = match given {
        // A server takes no longer line.
        "-" => bounded_file::text_of(input, LINE_LIMIT as u64)
            .map_err(|error| Failure::Usage(format!("cannot read the arguments from stdin: {error}")))?,
        given => given.to_owned(),
    };
    let invalid = |error| Failure::Usage(not_json(&error));
    serde_json::from_str::<IgnoredAny>(&text).map_err(invalid)?;
    // Inside a JSON string a raw line break is invalid, so every one of these is white space.
    let text = text.replace(['\n', '\r'], " ");
    RawValue::from_string(text.trim().to_owned()).map_err(invalid)
}

/// Says what is wrong with arguments, and where.
fn not_json(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let said = error.to_string();
    let said = match said.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&said) {
        "key must be a string" => "names stand in double quotes",
        said => said,
    };
    format!(
        "the arguments are not JSON (line {line}, column {column}: {said}); write an object such as '{{\"limit\": 5}}'"
    )
}

fn print(result: &Value, out: &mut dyn Write) -> Result<(), Failure> {
    let envelope = result.get("structuredContent").ok_or_else(|| {
        Failure::Failed("the server's reply has no envelope: `structuredContent` is missing".to_owned())
    })?;
    print_json(out, &envelope)?;
    out.flush()?;
    // Both levels count: a Pattern B refusal is `ok` outside (chain#envelopes).
    let refused = [envelope.get("ok"), envelope.pointer("/data/ok")].contains(&Some(&Value::Bool(false)));
    if refused { Err(Failure::Finding) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn arguments_keep_their_text_and_become_one_line() {
        let raw = read_arguments("-", &mut "{\"n\":\n 12345678901234567890}\n".as_bytes()).unwrap();
        assert_eq!(raw.get(), "{\"n\":  12345678901234567890}");
        assert!(matches!(read_arguments("{bad", &mut std::io::empty()), Err(Failure::Usage(_))));
        assert!(matches!(read_arguments("", &mut std::io::empty()), Err(Failure::Usage(_))));
    }

    #[test]
    fn arguments_from_stdin_end_at_the_longest_line_that_a_server_takes() {
        let refused = read_arguments("-", &mut std::io::repeat(b' '));
        assert!(
            matches!(&refused, Err(Failure::Usage(why)) if why.contains("it has more than 4194304 bytes")),
            "{refused:?}"
        );
    }

    #[test]
    fn refusals_on_either_level_are_findings() {
        let cases = [
            (r#"{"structuredContent":{"ok":true,"data":{"ok":false}}}"#, false),
            (r#"{"structuredContent":{"ok":false,"error":{}}}"#, false),
            (r#"{"structuredContent":{"ok":true,"data":{}}}"#, true),
        ];
        for (result, sound) in cases {
            let printed = print(&serde_json::from_str(result).unwrap(), &mut Vec::new());
            assert_eq!(printed.is_ok(), sound, "{result}");
        }
    }
}
