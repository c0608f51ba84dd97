//! Plain English: words that make a sentence vague or sound translated. None stands in a comment, a page or a text that a command
//! prints, outside quotations and the files that must not change.

use crate::tidy::source::Source;
use crate::tidy::{assert_none, tree};

const WORDS: [&str; 18] = [
    "whoever",
    "whatever",
    "nobody",
    "somebody",
    "whom",
    "is none",
    "is no",
    "are no",
    "not so",
    "come to",
    "comes to",
    "came to",
    "what became of",
    "stand beside",
    "stands beside",
    "told from",
    "in hand",
    "the like",
];

/// Around these words, some of the above are ordinary English: "there is no task", "it is no longer open".
const ORDINARY: [(&str, &str); 2] = [("there ", ""), ("", " longer")];

/// Folders of product code whose texts a command prints. Elsewhere a text may be stored or published, and then it stays.
const PRINTED: [&str; 8] = [
    "codegen/drift/src/",
    "codegen/src/",
    "server/proof/src/",
    "server/src/cli/",
    "server/src/lifecycle/",
    "server/src/report/",
    "server/src/settings/",
    "server/src/verification/",
];

/// Files that stay as they are, and why.
const FROZEN: [(&str, &str); 4] = [
    ("docs/reference/", "generated; descriptions and messages of the catalogue are published"),
    ("codegen/drift/src/rules/mod.rs", "the reasons in the table of rules are published"),
    ("tests/corpus/", "inputs of tests"),
    ("tests/house/words.rs", "names the words"),
];

/// The first of the words in a text, which begins and ends at word boundaries.
fn found(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    WORDS.into_iter().find(|word| {
        text.match_indices(*word).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + word.len()..]);
            let ordinary = ORDINARY.iter().any(|(left, right)| {
                word.contains(" no") && before.ends_with(left) && after.starts_with(right)
            });
            !inside(before.chars().next_back()) && !inside(after.chars().next()) && !ordinary
        })
    })
}

/// The text without what it quotes, in backticks or quotation marks.
fn unquoted(text: &str) -> String {
    let outside = |text: &str, mark: char| text.split(mark).step_by(2).collect::<Vec<_>>().join("…");
    outside(&outside(text, '`'), '"')
}

/// The words in the comments of a source, and in its literals if a command prints them.
fn in_source(source: &Source) -> Vec<String> {
    let differing = |with: &str, without: &str| -> String {
        with.chars().zip(without.chars()).map(|(a, b)| if a == b { ' ' } else { a }).collect()
    };
    let mut findings = Vec::new();
    for (number, (line, bare)) in source.text.lines().zip(source.uncommented.lines()).enumerate() {
        let word = found(&unquoted(differing(line, bare).trim()));
        findings.extend(word.map(|word| source.finding(number + 1, &format!("a comment says `{word}`"))));
    }
    if PRINTED.iter().any(|folder| source.path.starts_with(folder)) {
        let code: Vec<&str> = source.code.lines().collect();
        for (number, line) in source.without_tests(&source.uncommented) {
            let word = found(&differing(line, code[number - 1]));
            findings.extend(word.map(|word| source.finding(number, &format!("a text says `{word}`"))));
        }
    }
    findings
}

/// The words in a page, outside of its blocks of code.
fn in_page(path: &str, page: &str) -> Vec<String> {
    let (mut findings, mut block) = (Vec::new(), false);
    for (index, line) in page.lines().enumerate() {
        block ^= line.trim_start().starts_with("```");
        let word = if block { None } else { found(&unquoted(line)) };
        findings.extend(word.map(|word| format!("{path}:{}: says `{word}`", index + 1)));
    }
    findings
}

#[test]
fn comments_pages_and_texts_use_plain_words() {
    let frozen = |path: &str| FROZEN.iter().any(|(frozen, _)| path.starts_with(frozen));
    let sources = tree::sources().into_iter().filter(|source| !frozen(&source.path));
    let mut findings: Vec<String> = sources.flat_map(|source| in_source(&source)).collect();
    let pages = tree::files().into_iter().filter(|(path, _)| path.ends_with(".md") && !frozen(path));
    findings.extend(pages.flat_map(|(path, page)| in_page(&path, &page)));
    assert_none(&findings);
}

#[test]
fn a_vague_word_is_found_and_an_ordinary_one_is_not() {
    for (text, word) in [
        ("Whoever reads this", Some("whoever")),
        ("the hash is none", Some("is none")),
        ("it is no hash", Some("is no")),
        ("there is no hash, and it is no longer needed", None),
        ("what_nobody_sees is not sound", None),
    ] {
        assert_eq!(found(text), word, "{text}");
    }
    let source =
        Source::new("server/src/cli/a.rs", "// `nobody` quotes\nlet a = \"not so: {}\"; // somebody\n");
    let expected =
        ["server/src/cli/a.rs:2: a comment says `somebody`", "server/src/cli/a.rs:2: a text says `not so`"];
    assert_eq!(in_source(&source), expected);
    assert_eq!(in_page("a.md", "the like\n```\nnobody\n```\n"), ["a.md:1: says `the like`"]);
}
