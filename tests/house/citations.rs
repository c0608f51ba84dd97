//! Comments give a reason themselves; what they cite besides is a section of `docs/design` (`page#anchor`) or a public standard.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::tree;

/// Standards whose sections are cited by number.
const STANDARDS: [&str; 3] = ["RFC", "ECMA-262", "YAML"];

/// The anchors of each design page.
fn anchors() -> BTreeMap<String, BTreeSet<String>> {
    let pages = tree::files().into_iter().filter_map(|(path, text)| {
        let name = path.strip_prefix("docs/design/")?.strip_suffix(".md")?;
        let anchors =
            text.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
        Some((name.to_owned(), anchors.collect()))
    });
    pages.collect()
}

/// What is wrong with the citations of a comment.
fn wrong(comment: &str, anchors: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in comment.match_indices('#') {
        let page = comment[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let end = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
        let anchor = comment[at + 1..].split(end).next().unwrap_or_default().trim_end_matches('-');
        if anchors.get(page).is_some_and(|known| !anchor.is_empty() && !known.contains(anchor)) {
            found.push(format!("docs/design/{page}.md has no anchor `{anchor}`"));
        }
    }
    for (at, _) in comment.match_indices('§') {
        // The name, and a number or version.
        let before: Vec<&str> = comment[..at].trim_end().rsplit(' ').take(2).collect();
        let standard = |word: &&str| STANDARDS.contains(&word.trim_start_matches(['(', '[']));
        if !before.iter().any(standard) {
            found.push("a section of what? Cite `page#anchor` of docs/design, or a standard".to_owned());
        }
    }
    let ruling = |word: &str| {
        word.strip_prefix('R')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
    };
    let words: Vec<&str> = comment.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    found.extend(words.iter().filter(|word| ruling(word)).map(|word| format!("{word} is in no page here")));
    let issue = words.windows(2).find(|pair| {
        pair[0] == "issue" && !pair[1].is_empty() && pair[1].bytes().all(|b| b.is_ascii_digit())
    });
    found.extend(issue.map(|pair| format!("issue {} is in no page here", pair[1])));
    found
}

#[test]
fn every_citation_in_a_comment_resolves() {
    let anchors = anchors();
    assert!(anchors.len() > 10 && anchors["trail"].contains("record"), "the pages were not found");
    let mut findings = Vec::new();
    for source in tree::sources() {
        for (number, (line, bare)) in source.text.lines().zip(source.uncommented.lines()).enumerate() {
            let from =
                line.char_indices().zip(bare.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
            let Some(comment) = from.map(|at| &line[at..]) else { continue };
            findings.extend(wrong(comment, &anchors).iter().map(|what| source.finding(number + 1, what)));
        }
    }
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn a_citation_of_nothing_is_found() {
    let anchors = BTreeMap::from([("trail".to_owned(), BTreeSet::from(["record".to_owned()]))]);
    for sound in [
        "// as it must be (trail#record).",
        "//! RFC 9162 §2.1.1 and (ECMA-262 §22.2.1)",
        "// issue: other#thing",
        "// R",
    ] {
        assert_eq!(wrong(sound, &anchors), [] as [String; 0], "{sound}");
    }
    for bad in ["// (trail#gone)", "// zeta §4.4", "// see R17.", "// as issue 8 asks"] {
        assert_eq!(wrong(bad, &anchors).len(), 1, "{bad}");
    }
}

/// The anchors of a page: its headings as GitHub names them, and those it sets itself.
fn anchors_of(page: &str) -> BTreeSet<String> {
    let slug = |heading: &str| -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
    };
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| slug(line.trim_start_matches('#').trim()));
    let set = page.split("<a id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    headings.chain(set).collect()
}

/// The links of a page into the work tree, outside of its blocks of code.
fn links(page: &str) -> Vec<&str> {
    let text = page.split("```").step_by(2).flat_map(|text| text.split("](").skip(1));
    let targets = text.filter_map(|rest| Some(rest.split_once(')')?.0));
    targets.filter(|target| !target.contains("://") && !target.contains(' ')).collect()
}

#[test]
fn every_link_of_a_page_leads_somewhere() {
    let root = tree::root();
    let ours = |path: &str| path.ends_with(".md") && !path.starts_with("tests/corpus/");
    let pages: BTreeMap<_, _> = tree::files().into_iter().filter(|(path, _)| ours(path)).collect();
    let mut findings = Vec::new();
    for (path, page) in &pages {
        let folder = root.join(path).parent().expect("a folder").to_owned();
        for link in links(page) {
            let (file, anchor) =
                link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { root.join(path) } else { folder.join(file) };
            let known = match (anchor, std::fs::read_to_string(&target)) {
                (None, _) => target.exists(),
                (Some(anchor), Ok(page)) => anchors_of(&page).contains(anchor),
                (Some(_), Err(_)) => false,
            };
            if !known {
                findings.push(format!("{path}: `{link}` leads nowhere"));
            }
        }
    }
    assert!(pages.len() > 40, "the pages were not found");
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
