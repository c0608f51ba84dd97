//! The report as a comment of a pull request.

use std::fmt::Write;

use super::{Names, change, headline, link, steps, tool, tools, waivers, witness, word};
use crate::finding::Finding;
use crate::verdict::Verdict;

/// The first line: a workflow finds its own comment by it.
pub const MARK: &str = "<!-- colibri-codegen drift -->";

/// The most bytes of the report. A comment of GitHub's holds 65,536 characters, and a workflow may add some of its own.
pub const MAX_BYTES: usize = 60_000;

/// Where findings, lines of waivers and tables end at the latest, so that each leaves room for what follows it.
const ENDS: [usize; 3] = [42_000, 50_000, MAX_BYTES - 1_000];

/// The verdict as GitHub-flavoured Markdown. What does not fit is counted.
#[must_use]
pub fn markdown(verdict: &Verdict, names: &Names) -> String {
    let title =
        if verdict.passes() { "Tools: no client breaks" } else { "Tools: this change needs a decision" };
    let mut page = Page { out: format!("{MARK}\n### {title}\n\n"), left_out: 0 };
    let states = format!("From {} to {}.", names.old, names.new);
    page.add(&format!("{}\n\n{}\n", escape(&headline(verdict)), escape(&states)), ENDS[0]);
    for finding in &verdict.blocking {
        page.count(&section(finding, &word(finding)), ENDS[0]);
    }
    for finding in &verdict.failures {
        page.count(&section(finding, "FAIL"), ENDS[0]);
    }
    way_on(verdict, names, &mut page);
    let waived = verdict.waived.iter().map(|(finding, reason)| (finding, Some(reason)));
    folded("Accepted by waivers", waived, &mut page);
    folded("Listed only", verdict.listed.iter().map(|finding| (finding, None)), &mut page);
    page.end()
}

/// A text that grows up to a bound.
struct Page {
    out: String,
    /// Findings that did not fit.
    left_out: usize,
}

impl Page {
    /// Adds a part that fits before `end`, and returns whether it did.
    fn add(&mut self, part: &str, end: usize) -> bool {
        let fits = self.out.len() + part.len() <= end;
        if fits {
            self.out.push_str(part);
        }
        fits
    }

    /// Adds a part about a finding, or counts it.
    fn count(&mut self, part: &str, end: usize) {
        self.left_out += usize::from(!self.add(part, end));
    }

    fn end(mut self) -> String {
        if self.left_out > 0 {
            let noun = if self.left_out == 1 { "finding does" } else { "findings do" };
            let _ = write!(
                self.out,
                "\n{} {noun} not fit here. The full report is in the forms `--format text` and `--format json`.\n",
                self.left_out
            );
        }
        self.out
    }
}

fn section(finding: &Finding, word: &str) -> String {
    let mut out = format!("\n#### {word} {} · {}\n\n", finding.rule, code(&tool(finding)));
    let _ = writeln!(out, "{} ({})", escape(&finding.message), code(&finding.pointer));
    if let Some(tools) = tools(finding) {
        let _ = writeln!(out, "\nIn {}: {}", tool(finding), code(&tools));
    }
    out.push('\n');
    if let Some(change) = change(finding) {
        let _ = writeln!(out, "- change: {}", code(&change));
    }
    let _ = writeln!(out, "- why it matters: {}", finding.why);
    if let Some((what, shown)) = witness(finding) {
        let _ = writeln!(out, "- {}: {}", lower_first(what), code(&shown));
    }
    if !finding.help.is_empty() {
        let _ = writeln!(out, "- to go on: {}", finding.help);
    }
    let _ = writeln!(out, "- more: <{}>", link(finding));
    out
}

fn way_on(verdict: &Verdict, names: &Names, page: &mut Page) {
    let steps = steps(verdict, names);
    if verdict.passes() || steps.is_empty() {
        return;
    }
    let mut text =
        "\n#### How to go on\n\nTake the changes back as said above, or accept them:\n\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let _ = writeln!(text, "{}. {step}", index + 1);
    }
    page.add(&text, ENDS[1]);
    if verdict.blocking.is_empty() {
        return;
    }
    page.add("\n```yaml\n", ENDS[1]);
    for lines in waivers(verdict, names) {
        // The lines of a finding that is left out above would say nothing to a reader.
        page.add(&lines, ENDS[1]);
    }
    page.add("```\n", MAX_BYTES);
}

fn folded<'a>(
    title: &str,
    findings: impl ExactSizeIterator<Item = (&'a Finding, Option<&'a String>)>,
    page: &mut Page,
) {
    let number = findings.len();
    let head = format!(
        "\n<details><summary>{title} ({number})</summary>\n\n| Rule | Tool | Change |\n| --- | --- | --- |\n"
    );
    if number == 0 {
        return;
    }
    let fits = page.add(&head, ENDS[2]);
    for (finding, reason) in findings {
        let reason = reason.map(|reason| format!(" — {}", escape(reason))).unwrap_or_default();
        let (tool, message) =
            (tools(finding).unwrap_or_else(|| tool(finding)), cell(&escape(&finding.message)));
        let tool = cell(&code(&tool));
        let row = format!("| {} {} | {tool} | {message}{} |\n", word(finding), finding.rule, cell(&reason));
        page.count(&row, if fits { ENDS[2] } else { 0 });
    }
    if fits {
        page.add("\n</details>\n", MAX_BYTES);
    }
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
