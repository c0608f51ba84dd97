//! The report as a comment of a pull request.

use std::fmt::Write;

use super::{Names, short, steps, summary, tool, tools, waivers, witness, word};
use crate::finding::Finding;
use crate::verdict::Verdict;

/// The first line: a workflow finds its own comment by it.
pub const MARK: &str = "<!-- colibri-codegen drift -->";

/// The verdict as GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(verdict: &Verdict, names: &Names) -> String {
    let title =
        if verdict.passes() { "Tools: no client breaks" } else { "Tools: this change needs a decision" };
    let mut out =
        format!("{MARK}\n### {title}\n\nFrom {} to {}. {}\n", names.old, names.new, summary(verdict));
    for finding in &verdict.blocking {
        head(finding, &word(finding), &mut out);
        for (label, value) in [("before", &finding.old), ("now", &finding.new)] {
            if !value.is_null() {
                let _ = writeln!(out, "- {label}: {}", code(&short(value)));
            }
        }
        reasons(finding, &mut out);
    }
    for finding in &verdict.failures {
        head(finding, "FAIL", &mut out);
        reasons(finding, &mut out);
    }
    let steps = steps(verdict, names);
    if !verdict.passes() && !steps.is_empty() {
        out.push_str("\n#### How to go on\n\nTake the changes back as said above, or accept them:\n\n");
        for (index, step) in steps.iter().enumerate() {
            let _ = writeln!(out, "{}. {step}", index + 1);
        }
        if !verdict.blocking.is_empty() {
            let _ = write!(out, "\n```yaml\n{}```\n", waivers(verdict, names));
        }
    }
    folded(
        "Accepted by waivers",
        verdict.waived.iter().map(|(finding, reason)| (finding, Some(reason))),
        &mut out,
    );
    folded("Listed only", verdict.listed.iter().map(|finding| (finding, None)), &mut out);
    out
}

fn head(finding: &Finding, word: &str, out: &mut String) {
    let _ = writeln!(out, "\n#### {word} {} · {}\n", finding.rule, code(&tool(finding)));
    let _ = writeln!(out, "{} ({})", escape(&finding.message), code(&finding.pointer));
    if let Some(tools) = tools(finding) {
        let _ = writeln!(out, "\nIn {}: {}", tool(finding), code(&tools));
    }
    out.push('\n');
}

fn reasons(finding: &Finding, out: &mut String) {
    let _ = writeln!(out, "- why it matters: {}", finding.why);
    if let Some((what, shown)) = witness(finding) {
        let _ = writeln!(out, "- {}: {}", lower_first(what), code(&shown));
    }
    if !finding.help.is_empty() {
        let _ = writeln!(out, "- to go on: {}", finding.help);
    }
}

fn folded<'a>(
    title: &str,
    findings: impl ExactSizeIterator<Item = (&'a Finding, Option<&'a String>)>,
    out: &mut String,
) {
    if findings.len() == 0 {
        return;
    }
    let _ = write!(out, "\n<details><summary>{title} ({})</summary>\n\n", findings.len());
    out.push_str("| Rule | Tool | Change |\n| --- | --- | --- |\n");
    for (finding, reason) in findings {
        let reason = reason.map(|reason| format!(" — {}", escape(reason))).unwrap_or_default();
        let (tool, message) =
            (tools(finding).unwrap_or_else(|| tool(finding)), cell(&escape(&finding.message)));
        let tool = cell(&code(&tool));
        let _ = writeln!(out, "| {} {} | {tool} | {message}{} |", word(finding), finding.rule, cell(&reason));
    }
    out.push_str("\n</details>\n");
}

/// Text of users in a code span: the fence is longer than any run of backticks inside.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    if text.is_empty() {
        return "the whole of it".to_owned();
    }
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Messages carry names of users: they must not become mark-up or mentions.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('@', "&#64;").replace(['\n', '\r'], " ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_users_stays_text() {
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(escape("<img> @all\n&"), "&lt;img> &#64;all &amp;");
        assert_eq!(cell("a|b"), "a\\|b");
    }
}
