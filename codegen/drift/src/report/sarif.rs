//! The report as SARIF 2.1.0, which code scanning reads.

use serde_json::{Map, Value, json};

use super::annotations::Location;
use super::{Names, change, headline, tool, tools, witness};
use crate::finding::{Finding, Severity};
use crate::rules::RULES;
use crate::verdict::Verdict;

/// The schema that the report obeys.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The verdict as SARIF. `place` finds where a finding belongs in the files; otherwise it belongs to the new state.
#[must_use]
pub fn sarif(verdict: &Verdict, names: &Names, place: &dyn Fn(&Finding) -> Option<Location>) -> String {
    let result = |finding: &Finding, level: &str, reason: Option<&str>| {
        let mut result = result(finding, level, names, place(finding));
        if let Some(reason) = reason {
            result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
        }
        result
    };
    let failing = verdict.blocking.iter().chain(&verdict.failures);
    let mut results: Vec<Value> = failing.map(|finding| result(finding, "error", None)).collect();
    let waived = verdict.waived.iter();
    results.extend(waived.map(|(finding, reason)| result(finding, level(finding.severity), Some(reason))));
    results.extend(verdict.listed.iter().map(|finding| result(finding, level(finding.severity), None)));
    let value = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mcp-drift",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": RULES.iter().map(described).collect::<Vec<_>>(),
            } },
            "properties": { "verdict": headline(verdict), "passes": verdict.passes() },
            "results": results,
        }],
    });
    format!("{value:#}\n")
}

fn described(rule: &crate::Rule) -> Value {
    json!({
        "id": rule.id,
        "name": rule.name,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": format!("{}. Asks for: {}.", rule.why, rule.asks) },
        "helpUri": rule.link(),
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Break => "error",
        Severity::Ack => "warning",
        Severity::Info => "note",
    }
}

fn result(finding: &Finding, level: &str, names: &Names, at: Option<Location>) -> Value {
    let mut text = finding.message.clone();
    let more = [
        tools(finding).map(|tools| format!("In {}: {tools}", tool(finding))),
        change(finding).map(|change| format!("Change: {change}")),
        Some(format!("Why it matters: {}", finding.why)),
        witness(finding).map(|(what, shown)| format!("{what}: {shown}")),
        Some(finding.help.clone()).filter(|help| !help.is_empty()).map(|help| format!("To go on: {help}")),
    ];
    for line in more.into_iter().flatten() {
        text.push('\n');
        text.push_str(&line);
    }
    let (file, line, column) = match at {
        Some(at) => (at.path.to_string_lossy().into_owned(), at.line, at.column),
        None => (names.new.clone(), 1, 1),
    };
    let mut properties = Map::new();
    properties.insert("severity".to_owned(), json!(finding.severity));
    properties.insert("security".to_owned(), json!(finding.security));
    json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule),
        "level": level,
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&file) },
                "region": { "startLine": line, "startColumn": column },
            },
            "logicalLocations": [{
                "name": tool(finding),
                "fullyQualifiedName": format!("{}#{}", tool(finding), finding.pointer),
            }],
        }],
        "partialFingerprints": { "mcpDrift/v1": finding.fingerprint() },
        "properties": properties,
    })
}

/// A path as a relative reference of RFC 3986 §4.2; an absolute one as a URI of RFC 8089, since viewers put the former behind the address
/// of a repository.
fn uri(path: &str) -> String {
    let mut out = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("a b/ü.json"), "a%20b/%C3%BC.json");
        assert_eq!(uri("/a b"), "file:///a%20b");
        assert_eq!(uri("C:\\a"), "C%3A/a");
    }
}
