//! Wheels: the program for each platform as a script of its own, for `uvx`, `pipx` and `pip`.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::readme::page;
use super::release::{File, Release};

/// `wheel/METADATA`, `wheel/PLATFORM/WHEEL` and, if package and program have different names, `wheel/NAME`. What has to be hashed
/// is put together by the script that builds the wheel.
pub fn files(release: &Release) -> Vec<File> {
    let folder = PathBuf::from("wheel");
    let mut files = vec![(folder.join("METADATA"), metadata(release))];
    for platform in &release.platforms {
        let names = platform.names();
        let mut wheel = format!(
            "Wheel-Version: 1.0\nGenerator: colibri-codegen {}\nRoot-Is-Purelib: false\n",
            env!("CARGO_PKG_VERSION")
        );
        for tag in names.wheel {
            let _ = writeln!(wheel, "Tag: py3-none-{tag}");
        }
        files.push((folder.join(names.id).join("WHEEL"), wheel));
    }
    if release.name != release.command {
        // `uvx NAME` runs what has the package's name.
        let script =
            format!("#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/{}\" \"$@\"\n", release.command);
        files.push((folder.join(&release.name), script));
    }
    files
}

fn metadata(release: &Release) -> String {
    let author = &release.authors[0];
    format!(
        "Metadata-Version: 2.4\nName: {name}\nVersion: {version}\nSummary: {summary}\nKeywords: {keywords}\nAuthor-email: {author} <{email}>\nLicense-Expression: {license}\n\
         Project-URL: Homepage, {homepage}\nProject-URL: Documentation, {documentation}\nProject-URL: Source, {repository}\n\
         Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{page}",
        name = release.name,
        version = release.version,
        summary = release.summary,
        keywords = release.keywords.join(","),
        author = author.name,
        email = author.email,
        license = release.license,
        homepage = release.homepage,
        documentation = release.documentation,
        repository = release.repository,
        page = page(release, &format!("uvx {} --help", release.name)),
    )
}
