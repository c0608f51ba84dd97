//! The stored files: each database packed, its log beside it where the stop was unclean, and what must come out of it.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

/// What is copied: the file and its log.
pub const PARTS: [&str; 2] = ["db", "db-wal"];

/// No stored file may be larger: they stay in the repository for good.
const MAX_STORED_BYTES: usize = 400 * 1024;

/// One database as a version left it.
pub struct Golden {
    /// `<version>-<kind>`.
    pub name: String,
    /// What must come out of it.
    pub expected: Value,
}

/// Where they lie.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden_databases")
}

/// All of them by name: a file added is a file tested.
pub fn stored() -> Vec<Golden> {
    let mut names: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter_map(|name| Some(name.strip_suffix(".db.gz")?.to_owned()))
        .collect();
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(root().join(format!("{name}.json")));
        let text = text.unwrap_or_else(|error| panic!("{name}.json says what must come out: {error}"));
        Golden { name, expected: serde_json::from_str(&text).unwrap() }
    };
    names.into_iter().map(read).collect()
}

impl Golden {
    /// A copy in a folder of its own.
    pub fn unpacked(&self) -> Arc<TempDir> {
        let folder = TempDir::new().unwrap();
        for part in PARTS {
            let packed = root().join(format!("{}.{part}.gz", self.name));
            if part != "db" && !packed.exists() {
                continue;
            }
            let mut bytes = Vec::new();
            GzDecoder::new(std::fs::File::open(packed).unwrap()).read_to_end(&mut bytes).unwrap();
            std::fs::write(folder.path().join(format!("colibri.{part}")), bytes).unwrap();
        }
        Arc::new(folder)
    }
}

/// Packs what lies in a folder under that name. What is there already stays.
pub fn store(name: &str, folder: &Path) {
    for part in PARTS {
        let Ok(bytes) = std::fs::read(folder.join(format!("colibri.{part}"))) else { continue };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(packed.len() <= MAX_STORED_BYTES, "{name}.{part} would take {} bytes", packed.len());
        create(&format!("{name}.{part}.gz"), &packed);
    }
}

/// Writes what must come out.
pub fn expect(name: &str, expected: &Value) {
    create(
        &format!("{name}.json"),
        format!("{}\n", serde_json::to_string_pretty(expected).unwrap()).as_bytes(),
    );
}

fn create(name: &str, bytes: &[u8]) {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(root().join(name));
    let mut file =
        file.unwrap_or_else(|error| panic!("{name}: what a release has left is never replaced: {error}"));
    file.write_all(bytes).unwrap();
}
