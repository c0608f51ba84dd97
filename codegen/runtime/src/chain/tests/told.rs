//! What clients are told besides results: notices, problems beyond the listed ones, what a setting announces.

use super::*;
use crate::chain::registry::RegistrationError;
use crate::schema::{Additional, ArrayRule, ObjectRule, Property, Schema, Shape};
use crate::spec::{Announcement, Teaches};
use crate::validate::MAX_ISSUES;

const NUMBERS: Schema = Schema {
    shape: Shape::Array(&ArrayRule { items: ANY_NUMBER, min: None, max: None, unique: false }),
    nullable: false,
    message: None,
};

static INPUT: Schema = Schema {
    shape: Shape::Object(&ObjectRule {
        properties: &[Property { name: "numbers", schema: NUMBERS, required: true, default: None }],
        additional: Additional::Closed,
    }),
    nullable: false,
    message: None,
};

static OPEN: CatalogueSpec = CatalogueSpec {
    profile: Profile::Open,
    announcements: &[Announcement {
        setting: "MODE",
        value: "QUIET",
        instructions: "Hush.",
        teaches: Teaches::Nothing,
    }],
    tools: &[ToolSpec { input: &INPUT, ..tool("far/Numbers-1.0") }],
    ..CATALOGUE_HEAD
};

fn open_chain() -> Chain<FaultyStore, Handlers> {
    let kernel = Kernel {
        clock: Arc::new(Stopped),
        ids: Box::new(SystemIds::default()),
        log: Arc::new(NoLog),
        redactor: Redactor::default(),
    };
    Chain::new(
        Registry::of(&OPEN).unwrap(),
        FaultyStore::sound(),
        Handlers,
        Audit::Store { kind: "memory" },
        kernel,
    )
}

#[tokio::test]
async fn a_reply_names_the_arguments_that_held_a_secret() {
    let mut chain = chain(FaultyStore::sound());
    let arguments = json!({ "key": "hunter2hunter2", "other": "x", "z hunter2hunter2": 1 });
    let held = Call { arguments: arguments.into(), ..call(1, "keep") };
    let replies = run(&mut chain, vec![held, keyed("keep", "x")]).await;
    assert!(replies.iter().all(succeeded));
    let notice: Value = serde_json::from_str(replies[0].notice.as_deref().unwrap()).unwrap();
    let message = "A secret was taken out of key, z [redacted].";
    assert_eq!(notice, json!({ "warnings": [{ "code": "REDACTED", "message": message }] }));
    assert_eq!(replies[1].notice, None);
}

#[tokio::test]
async fn problems_beyond_the_listed_ones_are_counted() {
    for (wrong, more) in [(MAX_ISSUES, Value::Null), (MAX_ISSUES + 7, json!(7))] {
        let arguments = json!({ "numbers": vec!["x"; wrong] });
        let many = Call { arguments: arguments.into(), ..call(1, "far/Numbers-1.0") };
        let details = envelope(&run(&mut open_chain(), vec![many]).await[0])["error"]["details"].clone();
        assert_eq!(details["issues"].as_array().unwrap().len(), MAX_ISSUES, "{wrong}");
        assert_eq!(details["more_issues"], more, "{wrong}");
    }
}

#[test]
fn the_first_announcement_whose_setting_has_the_value_is_told() {
    let told = |value| {
        let registry = Registry::under(&OPEN, &|name| (name == "MODE").then_some(value)).unwrap();
        registry.announcement().map(|announcement| announcement.instructions)
    };
    assert_eq!((told("QUIET"), told("LOUD")), (Some("Hush."), None));
}

#[test]
fn the_profile_decides_which_names_register() {
    let refused = |name: &str| RegistrationError::InvalidName(name.to_owned());
    let mut house = Registry::of(&CATALOGUE).unwrap();
    let dotted = OPEN.tools.first().unwrap();
    assert_eq!(house.register(dotted), Err(refused(dotted.name)));
    let mut open = Registry::of(&OPEN).unwrap();
    for name in ["", "-", "a b"] {
        let spec: &ToolSpec = Box::leak(Box::new(tool(name)));
        assert_eq!(open.register(spec), Err(refused(name)));
    }
}
