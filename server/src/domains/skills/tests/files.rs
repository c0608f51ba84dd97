//! What of a root is taken, and what is refused (skills#discovery).

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::domains::skills::discovery::{MAX_FILES, Scan};
use crate::domains::skills::{PREFIX, Reason, scan};
use tempfile::TempDir;

use crate::domains::skills::tests::support::{skill, write};

fn root() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn names(scan: &Scan) -> Vec<&str> {
    scan.skills.iter().map(|skill| skill.parsed.frontmatter.name.as_str()).collect()
}

/// Directory and reason of what was skipped.
fn skipped(scan: &Scan) -> Vec<(String, Reason)> {
    let directory = |path: &str| path.rsplit('/').nth(1).unwrap_or_default().to_owned();
    scan.skipped.iter().map(|error| (directory(&error.path), error.reason)).collect()
}

#[test]
fn only_directories_with_prefix_and_file_count() {
    let root = root();
    write(root.path(), "colibri-b", skill("colibri-b", ""));
    write(root.path(), "colibri-a", skill("colibri-a", ""));
    write(root.path(), "notes", skill("notes", ""));
    write(root.path(), "Colibri-c", skill("colibri-c", ""));
    write(root.path(), "colibri-a/references/colibri-deep", skill("colibri-deep", ""));
    std::fs::create_dir(root.path().join("colibri-empty")).unwrap();
    std::fs::write(root.path().join("colibri-file"), "---\n").unwrap();
    std::fs::create_dir(root.path().join("colibri-case")).unwrap();
    std::fs::write(root.path().join("colibri-case/skill.md"), skill("colibri-case", "")).unwrap();
    let found = scan(root.path(), PREFIX);
    assert_eq!((names(&found), skipped(&found)), (vec!["colibri-a", "colibri-b"], vec![]));
    assert_eq!((found.unreadable.is_some(), found.left_out), (false, 0));
    assert_eq!(found.skills[0].source_path, format!("{}/colibri-a/SKILL.md", root.path().display()));
    // The prefix is a parameter.
    assert_eq!(names(&scan(root.path(), "no")), ["notes"]);
}

#[test]
fn a_name_that_is_not_the_directorys_is_skipped() {
    let root = root();
    write(root.path(), "colibri-x", skill("colibri-y", ""));
    let found = scan(root.path(), PREFIX);
    assert_eq!(
        (names(&found), skipped(&found)),
        (vec![], vec![("colibri-x".to_owned(), Reason::NameMismatch)])
    );
    let said = found.skipped[0].to_string();
    let expected =
        format!("Invalid SKILL.md at {}/colibri-x/SKILL.md: NAME_MISMATCH: ", root.path().display());
    assert!(said.starts_with(&expected) && said.contains("colibri-y"), "{said}");
}

#[test]
fn links_are_followed_inside_the_root_only() {
    let (outside, root) = (root(), root());
    write(outside.path(), "colibri-out", skill("colibri-out", ""));
    write(root.path(), "store", skill("colibri-in", ""));
    let at = |name: &str| root.path().join(name);
    symlink(outside.path().join("colibri-out"), at("colibri-out")).unwrap();
    symlink(at("store"), at("colibri-in")).unwrap();
    symlink(at("nowhere"), at("colibri-gone")).unwrap();
    symlink(at("colibri-loop"), at("colibri-loop")).unwrap();
    for (directory, target) in
        [("colibri-file-out", outside.path().join("colibri-out/SKILL.md")), ("colibri-gone-2", at("x"))]
    {
        std::fs::create_dir(at(directory)).unwrap();
        symlink(target, at(directory).join("SKILL.md")).unwrap();
    }
    let found = scan(root.path(), PREFIX);
    assert_eq!(names(&found), ["colibri-in"]);
    let expected = ["colibri-file-out", "colibri-gone", "colibri-gone-2", "colibri-loop", "colibri-out"];
    let expected: Vec<_> = expected.iter().map(|name| ((*name).to_owned(), Reason::ReadFailed)).collect();
    assert_eq!(skipped(&found), expected);

    // A root that is itself a link is a root like any other.
    let link = outside.path().join("link");
    symlink(root.path(), &link).unwrap();
    assert_eq!(names(&scan(&link, PREFIX)), ["colibri-in"]);
}

#[test]
fn what_is_no_regular_file_or_too_large_is_skipped() {
    let root = root();
    std::fs::create_dir_all(root.path().join("colibri-dir/SKILL.md")).unwrap();
    std::fs::create_dir(root.path().join("colibri-pipe")).unwrap();
    let made = Command::new("mkfifo").arg(root.path().join("colibri-pipe/SKILL.md")).status().unwrap();
    assert!(made.success());
    write(root.path(), "colibri-big", vec![b'x'; 2 * 1024 * 1024]);
    let found = scan(root.path(), PREFIX);
    let expected = [("big", Reason::TooLarge), ("dir", Reason::ReadFailed), ("pipe", Reason::ReadFailed)];
    let expected: Vec<_> =
        expected.iter().map(|(name, reason)| (format!("colibri-{name}"), *reason)).collect();
    assert_eq!(skipped(&found), expected);
}

#[test]
fn at_most_a_thousand_files_are_considered() {
    let root = root();
    for number in 0..MAX_FILES + 3 {
        let name = format!("colibri-{number:04}");
        // Every tenth is broken, and counts too.
        let text = if number % 10 == 0 { "no".to_owned() } else { skill(&name, "") };
        write(root.path(), &name, text);
    }
    let found = scan(root.path(), PREFIX);
    assert_eq!((found.skills.len(), found.skipped.len(), found.left_out), (900, 100, 3));
}

#[test]
fn a_missing_root_is_said_to_be_missing() {
    let root = root();
    let found = scan(&root.path().join("none"), PREFIX);
    assert!(found.unreadable.is_some() && found.skills.is_empty() && found.skipped.is_empty(), "{found:?}");
    assert!(found.root.is_absolute());
}
