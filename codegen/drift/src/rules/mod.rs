//! The rules: one table, and the judgements by subject.
//!
//! An entry of the table has a rule's id and name, its side of the contract and its usual severity, what it is about, what it asks
//! for, why, and which function checks it. From the table come [`RULES`], the calls of all checks, and the reference page
//! `docs/reference/drift-rules.md`. Ids and names never change: fingerprints hash the ids, teams configure by name.

pub mod catalogue;
pub(crate) mod changes;
mod errors;
mod hosts;
pub mod inputs;
mod offers;
pub mod outputs;
pub(crate) mod pairing;
pub(crate) mod schemas;
mod strings;
pub(crate) mod texts;
mod tools;
pub mod waivers;

use crate::rules::pairing::Comparison;
use crate::{Direction, Finding, Rule, Severity};

/// Makes a constant of each rule, [`RULES`] in the order of the table, and [`check`].
macro_rules! rules {
    ($($id:ident $name:literal $direction:ident $severity:ident: $title:literal, $asks:literal, $why:literal => $($check:ident)::+;)*) => {
        $(
            #[doc = $title]
            pub const $id: Rule = Rule {
                id: stringify!($id),
                name: $name,
                direction: Direction::$direction,
                severity: Severity::$severity,
                title: $title,
                asks: $asks,
                why: $why,
            };
        )*

        /// All rules.
        pub const RULES: &[Rule] = &[$($id),*];

        /// Asks the rules that look at whole snapshots.
        pub fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
            $($($check)::+(change, found);)*
        }
    };
}

rules! {
    T1 "tool-removed" Tool Break: "tool removed", "BREAK; INFO after a stated `sunset`",
        "prompts, skills and permission rules name it, and calls of it fail" => tools::removed;
    T2 "tool-renamed" Tool Break: "tool renamed", "BREAK",
        "hosts key their permissions by name (`mcp__server__tool`), and calls of the old name fail" => tools::renamed;
    T3 "tool-added" Tool Info: "tool added", "INFO; ACK when the byte budget was raised for it; security for a name that tells the model what to do",
        "every listed tool costs every user context" => tools::added;
    T4 "order-changed" Tool Ack: "order of tools or properties changed", "ACK",
        "the specification asks for a deterministic order, and prompt caches miss" => tools::order_changed;
    T5 "tool-description-changed" Tool Ack: "tool description changed", "ACK, security; INFO for white space",
        "it steers which tool a model chooses, and it is the channel through which tools are poisoned"
        => texts::description_changed;
    T6 "tool-title-changed" Tool Info: "title or icons changed", "INFO; ACK, security for a title that tells the model what to do",
        "hosts show them, and some show titles to the model" => tools::display_changed;
    T7 "read-only-hint-lost" Tool Break: "`readOnlyHint` true to false or absent", "BREAK, security",
        "hosts approve read-only tools by themselves; approvals given before would now cover writes" => tools::may_write;
    T8 "read-only-hint-gained" Tool Ack: "`readOnlyHint` false to true", "ACK, security",
        "it is a promise: hosts will run the tool without asking" => tools::only_reads;
    T9 "destructive-hint-changed" Tool Break: "`destructiveHint` changed", "BREAK to true, ACK to false, security",
        "consent prompts appear or vanish (absent means true)" => tools::destructive_changed;
    T10 "idempotent-hint-changed" Tool Break: "`idempotentHint` changed", "BREAK to false, INFO to true",
        "agents repeat idempotent calls blindly; without the promise effects double" => tools::idempotent_changed;
    T11 "open-world-hint-changed" Tool Ack: "`openWorldHint` or `network` changed", "ACK to true, security; INFO to false",
        "a tool that reaches the outside is a new way for data to leave" => tools::reach_changed;
    T13 "task-support-changed" Tool Break: "task support changed", "INFO when optional, BREAK when required or removed",
        "clients without the extension must still work, and those that run it as a task must still be able to"
        => tools::task_support_changed;
    T14 "tool-admission-changed" Tool Break: "toolset or mode that admits the tool changed", "BREAK narrower or another toolset, INFO wider or the first toolset, ACK for another domain",
        "users filter by toolset, and a mode is a promise of what runs in it" => tools::admission_changed;
    T15 "stability-changed" Tool Break: "stability lowered or raised", "BREAK lowered, INFO raised",
        "a lowered stability hides the breaks that come after it" => tools::stability_changed;
    T16 "hidden-character" Tool Break: "any text holds an invisible character", "BREAK, security",
        "a person who reads the entry misses what a model is told" => by_text;
    T17 "input-type-missing" Tool Break: "`inputSchema` no longer says `type: object`", "BREAK",
        "the protocol demands it, and official client libraries refuse the whole list of tools without it" => tools::type_dropped;
    I0 "input-keyword-unknown" Input Ack: "keyword changed that the gate does not know", "ACK",
        "what is not understood is never taken as safe" => by_schema;
    I1 "input-property-required" Input Break: "required property added, or an optional one made required", "BREAK",
        "old calls do not send it, and a default does not help: validators do not apply defaults" => by_schema;
    I2 "input-property-made-optional" Input Info: "required property made optional", "INFO",
        "old calls still fit" => by_schema;
    I3 "input-property-added" Input Info: "optional property added", "INFO; ACK if the object was open",
        "where any property was allowed, the name may have carried free data" => by_schema;
    I4 "input-property-removed" Input Break: "property removed or renamed", "BREAK if closed, ACK if open",
        "a closed object refuses the calls that still send it; an open one ignores what they say" => by_schema;
    I5 "input-type-changed" Input Break: "type narrowed, changed or widened", "BREAK narrower, INFO wider",
        "calls with a value of the old type are refused" => by_schema;
    I6 "input-enum-value-removed" Input Break: "value of an enum removed or added", "BREAK removed, INFO added",
        "calls with a value that is no longer listed are refused" => by_schema;
    I7 "input-bound-tightened" Input Break: "bound tightened, newly set or loosened", "BREAK tighter or new, INFO looser",
        "calls beyond the new bound are refused; the server enforces it" => by_schema;
    I8 "input-pattern-added" Input Break: "pattern added or removed", "BREAK added, INFO removed",
        "calls with a text that does not match are refused" => by_schema;
    I9 "input-pattern-changed" Input Break: "pattern changed", "INFO if proven wider, BREAK with a witness, else ACK",
        "calls with a text that only the old pattern takes are refused" => by_schema;
    I10 "input-format-changed" Input Ack: "format added or changed", "ACK",
        "some validators assert formats, others only note them" => by_schema;
    I11 "input-object-closed" Input Break: "object closed or opened", "BREAK closing, INFO opening",
        "a closed object refuses properties that were let through; an open one does not notice typing errors" => by_schema;
    I12 "input-default-changed" Input Break: "default changed", "BREAK",
        "the same call has another effect" => by_schema;
    I13 "input-condition-changed" Input Break: "branch of a union or another condition added or removed", "BREAK narrower, INFO wider, else ACK",
        "calls that fit only what was removed, or do not meet what was added, are refused" => by_schema;
    I14 "input-rewritten" Input Info: "the same schema written in another way", "none",
        "what a schema takes is compared, not its text" => by_schema;
    I15 "input-property-sensitive" Input Ack: "property added that looks like a secret, a path, an address or a command", "ACK, security",
        "secrets belong in the environment; paths, addresses and commands widen what a call can reach" => by_schema;
    I16 "input-size-limit-changed" Input Break: "input size limit lowered or raised", "BREAK lower or new, INFO higher",
        "arguments that were taken are refused" => inputs::beyond_schemas;
    I17 "input-text-changed" Input Ack: "text of an input schema changed or new", "ACK, security; INFO for plain titles and values, for white space, and when removed",
        "models fill arguments from it, and are told more by it than a person reads" => by_schema;
    I18 "input-default-made-required" Input Ack: "optional property with a default made required, with the same default", "ACK",
        "calls without it are refused, unless the server fills in defaults before it validates, as some do" => by_schema;
    O0 "output-keyword-unknown" Output Ack: "keyword changed that the gate does not know", "ACK",
        "what is not understood is never taken as safe" => by_schema;
    O1 "output-property-not-required" Output Break: "required property removed, renamed or made optional", "BREAK",
        "readers index it" => by_schema;
    O2 "output-property-removed" Output Ack: "optional property removed or renamed", "ACK",
        "readers that look for it find nothing any more" => by_schema;
    O3 "output-property-added" Output Ack: "property added", "INFO if open, ACK if closed",
        "readers with a cached schema or strict generated types reject what is new to them" => by_schema;
    O4 "output-property-made-required" Output Info: "optional property made required", "INFO",
        "readers find more than before" => by_schema;
    O5 "output-type-widened" Output Break: "type widened or narrowed", "BREAK wider, INFO narrower",
        "readers meet values of a type that they do not expect" => by_schema;
    O6 "output-enum-value-added" Output Ack: "value of an enum added or removed", "ACK added, INFO removed",
        "exhaustive matches fail on a value that they do not know" => by_schema;
    O7 "output-bound-loosened" Output Break: "bound loosened, removed or tightened", "BREAK looser, INFO tighter",
        "fixed buffers, columns and prompts were made for the old bound" => by_schema;
    O8 "output-pattern-changed" Output Ack: "pattern removed, changed or added", "ACK, INFO when added",
        "ids and hashes get parsed" => by_schema;
    O9 "output-object-opened" Output Ack: "object opened or closed", "ACK opening, INFO closing",
        "readers meet properties that they do not know" => by_schema;
    O10 "output-schema-removed" Output Break: "`outputSchema` added or removed", "INFO added, BREAK removed",
        "once declared, results and errors must fit it, and clients read the structured content" => outputs::schema_declared;
    O11 "error-envelope-changed" Output Break: "envelope or its pattern changed", "BREAK",
        "clients look for results and errors in one place: `data` or the whole reply, and `isError` or `data`" => outputs::envelope_changed;
    O17 "output-text-changed" Output Ack: "text of an output schema changed or new", "ACK, security; INFO for plain titles and values, and for white space",
        "models read results by it, and are told more by it than a person reads" => by_text;
    E1 "error-code-added" Error Break: "error code added", "BREAK; ACK if the input takes more now",
        "calls that worked may fail with a code that no client has a branch for" => errors::added;
    E2 "error-code-removed" Error Break: "error code removed or renamed", "ACK removed, BREAK renamed",
        "a removed code leaves dead branches in clients, a renamed one is missed by them" => errors::removed_or_renamed;
    E3 "error-class-changed" Error Break: "class of a code changed", "BREAK",
        "whether a code is a result or a protocol error, and what kind it is, drives retry loops" => errors::class_changed;
    E4 "error-details-changed" Error Break: "shape of an error's details changed", "as O1 to O9",
        "clients read details as they read results" => errors::details_changed;
    E5 "error-message-changed" Error Info: "message text changed", "INFO; BREAK for the code at its start",
        "clients match the code at the start of a message (`CODE: …`), and nothing after it" => errors::message_changed;
    E6 "error-remedy-changed" Error Ack: "remedy or next calls of an error changed", "ACK, security",
        "they go straight to the model, and name calls for it to make" => errors::remedy_changed;
    C1 "protocol-dropped" Catalogue Break: "protocol revision or extension dropped or added", "BREAK dropped, INFO added",
        "a client that speaks only what was dropped can no longer talk to the server" => catalogue::spoken_changed;
    C2 "server-name-changed" Catalogue Ack: "server `name` changed", "ACK",
        "registries and logs know the server by it; hosts key their permissions by the name that the user configured" => catalogue::name_changed;
    C3 "instructions-changed" Catalogue Ack: "`instructions` changed", "ACK, security",
        "they go straight to the model" => texts::instructions_changed;
    C4 "caching-changed" Catalogue Ack: "`cacheScope` private to public, or `ttlMs` raised", "ACK; security for the scope",
        "a list that others keep leaks, and one that is kept for long is stale" => catalogue::caching_changed;
    C11 "server-text-changed" Catalogue Info: "title, description or another text of the server changed", "INFO; ACK, security for descriptions and commands",
        "hosts show it, and may show it to the model" => by_text;
    C9 "version-not-bumped" Catalogue Break: "version not bumped as the worst finding demands", "FAIL",
        "clients that pin a version must not get a break with it" => by_verdict;
    C10 "waiver-unsound" Catalogue Break: "waiver unused, expired or without reason", "FAIL",
        "a waiver that lingers accepts what nobody has looked at" => by_verdict;
    P1 "prompt-removed" Catalogue Break: "prompt removed", "BREAK",
        "people and clients ask for prompts by name" => offers::prompt_removed;
    P2 "prompt-added" Catalogue Info: "prompt added", "INFO",
        "clients that do not know it do not ask for it" => offers::prompt_added;
    P3 "prompt-argument-changed" Catalogue Break: "argument of a prompt changed", "BREAK required, ACK removed, INFO optional",
        "clients ask with the arguments that they know" => offers::prompt_arguments;
    P4 "prompt-text-changed" Catalogue Ack: "text of a prompt changed", "ACK, security; INFO for plain titles",
        "hosts show it to people and models, who choose by it" => by_text;
    R1 "resource-removed" Catalogue Break: "resource or template of resources removed", "BREAK",
        "clients read resources by the URIs that they know" => offers::resource_removed;
    R2 "resource-added" Catalogue Info: "resource or template of resources added", "INFO",
        "clients that do not know it do not read it" => offers::resource_added;
    R3 "resource-form-changed" Catalogue Ack: "media type or size of a resource changed", "ACK for the type, INFO for the size",
        "clients choose by the media type how they read a resource" => offers::resource_form;
    R4 "resource-text-changed" Catalogue Ack: "text of a resource changed", "ACK, security; INFO for plain names and titles",
        "hosts show it to people and models, who choose by it" => by_text;
    H1 "host-refuses" Tool Break: "a known host or model provider refuses now what it took", "BREAK; INFO for a new tool that is refused alone, and for what is only dropped",
        "clients that worked reject the tool, or the whole list with it" => hosts::refused;
    U1 "unknown-member-changed" Catalogue Ack: "something changed that no rule knows", "ACK",
        "what the gate cannot judge, a person must" => catalogue::unknown_changed;
}

/// Stands for a rule that the comparison of schemas asks, where it finds a difference.
fn by_schema(_: &Comparison<'_>, _: &mut Vec<Finding>) {}

/// Stands for a rule that the look at all texts asks.
fn by_text(_: &Comparison<'_>, _: &mut Vec<Finding>) {}

/// Stands for a rule that the verdict asks, on versions and waivers.
fn by_verdict(_: &Comparison<'_>, _: &mut Vec<Finding>) {}

/// The rule of an id or a name.
#[must_use]
pub fn rule(named: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == named || rule.name == named)
}
