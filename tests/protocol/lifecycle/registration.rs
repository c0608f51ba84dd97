//! What the registry refuses.
//!
//! The chapter's counts (14, 18, 23, 27) are those of releases; here it is as many as the catalogue holds.

use colibri::catalogue::CATALOGUE;
use colibri_runtime::chain::registry::Registry;
use colibri_runtime::schema::{Schema, Shape};
use colibri_runtime::spec::{CatalogueSpec, Profile, ToolSpec};

/// The first tool of the catalogue under another name and input; it lives as long as the test process.
fn tool(name: String, input: &'static Schema) -> &'static ToolSpec {
    let model = &CATALOGUE.tools[0];
    Box::leak(Box::new(ToolSpec {
        name: Box::leak(name.into_boxed_str()),
        domain: model.domain,
        toolset: None,
        pattern: model.pattern,
        runs: model.runs,
        early: model.early,
        sensitive: model.sensitive,
        input,
        rules: model.rules,
        output: model.output,
        codes: model.codes,
        listing: model.listing,
        relaxed: None,
    }))
}

#[test]
fn bad_registrations_are_refused_by_name() {
    let object = CATALOGUE.tools[0].input;
    let array: &Schema = CATALOGUE
        .tools
        .iter()
        .find_map(|tool| match &tool.input.shape {
            Shape::Object(rule) => rule
                .properties
                .iter()
                .map(|property| &property.schema)
                .find(|schema| matches!(schema.shape, Shape::Array(_))),
            _ => None,
        })
        .unwrap();
    let mut registry = Registry::of(&CATALOGUE).unwrap();
    let before = registry.tools().len();
    assert_eq!(before, CATALOGUE.tools.len());
    let long = "x".repeat(65);
    let cases = [
        ("server ping", object, "invalid tool name: server ping".to_owned()),
        ("server/ping", object, "invalid tool name: server/ping".to_owned()),
        // The seed names it: this catalogue's profile has no hyphen.
        ("server-ping", object, "invalid tool name: server-ping".to_owned()),
        ("Server_ping", object, "invalid tool name: Server_ping".to_owned()),
        ("9server", object, "invalid tool name: 9server".to_owned()),
        ("Sérver", object, "invalid tool name: Sérver".to_owned()),
        ("", object, "invalid tool name: ".to_owned()),
        (long.as_str(), object, format!("invalid tool name: {long}")),
        ("server_ping", object, "tool already registered: server_ping".to_owned()),
        ("list_rooted", array, "inputSchema must be an object schema".to_owned()),
    ];
    for (name, input, text) in cases {
        let error = registry.register(tool(name.to_owned(), input)).unwrap_err();
        assert_eq!(error.to_string(), text, "{name:?}");
        assert_eq!(registry.tools().len(), before, "{name:?}");
    }
    registry.register(tool("x".repeat(64), object)).unwrap();
    registry.register(tool("_server9".to_owned(), object)).unwrap();
    // A group is registered whole or not at all.
    let error = registry.register_all(CATALOGUE.tools).unwrap_err();
    assert_eq!(error.to_string(), format!("tool already registered: {}", CATALOGUE.tools[0].name));
    assert_eq!(registry.tools().len(), before + 2);
    registry.start();
    let error = registry.register(tool("late".to_owned(), object)).unwrap_err();
    assert_eq!(error.to_string(), "cannot register tool after start: late");
}

#[test]
fn an_open_catalogue_takes_every_name_that_the_protocol_allows() {
    let object = CATALOGUE.tools[0].input;
    let open: &CatalogueSpec = Box::leak(Box::new(CatalogueSpec {
        name: CATALOGUE.name,
        title: CATALOGUE.title,
        version: CATALOGUE.version,
        instructions: CATALOGUE.instructions,
        profile: Profile::Open,
        toolsets: &[],
        announcements: &[],
        tools: &[],
        operations: &[],
        codes: CATALOGUE.codes,
        foreign: None,
    }));
    let mut registry = Registry::empty(open);
    for name in ["server-ping", "9-Server.x_", "files/read", &"x".repeat(128)] {
        registry.register(tool(name.to_owned(), object)).unwrap();
    }
    for name in ["", "server ping", "S\u{e9}rver", "-", &"x".repeat(129)] {
        let error = registry.register(tool(name.to_owned(), object)).unwrap_err();
        assert_eq!(error.to_string(), format!("invalid tool name: {name}"));
    }
}
