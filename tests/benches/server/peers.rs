//! The peers of this repository, built from `tests/benches/peer`: one program, measured with two schemas.

use std::path::{Path, PathBuf};

use crate::target::{Shapes, Target};

/// What builds them.
const BUILD: &str = "cargo build --release --manifest-path tests/benches/peer/Cargo.toml";

/// The peer with the schema that its author would write, and with Colibri's own tables, indexes and triggers.
pub fn own() -> Result<Vec<Target>, String> {
    let program = program();
    if !program.exists() {
        return Err(format!(
            "{} is not there; build it by `{BUILD}`, or say --no-own-peers",
            program.display()
        ));
    }
    let command = quoted(&program.to_string_lossy());
    let peer = |name, schema| Target::peer(name, &command, &[("PEER_SCHEMA", schema)], Shapes::default());
    Ok(vec![peer("rmcp, plain schema", "plain"), peer("rmcp, same tables", "colibri")])
}

fn program() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("below the root");
    let built = std::env::var_os("CARGO_TARGET_DIR").map(|folder| root.join(folder));
    built.unwrap_or_else(|| root.join("tests/benches/peer/target")).join("release").join("colibri-bench-peer")
}

/// A path as `sh` takes it for one word.
pub fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', r"'\''"))
}
