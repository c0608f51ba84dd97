//! `colibri-codegen package`: the text files of every form in which a server, or any other program, is installed.
//!
//! ```text
//! package.yaml + catalogue -> Release -> one file of this folder for each form -> manifests, control files, launcher, formula
//! ```
//!
//! Nothing here builds a program or an archive: a script does, from these files. What names an archive's hash
//! is written only when `--sums` has the hashes.

mod binstall;
mod brew;
mod container;
mod deb;
mod description;
mod mcpb;
mod npm;
mod platform;
mod readme;
mod registry;
mod release;
mod wheel;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::{Failure, load, store};
use description::Form;
use release::{File, Release, Server, Sums};

/// What to write, and where.
#[derive(Args)]
#[command(after_help = "Examples:
  colibri-codegen package catalogue --out target/packages
  colibri-codegen package --description packaging/tool.yaml --release 1.2.0 --out target/packages
  colibri-codegen package catalogue --out target/packages --sums target/packages/SHA256SUMS

A description that has no `server` is of a program without a catalogue; --release is then its version.")]
pub struct Arguments {
    /// The catalogue's folder.
    #[arg(default_value = "catalogue", value_name = "DIR")]
    folder: PathBuf,
    /// What a catalogue does not say: addresses, authors, platforms, names.
    #[arg(long, value_name = "FILE", default_value = "packaging/package.yaml")]
    description: PathBuf,
    /// The folder of the files.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The version; by default the catalogue's, from which it must not differ.
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The hashes of the archives, as sha256sum prints them; without them, the formula and the registry's entries of bundles are left
    /// out.
    #[arg(long, value_name = "FILE")]
    sums: Option<PathBuf>,
    /// Write nothing; fail if a file differs.
    #[arg(long)]
    check: bool,
}

/// Writes the files, or checks that they are current.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let description = description::read(&arguments.description).map_err(Failure::Unusable)?;
    let server = match description.server {
        Some(_) => Some(Server::of(&load(&arguments.folder)?)?),
        None => None,
    };
    let sums = arguments.sums.as_deref().map(read_sums).transpose().map_err(Failure::Unusable)?;
    let release = Release::new(description, server, arguments.release.as_deref(), sums.unwrap_or_default())
        .map_err(Failure::Unusable)?;
    let files = files(&release);
    store(files.into_iter().map(|(path, text)| (arguments.out.join(path), text)).collect(), arguments.check)
}

/// Every file of a release, in the order of the forms.
fn files(release: &Release) -> Vec<File> {
    let mut files = vec![summary(release)];
    for form in &release.forms {
        files.extend(match form {
            Form::Npm => npm::files(release),
            Form::Wheel => wheel::files(release),
            Form::Deb => deb::files(release),
            Form::Mcpb => mcpb::files(release),
            Form::Brew => brew::files(release),
            Form::Binstall => binstall::files(release),
            Form::Container => container::files(release),
            Form::Registry => registry::files(release),
        });
    }
    files
}

/// `release.json`, for the script that builds the archives: their names, and what goes into them.
fn summary(release: &Release) -> File {
    let platforms = release.platforms.iter().map(|platform| {
        let names = platform.names();
        json!({
            "id": names.id, "os": names.os, "target": names.target, "deb": names.deb,
            "archive": release.archive(*platform), "bundle": release.bundle(*platform),
        })
    });
    let summary = json!({
        "name": release.name, "command": release.command, "version": release.version, "license": release.license,
        "repository": release.repository, "crate": release.crate_name, "manuals": release.manuals, "forms": release.forms,
        "platforms": platforms.collect::<Vec<_>>(),
    });
    (PathBuf::from("release.json"), format!("{summary:#}\n"))
}

fn read_sums(path: &Path) -> Result<Sums, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("{}: {error}; write the file with sha256sum, or leave --sums out", path.display())
    })?;
    Sums::parse(&text).map_err(|reason| format!("{}: {reason}", path.display()))
}
