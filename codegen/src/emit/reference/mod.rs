//! Reference pages in Markdown: an index of all tools, a page for each domain, and the error catalogue.

mod fields;
mod markdown;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::catalogue::{Envelope, ErrorPattern, Example, Runs, Stability, Teaches, Varying};
use crate::ir::publish::publish;
use crate::ir::{Domain, ErrorIr, Ir, ToolIr};
use markdown::{Page, code, text};

/// Returns the pages: path below the reference folder, text.
#[must_use]
pub fn pages(ir: &Ir<'_>) -> Vec<(PathBuf, String)> {
    let domains = ir.domains.iter().map(|domain| {
        let path = format!("{}.md", domain.entry.domain);
        (PathBuf::from(path), domain_page(domain, ir))
    });
    let mut pages = vec![(PathBuf::from("index.md"), index(ir))];
    pages.extend(domains);
    pages.push((PathBuf::from("errors.md"), errors(ir)));
    pages
}

fn index(ir: &Ir<'_>) -> String {
    let mut page = Page::new(&format!("{} {}: tools", ir.head.title, ir.head.version));
    page.paragraph("Clients are told:");
    page.plain(&ir.head.full_instructions());
    for announcement in &ir.head.announcements {
        let (setting, value) = (code(&announcement.setting), code(&announcement.value));
        let further = match announcement.teaches {
            Teaches::All => "before that text",
            Teaches::Reading => "before the parts of that text that hold for reading",
            Teaches::Nothing => "instead of that text",
        };
        page.paragraph(&format!("Where {setting} is {value}, the server says {further}:"));
        page.plain(&announcement.instructions);
    }
    if !ir.head.toolsets.is_empty() {
        page.paragraph("The toolsets:");
        page.table(&["Toolset", "Tools", "What they are for"], toolset_rows(ir));
    }
    tool_table(ir, "", &mut page);
    if ir.operations().next().is_some() {
        page.paragraph("The operator's, run by commands of the server; no client can call them:");
        page.table(&["Operation", "What it does", "Effect", "Stability"], tool_rows(ir, "", true));
    }
    for domain in &ir.domains {
        page.item(&format!(
            "[{}]({}.md): {}",
            domain.entry.title,
            domain.entry.domain,
            text(&domain.entry.description)
        ));
    }
    page.item("[Errors](errors.md): every code, and when it is answered");
    page.finish()
}

fn toolset_rows(ir: &Ir<'_>) -> impl Iterator<Item = Vec<String>> {
    ir.head.toolsets.iter().map(|set| {
        let tools = ir.listed().filter(|tool| tool.entry.toolset.as_ref() == Some(&set.name));
        let tools = tools.map(|tool| code(&tool.entry.name)).collect::<Vec<_>>().join(", ");
        vec![code(&set.name), tools, text(&set.description)]
    })
}

/// Writes the tools that clients see; `below` is the path from the page to the reference folder.
fn tool_table(ir: &Ir<'_>, below: &str, page: &mut Page) {
    page.table(&["Tool", "What it does", "Effect", "Stability"], tool_rows(ir, below, false));
}

/// Returns one row for each tool: the clients' or the operator's.
fn tool_rows(ir: &Ir<'_>, below: &str, operator: bool) -> impl Iterator<Item = Vec<String>> {
    ir.domains.iter().flat_map(move |domain| {
        let tools = domain.tools.iter().filter(move |tool| tool.is_operation() == operator);
        tools.map(move |tool| {
            let name = &tool.entry.name;
            let link = format!("[`{name}`]({below}{}.md#{name})", domain.entry.domain);
            vec![link, text(&tool.entry.description), effect(tool).to_owned(), stability(tool).to_owned()]
        })
    })
}

/// Returns the table alone, for a page that people write: see [`between_markers`].
pub fn table(ir: &Ir<'_>, below: &str) -> String {
    let mut page = Page::empty();
    tool_table(ir, below, &mut page);
    page.finish()
}

/// Where a written page takes the generated table.
pub const MARKERS: [&str; 2] = ["<!-- begin tools -->\n", "<!-- end tools -->"];

/// Returns the page with `table` between its markers; `None` when the page has none.
pub fn between_markers(page: &str, table: &str) -> Option<String> {
    let [begin, end] = MARKERS;
    let from = page.find(begin)? + begin.len();
    let to = from + page[from..].find(end)?;
    Some(format!("{}{table}{}", &page[..from], &page[to..]))
}

fn domain_page(domain: &Domain<'_>, ir: &Ir<'_>) -> String {
    let mut page = Page::new(&domain.entry.title);
    page.paragraph(&text(&domain.entry.description));
    page.paragraph("[All tools](index.md) · [Errors](errors.md)");
    // The operator's tools come last, in any catalogue.
    let (operations, listed): (Vec<_>, Vec<_>) = domain.tools.iter().partition(|tool| tool.is_operation());
    for tool in listed.into_iter().chain(operations) {
        self::tool(tool, ir, &mut page);
    }
    page.finish()
}

fn tool(tool: &ToolIr<'_>, ir: &Ir<'_>, page: &mut Page) {
    let entry = tool.entry;
    page.heading(2, &entry.name);
    let title = if entry.title.is_empty() { &entry.name } else { &entry.title };
    page.paragraph(&format!("**{}.** {}", text(title), text(&entry.description)));
    if tool.is_operation() {
        page.paragraph("An operation: a command of the server runs it; no client sees it or can call it.");
    }
    page.table(&["Property", "Value"], properties(tool));
    page.heading(3, "Input");
    page.fields(&fields::rows(&tool.input, ir), "Takes no arguments: `{}`.");
    if !entry.rules.is_empty() {
        page.paragraph("Across fields:");
        for rule in &entry.rules {
            page.item(&fields::rule(rule));
        }
    }
    if let Some(relaxation) = &entry.relaxed {
        let optional = relaxation.optional.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
        let setting = code(&format!("{}={}", relaxation.setting, relaxation.value));
        page.paragraph(&format!("Under {setting}, optional: {optional}."));
    }
    page.heading(3, "Output");
    let empty = match entry.envelope {
        _ if entry.output.is_empty() => "Any value.",
        Envelope::Ok => "`data` is an empty object.",
        Envelope::None => "An empty object.",
    };
    page.fields(&fields::rows(&tool.output, ir), empty);
    page.heading(3, "Errors");
    if tool.errors.is_empty() {
        page.paragraph("None of its own; see [the codes of every tool](errors.md#codes-of-every-tool).");
    } else {
        let rows = tool.errors.iter().map(|error| {
            let names = error.fields.iter().map(|field| code(&field.name)).collect::<Vec<_>>().join(", ");
            let entry = error.entry;
            vec![
                code(&entry.code),
                text(&entry.when),
                code(&entry.message),
                names,
                text(&entry.remedy),
                next(error),
            ]
        });
        page.table(&["Code", "When", "Message", "Fields", "Remedy", "Next"], rows);
    }
    if !entry.examples.is_empty() {
        page.heading(3, "Examples");
    }
    for example in &entry.examples {
        self::example(tool, example, page);
    }
}

/// Returns the tools of the calls that an error suggests.
fn next(error: &ErrorIr<'_>) -> String {
    error.entry.next.iter().map(|call| code(&call.tool)).collect::<Vec<_>>().join(", ")
}

fn properties(tool: &ToolIr<'_>) -> Vec<Vec<String>> {
    let entry = tool.entry;
    let stated = entry.hints.all().into_iter().filter_map(|(_, name, hint, _)| Some((name, hint?)));
    let hints = stated.map(|(name, value)| format!("`{name}: {value}`")).collect::<Vec<_>>().join(", ");
    let pattern = match (entry.envelope, entry.pattern) {
        (Envelope::None, _) => "C without envelope: `isError: true`, `error` with its fields as a text",
        (Envelope::Ok, ErrorPattern::A) => "A: `ok: false`, `isError: true`",
        (Envelope::Ok, ErrorPattern::B) => "B: `ok: true`, the error in `data.error` with `data.ok: false`",
        (Envelope::Ok, ErrorPattern::C) => {
            "C: `ok: false`, `isError: true`, the error's own code and fields in `error`"
        }
    };
    let at_a_time =
        entry.concurrency.filter(|most| *most > 1).map(|most| format!(", up to {most} at a time"));
    let runs = match entry.runs {
        Runs::Network => "beside other calls, without the store",
        Runs::Scan => "in a helper thread, on a read transaction of its own",
        Runs::Free if entry.early => "with or without the store, and while the server starts",
        Runs::Free => "with or without the store",
        Runs::Store | Runs::Operator => "in the store's transaction",
    };
    let mut rows = vec![
        vec!["Effect".to_owned(), effect(tool).to_owned()],
        vec!["Errors".to_owned(), pattern.to_owned()],
        vec!["Runs".to_owned(), format!("{runs}{}", at_a_time.unwrap_or_default())],
        vec!["Since".to_owned(), format!("{}, {}{}", entry.since, stability(tool), sunset(tool))],
    ];
    if !tool.is_operation() && !hints.is_empty() {
        rows.insert(3, vec!["Hints".to_owned(), hints]);
    }
    if let Some(toolset) = &entry.toolset {
        rows.insert(0, vec!["Toolset".to_owned(), code(toolset)]);
    }
    if !entry.sensitive.is_empty() {
        let names = entry.sensitive.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
        rows.push(vec!["Secrets".to_owned(), format!("{names}: never logged or audited")]);
    }
    rows
}

fn effect(tool: &ToolIr<'_>) -> &'static str {
    match (tool.entry.mutates(), tool.entry.hints.is_destructive()) {
        (true, true) => "changes or removes what is stored",
        (true, false) => "adds to what is stored",
        (false, _) if tool.entry.hints.is_read_only() => "reads",
        (false, _) => "needs no writable store",
    }
}

/// Returns what users read before a tool goes.
fn sunset(tool: &ToolIr<'_>) -> String {
    tool.entry.sunset.as_ref().map(|version| format!("; may be gone from {version} on")).unwrap_or_default()
}

fn stability(tool: &ToolIr<'_>) -> &'static str {
    match tool.entry.stability {
        Stability::Stable => "stable",
        Stability::Beta => "beta",
        Stability::Experimental => "experimental",
    }
}

fn example(tool: &ToolIr<'_>, example: &Example, page: &mut Page) {
    page.paragraph(&format!("**{}**", text(&example.title)));
    if !example.before.is_empty() {
        let calls: Vec<Value> = example
            .before
            .iter()
            .map(|call| json!({"name": call.tool, "arguments": call.arguments}))
            .collect();
        page.paragraph("After:");
        calls.iter().for_each(|call| page.json(call));
    }
    page.json(&json!({"name": tool.entry.name, "arguments": example.arguments}));
    page.paragraph("Reply:");
    page.json(&example.reply);
    if !example.varies.is_empty() {
        let place =
            |(place, varying): (&String, &Varying)| format!("{} ({})", code(place), text(&varying.words()));
        let places = example.varies.iter().map(place).collect::<Vec<_>>().join(", ");
        page.paragraph(&format!("Differs from run to run: {places}."));
    }
}

fn errors(ir: &Ir<'_>) -> String {
    let mut page = Page::new("Errors");
    page.heading(2, "Codes of every tool");
    let rows = ir.head.chain.roles().map(|(_, error)| {
        let remedy = error.remedy.as_deref().unwrap_or_default();
        vec![code(&error.code), text(&error.when), code(&error.message), text(remedy)]
    });
    page.table(&["Code", "When", "Message", "Remedy"], rows);
    if !ir.head.notices.is_empty() {
        page.heading(2, "Notices");
        page.paragraph("A reply may have a second text behind its result, `{\"warnings\":[{\"code\":…,\"message\":…}]}`. The log's hash of the reply does not cover it.");
        let rows = ir
            .head
            .notices
            .iter()
            .map(|notice| vec![code(&notice.code), text(&notice.when), code(&notice.message)]);
        page.table(&["Code", "When", "Message"], rows);
    }
    if let Some(foreign) = &ir.head.foreign {
        page.heading(2, "Codes of calls to other servers");
        let rows = foreign
            .roles()
            .map(|(_, error)| vec![code(&error.code), text(&error.when), code(&error.message)]);
        page.table(&["Code", "When", "Message"], rows);
    }
    if !ir.errors.is_empty() {
        page.heading(2, "Codes of several tools");
        page.table(&["Code", "Tools", "When", "Fields", "Remedy"], shared_error_rows(ir));
    }
    page.heading(2, "Codes of single tools");
    page.table(&["Code", "Tool", "When", "Fields", "Remedy"], error_rows(ir, false));
    if ir.operations().next().is_some() {
        page.heading(2, "Codes of operations");
        page.table(&["Code", "Operation", "When", "Fields", "Remedy"], error_rows(ir, true));
    }
    page.finish()
}

/// Returns one row for each declared error: of the clients' tools or of the operator's.
fn error_rows<'a>(ir: &'a Ir<'_>, operator: bool) -> impl Iterator<Item = Vec<String>> + 'a {
    ir.domains.iter().flat_map(move |domain| {
        let tools = domain.tools.iter().filter(move |tool| tool.is_operation() == operator);
        tools.flat_map(move |tool| {
            let own = tool.errors.iter().filter(|error| !error.entry.shared);
            own.map(move |error| error_row(error, link(domain, tool), ir))
        })
    })
}

/// Returns one row for each error that tools share.
fn shared_error_rows<'a>(ir: &'a Ir<'_>) -> impl Iterator<Item = Vec<String>> + 'a {
    ir.errors.iter().map(move |error| {
        let names = |tool: &&ToolIr<'_>| {
            tool.errors.iter().any(|own| own.entry.shared && own.entry.code == error.entry.code)
        };
        let links = ir
            .domains
            .iter()
            .flat_map(|domain| domain.tools.iter().filter(names).map(move |tool| link(domain, tool)));
        error_row(error, links.collect::<Vec<_>>().join(", "), ir)
    })
}

fn link(domain: &Domain<'_>, tool: &ToolIr<'_>) -> String {
    let name = &tool.entry.name;
    format!("[`{name}`]({}.md#{name})", domain.entry.domain)
}

fn error_row(error: &ErrorIr<'_>, tools: String, ir: &Ir<'_>) -> Vec<String> {
    let fields = error
        .fields
        .iter()
        .map(|field| format!("{}: {}", code(&field.name), fields::kind(&field.schema, ir)));
    vec![
        code(&error.entry.code),
        tools,
        text(&error.entry.when),
        fields.collect::<Vec<_>>().join("; "),
        text(&error.entry.remedy),
    ]
}

/// Returns the schema itself where it is a choice, because words are not enough there.
fn shown(schema: &crate::ir::schema::Schema, ir: &Ir<'_>) -> String {
    code(&publish(schema, &ir.shared).to_string())
}
