//! C4: the Unicode tables decide which characters are invisible, and all code uses the same tables.

use std::process::Stdio;

use colibri_test_support::client::Launch;
use serde_json::json;

use super::{HIDDEN, assert_visible};

fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

#[test]
fn finding_c4_hidden_characters_are_shown_in_the_log_and_the_report() {
    let launch = launch();
    let mut server = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(launch.folder()).start();
    let text: String = HIDDEN.into_iter().flat_map(|c| ['x', c]).collect();
    // What readers need to see stays: joiners where letters or emoji are joined, and emoji shown as such.
    let seen = "می\u{200c}خواهم, 👩\u{200d}👧, ⚠\u{fe0f}, 1\u{fe0f}\u{20e3}, é, 漢字";
    server.data("audit_session_start", json!({ "session_id": "S", "intent": format!("{text} {seen}") }));
    let thought =
        json!({ "session_id": "S", "task_id": "T", "agent_id": "a", "type": "plan", "content": text });
    server.data("thought_record", thought);
    server.finish();
    let done =
        launch.command().args(["report", "S", "--html", "page.html"]).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let page = std::fs::read_to_string(launch.folder().path().join("page.html")).unwrap();
    assert_visible("the report", &page);
    for hidden in HIDDEN {
        let number = format!("U+{:04X}", u32::from(hidden));
        assert!(page.contains(&number), "{number} is missing");
    }
    assert!(page.contains(seen), "{page}");
}

#[test]
fn finding_c4_a_skill_whose_front_matter_hides_something_is_left_out() {
    for hidden in HIDDEN {
        let launch = launch();
        let folder = launch.folder();
        let write = |name: &str, description: &str| {
            let skill = folder.path().join(".agents/skills").join(name);
            std::fs::create_dir_all(&skill).unwrap();
            let text = format!("---\nname: {name}\ndescription: {description}\n---\nBody.\n");
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        };
        write("colibri-good", "Warns ⚠\u{fe0f} of خواهم\u{200c}می.");
        write("colibri-poisoned", &format!("Does{hidden} it."));
        let done = launch.command().arg("doctor").stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8(done.stdout).unwrap();
        let number = format!("U+{:04X} is not allowed", u32::from(hidden));
        assert!(told.contains(&number) && told.contains("1 skill from "), "{number}: {told}");
        assert_visible("doctor", &told);
    }
}

#[test]
fn finding_c4_a_description_in_a_catalogue_hides_nothing() {
    use colibri_codegen::catalogue::Catalogue;
    use colibri_codegen::lint;

    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/examples/notes/catalogue");
    for hidden in HIDDEN {
        let folder = tempfile::tempdir().unwrap();
        copy(&source, folder.path());
        let head = folder.path().join("catalogue.yaml");
        let text = std::fs::read_to_string(&head).unwrap();
        let escape = format!("\\U{:08X}", u32::from(hidden));
        let poisoned = text.lines().map(|line| match line.strip_prefix("title: ") {
            Some(title) => format!("title: \"{title}{escape}\"\n"),
            None => format!("{line}\n"),
        });
        std::fs::write(&head, poisoned.collect::<String>()).unwrap();
        let catalogue = Catalogue::load(folder.path()).expect("it loads");
        let found = lint::check(&catalogue);
        assert!(found.iter().any(|finding| finding.rule == "hidden-characters"), "{escape}: {found:?}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}
