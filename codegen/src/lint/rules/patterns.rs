//! `patterns`: patterns compile as ECMAScript expressions with the flag `u`, which is how JSON
//! Schema means them, and a server can match them in linear time.

use colibri_pattern::{Refusal, Regex};
use serde_json::Value;

use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        let Some(Value::String(pattern)) = node.schema.get("pattern") else { continue };
        let Some((message, help)) = refusal(pattern) else { continue };
        report.value(&node.place.child("pattern"), message, help);
    }
}

fn refusal(pattern: &str) -> Option<(String, &'static str)> {
    let escape = "write an ECMAScript expression; escape what is meant literally";
    if let Err(error) = regress::Regex::with_flags(pattern, "u") {
        return Some((format!("the pattern does not compile: {error}"), escape));
    }
    let refusal = Regex::new(pattern).err()?;
    let help = match refusal {
        Refusal::LookAhead | Refusal::LookBehind => {
            "a server matches in linear time, without look-around: list what is allowed instead, or refuse the rest in the handler"
        }
        Refusal::BackReference => {
            "a server matches in linear time, without back references: refuse what differs in the handler"
        }
        Refusal::Modifiers => "not every client's engine knows them: write both cases, such as `[Aa]`",
        Refusal::Property(_) => "name a general category, a script or another property of Unicode",
        Refusal::TooLarge => "bound the length by `maxLength` instead of a count",
        Refusal::Syntax(_) => {
            return Some((format!("the pattern does not compile: it has {refusal}"), escape));
        }
    };
    Some((format!("the pattern has {refusal}"), help))
}
