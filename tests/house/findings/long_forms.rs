//! D13: what the long runs found, and the command that starts them. The seeds of A12 stand with the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use colibri_test_support::fuzzing::{TARGETS, catalogue};

/// The work tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Two YAML readers counted lines differently, and the finding named a column that its line does not have.
#[test]
fn finding_d13_a_finding_behind_a_line_end_of_yaml_1_1_stands_inside_the_file() {
    let stored = root().join("tests/corpus/catalogue/line-end-of-yaml-1.1-before-an-open-brace");
    assert!(!catalogue::check(&fs::read(stored).unwrap()));
}

/// A form of `tests/long`.
struct Form {
    name: String,
    package: String,
    binary: String,
    test: String,
    variables: [String; 2],
}

fn forms() -> Vec<Form> {
    let listed = Command::new(root().join("tests/long")).arg("--list").output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let form = |line: &str| {
        let fields: Vec<String> = line.split('|').map(str::to_owned).collect();
        let [name, _, package, binary, test, _, runs, seed] = <[String; 8]>::try_from(fields).unwrap();
        Form { name, package, binary, test, variables: [runs, seed] }
    };
    text.lines().map(form).collect()
}

/// All that stands in a folder's Rust files.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(path).unwrap() })
        .collect()
}

#[test]
fn finding_d13_every_form_of_the_long_command_is_a_test_that_reads_its_variables() {
    let forms = forms();
    for Form { name, package, binary, test, variables } in &forms {
        let folder = match package.as_str() {
            "colibri-tests" => "tests",
            "colibri" => "server/src",
            "colibri-drift" => "codegen/drift/tests",
            "colibri-consensus" => "server/consensus/tests",
            other => panic!("no folder of tests is known for {other}"),
        };
        let (modules, named) = test.rsplit_once("::").unwrap_or(("", test));
        let source = if binary == "lib" {
            fs::read_to_string(root().join(folder).join(modules.replace("::", "/")).with_extension("rs"))
                .unwrap()
        } else {
            let all = root().join(folder).join(binary);
            // The form's own module, so that a variable that only its neighbours read does not do.
            let module = all.join(test.split("::").next().unwrap());
            sources(if module.is_dir() { &module } else { &all })
        };
        assert!(
            source.contains(&format!("fn {named}")) || source.contains("targets! {"),
            "{name}: no test {test}"
        );
        for variable in variables.iter().filter(|variable| variable.starts_with("COLIBRI_")) {
            assert!(source.contains(&format!("\"{variable}\"")), "{name}: no test reads {variable}");
        }
    }
    let fuzzed: Vec<&str> =
        forms.iter().filter_map(|form| form.test.strip_prefix("fuzz_corpus::targets::")).collect();
    assert_eq!(fuzzed, TARGETS.map(|target| target.name));
}

/// Stands in for Cargo: it finds something with the simulator, and has no test for the tamperings.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
*--no-run*) ;;
*"--test simulator "*) echo "seed $COLIBRI_SIMULATOR_FIRST: lost"; exit 101 ;;
*" tamper::"*) echo "test result: ok. 0 passed; 0 failed" ;;
*) echo "test result: ok. 1 passed; 0 failed" ;;
esac
"#;

#[cfg(unix)]
#[test]
fn finding_d13_the_long_command_goes_on_behind_a_form_that_finds_something_and_fails_at_the_end() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let run = || {
        let mut long = Command::new(root().join("tests/long"));
        let long = long.arg("0").env("PATH", &path).env("CARGO_TARGET_DIR", folder.path()).output().unwrap();
        assert_eq!(long.status.code(), Some(1));
        String::from_utf8(long.stdout).unwrap()
    };
    let (told, again) = (run(), run());
    for Form { name, .. } in forms() {
        let row = |told: &str| {
            let start = format!("| {name} | from ");
            told.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{told}")).to_owned()
        };
        let (one, other) = (row(&told), row(&again));
        assert_ne!(one, other, "the seeds are fresh");
        let found = name == "simulator" || name == "tamper";
        assert_eq!(one.ends_with("| nothing |"), !found, "{one}");
    }
    let line = told.lines().find(|line| line.contains("to repeat: COLIBRI_SIMULATOR_RUNS=100 ")).unwrap();
    let seed = line.split("COLIBRI_SIMULATOR_FIRST=").nth(1).unwrap().split(' ').next().unwrap();
    assert!(told.contains(&format!("| seed {seed}: lost")), "{told}");
}

#[test]
fn finding_d13_the_long_command_wants_a_number_of_minutes() {
    let long = Command::new(root().join("tests/long")).arg("an-hour").output().unwrap();
    assert_eq!(long.status.code(), Some(2));
    assert_eq!(String::from_utf8(long.stderr).unwrap(), "usage: tests/long [MINUTES]\n");
}
