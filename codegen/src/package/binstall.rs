//! Where `cargo binstall` finds the release's archives. The crate's `Cargo.toml` takes these lines.

use std::path::PathBuf;

use super::release::{File, Release};

/// `binstall.toml`.
pub fn files(release: &Release) -> Vec<File> {
    let name = format!("{}-{{ version }}-{{ target }}", release.name);
    let text = format!(
        "[package.metadata.binstall]\npkg-url = \"{}/releases/download/v{{ version }}/{name}.tar.gz\"\nbin-dir = \"{name}/{{ bin }}{{ binary-ext }}\"\npkg-fmt = \"tgz\"\n",
        release.repository
    );
    vec![(PathBuf::from("binstall.toml"), text)]
}
