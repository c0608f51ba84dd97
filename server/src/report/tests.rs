//! Tests of the whole page: stored text cannot affect it, and it shows each state correctly.
#![allow(clippy::unwrap_used)]

use super::model::*;
use super::render;
use super::tree::Folding;
use crate::verification::finding::{Finding, Found};
use crate::verification::judgement::Judgement;
use crate::verification::seals::Heads;
use colibri_canonical::HexDigest;
use colibri_proof::Verdict::{Fails, Holds};
use colibri_proof::tree::rfc9162::leaf_hash;

fn thought(position: i64, content: &str) -> Thought {
    let hash = |number: i64| HexDigest::of(&number.to_be_bytes()).as_str().to_owned();
    Thought {
        position,
        id: format!("id-{position}"),
        kind: "plan".to_owned(),
        task_id: "T".to_owned(),
        who: "agent".to_owned(),
        call: None,
        timestamp: "2026-05-01T10:00:00.000Z".to_owned(),
        content: Content::bounded(content.to_owned()),
        prev_hash: if position == 0 { HexDigest::ZERO.as_str().to_owned() } else { hash(position - 1) },
        hash: hash(position),
    }
}

fn report(shown: Vec<Thought>, seal: Option<Seal>) -> Report {
    Report {
        version: "1".to_owned(),
        made_at: "now".to_owned(),
        session: Session {
            id: "S 1".to_owned(),
            intent: "Build it".to_owned(),
            task_id: None,
            started_at: "then".to_owned(),
        },
        database: Judgement { verdict: Some(Holds), ..Judgement::NONE },
        verdict: Verdict {
            record_count: 2,
            signature: seal.as_ref().map(|_| "unsigned"),
            ..Verdict::default()
        },
        tasks: vec![Task {
            id: "T".to_owned(),
            known: None,
            in_session: 2,
            chain_length: 2,
            broken_count: 0,
        }],
        more_tasks: 0,
        thoughts: Thoughts { total: shown.len() as i64, shown, notes: Vec::new() },
        calls: ForeignCalls::default(),
        seal,
    }
}

fn seal(leaves: u64) -> Seal {
    let mut folding = Folding::new(leaves);
    (0..leaves).for_each(|leaf| folding.push(leaf_hash(&leaf.to_be_bytes())));
    let digest = |text: &str| HexDigest::of(text.as_bytes()).as_str().to_owned();
    let head = Head {
        root_hash: digest("root"),
        head_index: 0,
        prev_head_hash: digest("previous"),
        head_hash: digest("head"),
        session_hash: digest("session"),
        chain_tips_hash: digest("tips"),
        log_exit_no: 7,
        log_row_hash: digest("log"),
        signature: None,
    };
    Seal {
        root: digest("legacy"),
        record_count: leaves as i64,
        finalized_at: "later".to_owned(),
        head,
        tree: folding.finish(),
    }
}

/// Replaces every string of the model, one after the other, with the text.
fn infested(text: &str) -> Report {
    let mut page = report(vec![thought(0, text)], Some(seal(1)));
    let text = || text.to_owned();
    page.session = Session { id: text(), intent: text(), task_id: Some(text()), started_at: text() };
    let (version, made_at) = (text(), text());
    let known = Some(TaskFacts { title: text(), state: text() });
    page.tasks = vec![Task { id: text(), known, in_session: 1, chain_length: 1, broken_count: 1 }];
    let issue = Issue {
        code: "HASH_MISMATCH",
        task_id: Some(text()),
        record_id: Some(text()),
        index: Some(1),
        sides: vec![("stored", text()), ("recomputed", text())],
    };
    page.verdict = Verdict { broken_count: 1, issues: vec![issue], ..Verdict::default() };
    page.database.verdict = Some(Fails);
    let first = Finding { check: "trail", code: "CODE", subject: text(), message: text() };
    page.database.findings = vec![Found { count: 1, first }];
    let heads = Heads { count: 1, last_head_hash: Some(text()), ..Heads::default() };
    page.database.heads = Some(heads);
    let second = Thought {
        position: 1,
        id: text(),
        kind: text(),
        task_id: text(),
        who: text(),
        call: None,
        timestamp: text(),
        content: Content::Dropped { content_hash: text() },
        prev_hash: text(),
        hash: text(),
    };
    page.thoughts.shown.push(second);
    page.thoughts.notes = vec![text()];
    page.calls.tools = vec![ForeignTool { server: text(), tool: text(), ok: 1, ..ForeignTool::default() }];
    page.calls.later = page.calls.tools.clone();
    page.calls.pins = vec![(text(), text())];
    if let Some(seal) = &mut page.seal {
        (seal.root, seal.finalized_at) = (text(), text());
        seal.head = Head {
            root_hash: text(),
            head_index: 0,
            prev_head_hash: text(),
            head_hash: text(),
            session_hash: text(),
            chain_tips_hash: text(),
            log_exit_no: 1,
            log_row_hash: text(),
            signature: Some(Signature { signature: text(), key_id: text(), public_key: text() }),
        };
    }
    Report { version, made_at, ..page }
}

/// Returns the page without the text, so that only the page's own tags remain.
fn tags(page: &str) -> Vec<&str> {
    page.match_indices('<').map(|(at, _)| &page[at..=at + page[at..].find('>').unwrap()]).collect()
}

#[test]
fn no_stored_text_becomes_markup_anywhere() {
    let harmless = render(&infested("text"));
    for hostile in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'--></style><b>",
        "&lt;",
        "</pre></title>",
    ] {
        let page = render(&infested(hostile));
        assert_eq!(tags(&page), tags(&harmless), "{hostile}");
        assert!(!page.contains(hostile), "{hostile}");
    }
}

#[test]
fn hidden_characters_are_shown_and_not_obeyed() {
    let page = render(&infested("a\0b\u{202e}c\u{1b}d\u{feff}e"));
    assert!(!page.contains(['\0', '\u{202e}', '\u{1b}', '\u{feff}']));
    for shown in ["U+0000", "U+202E", "U+001B", "U+FEFF"] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = render(&report(vec![thought(0, "x"), thought(1, "y")], Some(seal(2))));
    for outside in ["<script", "<link", "<img", "src=", "url(", "@import", "href=\"http"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn thoughts_link_to_the_ones_before_them() {
    let page = render(&report(vec![thought(0, "x"), thought(1, "y")], None));
    assert!(page.contains("nothing: the first record of its task"));
    assert!(page.contains("<a href=\"#t0\">thought 0</a>"));
    let alone = render(&report(vec![thought(1, "y")], None));
    assert!(alone.contains("a record that this page does not show"));
}

#[test]
fn what_a_page_leaves_out_it_says() {
    let page = render(&report(vec![thought(0, "x"), thought(7, "y")], None));
    assert!(page.contains("Thoughts 1 to 6 are left out of this page"));
    let long = "z".repeat(MOST_CONTENT_BYTES + 5);
    let page = render(&report(vec![thought(0, &long)], None));
    assert!(page.contains("Cut here; the whole content has 65541 bytes"));
    assert!(!page.contains(&long));
}

#[test]
fn a_content_that_begins_with_a_line_feed_keeps_it() {
    // An HTML parser drops one line feed after <pre>.
    assert!(render(&report(vec![thought(0, "\nx")], None)).contains("<pre dir=\"auto\">\n\nx</pre>"));
}

#[test]
fn every_leaf_of_a_small_tree_is_drawn_and_a_large_one_is_folded() {
    let small = render(&report(vec![thought(0, "x")], Some(seal(5))));
    assert_eq!(small.matches("<rect").count(), 5 + 4, "five leaves, four inner nodes");
    assert_eq!(small.matches("<a href=\"#t").count(), 5);
    assert!(!small.contains("folded"));
    let large = render(&report(vec![thought(0, "x")], Some(seal(1000))));
    assert_eq!(large.matches("<rect").count(), 63 + 62, "sixty-two blocks of sixteen and one of eight");
    assert!(large.contains("The picture is folded:"));
    assert!(large.contains("992 to 999") && large.contains("the lowest for 8."));
}

#[test]
fn a_thought_that_does_not_fit_and_a_tree_that_was_not_sealed_say_so() {
    let mut page = report(vec![thought(0, "x"), thought(1, "y")], Some(seal(2)));
    assert!(render(&page).contains("its root is not the sealed one"), "the head's root is made up");
    if let Some(seal) = &mut page.seal {
        seal.head.root_hash = seal.tree.root_hex().unwrap();
    }
    assert!(!render(&page).contains("its root is not the sealed one"));
    assert!(!render(&page).contains("class=\"unfit\""));
    page.verdict.broken_count = 1;
    page.database.verdict = Some(Fails);
    page.verdict.issues.push(Issue { record_id: Some("id-1".to_owned()), ..Issue::default() });
    let page = render(&page);
    assert_eq!(page.matches("class=\"unfit\"").count(), 1);
    assert!(page.contains("<li class=\"unfit\" id=\"t1\">") && page.contains("Not sound: "));
}

#[test]
fn the_steps_name_the_session_as_one_word_and_the_published_hash() {
    let sealed = render(&report(vec![thought(0, "x")], Some(seal(1))));
    assert!(sealed.contains("colibri export &#39;S 1&#39; --out session.jsonl"));
    assert!(sealed.contains(&format!("--root {}", HexDigest::of(b"head").as_str())));
    let open = render(&report(vec![thought(0, "x")], None));
    assert!(open.contains("The session is open") && !open.contains("check-proof"));
}
