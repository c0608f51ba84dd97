//! Which example answers a call.
//!
//! An example fits a call if all arguments that choose (booleans and values of an enum) are equal; texts and numbers may differ. An
//! error fits the same arguments only, after the calls that lead to it. Of the examples that fit, the one with the same arguments goes
//! first, then the one whose preparing calls came last, then the one with the most equal arguments.

use std::collections::BTreeMap;

use colibri_runtime::handler::{Dispatched, Fault};
use serde_json::{Map, Value};

use super::reply;
use crate::catalogue::Setup;
use crate::ir::schema::{Kind, Property};
use crate::ir::{Ir, ToolIr};

/// A call that was made.
pub struct Made {
    pub tool: String,
    pub arguments: Value,
}

/// A tool and what its examples show.
pub struct Shown {
    pub name: String,
    /// The arguments that choose.
    choices: Vec<String>,
    examples: Vec<Scene>,
}

/// An example.
struct Scene {
    title: String,
    arguments: Value,
    bind: BTreeMap<String, String>,
    before: Vec<Setup>,
    answer: Dispatched,
    fails: bool,
}

/// How near an example is to a call: the same arguments, how many preparing calls have just been made, equal arguments.
type Nearness = (bool, Option<usize>, usize);

impl Shown {
    pub fn of(tool: &ToolIr<'_>, ir: &Ir<'_>) -> Self {
        let properties: &[Property] = match &tool.input.kind {
            Kind::Object { properties, .. } => properties,
            _ => &[],
        };
        let chooses = |property: &&Property| {
            matches!(ir.shared.resolve(&property.schema).kind, Kind::Boolean | Kind::Enum { .. })
        };
        let examples = tool.entry.examples.iter().map(|example| Scene {
            title: example.title.clone(),
            arguments: with_defaults(&example.arguments, properties, ir),
            bind: example.bind.clone(),
            before: example.before.clone(),
            answer: reply::dispatched(tool, &example.reply, ir),
            fails: tool.entry.is_failure(&example.reply) || example.reply["data"]["ok"] == false,
        });
        Self {
            name: tool.entry.name.clone(),
            choices: properties.iter().filter(chooses).map(|property| property.name.clone()).collect(),
            examples: examples.collect(),
        }
    }

    /// Returns the reply of the nearest example, or an error that says that none fits.
    pub fn answer(&self, arguments: &Value, made: &[Made]) -> Dispatched {
        let near =
            self.examples.iter().filter_map(|scene| Some((scene.nearness(self, arguments, made)?, scene)));
        // Of equally near ones, the first.
        let nearest = near.reduce(|best, other| if other.0 > best.0 { other } else { best });
        nearest.map_or_else(
            || Dispatched::Fault(Fault::Other(self.nothing_fits())),
            |(_, scene)| scene.answer.clone(),
        )
    }

    fn nothing_fits(&self) -> String {
        let titles: Vec<String> = self.examples.iter().map(|scene| format!("\"{}\"", scene.title)).collect();
        format!(
            "no example of {} fits these arguments; the catalogue shows {}. Call with the arguments of one of them, or add an example",
            self.name,
            titles.join(", ")
        )
    }
}

impl Scene {
    /// Returns how near the example is to the call; `None` if it does not fit.
    fn nearness(&self, tool: &Shown, arguments: &Value, made: &[Made]) -> Option<Nearness> {
        let same = alike(&self.arguments, arguments, &self.bind);
        let staged = self.is_staged(made);
        let chosen = tool.choices.iter().all(|name| arguments.get(name) == self.arguments.get(name));
        let fits = if self.fails { same && staged } else { chosen };
        let own = self.arguments.as_object().into_iter().flatten();
        let equal = own.filter(|(name, value)| arguments.get(name.as_str()) == Some(value)).count();
        fits.then_some((same, staged.then_some(self.before.len()), equal))
    }

    /// Whether the last calls are those that set the stage.
    fn is_staged(&self, made: &[Made]) -> bool {
        let Some(first) = made.len().checked_sub(self.before.len()) else { return false };
        let steps = self.before.iter().zip(&made[first..]);
        steps.into_iter().all(|(step, call)| {
            // A call may have got defaults; what the step gives is what counts.
            step.tool == call.tool && includes(&call.arguments, &step.arguments, &step.bind)
        })
    }
}

/// Whether two calls have the same arguments, but for those that are taken from an earlier reply.
fn alike(documented: &Value, given: &Value, bind: &BTreeMap<String, String>) -> bool {
    unbound(documented, bind) == unbound(given, bind)
}

fn includes(given: &Value, documented: &Value, bind: &BTreeMap<String, String>) -> bool {
    let (given, documented) = (unbound(given, bind), unbound(documented, bind));
    let members = documented.as_object().into_iter().flatten();
    members.into_iter().all(|(name, value)| given.get(name) == Some(value))
}

fn unbound(arguments: &Value, bind: &BTreeMap<String, String>) -> Value {
    let mut arguments = arguments.clone();
    for pointer in bind.keys() {
        if let Some(place) = arguments.pointer_mut(pointer) {
            *place = Value::Null;
        }
    }
    arguments
}

/// The arguments as a handler gets them: with the defaults of those that are left out.
fn with_defaults(arguments: &Value, properties: &[Property], ir: &Ir<'_>) -> Value {
    let mut given = arguments.as_object().cloned().unwrap_or_default();
    let absent = properties.iter().filter(|property| arguments.get(&property.name).is_none());
    let defaults: Map<String, Value> = absent
        .filter_map(|property| Some((property.name.clone(), ir.shared.resolve(&property.schema).default?)))
        .collect();
    given.extend(defaults);
    Value::Object(given)
}
