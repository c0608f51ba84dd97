//! What hosts and model providers are known to refuse, although the protocol allows it: a dated table with a source for each row.
//!
//! [`remarks`] applies the table to one state of a server, for `mcp-drift lint`; the rule `H1` compares the remarks on two.

mod names;
mod references;
mod schemas;
mod sizes;

use crate::snapshot::Snapshot;

/// What follows from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The host or provider answers nothing, or loads nothing, while the list has such a tool.
    ListRefused,
    /// It refuses the tool alone.
    ToolRefused,
    /// It takes the tool and drops something.
    Degraded,
}

impl Effect {
    /// Returns the word that reports use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ListRefused => "LIST REFUSED",
            Self::ToolRefused => "TOOL REFUSED",
            Self::Degraded => "DEGRADED",
        }
    }
}

/// One thing that hosts or providers refuse.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// What follows.
    pub effect: Effect,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Who does what with it, as a sentence.
    pub seen: &'static str,
    /// What to do, without a full stop.
    pub help: &'static str,
    /// Where that is reported or documented.
    pub source: &'static str,
    /// The day of the report.
    pub date: &'static str,
    find: fn(&Snapshot, &mut Vec<Place>),
}

/// Where a row applies.
#[derive(Debug)]
struct Place {
    tool: Option<String>,
    pointer: String,
    detail: String,
}

/// A row that applies to a state.
#[derive(Debug)]
pub struct Remark {
    /// The row.
    pub row: &'static Row,
    /// The tool; `None` if it is about the list or the server.
    pub tool: Option<String>,
    /// Where in the tool's entry.
    pub pointer: String,
    /// What is there, without a full stop.
    pub detail: String,
}

/// Returns what the table says of a state, by row.
#[must_use]
pub fn remarks(state: &Snapshot) -> Vec<Remark> {
    let mut found = Vec::new();
    for row in ROWS {
        let mut places = Vec::new();
        (row.find)(state, &mut places);
        let remark =
            |place: Place| Remark { row, tool: place.tool, pointer: place.pointer, detail: place.detail };
        found.extend(places.into_iter().map(remark));
    }
    found
}

/// The table. A row leaves it when the host or provider no longer does what it says.
pub const ROWS: &[Row] = &[
    Row {
        name: "root-union",
        effect: Effect::ListRefused,
        title: "`oneOf`, `anyOf` or `allOf` at the root of `inputSchema`",
        seen: "The Anthropic API answers each request that has such a tool with an error.",
        help: "put the alternatives below a property, or check them in the server",
        source: "https://github.com/makenotion/notion-mcp-server/issues/341",
        date: "2026-08-05",
        find: schemas::root_union,
    },
    Row {
        name: "root-not-object",
        effect: Effect::ListRefused,
        title: "`inputSchema` without `type: object` at its root",
        seen: "Clients of the official TypeScript library refuse the whole list.",
        help: "write `type: object` at the root, beside what the schema says",
        source: "https://github.com/WebMCP-org/npm-packages/issues/117",
        date: "2026-02-24",
        find: schemas::root_not_object,
    },
    Row {
        name: "malformed",
        effect: Effect::ListRefused,
        title: "a member of another form than the protocol gives it, such as a description that is a number",
        seen: "Clients of the official TypeScript library refuse the whole list.",
        help: "write the member as the protocol has it, or leave it out",
        source: "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2025-11-25/schema.json",
        date: "2026-11-26",
        find: schemas::malformed,
    },
    Row {
        name: "reference-cycle",
        effect: Effect::ListRefused,
        title: "`$ref`s in `inputSchema` that lead back to themselves",
        seen: "The Gemini API answers each request that has such a tool with an error.",
        help: "write the first levels out, and take deeper ones as text or as any value",
        source: "https://github.com/google-gemini/gemini-cli/issues/14945",
        date: "2025-12-11",
        find: references::cycles,
    },
    Row {
        name: "reference-nowhere",
        effect: Effect::ListRefused,
        title: "a `$ref` that leads nowhere",
        seen: "Clients of the official TypeScript library refuse the list for an output schema, and the Gemini API the request for an input schema.",
        help: "put what it names below `$defs` of the same schema",
        source: "https://github.com/modelcontextprotocol/typescript-sdk/issues/1175",
        date: "2025-11-26",
        find: references::nowhere,
    },
    Row {
        name: "name-characters",
        effect: Effect::ListRefused,
        title: "a tool name with other characters than letters, digits, `_` and `-`",
        seen: "The Anthropic and OpenAI APIs answer each request that has such a tool with an error, unless the host rewrites the name.",
        help: "name the tool with letters, digits, `_` and `-`",
        source: "https://github.com/github/copilot-cli/issues/1879",
        date: "2026-03-06",
        find: names::characters,
    },
    Row {
        name: "name-first",
        effect: Effect::ListRefused,
        title: "a tool name that begins with neither a letter nor `_`",
        seen: "The Gemini API answers each request that has such a tool with an error.",
        help: "begin the name with a letter",
        source: "https://github.com/wonderwhy-er/DesktopCommanderMCP/issues/79",
        date: "2025-07-06",
        find: names::first,
    },
    Row {
        name: "name-length",
        effect: Effect::ListRefused,
        title: "a tool name of over 64 characters",
        seen: "The OpenAI and Gemini APIs answer each request that has such a tool with an error.",
        help: "shorten the name",
        source: "https://github.com/tadata-org/fastapi_mcp/issues/161",
        date: "2025-06-06",
        find: names::length,
    },
    Row {
        name: "name-with-server",
        effect: Effect::Degraded,
        title: "`mcp__SERVER__TOOL` of over 64 characters, with the server's own name",
        seen: "Hosts put the name that the user gave the server before each tool; beyond 64 characters some leave the tool out, and some fail.",
        help: "shorten the name of the tool, or that of the server",
        source: "https://github.com/anthropics/claude-code/issues/19882",
        date: "2026-01-25",
        find: names::with_server,
    },
    Row {
        name: "property-characters",
        effect: Effect::ListRefused,
        title: "an argument whose name has other characters than letters, digits, `_`, `.` and `-`, or over 64",
        seen: "The Anthropic API answers each request that has such a tool with an error.",
        help: "name the argument with letters, digits and `_`, and let the server translate it",
        source: "https://github.com/decocms/studio/pull/6874",
        date: "2026-09-02",
        find: names::properties,
    },
    Row {
        name: "array-without-items",
        effect: Effect::ToolRefused,
        title: "an array in `inputSchema` without `items`",
        seen: "VS Code does not load the tool, and the OpenAI API refuses its schema.",
        help: "say what the array holds; `items: {}` is any value",
        source: "https://github.com/webflow/mcp-server/issues/119",
        date: "2026-04-15",
        find: schemas::array_without_items,
    },
    Row {
        name: "output-not-object",
        effect: Effect::ListRefused,
        title: "`outputSchema` without `type: object` at its root",
        seen: "Clients of the official TypeScript library up to 1.x refuse the whole list.",
        help: "write `type: object` at the root of the output schema",
        source: "https://github.com/opentokenz/mcpx/issues/28",
        date: "2026-09-21",
        find: schemas::output_not_object,
    },
    Row {
        name: "output-dialect",
        effect: Effect::ToolRefused,
        title: "`$schema` of `outputSchema` is not JSON Schema 2020-12",
        seen: "Clients that validate results by 2020-12 alone refuse each call of the tool.",
        help: "leave `$schema` out, or let it be https://json-schema.org/draft/2020-12/schema",
        source: "https://github.com/nataliapc/mcp-openmsx/issues/22",
        date: "2026-09-15",
        find: schemas::output_dialect,
    },
    Row {
        name: "input-dialect",
        effect: Effect::Degraded,
        title: "`$schema` in `inputSchema`",
        seen: "The Gemini libraries know no `$schema`; hosts that do not remove it fail.",
        help: "leave `$schema` out: the protocol's dialect is 2020-12",
        source: "https://github.com/GetStream/Vision-Agents/pull/513",
        date: "2026-04-24",
        find: schemas::input_dialect,
    },
    Row {
        name: "string-format",
        effect: Effect::Degraded,
        title: "a `format` of text in `inputSchema` other than `date-time`",
        seen: "The Gemini API refuses other formats in its own form of schemas; hosts drop them, or fail.",
        help: "say the format in the description, or with `pattern`",
        source: "https://github.com/google-gemini/gemini-cli/issues/2237",
        date: "2025-06-27",
        find: schemas::string_format,
    },
    Row {
        name: "enum-not-text",
        effect: Effect::Degraded,
        title: "an `enum` in `inputSchema` with values that are not texts",
        seen: "The Gemini API takes texts alone; hosts rewrite the values, or fail.",
        help: "list texts, or set bounds to the number",
        source: "https://github.com/JetBrains/mcp-jetbrains/issues/71",
        date: "2026-05-15",
        find: schemas::enum_not_text,
    },
    Row {
        name: "tools-over-128",
        effect: Effect::ListRefused,
        title: "over 128 tools",
        seen: "GitHub Copilot refuses each request with more than 128 tools, over all servers.",
        help: "offer tools in sets that the user chooses",
        source: "https://github.com/microsoft/copilot-intellij-feedback/issues/1842",
        date: "2026-06-21",
        find: sizes::tools_over_128,
    },
    Row {
        name: "tools-over-40",
        effect: Effect::Degraded,
        title: "over 40 tools",
        seen: "Cursor offered the model the first 40 tools of all servers.",
        help: "offer tools in sets that the user chooses, the most useful ones first",
        source: "https://github.com/bun913/mcp-testrail/issues/6",
        date: "2025-04-02",
        find: sizes::tools_over_40,
    },
    Row {
        name: "list-bytes",
        effect: Effect::Degraded,
        title: "a list of over 100,000 bytes, about 25,000 tokens",
        seen: "Claude Code warns of lists beyond 25,000 tokens, and loads such tools only when it searches for them.",
        help: "shorten descriptions and schemas, or offer tools in sets",
        source: "https://github.com/anthropics/claude-code/issues/12241",
        date: "2025-11-24",
        find: sizes::list_bytes,
    },
    Row {
        name: "text-length",
        effect: Effect::Degraded,
        title: "a tool's description or the instructions of over 2,048 characters",
        seen: "Claude Code cuts both after 2,048 characters, and says so nowhere.",
        help: "say what matters first, and shorten the rest",
        source: "https://github.com/anthropics/claude-code/issues/81268",
        date: "2026-07-26",
        find: sizes::text_length,
    },
];
