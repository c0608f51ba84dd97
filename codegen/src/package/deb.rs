//! Debian's control file, one for each architecture.

use std::path::PathBuf;

use super::release::{File, Release};

/// The oldest glibc that a Linux build needs.
const GLIBC: &str = "2.17";

/// `deb/PLATFORM/control`, and the head of `deb/copyright`, to which the script that builds the package adds the licences' texts.
pub fn files(release: &Release) -> Vec<File> {
    let folder = PathBuf::from("deb");
    let mut files = vec![(folder.join("copyright"), copyright(release))];
    for platform in &release.platforms {
        let names = platform.names();
        if let Some(architecture) = names.deb {
            files.push((folder.join(names.id).join("control"), control(release, architecture)));
        }
    }
    files
}

fn control(release: &Release, architecture: &str) -> String {
    // The summary begins with a small letter and has no article and no full stop.
    let summary = release.summary.trim_end_matches('.');
    let summary =
        ["An ", "A ", "The "].iter().find_map(|article| summary.strip_prefix(article)).unwrap_or(summary);
    let paragraphs = release.description.trim().lines();
    let description: Vec<_> =
        paragraphs.map(|line| if line.is_empty() { " .".to_owned() } else { format!(" {line}") }).collect();
    format!(
        "Package: {name}\nVersion: {version}-1\nSection: utils\nPriority: optional\nArchitecture: {architecture}\nDepends: libc6 (>= {GLIBC})\n\
         Maintainer: {maintainer}\nHomepage: {homepage}\nDescription: {summary}\n{description}\n",
        name = release.name,
        // Debian sorts a tilde before everything: 1.0.0~rc.1 is older than 1.0.0.
        version = release.version.replace('-', "~"),
        maintainer = release.maintainer(),
        homepage = release.homepage,
        description = description.join("\n"),
    )
}

fn copyright(release: &Release) -> String {
    let authors: Vec<_> = release.authors.iter().map(|author| author.name.as_str()).collect();
    format!(
        "{} is published at {}.\n\nCopyright: {}\nLicence: {}\n",
        release.title,
        release.repository,
        authors.join(", "),
        release.license
    )
}
