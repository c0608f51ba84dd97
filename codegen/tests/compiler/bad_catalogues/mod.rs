//! Catalogues with one thing wrong each: what is said about them, and where.
//!
//! Every case changes the sound catalogue in `base/` and is loaded and linted; what comes back must
//! be what `expected/` holds, to the letter. `CATALOGUE_FINDINGS=write cargo test` writes those
//! files anew; read the difference before you keep it.

mod command;
mod examples;
mod files;
mod open;
mod remedies;
mod replies;
mod robustness;
mod schemas;
mod tools;
mod toolsets;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use colibri_codegen::catalogue::{Catalogue, Finding};
use colibri_codegen::lint;

/// One fault.
pub struct Case {
    /// What it is, unique.
    pub name: &'static str,
    /// The file it is in, relative to the catalogue.
    pub file: &'static str,
    /// How the file gets it.
    pub edit: Edit,
}

/// A change to a file.
pub enum Edit {
    /// This text, there once, becomes that.
    Swap(&'static str, &'static str),
    /// The file gets these bytes.
    Bytes(fn() -> Vec<u8>),
    /// The file goes away.
    Remove,
}

/// A case that swaps one text for another.
pub const fn swap(name: &'static str, file: &'static str, from: &'static str, to: &'static str) -> Case {
    Case { name, file, edit: Edit::Swap(from, to) }
}

fn cases() -> impl Iterator<Item = &'static Case> {
    GROUPS.into_iter().flat_map(|(_, cases)| cases)
}

fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiler/bad_catalogues/base")
}

/// A copy of the base catalogue that may be changed.
pub fn copy_of_base() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("tools")).expect("folder");
    for file in ["catalogue.yaml", "types.yaml", "tools/notes.yaml", "tools/vault.yaml", "tools/shelf.yaml"] {
        fs::copy(base().join(file), folder.path().join(file)).expect(file);
    }
    folder
}

/// Everything that is wrong with the catalogue in a folder.
pub fn findings(folder: &Path) -> Vec<Finding> {
    match Catalogue::load(folder) {
        Ok(catalogue) => lint::check(&catalogue),
        Err(findings) => findings,
    }
}

fn run(case: &Case) -> Vec<Finding> {
    let folder = copy_of_base();
    let path = folder.path().join(case.file);
    if case.name.starts_with("in_open_") {
        let head = folder.path().join("catalogue.yaml");
        let text = fs::read_to_string(&head).expect("head").replace("profile: house", "profile: open");
        fs::write(head, text).expect("head");
    }
    match case.edit {
        Edit::Swap(from, to) => {
            let text = fs::read_to_string(&path).expect(case.file);
            assert_eq!(text.matches(from).count(), 1, "{}: `{from}` must stand there once", case.name);
            fs::write(&path, text.replace(from, to)).expect(case.file);
        }
        Edit::Bytes(make) => fs::write(&path, make()).expect(case.file),
        Edit::Remove => fs::remove_file(&path).expect(case.file),
    }
    let mut found = findings(folder.path());
    for finding in &mut found {
        finding.at.path = finding.at.path.strip_prefix(folder.path()).expect("inside the catalogue").into();
        // Messages may name places too; the folder differs from run to run.
        finding.message = finding.message.replace(&format!("{}/", folder.path().display()), "");
    }
    found
}

fn told(case: &Case) -> String {
    let mut text = format!("== {}\n", case.name);
    for finding in run(case) {
        writeln!(text, "{}: [{}] {}\n  help: {}", finding.at, finding.rule, finding.message, finding.help)
            .unwrap();
    }
    text
}

#[test]
fn base_catalogue_is_sound() {
    assert_eq!(findings(&base()), []);
}

/// The cases by the file that holds what is said about them.
const GROUPS: [(&str, &[Case]); 8] = [
    ("files", files::CASES),
    ("schemas", schemas::CASES),
    ("tools", tools::CASES),
    ("examples", examples::CASES),
    ("toolsets", toolsets::CASES),
    ("remedies", remedies::CASES),
    ("replies", replies::CASES),
    ("open", open::CASES),
];

#[test]
fn every_bad_catalogue_is_told_where_and_what() {
    for (group, cases) in GROUPS {
        let told: Vec<String> = cases.iter().map(told).collect();
        let file =
            format!("{}/tests/compiler/bad_catalogues/expected/{group}.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("CATALOGUE_FINDINGS").is_some_and(|value| value == "write") {
            fs::write(&file, told.join("\n")).expect("expected findings");
        }
        let expected = fs::read_to_string(&file).expect("expected findings");
        let expected: Vec<&str> = expected.split("\n\n").map(str::trim_end).collect();
        for (case, told) in cases.iter().zip(&told) {
            let head = format!("== {}", case.name);
            let wanted = expected.iter().find(|block| block.lines().next() == Some(&head));
            let wanted = wanted.unwrap_or_else(|| panic!("{}: not in {group}.txt", case.name));
            assert_eq!(told.trim_end(), *wanted);
            assert!(told.lines().count() > 1, "{}: nothing was found", case.name);
        }
        assert_eq!(expected.len(), told.len(), "{group}.txt holds cases that are gone");
    }
}

#[test]
fn there_are_enough_cases_and_each_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = cases().map(|case| case.name).collect();
    assert_eq!(names.len(), cases().count());
    assert_eq!(names.len(), 275, "change the number together with the cases");
}

#[test]
fn every_rule_finds_something_in_some_case() {
    let found: BTreeSet<&str> = cases().flat_map(run).map(|finding| finding.rule).collect();
    let missing: Vec<&str> =
        lint::RULES.iter().map(|rule| rule.id).filter(|id| !found.contains(id)).collect();
    assert_eq!(missing, [""; 0]);
    assert!(found.contains("yaml") && found.contains("model"));
}

#[test]
fn build_refuses_a_listing_over_budget() {
    let folder = copy_of_base();
    let path = folder.path().join("catalogue.yaml");
    let text = fs::read_to_string(&path).expect("head").replace("bytes: 20000", "bytes: 200");
    fs::write(&path, text).expect("head");
    let found = colibri_codegen::check(&Catalogue::load(folder.path()).expect("sound"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, found[0].at.line, found[0].at.column), ("budget", 6, 21));
}

#[test]
fn listing_over_budget_is_told_at_the_budget() {
    let catalogue = Catalogue::load(&base()).expect("sound");
    assert_eq!(lint::budget::check(&catalogue, 20_000, |_| 0), []);
    let found = lint::budget::check(&catalogue, 20_001, |_| 0);
    assert_eq!((found.len(), found[0].at.line, found[0].at.column), (1, 6, 21));
    assert_eq!(found[0].message, "`tools/list` has 20001 bytes, the budget is 20000");
}

#[test]
fn people_36_a_toolset_over_its_bytes_is_told_at_the_budget() {
    let golden = base().join("../../../golden/catalogue");
    let catalogue = Catalogue::load(&golden).expect("sound");
    assert_eq!(lint::budget::check(&catalogue, 0, |name| if name == "ground" { 4000 } else { 9000 }), []);
    let found = lint::budget::check(&catalogue, 0, |_| 4001);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].message, "`tools/list` of the toolset `ground` has 4001 bytes, the budget is 4000");
}
