//! The work tree: its files by path, without what is built or installed in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::source::Source;

/// Folders that hold nothing of the project's own.
const SKIPPED: [&str; 8] =
    [".git", "target", "node_modules", ".work", ".venv", "__pycache__", "data", "proptest-regressions"];

/// The root of the work tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests stand in the work tree").to_owned()
}

/// Every text file: path from the root with `/`, content. In the order of their paths.
pub fn files() -> Vec<(String, String)> {
    let root = root();
    let (mut files, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let entry = entry.expect("an entry");
            // What a link leads to stands elsewhere in the tree.
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            let path = entry.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if let Ok(text) = fs::read_to_string(&path) {
                let below = path.strip_prefix(&root).expect("below the root");
                files.push((below.to_string_lossy().replace('\\', "/"), text));
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "the work tree was not found: {} files", files.len());
    files
}

/// Every Rust file, parsed as far as the rules need. Files of test modules are known as such.
pub fn sources() -> Vec<Source> {
    let rust = files().into_iter().filter(|(path, _)| path.ends_with(".rs"));
    let mut sources: Vec<Source> = rust.map(|(path, text)| Source::new(path, text)).collect();
    let modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in &mut sources {
        let below = |module: &String| {
            source.path == format!("{module}.rs") || source.path.starts_with(&format!("{module}/"))
        };
        if modules.iter().any(below) {
            source.mark_as_test();
        }
    }
    sources
}
