//! Files as the subcommands read and write them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use serde_json::{Value, json};

/// The endings of files that hold one tool each: `.snap` is github-mcp-server's.
const TOOL_FILES: [&str; 2] = ["snap", "json"];

/// The most bytes of a file that are read; a device may have no end.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// Reads a file, or a folder with one file a tool, which becomes one list.
pub fn read(place: &Path) -> Result<String, String> {
    if place.is_dir() { read_folder(place) } else { read_file(place) }
}

/// Reads a file.
pub fn read_file(file: &Path) -> Result<String, String> {
    let told = |error: io::Error| format!("{}: {error}", file.display());
    let mut text = String::new();
    let read = fs::File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
    match read.map_err(told)? as u64 {
        MOST_BYTES.. => {
            Err(format!("{}: longer than {} MiB, which no state is", file.display(), MOST_BYTES >> 20))
        }
        _ => Ok(text),
    }
}

fn read_folder(folder: &Path) -> Result<String, String> {
    let told = |error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if TOOL_FILES.contains(&ending) {
            files.push(path);
        }
    }
    if files.is_empty() {
        let folder = folder.display();
        return Err(format!(
            "{folder}: no file of the folder ends in .snap or .json; one file a tool is expected"
        ));
    }
    // The folder has no order of its own.
    files.sort();
    let mut tools = Vec::new();
    for file in &files {
        tools.push((file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default(), read_tool(file)?));
    }
    // Beside the tool in the file of its name there may be others of that name: what it is with a flag. Such a variant goes by the name of
    // its file.
    let usual: BTreeSet<String> = tools
        .iter()
        .filter(|(stem, tool)| tool["name"] == *stem)
        .map(|(stem, _)| (*stem).to_owned())
        .collect();
    for (stem, tool) in &mut tools {
        if tool["name"].as_str().is_some_and(|name| name != *stem && usual.contains(name)) {
            tool["name"] = (*stem).into();
        }
    }
    let tools: Vec<Value> = tools.into_iter().map(|(_, tool)| tool).collect();
    Ok(json!({ "tools": tools }).to_string())
}

fn read_tool(file: &Path) -> Result<Value, String> {
    let told = |why: String| format!("{}: {why}", file.display());
    let text = read_file(file)?;
    let mut tool: Value = serde_json::from_str(&text).map_err(|error| told(format!("not JSON: {error}")))?;
    if !tool.get("name").is_some_and(Value::is_string) || tool.get("inputSchema").is_none() {
        return Err(told("not a tool: it has no `name` and `inputSchema`".to_owned()));
    }
    // Go's library writes null into such files for a tool without arguments, and lists an object.
    if tool["inputSchema"].is_null() {
        tool["inputSchema"] = json!({ "type": "object" });
    }
    Ok(tool)
}

/// Writes a file whole or not at all. A link stays one, and a device or pipe is written to.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    let told = |error| format!("cannot write {}: {error}", file.display());
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if fs::metadata(file).is_ok_and(|about| !about.is_file()) {
        return fs::write(file, text).map_err(told);
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = file.with_file_name(format!("{name}.mcp-drift-part-{}", std::process::id()));
    fs::write(&part, text).and_then(|()| fs::rename(&part, file)).map_err(|error| {
        // What cannot be written may also not be there to remove.
        let _ = fs::remove_file(&part);
        told(error)
    })
}
