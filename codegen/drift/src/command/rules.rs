//! `mcp-drift rules`: the table of rules, the profiles, and what hosts refuse.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::config::profiles::{self, Profile};
use crate::{RULES, Rule, hosts};

/// How to print the tables.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-drift rules
  mcp-drift rules --format markdown > drift-rules.md
  mcp-drift rules --format json

Exit codes: 0 printed, 2 bad command line.")]
pub struct Arguments {
    /// The form of the tables.
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "markdown", "json"])]
    format: String,
}

/// Returns the tables.
#[must_use]
pub fn run(arguments: &Arguments) -> Answer {
    let text = match arguments.format.as_str() {
        "markdown" => page(None),
        "json" => as_json(),
        _ => as_text(),
    };
    Answer::new(text, true)
}

fn as_text() -> String {
    let mut text = String::new();
    for rule in RULES {
        let Rule { id, name, title, asks, why, .. } = rule;
        let _ = writeln!(text, "{id:4} {name}\n     {title}\n     asks for: {asks}\n     why: {why}");
    }
    text.push_str(
        "\nWhat hosts and model providers are known to refuse, for `mcp-drift lint` and rule H1:\n\n",
    );
    for row in hosts::ROWS {
        let _ = writeln!(text, "{} {}: {}\n     {}", row.effect.word(), row.name, row.title, row.seen);
        let _ = writeln!(text, "     {} {}", row.date, row.source);
    }
    text
}

fn as_json() -> String {
    let rules: Value = RULES
        .iter()
        .map(|rule| {
            json!({ "id": rule.id, "name": rule.name, "direction": rule.direction, "severity": rule.severity,
                "title": rule.title, "asks": rule.asks, "why": rule.why })
        })
        .collect();
    let hosts: Value = hosts::ROWS
        .iter()
        .map(|row| {
            json!({ "name": row.name, "effect": row.effect.word(), "title": row.title, "seen": row.seen,
                "help": row.help, "source": row.source, "date": row.date })
        })
        .collect();
    format!("{:#}\n", json!({ "rules": rules, "hosts": hosts }))
}

/// The page of the rules as Markdown. `example` adds what a rule's fixture shows; the command has no fixtures.
#[must_use]
pub fn page(example: Option<&dyn Fn(&Rule) -> String>) -> String {
    let mut page = "# Drift rules

What [the drift gate](../guide/drift.md) looks at. Findings and waivers name a rule by its id, settings by name or id; neither ever changes. `input-keyword-unknown`,
`output-keyword-unknown` and `unknown-member-changed` catch what no other rule knows.

## All rules

| Rule | Name | Usually | Change |
| --- | --- | --- | --- |
"
    .to_owned();
    for Rule { id, name, severity, title, .. } in RULES {
        let _ = writeln!(page, "| {id} | [{name}](#{name}) | {severity} | {title} |");
    }
    add_profiles(&mut page);
    add_hosts(&mut page);
    page.push_str("\n## The rules one by one\n");
    if example.is_some() {
        page.push_str("\nEach with what its fixture shows: what differs, and a finding.\n");
    }
    for rule in RULES {
        let Rule { id, name, title, asks, why, severity, .. } = rule;
        let _ = write!(
            page,
            "\n### {name}\n\n`{id}`, usually {severity}: {title}. Asks for: {asks}. Why: {why}.\n"
        );
        if let Some(example) = example {
            let _ = write!(page, "\n{}", example(rule));
        }
    }
    page
}

fn add_profiles(page: &mut String) {
    page.push_str(
        "
## Profiles

Where a rule is not set by name, the profile decides. What bears on security is in no profile: only its rule's name lowers it.

| Rules | Findings | strict | default | lenient | Why |
| --- | --- | --- | --- | --- | --- |
",
    );
    for row in profiles::ROWS {
        let names = row.rules.iter().filter_map(|id| crate::rule(id)).map(|rule| rule.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let [strict, default, lenient] = Profile::ALL.map(|profile| row.severity(profile));
        let _ = writeln!(page, "| {names} | {} | {strict} | {default} | {lenient} | {} |", row.what, row.why);
    }
    let grouped =
        Profile::ALL.map(|profile| if profile.groups_wording() { "one ACK a tool" } else { "one ACK each" });
    let _ = writeln!(
        page,
        "| input-text-changed, output-text-changed | descriptions of properties in other words | {} | many small edits come together, and a person reads them together |",
        grouped.join(" | ")
    );
}

fn add_hosts(page: &mut String) {
    page.push_str(
        "
<a id=\"hosts\"></a>
## What hosts refuse

The protocol allows what is listed here, and known hosts or model providers refuse it. `mcp-drift lint` looks for it in one state,
[host-refuses](#host-refuses) in what is new. The date is that of the report.

| Name | What | Effect | Seen | Report |
| --- | --- | --- | --- | --- |
",
    );
    for row in hosts::ROWS {
        let (effect, report) = (row.effect.word(), format!("[{}]({})", row.date, row.source));
        let _ = writeln!(page, "| `{}` | {} | {effect} | {} | {report} |", row.name, row.title, row.seen);
    }
}
