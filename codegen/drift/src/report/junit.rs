//! The report as JUnit XML, which most CI systems show: a test case for each finding, which fails if the finding does.

use std::fmt::Write;

use super::{Names, change, headline, link, tool, tools, witness, word};
use crate::finding::Finding;
use crate::rules::rule;
use crate::verdict::Verdict;

/// The verdict as JUnit XML. If nothing changed, it has one case, which passes.
#[must_use]
pub fn junit(verdict: &Verdict, names: &Names) -> String {
    let mut cases = String::new();
    let failing = verdict.blocking.iter().map(|finding| (finding, word(finding)));
    let failing = failing.chain(verdict.failures.iter().map(|finding| (finding, "FAIL".to_owned())));
    let mut failures = 0;
    for (finding, word) in failing {
        failures += 1;
        let (kind, message) = (escape(&word), escape(&finding.message));
        let body = escape(&details(finding));
        case(
            finding,
            &format!("<failure type=\"{kind}\" message=\"{message}\">{body}</failure>"),
            &mut cases,
        );
    }
    for (finding, reason) in &verdict.waived {
        let message = escape(&format!("waived: {reason}"));
        case(finding, &format!("<skipped message=\"{message}\"/>"), &mut cases);
    }
    for finding in &verdict.listed {
        let message = escape(&format!("{}: {}", word(finding), finding.message));
        case(finding, &format!("<system-out>{message}</system-out>"), &mut cases);
    }
    let mut number = failures + verdict.waived.len() + verdict.listed.len();
    if number == 0 {
        number = 1;
        cases.push_str("    <testcase classname=\"the server\" name=\"tools are as they were\"/>\n");
    }
    let counts = format!(
        "tests=\"{number}\" failures=\"{failures}\" errors=\"0\" skipped=\"{}\"",
        verdict.waived.len()
    );
    let suite = escape(&format!("{} to {}", names.old, names.new));
    let told = escape(&headline(verdict));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mcp-drift\" tests=\"{number}\" failures=\"{failures}\" errors=\"0\">\n  <testsuite name=\"{suite}\" {counts}>\n{cases}    <system-out>{told}</system-out>\n  </testsuite>\n</testsuites>\n"
    )
}

fn case(finding: &Finding, inside: &str, out: &mut String) {
    let name = rule(finding.rule).map_or(finding.rule, |rule| rule.name);
    let name = escape(format!("{name} {}", finding.pointer).trim_end());
    let class = escape(&tool(finding));
    let _ = writeln!(out, "    <testcase classname=\"{class}\" name=\"{name}\">{inside}</testcase>");
}

fn details(finding: &Finding) -> String {
    let mut text = format!("{} {}\n{}\n", finding.rule, finding.pointer, finding.message);
    if let Some(tools) = tools(finding) {
        let _ = writeln!(text, "In {}: {tools}", tool(finding));
    }
    if let Some(change) = change(finding) {
        let _ = writeln!(text, "Change: {change}");
    }
    let _ = writeln!(text, "Why it matters: {}", finding.why);
    if let Some((what, shown)) = witness(finding) {
        let _ = writeln!(text, "{what}: {shown}");
    }
    if !finding.help.is_empty() {
        let _ = writeln!(text, "To go on: {}", finding.help);
    }
    let _ = writeln!(text, "Fingerprint: {}\nMore: {}", finding.fingerprint(), link(finding));
    text
}

/// The escapes of XML. Characters that XML 1.0 cannot hold become their code points.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "U+{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn text_of_users_stays_text() {
        assert_eq!(escape("<a b=\"c\">&\n\u{1b}]]>"), "&lt;a b=&quot;c&quot;&gt;&amp;&#10;U+001B]]&gt;");
    }
}
