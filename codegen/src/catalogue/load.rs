//! Reads a folder of YAML files into a [`Catalogue`].
//!
//! ```text
//! catalogue.yaml           head: name, version, chain codes, order of domains
//! types.yaml               shared schemas (may be missing)
//! tools/<domain>.yaml      one file for each of the head's domains
//! ```
//!
//! Every file is read, and every entry of a file is decoded by itself, so that one run reports all
//! faults.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::decode::{self, Misfit};
use super::{DomainFile, Finding, Head, Location, Place, SharedTypes, SourceFile, Tool, shared, suggest};

/// A catalogue as written, with the places of all its nodes.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The folder it was read from.
    pub root: PathBuf,
    /// Its files: `catalogue.yaml` first, then `types.yaml` if there is one, then the domains'.
    pub files: Vec<SourceFile>,
    /// `catalogue.yaml`.
    pub head: Head,
    /// `types.yaml`; empty when the file is missing.
    pub types: SharedTypes,
    /// Index of `types.yaml` in [`files`](Self::files).
    pub types_file: Option<usize>,
    /// The domains in the head's order.
    pub domains: Vec<DomainEntry>,
}

/// A domain with its file.
#[derive(Debug, Clone)]
pub struct DomainEntry {
    /// Index into [`Catalogue::files`].
    pub file: usize,
    /// The file's content.
    pub data: DomainFile,
}

/// A tool with its place.
#[derive(Debug, Clone)]
pub struct ToolEntry<'a> {
    /// The domain it belongs to.
    pub domain: &'a DomainEntry,
    /// The entry's content.
    pub tool: &'a Tool,
    /// The entry's place.
    pub place: Place,
}

impl Catalogue {
    /// Reads the catalogue in the folder `root`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong in any file, sorted by file, line and column: unreadable or
    /// missing files, text that is not plain YAML, keys that are unknown, missing or of the wrong
    /// type. [`lint`](crate::lint) judges what the values mean.
    pub fn load(root: &Path) -> Result<Self, Vec<Finding>> {
        let mut loader = Loader { root, files: Vec::new(), findings: Vec::new() };
        let head_value = loader.read("catalogue.yaml");
        let head: Option<Head> =
            head_value.as_ref().and_then(|(file, value)| loader.decode(*file, value, ""));
        let types_there = root.join("types.yaml").exists();
        let types_value = if types_there { loader.read("types.yaml") } else { None };
        let types_file = types_value.as_ref().map(|(file, _)| *file);
        let types: Option<SharedTypes> = match &types_value {
            Some((file, value)) => loader.decode(*file, value, ""),
            None => (!types_there).then(SharedTypes::default),
        };
        let names = loader.domain_names(head_value.as_ref());
        let domains: Vec<DomainEntry> = names
            .iter()
            .filter_map(|name| loader.domain(&format!("tools/{name}.yaml"), types.as_ref()))
            .collect();
        let (files, mut findings) = (loader.files, loader.findings);
        match (head, types) {
            (Some(head), Some(types)) if findings.is_empty() => {
                Ok(Self { root: root.to_path_buf(), files, head, types, types_file, domains })
            }
            _ => {
                findings.sort();
                findings.dedup();
                Err(findings)
            }
        }
    }

    /// Returns line and column of a node: of a scalar itself, of the key of a mapping or sequence; of the
    /// nearest existing ancestor when the node is missing.
    #[must_use]
    pub fn locate(&self, place: &Place) -> Location {
        self.position(place, SourceFile::locate)
    }

    /// Returns line and column of a node's key.
    #[must_use]
    pub(crate) fn locate_key(&self, place: &Place) -> Location {
        self.position(place, SourceFile::locate_key)
    }

    fn position(&self, place: &Place, find: impl Fn(&SourceFile, &str) -> Location) -> Location {
        let shared = shared::declaration(self, place);
        let place = shared.as_ref().unwrap_or(place);
        match self.files.get(place.file) {
            Some(file) => find(file, &place.pointer),
            None => Location { path: self.root.clone(), line: 1, column: 1 },
        }
    }

    /// Returns the root of `catalogue.yaml`.
    #[must_use]
    pub fn head_place(&self) -> Place {
        Place { file: 0, pointer: String::new() }
    }

    /// Returns the place of the shared schema `name` in `types.yaml`.
    #[must_use]
    pub(crate) fn type_place(&self, name: &str) -> Place {
        Place { file: self.types_file.unwrap_or(0), pointer: "/types".into() }.child(name)
    }

    /// Returns the place of a shared error in `types.yaml`.
    #[must_use]
    pub(crate) fn shared_error_place(&self, index: usize) -> Place {
        Place { file: self.types_file.unwrap_or(0), pointer: "/errors".into() }.child(index)
    }

    /// Returns the root of the file of the domain with this index.
    #[must_use]
    pub(crate) fn domain_place(&self, domain: usize) -> Place {
        Place { file: self.domains.get(domain).map_or(0, |entry| entry.file), pointer: String::new() }
    }

    /// Returns the place of a tool: its index within the domain, and the domain's index.
    #[must_use]
    pub(crate) fn tool_place(&self, domain: usize, tool: usize) -> Place {
        self.domain_place(domain).child("tools").child(tool)
    }

    /// Returns all tools in listing order.
    pub fn tools(&self) -> impl Iterator<Item = ToolEntry<'_>> {
        self.domains.iter().enumerate().flat_map(move |(d, domain)| {
            let tools = domain.data.tools.iter().enumerate();
            tools.map(move |(t, tool)| ToolEntry { domain, tool, place: self.tool_place(d, t) })
        })
    }
}

struct Loader<'a> {
    root: &'a Path,
    files: Vec<SourceFile>,
    findings: Vec<Finding>,
}

impl Loader<'_> {
    fn report(&mut self, at: Location, message: String, help: String) {
        self.findings.push(Finding { at, rule: "model", message, help });
    }

    /// Reads one file, and returns its index, and its value when it is valid YAML.
    fn read(&mut self, name: &str) -> Option<(usize, Value)> {
        let path = self.root.join(name);
        if !path.is_file() {
            let at = Location { path, line: 1, column: 1 };
            self.report(
                at,
                format!("there is no file `{name}`"),
                format!("create `{name}` in the catalogue's folder"),
            );
            return None;
        }
        match SourceFile::read(&path) {
            Ok((file, value, findings)) => {
                self.findings.extend(findings);
                self.files.push(file);
                value.map(|value| (self.files.len() - 1, value))
            }
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    /// Decodes a value found at `base` in a file.
    fn decode<T: DeserializeOwned>(&mut self, file: usize, value: &Value, base: &str) -> Option<T> {
        match decode::typed(value) {
            Ok(found) => Some(found),
            Err(misfits) => {
                for Misfit { pointer, on_key, message, help } in misfits {
                    let pointer = format!("{base}{pointer}");
                    let file = &self.files[file];
                    let at = if on_key { file.locate_key(&pointer) } else { file.locate(&pointer) };
                    self.report(at, message, help);
                }
                None
            }
        }
    }

    /// Returns the head's domains that can be file names; if the head cannot be read, the stems in the folder.
    fn domain_names(&mut self, head: Option<&(usize, Value)>) -> Vec<String> {
        let present = self.files_in_tools();
        let listed = head.and_then(|(file, value)| Some((*file, value.get("domains")?.as_array()?)));
        let Some((file, listed)) = listed else { return present.into_iter().collect() };
        let mut names: Vec<String> = Vec::new();
        for (position, name) in listed.iter().enumerate() {
            // Anything but text has been reported with the head.
            let Some(name) = name.as_str() else { continue };
            let at = self.files[file].locate(&format!("/domains/{position}"));
            if !is_snake_case(name) {
                self.report(
                    at,
                    format!("the domain's name `{name}` is not snake_case"),
                    SNAKE_HELP.to_owned(),
                );
            } else if names.iter().any(|known| known == name) {
                self.report(
                    at,
                    format!("the domain `{name}` is listed twice"),
                    "remove one of the two".into(),
                );
            } else if !present.contains(name) {
                let help = match suggest::closest(name, present.iter().map(String::as_str)) {
                    Some(near) => format!("write `{near}`, or create `tools/{name}.yaml`"),
                    None => format!("create `tools/{name}.yaml`, or remove the domain"),
                };
                self.report(at, format!("the domain `{name}` has no file `tools/{name}.yaml`"), help);
            } else {
                names.push(name.to_owned());
            }
        }
        for name in present {
            if !listed.iter().any(|entry| entry.as_str() == Some(&name)) {
                let at = Location { path: self.root.join(format!("tools/{name}.yaml")), line: 1, column: 1 };
                let help = format!("add `{name}` to `domains` in catalogue.yaml, or remove the file");
                self.report(at, format!("the domain `{name}` is not listed"), help);
            }
        }
        names
    }

    /// Returns the stems of the YAML files in `tools/`, sorted.
    fn files_in_tools(&mut self) -> BTreeSet<String> {
        let folder = self.root.join("tools");
        let Ok(entries) = fs::read_dir(&folder) else { return BTreeSet::new() };
        let mut stems = BTreeSet::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if name.starts_with('.') {
                continue;
            }
            if let Some(stem) = name.strip_suffix(".yaml") {
                stems.insert(stem.to_owned());
            } else if let Some(stem) = name.strip_suffix(".yml") {
                let help = format!("name it `{stem}.yaml`");
                let at = Location { path: path.clone(), line: 1, column: 1 };
                self.report(at, "files of the catalogue end in `.yaml`".into(), help);
            }
        }
        stems
    }

    fn domain(&mut self, name: &str, types: Option<&SharedTypes>) -> Option<DomainEntry> {
        let (file, mut value) = self.read(name)?;
        // The tools are decoded one by one, and the rest of the file without them.
        let mut tools = match value.get_mut("tools") {
            Some(Value::Array(tools)) => std::mem::take(tools),
            _ => Vec::new(),
        };
        let data: Option<DomainFile> = self.decode(file, &value, "");
        let decoded: Vec<Option<Tool>> = tools
            .iter_mut()
            .enumerate()
            .map(|(position, tool)| {
                let base = format!("/tools/{position}");
                let (named, unknown) = shared::put_in(tool, types);
                for (pointer, message, help) in unknown {
                    let at = self.files[file].locate(&format!("{base}{pointer}"));
                    self.report(at, message, help);
                }
                let mut tool: Tool = self.decode(file, tool, &base)?;
                for (index, error) in tool.errors.iter_mut().enumerate() {
                    error.shared = named.contains(&index);
                }
                Some(tool)
            })
            .collect();
        let mut data = data?;
        data.tools = decoded.into_iter().collect::<Option<_>>()?;
        Some(DomainEntry { file, data })
    }
}

const SNAKE_HELP: &str = "write lower-case letters, digits and `_`, starting with a letter";

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
