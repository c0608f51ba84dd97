//! How an edit of the catalogue affects a server: the tests copy, change and compile the example.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::{compile, reference};

/// A copy of the example in a workspace of its own, with the generator and the runtime of this one.
///
/// Copies share a target folder, in which cargo distinguishes packages by their path below the workspace:
/// every copy needs a name of its own.
struct Copy {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Copy {
    fn new(name: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let codegen = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy_folder(&codegen.join("examples/notes"), &folder.path().join(name));
        workspace_around(folder.path(), name);
        Self { folder, name }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(self.name).join(below)
    }

    fn edit(&self, below: &str, from: &str, to: &str) {
        let path = self.path(below);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{below} must hold once: {from}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Runs `cargo check`, and returns whether it succeeded and what it printed.
    fn check(&self) -> (bool, String) {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet", "--color=never"])
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", target())
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    }

    fn rust(&self) -> String {
        compile(&self.path("catalogue")).unwrap().rust
    }

    fn page(&self) -> String {
        let pages = reference(&Catalogue::load(&self.path("catalogue")).unwrap()).unwrap();
        pages.into_iter().find(|(path, _)| path == Path::new("notes.md")).unwrap().1
    }
}

/// The folder that this test was compiled in: most of what a project needs is there.
pub fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// Writes the manifest of a workspace with one member that has the profiles of this one, so that what the tests compile is shared.
pub fn workspace_around(folder: &Path, member: &str) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let manifest = fs::read_to_string(workspace.join("Cargo.toml")).unwrap();
    let lines = manifest.lines().map(|line| {
        if line.starts_with("members =") {
            format!("members = [\"{member}\"]")
        } else if line.starts_with("default-members") || line.starts_with("colibri = ") {
            String::new()
        } else {
            line.replace("path = \"", &format!("path = \"{}/", workspace.display()))
        }
    });
    fs::write(folder.join("Cargo.toml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn adding_a_field_changes_types_validation_listing_and_reference() {
    let copy = Copy::new("field");
    let (before, page_before) = (copy.rust(), copy.page());
    // The handler uses the field before the catalogue declares it, so the field does not exist yet.
    copy.edit(
        "src/notes.rs",
        "text: input.text, label,",
        "text: if input.pinned { \"!\".to_owned() } else { input.text }, label,",
    );
    let (compiles, said) = copy.check();
    assert!(!compiles && said.contains("no field `pinned` on type `NoteAddInput`"), "{said}");

    copy.edit(
        "catalogue/tools/notes.yaml",
        "        importance: { $ref: Importance, default: normal }",
        "        importance: { $ref: Importance, default: normal }\n        pinned: { type: boolean, default: false, description: Keep it on top. }",
    );
    let (compiles, said) = copy.check();
    assert!(compiles, "{said}");
    let (after, page_after) = (copy.rust(), copy.page());
    for (what, sign) in [
        ("type", "pub pinned: bool"),
        ("validation", "name: \"pinned\""),
        (
            "tools/list",
            r#"\"pinned\":{\"type\":\"boolean\",\"default\":false,\"description\":\"Keep it on top.\"}"#,
        ),
    ] {
        assert!(!before.contains(sign) && after.contains(sign), "{what}: {sign}");
    }
    let row = "| `pinned` | boolean | no | `false` | Keep it on top. |";
    assert!(!page_before.contains(row) && page_after.contains(row), "{page_after}");
}

#[test]
fn removing_a_handler_method_fails_to_compile_naming_tool_and_trait() {
    let copy = Copy::new("handler");
    let path = copy.path("src/notes.rs");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find("    fn note_list(").unwrap();
    fs::write(&path, format!("{}}}\n", &text[..start])).unwrap();
    let (compiles, said) = copy.check();
    assert!(!compiles);
    assert!(said.contains("missing: `note_list`"), "{said}");
    assert!(said.contains("NotesTools"), "{said}");
}

#[test]
fn a_mistake_in_the_catalogue_is_told_with_its_place() {
    let copy = Copy::new("mistake");
    copy.edit("catalogue/tools/notes.yaml", "    output: { $ref: Note }", "    output: { $ref: Nota }");
    let (compiles, said) = copy.check();
    assert!(!compiles);
    assert!(said.contains("catalogue/tools/notes.yaml:") && said.contains("Nota"), "{said}");
}
