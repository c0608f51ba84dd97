//! What a catalogue must obey beyond being well-formed: one rule a file, one table of them.
//!
//! [`check`] runs every rule of [`RULES`] and returns all findings in the order of the files. Rules
//! look at the catalogue as written; they know nothing of the Rust that is made of it, except for
//! `rust-names`.

pub mod budget;
pub mod conforms;
pub mod pattern;
mod report;
mod rules;
pub mod schemas;

use crate::catalogue::{Catalogue, Finding, Profile};

pub use report::Report;
use rules as r;
use schemas::Schemas;

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id, as findings show it.
    pub id: &'static str,
    /// What it asks for, in a line.
    pub doc: &'static str,
    /// In which profiles.
    pub profiles: Profiles,
    /// Whether it judges values by schemas, which needs schemas that are sound and end.
    judges_values: bool,
    check: fn(&Context<'_>, &mut Report<'_>),
}

/// The profiles that a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profiles {
    /// `open` and `house` alike.
    Both,
    /// Both; what `open` allows is said.
    Eased(&'static str),
    /// `house` alone.
    House,
}
use Profiles::{Both, Eased, House};

/// What rules look at.
#[derive(Debug)]
pub struct Context<'a> {
    /// The catalogue.
    pub catalogue: &'a Catalogue,
    /// All its schemas and their parts.
    pub schemas: Schemas<'a>,
}

impl Context<'_> {
    /// Whether the catalogue obeys `profile: open`.
    fn is_open(&self) -> bool {
        self.catalogue.head.profile == Profile::Open
    }
}

macro_rules! rules {
    ($($list:ident: $($id:literal $module:ident [$profiles:expr] $doc:literal),+;)+) => {
        &[$($(Rule { id: $id, doc: $doc, profiles: $profiles, judges_values: rules!(@ $list), check: r::$module::check }),+),+]
    };
    (@ structure) => { false };
    (@ values) => { true };
}

/// All rules, in the order they run: what each asks for, and in which profiles.
pub const RULES: &[Rule] = rules! {
    structure:
        "unknown-keyword" unknown_keyword [Eased("Annotations are allowed: `title`, `format`, `examples` and others.")] "Schemas use the keywords of the portable subset only.",
        "keyword-value" keyword_value [Both] "A keyword's value has the shape the keyword asks for.",
        "keyword-fit" keyword_fit [Eased("Keywords that ask nothing of the type are allowed, and a type that the other keywords imply.")] "Keywords go with the schema's type.",
        "root-object" root_object [Eased("An output may be left out.")] "Inputs and outputs are plain objects, not unions.",
        "closed-object" closed_object [Eased("Objects may be open.")] "Objects say what else they hold: nothing, or values of one schema.",
        "required-names" required_names [Both] "`required` names declared properties, each once.",
        "property-names" property_names [Eased("Properties may have any name.")] "Properties and error fields have names that every language takes.",
        "enum-values" enum_values [Both] "Enums are scalars of the declared type, each once.",
        "bounds" bounds [Both] "Lower bounds are not above upper ones; integers stay within 2^53-1.",
        "patterns" patterns [Both] "Patterns are ECMAScript expressions that a server matches in linear time.",
        "references" references [Both] "`$ref` names a shared type, and no type holds itself.",
        "schema-size" schema_size [Both] "A schema written out in full stays small.",
        "unused-types" unused_types [Both] "Every shared type and error is used, and each error declared once.",
        "type-names" type_names [Both] "Shared types are named in PascalCase.",
        "domain-file" domain_file [Both] "A domain's file says the domain's name and has tools.",
        "tool-names" tool_names [Eased("Every name that the protocol allows.")] "Tools are named in snake_case, each name once.",
        "toolsets" toolsets [Both] "Toolsets have tools, and tools name a toolset where there are any.",
        "instructions" instructions [House] "Instructions are short and name what is in the catalogue.",
        "required-parameters" required_parameters [House] "Required parameters say what they are, and ids which tool returns them.",
        "rust-names" rust_names [Eased("Values of enums may differ in signs alone.")] "Names stay distinct when they become Rust names.",
        "texts" texts [House] "Titles and descriptions say something, briefly.",
        "hidden-characters" hidden_characters [Eased("Line breaks, tabs and the parts of an emoji are allowed.")] "Texts hold no control or invisible characters.",
        "hints" hints [Eased("They may be missing, and those of a read-only or a network tool may be any.")] "The behaviour hints agree with each other and with the tool.",
        "placement" placement [Both] "runs, mutates, early, concurrency and relaxed fit each other, and so do pattern and envelope.",
        "sensitive" sensitive [Both] "Sensitive arguments are strings of the input.",
        "relaxed" relaxed [Both] "A setting relaxes inputs that are required without it.",
        "cross-rules" cross_rules [Both] "Rules across fields name fields of the input.",
        "error-codes" error_codes [Both] "Codes are SCREAMING_SNAKE_CASE, each declared once, in the right place.",
        "error-fields" error_fields [Both] "Fields of errors leave the envelope's own names alone.",
        "message-forms" message_forms [Both] "Message forms use declared fields in the way their types allow.",
        "remedies" remedies [Eased("Any length.")] "Errors say in a short text what the caller can do.",
        "versions" versions [Both] "Versions are semantic ones.",
        "waivers" waivers [Both] "Waivers of the drift gate give their reasons.",
        "example-steps" example_steps [Eased("A tool needs no example.")] "Examples exist, and their steps and pointers lead somewhere.";
    values:
        "next-calls" next_calls [Both] "Calls that an error suggests name tools and arguments that there are.",
        "defaults" defaults [Eased("A default may stand where it has no effect.")] "Defaults fit their schemas and stand on optional properties.",
        "example-arguments" example_arguments [Both] "Arguments of examples fit the input schema.",
        "example-replies" example_replies [Both] "Replies of examples are envelopes the tool can answer with.";
};

/// Runs all rules. What comes back is sorted by file, line and column.
#[must_use]
pub fn check(catalogue: &Catalogue) -> Vec<Finding> {
    let context = Context { catalogue, schemas: Schemas::collect(catalogue) };
    let mut findings = Vec::new();
    for values in [false, true] {
        // Judging a value by a schema that is itself broken or endless says nothing.
        if values && findings.iter().any(|finding: &Finding| BROKEN_SCHEMA.contains(&finding.rule)) {
            break;
        }
        let holds =
            |rule: &&Rule| rule.judges_values == values && !(context.is_open() && rule.profiles == House);
        for rule in RULES.iter().filter(holds) {
            let mut report = Report::new(rule.id, catalogue);
            (rule.check)(&context, &mut report);
            findings.extend(report.into_findings());
        }
    }
    findings.sort();
    findings.dedup();
    findings
}

/// Findings of these rules mean that schemas cannot judge values.
const BROKEN_SCHEMA: [&str; 4] = ["keyword-value", "references", "schema-size", "patterns"];
