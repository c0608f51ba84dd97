//! What no file of the project may hold: paths of a developer's machine, hosts of package registries.

use crate::tidy::{assert_none, tree};

/// Split, so that this file does not hold them.
const PLACES: [&str; 5] = [
    concat!("/", "root/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "tmp/"),
    concat!("C:\\", "Users"),
];
const HOSTS: [&str; 6] = [
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
];

#[test]
fn no_file_names_a_place_of_this_machine_or_a_registry() {
    let files = tree::files();
    let found = files.iter().flat_map(|(path, text)| findings(path, text));
    assert_none(&found.collect::<Vec<_>>());
}

fn findings(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // Inside a longer path, the same text does not point to a machine.
        let at_start = |place: &&&str| {
            let begins =
                |(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~*}>".contains(c));
            line.match_indices(**place).any(begins)
        };
        let place = PLACES.iter().find(at_start);
        let found = place.or_else(|| HOSTS.iter().find(|host| line.contains(**host)));
        findings.extend(found.map(|text| format!("{path}:{}: names `{text}`", index + 1)));
    }
    findings
}

#[test]
fn places_are_told_from_parts_of_paths() {
    let text = format!("at {}me/x\nsrc{}\nat {}", PLACES[1], PLACES[1], HOSTS[2]);
    let expected = [format!("a:1: names `{}`", PLACES[1]), format!("a:3: names `{}`", HOSTS[2])];
    assert_eq!(findings("a", &text), expected);
}
