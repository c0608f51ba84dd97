//! `mcp-drift rules`: the table of rules, and that of what hosts refuse.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::RULES;
use crate::hosts::ROWS;

/// How to print the tables.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  mcp-drift rules
  mcp-drift rules --markdown > drift-rules.md
  mcp-drift rules --json

Exit codes: 0 printed, 2 bad command line.")]
pub struct Arguments {
    /// Print a page of Markdown.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Returns the tables.
#[must_use]
pub fn run(arguments: &Arguments) -> Answer {
    let text = match (arguments.markdown, arguments.json) {
        (true, _) => markdown(),
        (_, true) => as_json(),
        _ => as_text(),
    };
    Answer::new(text, true)
}

fn as_text() -> String {
    let mut text = String::new();
    for rule in RULES {
        let _ = writeln!(
            text,
            "{:4} {}\n     asks for: {}\n     why: {}",
            rule.id, rule.title, rule.asks, rule.why
        );
    }
    text.push_str(
        "\nWhat hosts and model providers are known to refuse, for `mcp-drift lint` and rule H1:\n\n",
    );
    for row in ROWS {
        let _ = writeln!(text, "{} {}: {}\n     {}", row.effect.word(), row.name, row.title, row.seen);
        let _ = writeln!(text, "     {} {}", row.date, row.source);
    }
    text
}

fn as_json() -> String {
    let rules: Value = RULES
        .iter()
        .map(|rule| {
            json!({ "id": rule.id, "direction": rule.direction, "title": rule.title, "asks": rule.asks, "why": rule.why })
        })
        .collect();
    let hosts: Value = ROWS
        .iter()
        .map(|row| {
            json!({ "name": row.name, "effect": row.effect.word(), "title": row.title, "seen": row.seen,
                "help": row.help, "source": row.source, "date": row.date })
        })
        .collect();
    format!("{:#}\n", json!({ "rules": rules, "hosts": hosts }))
}

fn markdown() -> String {
    let mut page = "<!-- Printed by `mcp-drift rules --markdown`; do not edit. -->
# Drift rules

What [the drift gate](../guide/drift.md) looks at. Findings and waivers name a rule by its id, which never changes. I0, O0 and U1 catch what no other
rule knows.

| Rule | Change | Asks for | Why |
| --- | --- | --- | --- |
"
    .to_owned();
    for rule in RULES {
        let _ = writeln!(page, "| {} | {} | {} | {} |", rule.id, rule.title, rule.asks, rule.why);
    }
    page.push_str(
        "
<a id=\"hosts\"></a>
## What hosts refuse

The protocol allows what is listed here, and known hosts or model providers refuse it. `mcp-drift lint` looks for it in one state, rule H1 in what is new. The
date is that of the report.

| Name | What | Effect | Seen | Report |
| --- | --- | --- | --- | --- |
",
    );
    for row in ROWS {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | [{}]({}) |",
            row.name,
            row.title,
            row.effect.word(),
            row.seen,
            row.date,
            row.source
        );
    }
    page
}
