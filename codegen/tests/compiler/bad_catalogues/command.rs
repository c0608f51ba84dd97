//! The command: what it prints where, and its exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{base, copy_of_base};

fn command(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_colibri-codegen")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn sound_catalogue_is_silent_and_ends_with_0() {
    let output = command(&["lint", "."], &base());
    assert_eq!(
        (output.status.code(), text(&output.stdout), text(&output.stderr)),
        (Some(0), String::new(), String::new())
    );
}

#[test]
fn findings_go_to_stderr_with_source_and_end_with_1() {
    let folder = copy_of_base();
    let path = folder.path().join("types.yaml");
    let bad = fs::read_to_string(&path).unwrap().replace("minLength", "minLenght");
    fs::write(&path, bad).unwrap();
    let output = command(&["lint", "."], folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "");
    let wanted = "error[unknown-keyword]: unsupported schema keyword `minLenght`
 --> ./types.yaml:8:29
  |
8 |       text: { type: string, minLenght: 1, maxLength: 20, pattern: '^[a-z]+$' }
  |                             ^^^^^^^^^
  = help: write `minLength`

1 finding
";
    assert_eq!(text(&output.stderr), wanted);
    let output = command(&["lint", ".", "--json"], folder.path());
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(list["findings"][0]["line"], 8);
    assert_eq!(list["findings"][0]["rule"], "unknown-keyword");
}

#[test]
fn bad_command_lines_and_missing_folders_end_with_2() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["lint", "nowhere"][..], &["lint", "--loud"], &["polish"], &[], &["lock", "nowhere"]] {
        let output = command(arguments, folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_command_has_help_with_an_example() {
    for arguments in [
        &["--help"][..],
        &["lint", "--help"],
        &["reference", "--help"],
        &["lock", "--help"],
        &["drift", "--help"],
        &["test", "--help"],
        &["schema", "--help"],
    ] {
        let output = command(arguments, &base());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(text(&output.stdout).contains("  colibri-codegen "), "{arguments:?}");
    }
}

#[test]
fn schema_is_written_once_and_then_current() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = command(arguments, folder.path());
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(run(&["schema", "--check", "s.json"]), (Some(1), String::new()));
    assert_eq!(run(&["schema", "--out", "s.json"]), (Some(0), "written  s.json\n".into()));
    assert_eq!(run(&["schema", "--check", "s.json"]), (Some(0), "current  s.json\n".into()));
    let printed = run(&["schema"]).1;
    assert_eq!(printed, fs::read_to_string(folder.path().join("s.json")).unwrap());
}

#[test]
fn lock_and_reference_are_written_once_and_then_current() {
    let folder = copy_of_base();
    for arguments in [&["lock", "."][..], &["reference", ".", "--out", "pages"]] {
        let run = |extra: &[&str]| command(&[arguments, extra].concat(), folder.path()).status.code();
        assert_eq!(run(&["--check"]), Some(1), "{arguments:?}");
        assert_eq!(run(&[]), Some(0), "{arguments:?}");
        assert_eq!(run(&["--check"]), Some(0), "{arguments:?}");
    }
}

#[test]
fn reader_that_goes_away_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"))
        .arg("schema")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn schema_judges_the_files_it_describes() {
    let document: serde_json::Value =
        serde_json::from_str(&colibri_codegen::catalogue::schema::text()).unwrap();
    let validator = jsonschema::validator_for(&document).unwrap();
    for file in ["catalogue.yaml", "types.yaml", "tools/notes.yaml", "tools/vault.yaml", "tools/shelf.yaml"] {
        let value: serde_json::Value =
            serde_yaml::from_str(&fs::read_to_string(base().join(file)).unwrap()).unwrap();
        assert!(validator.is_valid(&value), "{file}");
    }
    assert!(!validator.is_valid(&serde_json::json!({ "types": {}, "kinds": {} })));
}

#[test]
fn schema_of_the_workspace_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    let output = command(&["schema", "--check", "catalogue.schema.json"], &folder);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
