//! Writes the list of Colibri's migrations, so that the peer makes the tables that this work tree has.

use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../migrations").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with(|c: char| c.is_ascii_digit()) && name.ends_with(".sql") {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    files.sort();
    let mut list = "&[".to_owned();
    for path in files {
        write!(list, "include_str!({:?}),", path.display().to_string())?;
    }
    list.push(']');
    let out = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&out).join("migrations.rs"), list)?;
    Ok(())
}
