//! `colibri-codegen package`: the files of every form, the version that exists once, and what is wrong with a description.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const DESCRIPTION: &str = "
name: notes-mcp
command: notes
title: Notes
summary: A server that keeps notes.
description: |
  Keeps notes.

  And reads them.
homepage: https://example.org
repository: https://github.com/someone/notes
documentation: https://example.org/docs
authors: [{ name: Someone, email: someone@example.org }]
license: MIT OR Apache-2.0
keywords: [mcp]
crate: notes
platforms: [linux-x64, darwin-arm64]
forms: [npm, wheel, deb, mcpb, brew, binstall, container, registry]
server:
  registry: io.github.someone/notes
  image: ghcr.io/someone/notes
  settings:
    - { name: NOTES_FILE, title: File, description: The file., format: filepath, default: '${HOME}/notes', container: /data/notes }
";

fn package(folder: &Path, description: &str, more: &[&str]) -> Output {
    let file = folder.join("package.yaml");
    fs::write(&file, description).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
    command.args(["package", "examples/notes/catalogue", "--description"]).arg(file);
    command.arg("--out").arg(folder.join("out")).args(more).output().unwrap()
}

/// The text of each file that was written, by its path.
fn written(folder: &Path) -> BTreeMap<String, String> {
    let (root, mut found, mut folders) = (folder.join("out"), BTreeMap::new(), vec![folder.join("out")]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

fn json(files: &BTreeMap<String, String>, path: &str) -> Value {
    serde_json::from_str(&files[path]).unwrap()
}

/// The kinds of package in the registry's entry.
fn kinds(entry: &Value) -> Vec<String> {
    let packages = entry["packages"].as_array().unwrap();
    packages.iter().map(|each| each["registryType"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_form_has_its_files_and_each_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let done = package(folder.path(), DESCRIPTION, &[]);
    assert!(done.status.success(), "{done:?}");
    let files = written(folder.path());
    let main = json(&files, "npm/notes-mcp/package.json");
    assert_eq!((&main["version"], &main["mcpName"]), (&"0.1.0".into(), &"io.github.someone/notes".into()));
    assert_eq!(main["optionalDependencies"]["notes-mcp-darwin-arm64"], "0.1.0");
    assert!(main.get("scripts").is_none(), "no script runs during an installation");
    let platform = json(&files, "npm/notes-mcp-linux-x64/package.json");
    assert_eq!(
        (&platform["os"][0], &platform["cpu"][0], &platform["libc"][0]),
        (&"linux".into(), &"x64".into(), &"glibc".into())
    );
    let launcher = &files["npm/notes-mcp/launcher.js"];
    assert!(
        launcher.contains("\"linux-x64\": \"notes-mcp-linux-x64\"") && !launcher.contains("COMMAND"),
        "{launcher}"
    );
    assert!(files["wheel/METADATA"].contains("\nVersion: 0.1.0\n"));
    assert!(files["wheel/METADATA"].contains("`mcp-name: io.github.someone/notes`\n"));
    assert!(files["wheel/linux-x64/WHEEL"].contains("Tag: py3-none-manylinux_2_17_x86_64\n"));
    let control = &files["deb/linux-x64/control"];
    assert!(
        control.contains("Version: 0.1.0-1\n")
            && control.contains("Description: server that keeps notes\n Keeps notes.\n .\n And"),
        "{control}"
    );
    assert!(!files.contains_key("deb/darwin-arm64/control"));
    let manifest = json(&files, "mcpb/darwin-arm64/manifest.json");
    assert_eq!(manifest["compatibility"]["platforms"], serde_json::json!(["darwin"]));
    assert_eq!(manifest["server"]["mcp_config"]["env"]["NOTES_FILE"], "${user_config.notes_file}");
    assert_eq!(manifest["user_config"]["notes_file"]["default"], "${HOME}/notes");
    assert_eq!(manifest["tools"].as_array().map(Vec::len), Some(2));
    assert!(files["container/Containerfile"].contains("ENV NOTES_FILE=/data/notes\n"));
    // Without hashes, what names one is left out.
    assert!(!files.keys().any(|path| path.starts_with("brew/")));
    assert_eq!(kinds(&json(&files, "server.json")), ["npm", "pypi", "cargo", "oci"]);
}

#[test]
fn what_names_an_archive_needs_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "ab".repeat(32);
    let sums = folder.path().join("sums");
    fs::write(
        &sums,
        format!("{hash}  notes-mcp-0.1.0-linux-x64.mcpb\n{hash}  notes-mcp-0.1.0-x86_64-unknown-linux-gnu.tar.gz\n"),
    )
    .unwrap();
    let done = package(folder.path(), DESCRIPTION, &["--sums", sums.to_str().unwrap()]);
    assert!(done.status.success(), "{done:?}");
    let files = written(folder.path());
    let entry = json(&files, "server.json");
    assert_eq!(kinds(&entry), ["npm", "pypi", "mcpb", "cargo", "oci"]);
    assert_eq!(entry["packages"][2]["fileSha256"], hash);
    let formula = &files["brew/notes-mcp.rb"];
    assert!(
        formula.starts_with("# Generated") && formula.contains("class NotesMcp < Formula\n"),
        "{formula}"
    );
    assert!(formula.contains(&format!("sha256 \"{hash}\"")) && !formula.contains("on_macos"), "{formula}");
    assert!(formula.contains("license any_of: [\"MIT\", \"Apache-2.0\"]"), "{formula}");

    let check = |description: &str| {
        let done = package(folder.path(), description, &["--sums", sums.to_str().unwrap(), "--check"]);
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    assert_eq!(check(DESCRIPTION).0, Some(0));
    let (code, said) = check(&DESCRIPTION.replace("title: Notes", "title: Others"));
    assert!(code == Some(1) && said.contains("server.json is not current"), "{said}");
}

#[test]
fn a_program_without_a_catalogue_is_packaged_too() {
    let folder = tempfile::tempdir().unwrap();
    let (description, _) = DESCRIPTION.split_once("\nforms:").unwrap();
    let description = format!("{description}\nforms: [npm, wheel]\n");
    let done = package(folder.path(), &description, &[]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("needs --release VERSION"), "{done:?}");
    let done = package(folder.path(), &description, &["--release", "3.2.1"]);
    assert!(done.status.success(), "{done:?}");
    let files = written(folder.path());
    let main = json(&files, "npm/notes-mcp/package.json");
    assert!(main["version"] == "3.2.1" && main.get("mcpName").is_none(), "{main}");
    assert!(!files["wheel/METADATA"].contains("mcp-name"));
}

#[test]
fn what_cannot_be_packaged_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    for (description, more, says) in [
        (
            DESCRIPTION.to_owned(),
            &["--release", "9.9.9"][..],
            "--release is 9.9.9, and the catalogue's version is 0.1.0",
        ),
        (DESCRIPTION.replace("linux-x64", "linux-mips"), &[], "unknown variant `linux-mips`"),
        (DESCRIPTION.replace("command: notes", "command: ../notes"), &[], "`command` is `../notes`"),
        (DESCRIPTION.to_owned(), &["--sums", "no-such-file"], "no-such-file: "),
        (DESCRIPTION.to_owned(), &["--sums", "Cargo.toml"], "line 1 is not `HASH  NAME`"),
    ] {
        let done = package(folder.path(), &description, more);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && said.contains(says), "{said}");
        assert!(!folder.path().join("out").exists(), "nothing is written");
    }
}
