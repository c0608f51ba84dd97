//! The stored inputs: files whose names say what they are.

use std::fs;
use std::path::PathBuf;

use colibri_test_support::fuzzing::genuine::{BUNDLES, EXPORT};
use colibri_test_support::fuzzing::{export, proof};

/// A stored input.
pub struct Stored {
    /// Its path below the folder of corpora.
    pub file: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Inputs stay small: mutations of a large one mostly hit the same place.
const MOST_BYTES: usize = 16 * 1024;

/// The inputs of a target, in the order of their names.
pub fn of(target: &str) -> Vec<Stored> {
    let stored = names(&format!("tests/corpus/{target}")).into_iter().map(|name| {
        let file = format!("{target}/{name}");
        let bytes = fs::read(root().join("tests/corpus").join(&file)).expect("a file");
        assert!(bytes.len() <= MOST_BYTES, "{file} has {} bytes", bytes.len());
        Stored { file, bytes }
    });
    let stored: Vec<Stored> = stored.collect();
    assert!(stored.len() >= 4, "{target} has {} inputs", stored.len());
    stored
}

/// What is in a folder of the work tree, sorted.
pub fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort_unstable();
    names
}

/// A text file of the work tree.
pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a file")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the work tree").to_owned()
}

/// The stored proofs are those that the property compares with; `COLIBRI_CORPUS=write` writes them.
#[test]
fn genuine_proofs_are_stored_as_they_are_made() {
    let mut genuine = vec![("export/genuine.jsonl".to_owned(), EXPORT.to_owned())];
    for (index, bundle) in BUNDLES.iter().enumerate() {
        genuine.push((format!("proof/genuine-{index}.json"), bundle.to_file().unwrap()));
    }
    for (file, made) in genuine {
        let path = root().join("tests/corpus").join(&file);
        if std::env::var_os("COLIBRI_CORPUS").is_some_and(|value| value == "write") {
            fs::write(&path, &made).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), made, "{file}");
        let check = if file.starts_with("proof") { proof::check } else { export::check };
        assert!(check(made.as_bytes()), "{file} holds");
    }
}
