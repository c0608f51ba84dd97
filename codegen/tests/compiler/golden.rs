//! Golden output of a tiny catalogue. `UPDATE_GOLDEN=1` writes the files anew; look at the difference
//! before committing it.

use std::path::{Path, PathBuf};

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::{Written, compile, lock, reference, write_or_check};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Every generated file: path below the golden folder, text.
fn generate() -> Vec<(PathBuf, String)> {
    let root = golden().join("catalogue");
    let catalogue = Catalogue::load(&root).unwrap();
    let mut files = vec![
        (PathBuf::from("catalogue.rs"), compile(&root).unwrap().rust),
        (PathBuf::from("catalogue.lock.json"), lock(&catalogue).unwrap()),
    ];
    let pages = reference(&catalogue).unwrap();
    files.extend(pages.into_iter().map(|(path, text)| (Path::new("reference").join(path), text)));
    files
}

#[test]
fn golden_files_are_current() {
    let check = std::env::var_os("UPDATE_GOLDEN").is_none();
    for (path, text) in generate() {
        let written = write_or_check(&golden().join(&path), &text, check).unwrap();
        assert_ne!(written, Written::Stale, "{} differs; see UPDATE_GOLDEN", path.display());
    }
}

#[test]
fn the_same_catalogue_gives_the_same_bytes() {
    assert_eq!(generate(), generate());
}

#[test]
fn output_names_no_path_of_the_machine() {
    let here = env!("CARGO_MANIFEST_DIR");
    assert!(generate().iter().all(|(_, text)| !text.contains(here)));
}

#[test]
fn stale_files_are_told_and_not_written_when_checking() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/page.md");
    assert_eq!(write_or_check(&path, "new", true).unwrap(), Written::Stale);
    assert!(!path.exists());
    assert_eq!(write_or_check(&path, "new", false).unwrap(), Written::Updated);
    assert_eq!(write_or_check(&path, "new", true).unwrap(), Written::Current);
    assert_eq!(write_or_check(&path, "newer", true).unwrap(), Written::Stale);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
}
