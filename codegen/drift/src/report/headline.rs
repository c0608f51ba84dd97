//! The first line of a report: the verdict in words.

use std::collections::BTreeSet;

use crate::config::FailOn;
use crate::finding::{Direction, Finding, Severity};
use crate::rules::{C9, C10, rule};
use crate::verdict::Verdict;

/// Kinds of clients, by the side of the contract that they rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Clients {
    Callers,
    Readers,
    Hosts,
    Others,
}

impl Clients {
    fn of(finding: &Finding) -> Option<Self> {
        Some(match rule(finding.rule)?.direction {
            Direction::Input => Self::Callers,
            Direction::Output | Direction::Error => Self::Readers,
            Direction::Tool => Self::Hosts,
            Direction::Catalogue => Self::Others,
        })
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Callers => "callers (they send arguments)",
            Self::Readers => "readers (they rely on results and errors)",
            Self::Hosts => "hosts (they know tools by name, text and hints)",
            Self::Others => "users of the protocol, prompts or resources",
        }
    }
}

/// `3 tools break 2 kinds of clients: callers (…) and readers (…); 1 change needs a decision; 12 changes are harmless.`
#[must_use]
pub fn headline(verdict: &Verdict) -> String {
    let open = verdict.blocking.iter().chain(&verdict.listed).filter(|finding| !is_formal(finding));
    let open: Vec<&Finding> = open.collect();
    let of = |severity: Severity| -> Vec<&Finding> {
        open.iter().copied().filter(|finding| finding.severity == severity).collect()
    };
    let (broken, undecided, harmless) = (of(Severity::Break), of(Severity::Ack), of(Severity::Info));
    let mut parts = Vec::new();
    if !broken.is_empty() {
        parts.push(breaks(&broken));
    }
    if !undecided.is_empty() {
        parts.push(counted(undecided.len(), "change needs a decision", "changes need a decision"));
    }
    let formal = verdict.failures.iter().chain(verdict.listed.iter().filter(|finding| is_formal(finding)));
    let formal: Vec<&Finding> = formal.collect();
    if formal.iter().any(|finding| finding.rule == C9.id) {
        parts.push("the version does not say so".to_owned());
    }
    let spent = formal.iter().filter(|finding| finding.rule == C10.id).count();
    if spent > 0 {
        parts.push(counted(spent, "waiver does not count", "waivers do not count"));
    }
    if !verdict.waived.is_empty() {
        parts.push(counted(verdict.waived.len(), "change is waived", "changes are waived"));
    }
    if verdict.switched_off > 0 {
        parts.push(counted(
            verdict.switched_off,
            "change is of a rule that is switched off",
            "changes are of rules that are switched off",
        ));
    }
    if !harmless.is_empty() {
        parts.push(counted(harmless.len(), "change is harmless", "changes are harmless"));
    }
    if parts.is_empty() {
        return "Nothing changed for clients.".to_owned();
    }
    if broken.is_empty() {
        parts.insert(0, "No client is known to break".to_owned());
    }
    if verdict.fail_on != FailOn::Ack && !(broken.is_empty() && undecided.is_empty()) {
        let word = if verdict.fail_on == FailOn::Never { "never" } else { "break" };
        parts.push(format!("`fail-on` is {word}"));
    }
    format!("{}.", parts.join("; "))
}

/// Whether a finding is about versions and waivers, not about a change.
fn is_formal(finding: &Finding) -> bool {
    [C9.id, C10.id].contains(&finding.rule)
}

fn breaks(broken: &[&Finding]) -> String {
    let tools: BTreeSet<&String> =
        broken.iter().flat_map(|finding| finding.tool.iter().chain(&finding.also)).collect();
    let server = broken.iter().any(|finding| finding.tool.is_none());
    let (subject, verb) = match (tools.len(), server) {
        (0, _) => ("The server".to_owned(), "breaks"),
        (1, false) => ("1 tool".to_owned(), "breaks"),
        (number, false) => (format!("{number} tools"), "break"),
        (1, true) => ("The server and 1 tool".to_owned(), "break"),
        (number, true) => (format!("The server and {number} tools"), "break"),
    };
    let kinds: BTreeSet<Clients> = broken.iter().filter_map(|finding| Clients::of(finding)).collect();
    let words: Vec<&str> = kinds.iter().map(|kind| kind.words()).collect();
    let noun = if words.len() == 1 { "kind" } else { "kinds" };
    format!("{subject} {verb} {} {noun} of clients: {}", words.len(), listed(&words))
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
