//! What a crate shows, others use. Its front is every public item that another crate can name. `tests/golden/public_names.txt`
//! lists what each `lib.rs` shows, so that a change is seen (`COLIBRI_WRITE_FROZEN=1` writes the list anew).
//!
//! Both rules read the source text. A use is the name as a word, so an item with a common name, such as `new`, counts as used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::graph::{Module, crates};
use super::source::{Source, words};
use super::{assert_none, tree};

/// A public item of a crate's front.
struct Item {
    /// The module that names it, from the crate's root.
    module: Module,
    kind: String,
    name: String,
    /// The type whose method it is.
    owner: Option<String>,
    /// The words of its signature; of a type or trait those of the whole definition.
    signature: BTreeSet<String>,
    path: String,
    line: usize,
}

/// An item as it is written: what stands before its body, and the body.
struct Declaration<'a> {
    line: usize,
    header: &'a str,
    body: Option<&'a str>,
}

/// Kinds that another item's signature can name.
const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Splits code into items. Bodies of constants and braces of imports belong to the header.
fn declarations(code: &str, first_line: usize) -> Vec<Declaration<'_>> {
    let bytes = code.as_bytes();
    let (mut found, mut start, mut at, mut depth) = (Vec::new(), 0, 0, 0_usize);
    let (mut line, mut counted) = (first_line, 0);
    let mut push = |start: usize, end: usize, body| {
        let start = end - code[start..end].trim_start().len();
        line += bytes[counted..start].iter().filter(|byte| **byte == b'\n').count();
        counted = start;
        found.push(Declaration { line, header: code[start..end].trim_end(), body });
    };
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => {
                push(start, at, None);
                start = at + 1;
            }
            b'{' => {
                let close = closing(bytes, at);
                if depth == 0 && !has_value(&code[start..at]) {
                    push(start, at, Some(&code[at + 1..close]));
                    start = close + 1;
                }
                at = close;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Where the brace that opens at `open` closes.
fn closing(bytes: &[u8], open: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Whether a brace behind the header opens a value or a list of imports, not a body.
fn has_value(header: &str) -> bool {
    let mut words = plain(header).1.split_whitespace().skip_while(|word| word.starts_with("pub"));
    match words.next() {
        Some("use" | "static" | "type") => true,
        Some("const") => !matches!(words.next(), Some("fn" | "unsafe" | "async" | "extern")),
        _ => false,
    }
}

/// The attributes of a header, and what follows them.
fn plain(header: &str) -> (&str, &str) {
    let mut rest = header.trim_start();
    while rest.starts_with('#') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ']' && depth == 0
        });
        rest = end.map_or("", |end| rest[end + 1..].trim_start());
    }
    (&header[..header.len() - rest.len()], rest)
}

/// The kind and name of a public item; `None` for anything else.
fn public(header: &str) -> Option<(&str, &str)> {
    let rest = plain(header).1.strip_prefix("pub ")?;
    let mut words = words(rest).skip_while(|word| ["async", "unsafe", "extern"].contains(word)).peekable();
    let mut kind = words.next()?;
    if kind == "const" && words.peek().is_some_and(|next| ["fn", "unsafe", "async"].contains(next)) {
        kind = words.find(|word| *word == "fn")?;
    }
    Some((kind, words.next()?))
}

/// The type of an inherent `impl`.
fn implemented(header: &str) -> Option<String> {
    let rest = plain(header).1.strip_prefix("impl")?;
    let mut depth = 0;
    let generics = rest.starts_with('<').then(|| {
        rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })
    });
    let rest = generics.flatten().map_or(rest, |end| &rest[end + 1..]);
    let name = rest.split('<').next()?.rsplit("::").next()?;
    (!words(rest).any(|word| word == "for")).then(|| name.trim().to_owned())
}

/// A name that a `pub use` brings from a module, and the name under which it is shown.
struct Import {
    from: Option<String>,
    own: String,
    shown: String,
}

impl Import {
    /// Whether the name may be that of an item of the module.
    fn is_from(&self, module: &Module) -> bool {
        self.from.as_ref().is_none_or(|from| module.contains(from))
    }
}

/// What a `pub use` brings.
fn imported(header: &str) -> Vec<Import> {
    let Some(rest) = plain(header).1.strip_prefix("pub use ") else { return Vec::new() };
    let (prefix, pieces) = rest.split_once('{').unwrap_or(("", rest));
    let import = |piece: &str| {
        let (path, shown) = piece.split_once(" as ").unwrap_or((piece, ""));
        let mut path = words(prefix).chain(words(path)).filter(|word| *word != "self").rev();
        let own = path.next()?.to_owned();
        let shown = words(shown).next().unwrap_or(&own).to_owned();
        let from = path.next().filter(|from| !["crate", "super"].contains(from)).map(str::to_owned);
        Some(Import { from, own, shown })
    };
    let pieces = pieces.split([',', '}']).filter(|piece| !piece.trim().is_empty());
    pieces.filter_map(import).collect()
}

/// The files of a crate's library; what only its program declares is another crate.
fn library(files: &[(Module, Source)]) -> Vec<&(Module, Source)> {
    let Some(root) = files.iter().find(|(_, source)| source.path.ends_with("/lib.rs")) else {
        return Vec::new();
    };
    let mut found = vec![root];
    let mut at = 0;
    while let Some((module, source)) = found.get(at) {
        let lines = source.code.lines().map(str::trim_start);
        let declared = lines.filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        let children: Vec<Module> = declared.map(|name| [&module[..], &[name.to_owned()]].concat()).collect();
        found.extend(files.iter().filter(|(module, _)| children.contains(module)));
        at += 1;
    }
    found
}

/// A file of a library with its items.
type Declared<'a> = (&'a Module, &'a Source, Vec<Declaration<'a>>);

/// The modules that other crates can name, and what they show of other modules.
fn reached(declared: &[Declared]) -> (BTreeSet<Module>, Vec<(Import, Module)>) {
    let (mut open, mut reached) = (vec![Module::new()], BTreeSet::new());
    let mut exported: Vec<(Import, Module)> = Vec::new();
    while let Some(module) = open.pop() {
        let items = declared.iter().find(|(own, ..)| **own == module).map(|(.., items)| items);
        for item in items.into_iter().flatten() {
            if let (Some(("mod", name)), None) = (public(item.header), item.body) {
                open.push([&module[..], &[name.to_owned()]].concat());
            }
            for import in imported(item.header) {
                // A module may be shown by name, too.
                let named = |other: &&Module| other.last() == Some(&import.own) && import.is_from(other);
                let modules = declared.iter().map(|(module, ..)| *module);
                open.extend(modules.filter(named).filter(|module| !reached.contains(*module)).cloned());
                exported.push((import, module.clone()));
            }
        }
        reached.insert(module);
    }
    (reached, exported)
}

/// The public items of a crate, methods included.
fn front(files: &[(Module, Source)]) -> Vec<Item> {
    let declared: Vec<Declared> = library(files)
        .into_iter()
        .map(|(module, source)| {
            let shipped = source.without_tests(&source.code).last().map_or(0, |(line, _)| line);
            let end = source.code.split_inclusive('\n').take(shipped).map(str::len).sum::<usize>();
            (module, source, declarations(&source.code[..end], 1))
        })
        .collect();
    let (reached, exported) = reached(&declared);
    let mut items: Vec<Item> = Vec::new();
    for (module, source, declarations) in &declared {
        for item in declarations {
            let Some((kind, name)) = public(item.header).filter(|(kind, _)| *kind != "use") else { continue };
            let brought = exported.iter().find(|(import, _)| import.own == name && import.is_from(module));
            let (module, name) = match brought {
                Some((import, by)) => (by.clone(), import.shown.as_str()),
                None if reached.contains(*module) => ((*module).clone(), name),
                None => continue,
            };
            let whole = TYPES.contains(&kind).then_some(item.body).flatten().unwrap_or_default();
            items.push(Item {
                module,
                kind: kind.to_owned(),
                name: name.to_owned(),
                owner: None,
                signature: words(item.header).chain(words(whole)).map(str::to_owned).collect(),
                path: source.path.clone(),
                line: item.line,
            });
        }
    }
    items.extend(methods(&declared, &items));
    items
}

/// The public methods of public types.
fn methods(declared: &[Declared], items: &[Item]) -> Vec<Item> {
    let types: BTreeMap<&str, &Module> =
        items.iter().map(|item| (item.name.as_str(), &item.module)).collect();
    let mut found = Vec::new();
    for (_, source, declarations) in declared {
        for item in declarations {
            let Some((owner, body)) = implemented(item.header).zip(item.body) else { continue };
            let Some(module) = types.get(owner.as_str()) else { continue };
            for method in self::declarations(body, item.line + item.header.matches('\n').count()) {
                let Some((kind, name)) = public(method.header) else { continue };
                found.push(Item {
                    module: (*module).clone(),
                    kind: kind.to_owned(),
                    name: name.to_owned(),
                    owner: Some(owner.clone()),
                    signature: words(method.header).map(str::to_owned).collect(),
                    path: source.path.clone(),
                    line: method.line,
                });
            }
        }
    }
    found
}

/// The words of the examples in a file's docs.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    let docs = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))
    });
    docs.filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        inside && !fence
    })
    .flat_map(words)
}

/// The words that other crates, tests and programs say, and the crate's own examples. `all` has the words of each file.
fn outside<'a>(own: &'a [(Module, Source)], all: &[(&str, BTreeSet<&'a str>)]) -> BTreeSet<&'a str> {
    let own = library(own);
    let others = all.iter().filter(|(path, _)| !own.iter().any(|(_, source)| source.path == *path));
    let mut said: BTreeSet<&str> = others.flat_map(|(_, words)| words).copied().collect();
    said.extend(own.into_iter().flat_map(|(_, source)| examples(&source.text)));
    said
}

/// The words of each file.
fn said(sources: &[Source]) -> Vec<(&str, BTreeSet<&str>)> {
    sources.iter().map(|source| (source.path.as_str(), words(&source.code).collect())).collect()
}

/// The items that nothing outside needs: neither by name, nor in the signature of an item that is used.
fn unused<'a>(front: &'a [Item], said: &BTreeSet<&str>) -> Vec<&'a Item> {
    let types = front.iter().filter(|item| TYPES.contains(&item.kind.as_str()));
    let types: BTreeSet<&str> = types.map(|item| item.name.as_str()).collect();
    let mut known: BTreeSet<&str> = said.clone();
    loop {
        let used = front.iter().filter(|item| known.contains(item.name.as_str()));
        let named: BTreeSet<&str> = used.flat_map(|item| item.signature.iter().map(String::as_str)).collect();
        let before = known.len();
        known.extend(named.intersection(&types));
        if known.len() == before {
            return front.iter().filter(|item| !known.contains(item.name.as_str())).collect();
        }
    }
}

#[test]
fn what_is_public_is_used_by_another_crate() {
    let sources = tree::sources();
    let all = said(&sources);
    let mut findings = Vec::new();
    for files in crates().into_values() {
        let front = front(&files);
        for item in unused(&front, &outside(&files, &all)) {
            let owner = item.owner.as_ref().map_or(String::new(), |owner| format!("{owner}::"));
            let shown = format!("`pub {} {owner}{}`", item.kind, item.name);
            findings.push(format!("{}:{}: {shown} has no user outside its crate", item.path, item.line));
        }
    }
    assert_none(&findings);
}

#[test]
fn public_names_equal_the_golden_list() {
    let mut list = String::new();
    for (member, files) in crates() {
        let front = front(&files);
        let mut names: Vec<String> = front
            .iter()
            .filter(|item| item.owner.is_none() && item.module.is_empty())
            .map(|item| format!("{member}: {} {}\n", item.kind, item.name))
            .collect();
        names.sort();
        names.dedup();
        list.extend(names);
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/public_names.txt");
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(&golden, &list).unwrap();
    }
    assert_eq!(list, std::fs::read_to_string(golden).unwrap(), "COLIBRI_WRITE_FROZEN=1 writes the list anew");
}

#[test]
fn a_front_without_users_is_found() {
    let file = |module: &[&str], path: &str, text: &str| {
        (module.iter().map(|part| (*part).to_owned()).collect::<Module>(), Source::new(path, text))
    };
    let files = [
        file(
            &[],
            "a/src/lib.rs",
            "pub mod open;\nmod shut;\npub use shut::{Kept, Other as Renamed};\npub const fn two() -> [u8; 2] { [0; 2] }\n",
        ),
        file(
            &["open"],
            "a/src/open.rs",
            "/// ```\n/// a::open::shown();\n/// ```\npub fn shown() {}\n#[derive(Clone)]\npub struct Named(u8);\n\
             pub fn said<T: Into<Named>>(of: T) -> Named { Named(0) }\npub(crate) fn inner() {}\n\
             pub const LIST: [Named; 1] = { [Named(1)] };\n#[cfg(test)]\nmod tests {\n    pub fn test() {}\n}\n",
        ),
        file(
            &["shut"],
            "a/src/shut.rs",
            "pub struct Kept;\npub struct Other;\npub struct Hidden;\nimpl Kept {\n    pub fn used(&self) {}\n\
             pub fn lost(&self) {}\n}\nimpl Clone for Kept {\n    fn clone(&self) -> Self { Kept }\n}\n",
        ),
    ];
    let all = [Source::new("b/src/lib.rs", "use a::{Kept, Renamed, open::said}; fn b(k: Kept) { k.used() }")];
    let front = front(&files);
    let names: Vec<&str> = front.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["open", "two", "shown", "Named", "said", "LIST", "Kept", "Renamed", "used", "lost"]);
    let unused = unused(&front, &outside(&files, &said(&all)));
    let unused: Vec<&str> = unused.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(unused, ["two", "LIST", "lost"]);
}
