//! Which modules use which. A crate's rooms are the folders and files directly below its `src`, and of the domains each one:
//! between rooms uses go one way. Inside a room files may use each other; those that do so in a circle are listed in
//! `tests/golden/circles.txt`, so that a new circle is seen (`COLIBRI_WRITE_FROZEN=1` writes the list anew).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::Source;
use super::tree;

/// A room that is divided further.
const DIVIDED: &str = "domains";

pub(super) type Module = Vec<String>;
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The crates of the workspace by their folder, with their files as modules.
pub(super) fn crates() -> BTreeMap<String, Vec<(Module, Source)>> {
    let manifest = std::fs::read_to_string(tree::root().join("Cargo.toml")).unwrap();
    let list = manifest.split_once("members = [").unwrap().1.split_once(']').unwrap().0;
    let mut members: Vec<String> = list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    // The deepest folder that fits is a file's crate.
    members.sort_by_key(|member| std::cmp::Reverse(member.len()));
    let mut crates: BTreeMap<String, Vec<(Module, Source)>> = BTreeMap::new();
    for source in tree::sources() {
        let own = members.iter().find_map(|member| {
            Some((member, source.path.strip_prefix(&format!("{member}/src/"))?.to_owned()))
        });
        if let Some((member, path)) = own {
            crates.entry(member.clone()).or_default().push((module(&path), source));
        }
    }
    crates
}

/// The module that a file below `src` is.
fn module(path: &str) -> Module {
    let mut parts: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// The room of a module; `None` for the crate's root, which declares all of them.
fn room(module: &[String]) -> Option<String> {
    match module {
        [] => None,
        [first, second, ..] if first == DIVIDED => Some(format!("{first}/{second}")),
        [first, ..] => Some(first.clone()),
    }
}

/// The paths that a file names, from the crate's root.
fn named(module: &[String], source: &Source) -> BTreeSet<Module> {
    let code: Vec<&str> = source.without_tests(&source.code).map(|(_, line)| line).collect();
    let code = code.join("\n");
    let mut found = BTreeSet::new();
    for (start, base) in [("crate::", 0), ("super::", 1)] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let prefix = if base == 0 { &[][..] } else { &module[..module.len().saturating_sub(1)] };
            read_tree(&code[at + start.len()..], prefix.to_vec(), &mut found);
        }
    }
    found
}

/// Reads a path, or a tree of paths in braces, and returns what stands behind it.
fn read_tree<'a>(text: &'a str, mut prefix: Module, found: &mut BTreeSet<Module>) -> &'a str {
    let mut rest = text.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            let behind = read_tree(rest, prefix.clone(), found).trim_start();
            // A rename, or anything else up to the next member.
            let end = behind.find([',', '}']).unwrap_or(behind.len());
            rest = behind[end..].strip_prefix(',').unwrap_or(&behind[end..]).trim_start();
        }
        return rest.strip_prefix('}').unwrap_or(rest);
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    match name {
        "super" => drop(prefix.pop()),
        "self" | "" => {}
        _ => prefix.push(name.to_owned()),
    }
    match behind.strip_prefix("::") {
        Some(deeper) => read_tree(deeper, prefix, found),
        None => {
            found.insert(prefix);
            behind
        }
    }
}

/// Groups of nodes that reach one another.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(node) = open.pop() {
            for next in graph.get(&node).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|node| (node, reached(node))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (node, seen) in &reach {
        if seen.contains(*node) && !circles.iter().any(|circle| circle.contains(*node)) {
            let back = |other: &&String| reach.get(other).is_some_and(|from| from.contains(*node));
            circles.push(seen.iter().filter(back).cloned().collect());
        }
    }
    circles
}

/// The uses between the rooms of a crate, and between the files of each room.
fn graphs(files: &[(Module, Source)]) -> (Graph, Graph) {
    let modules: BTreeMap<&Module, &str> =
        files.iter().map(|(module, source)| (module, source.path.as_str())).collect();
    let (mut rooms, mut inside) = (Graph::new(), Graph::new());
    for (module, source) in files {
        let Some(own) = room(module) else { continue };
        for path in named(module, source) {
            let target =
                (1..=path.len()).rev().find_map(|length| modules.get_key_value(&path[..length].to_vec()));
            let Some((target, target_path)) = target else { continue };
            match room(target) {
                Some(other) if other != own => drop(rooms.entry(own.clone()).or_default().insert(other)),
                Some(_) if *target_path != source.path => {
                    inside.entry(source.path.clone()).or_default().insert((*target_path).to_owned());
                }
                _ => {}
            }
        }
    }
    (rooms, inside)
}

#[test]
fn rooms_use_each_other_one_way() {
    let mut found = Vec::new();
    let crates = crates();
    assert!(crates.len() > 5 && crates["server"].len() > 100, "the crates were not found");
    for (name, files) in &crates {
        let (rooms, _) = graphs(files);
        found.extend(circles(&rooms).into_iter().map(|circle| (name.clone(), circle)));
    }
    assert_eq!(found, Vec::new(), "these rooms of a crate use each other");
}

#[test]
fn circles_inside_a_room_are_known() {
    let mut found = String::new();
    for (_, files) in crates() {
        for circle in circles(&graphs(&files).1) {
            found.push_str(&format!("{}\n", circle.into_iter().collect::<Vec<_>>().join(" ")));
        }
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/circles.txt");
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        std::fs::write(&list, &found).unwrap();
    }
    let known = std::fs::read_to_string(list).unwrap();
    assert_eq!(found, known, "files use each other in a new circle, or an old circle is gone");
}

#[test]
fn a_circle_is_found() {
    let file = |path: &str, text: &str| {
        let below = path.strip_prefix("a/src/").unwrap();
        (module(below), Source::new(path, text))
    };
    let files = [
        file("a/src/lib.rs", "mod one; mod two; mod domains;"),
        file("a/src/one/mod.rs", "use crate::{two::{self, Thing as Other}, domains::x::Y};"),
        file("a/src/two.rs", "fn f() { super::one::deep::g() } // crate::nothing"),
        file("a/src/one/deep.rs", "use super::other; #[cfg(test)]\nmod tests {\n use crate::two;\n}\n"),
        file("a/src/one/other.rs", "use super::deep::g;"),
        file("a/src/domains/x.rs", "use super::super::domains::z;"),
    ];
    let (rooms, inside) = graphs(&files);
    assert_eq!(rooms["one"], BTreeSet::from(["two".to_owned(), "domains/x".to_owned()]));
    assert_eq!(circles(&rooms), [BTreeSet::from(["one".to_owned(), "two".to_owned()])]);
    let circle = ["a/src/one/deep.rs".to_owned(), "a/src/one/other.rs".to_owned()];
    assert_eq!(circles(&inside), [BTreeSet::from(circle)]);
}
