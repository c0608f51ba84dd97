//! Runs a catalogue's examples against a server. [`Kit`] starts any command that speaks MCP over stdin and stdout; [`run`] leaves it to
//! its caller how calls reach the server.
//!
//! An example's `before` calls set the stage and keep what later calls are bound to. The last reply must be the documented one,
//! member by member; a value that `varies` must be as the example says.

mod client;
mod kit;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::catalogue::{Catalogue, ErrorPattern, Example, Tool};
use crate::lint::conforms;

pub use kit::{Kit, Outcome};

/// What a server answered to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The structured content; without any, the text read as JSON, or else the text itself.
    pub reply: Value,
    /// Whether `isError` is true.
    pub is_error: bool,
}

/// Makes the calls of an example, and compares the last reply with the documented one.
///
/// ```
/// use colibri_codegen::catalogue::Catalogue;
/// use colibri_codegen::examples::{self, Answered};
///
/// let catalogue = Catalogue::load("examples/notes/catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// let tool = catalogue.tools().next().ok_or("no tool")?.tool;
/// let example = &tool.examples[0];
/// // A server that knows this one reply.
/// let mut call = |_: &str, _| Ok(Answered { reply: example.reply.clone(), is_error: false });
/// assert_eq!(examples::run(&catalogue, tool, example, &mut call), Ok(()));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// How the replies differ, or why a call could not be made.
pub fn run(
    catalogue: &Catalogue,
    tool: &Tool,
    example: &Example,
    call: &mut dyn FnMut(&str, Value) -> Result<Answered, String>,
) -> Result<(), String> {
    let mut kept = BTreeMap::new();
    for step in &example.before {
        let answered = call(&step.tool, bound(&step.arguments, &step.bind, &kept)?)?;
        let said = format!("before: {} answered {}", step.tool, answered.reply);
        if failed(catalogue, &step.tool, &answered) {
            return Err(said);
        }
        for (name, pointer) in &step.keep {
            let value = answered.reply.pointer(pointer);
            let value = value.ok_or_else(|| format!("{said}, which has nothing to keep at {pointer}"))?;
            kept.insert(name.clone(), value.clone());
        }
    }
    let answered = call(&tool.name, bound(&example.arguments, &example.bind, &kept)?)?;
    if let Some(difference) = difference(catalogue, example, &answered.reply) {
        return Err(difference);
    }
    match (tool.is_failure(&example.reply), answered.is_error) {
        (true, false) => Err("the reply is documented, but `isError: true` is missing".to_owned()),
        (false, true) => Err("the reply is documented, but it has `isError: true`".to_owned()),
        _ => Ok(()),
    }
}

/// Returns whether a call that sets the stage has failed.
fn failed(catalogue: &Catalogue, tool: &str, answered: &Answered) -> bool {
    let of_b =
        catalogue.tools().any(|entry| entry.tool.name == tool && entry.tool.pattern == ErrorPattern::B);
    answered.is_error || of_b && answered.reply["data"]["ok"] == false
}

/// Returns the arguments with what earlier calls have kept put in.
///
/// # Errors
/// There is nothing to bind at a pointer, or nothing was kept under a name.
pub fn bound(
    arguments: &Value,
    bind: &BTreeMap<String, String>,
    kept: &BTreeMap<String, Value>,
) -> Result<Value, String> {
    let mut arguments = arguments.clone();
    for (pointer, name) in bind {
        let place = arguments.pointer_mut(pointer).ok_or_else(|| format!("nothing to bind at {pointer}"))?;
        place.clone_from(kept.get(name).ok_or_else(|| format!("nothing was kept as {name}"))?);
    }
    Ok(arguments)
}

/// Returns what differs between the documented reply and the real one; nothing if they agree.
#[must_use]
pub fn difference(catalogue: &Catalogue, example: &Example, real: &Value) -> Option<String> {
    let mut compared = real.clone();
    for (pointer, varying) in &example.varies {
        let Some(documented) = example.reply.pointer(pointer) else {
            return Some(format!("varies names {pointer}, which the documented reply has not"));
        };
        let Some(place) = compared.pointer_mut(pointer) else {
            return Some(format!("{pointer} is missing: {real}"));
        };
        if conforms::check(catalogue, &varying.schema(), place).is_err() {
            return Some(format!("{pointer} is {place}, documented as {}", varying.words()));
        }
        place.clone_from(documented);
    }
    (compared != example.reply).then(|| format!("documented {}\n       real {real}", example.reply))
}
