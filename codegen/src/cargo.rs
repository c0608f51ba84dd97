//! The entry point for a server's `build.rs`: the pipeline, with messages for cargo.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::{compile, write_or_check};

/// Compiles the catalogue in `root` into `OUT_DIR/catalogue.rs`.
///
/// Tells cargo to run the build script again when the folder changes. Findings become `cargo::error`
/// lines and end the process with exit code 1.
pub fn build(root: impl AsRef<Path>) {
    let root = root.as_ref();
    let mut lines = vec![format!("cargo::rerun-if-changed={}", root.display())];
    let errors = attempt(root).err().unwrap_or_default();
    lines.extend(errors.iter().map(|error| format!("cargo::error={}", error.replace('\n', " "))));
    // If the reader has closed the pipe, the message is lost and the exit code remains.
    let told = writeln!(io::stdout().lock(), "{}", lines.join("\n"));
    if told.is_err() || !errors.is_empty() {
        process::exit(1);
    }
}

fn attempt(root: &Path) -> Result<(), Vec<String>> {
    let folder = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| {
        vec!["OUT_DIR is not set: call `build` from a build script, `compile` elsewhere".to_owned()]
    })?;
    let generated = compile(root).map_err(|findings| {
        let told =
            findings.iter().map(|finding| format!("{}: {} ({})", finding.at, finding.message, finding.help));
        told.collect::<Vec<_>>()
    })?;
    let path = folder.join("catalogue.rs");
    write_or_check(&path, &generated.rust, false)
        .map(|_| ())
        .map_err(|error| vec![format!("catalogue.rs: {error}")])
}
