//! Tests of the page: stored text is only text in every part of it.
#![allow(clippy::unwrap_used)]

use super::model::*;
use super::render;
use crate::report::html::Html;
use crate::verification::finding::{Finding, Found};
use crate::verification::judgement::Judgement;
use crate::verification::seals::Heads;
use colibri_proof::Verdict;

/// An overview in which every stored text is that one.
fn infested(text: &str) -> Overview {
    let text = || text.to_owned();
    let card = Card { id: text(), title: text(), group: "held", facts: vec![text()], obstacle: Some(text()) };
    let ends = Ends { done: 1, refused: 2, unfinished: 3 };
    Overview {
        version: text(),
        made_at: text(),
        database: text(),
        since: text(),
        zone: text(),
        judged: Judgement {
            verdict: Some(Verdict::Fails),
            findings: vec![Found {
                count: 2,
                first: Finding { check: "trail", code: "CODE", subject: text(), message: text() },
            }],
            warnings: vec![Found {
                count: 1,
                first: Finding { check: "file", code: "CODE", subject: text(), message: text() },
            }],
            log: None,
            heads: Some(Heads { count: 1, last_head_hash: Some(text()), unknown_key: 1, ..Heads::default() }),
        },
        tasks: Ok(Tasks {
            ready: 0,
            held: 1,
            blocked: 0,
            open: vec![Column { state: "INIT", count: 3, cards: vec![card] }],
            finished: Vec::new(),
        }),
        dependencies: Err(text()),
        calls: Ok(Calls {
            step: "2 hours".to_owned(),
            bars: vec![Bar { from: text(), calls: ends }],
            axis: vec![text(), text(), text()],
            total: ends,
            callers: 1,
        }),
        decisions: Ok(Decisions {
            total: 2,
            shown: vec![Decision {
                at: text(),
                who: text(),
                task: text(),
                title: Some(text()),
                content: Some(text()),
            }],
            notes: vec![text()],
        }),
        sessions: Ok(Sessions {
            open: 1,
            shown: vec![Session {
                id: text(),
                state: "open",
                records: text(),
                started: text(),
                intent: text(),
                task: text(),
                seal: text(),
            }],
            more: true,
        }),
        standing: Ok(vec![Standing {
            domain: "execution",
            nodes: vec![Node { id: text(), score: 7, banned: true }],
        }]),
    }
}

/// The tags of a page.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|part| part.split_once('>').unwrap().0).collect()
}

#[test]
fn no_text_becomes_markup() {
    let plain = render(&infested("plain"));
    for text in [
        "<script>alert(1)</script>",
        "\" onload=\"alert(1)",
        "</style></title>",
        "'><b>",
        "&lt;",
        "\u{202e}\0\u{1b}[",
    ] {
        let page = render(&infested(text));
        let elements = |page: &str| -> Vec<String> {
            let names = tags(page).into_iter().filter(|tag| !tag.contains("\"hidden\"") && *tag != "/span");
            names.map(str::to_owned).collect()
        };
        assert_eq!(elements(&page), elements(&plain), "{text}");
        assert!(!page.contains(['\u{202e}', '\0', '\u{1b}']), "{text}");
    }
}

#[test]
fn each_number_that_is_left_out_is_said() {
    let page = render(&infested("x"));
    for part in [
        "<strong>Not sound: 2 findings.</strong>",
        "(2, the first is shown)",
        "and 2 more",
        "This part cannot be read: x",
        "A bar is 2 hours; the highest has 6 calls.",
        "x: 1 done, 2 failed or refused, 3 unfinished",
        "and 1 earlier ones",
        "Older sessions are left out",
        "banned",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let mut page = infested("x");
    let piece = Html::default();
    page.dependencies = Ok(Dependencies { drawn: 200, left_out: 50, picture: piece });
    assert!(render(&page).contains("200 tasks are drawn, 50 are left out."));
}

#[test]
fn a_bar_with_any_call_can_be_seen() {
    let bar = |done, refused| Bar { from: "then".to_owned(), calls: Ends { done, refused, unfinished: 0 } };
    let mut page = infested("x");
    page.calls = Ok(Calls {
        step: "1 hour".to_owned(),
        bars: vec![bar(1_000_000, 1), bar(0, 0), bar(1, 0)],
        total: Ends { done: 1_000_001, refused: 1, unfinished: 0 },
        ..Calls::default()
    });
    let text = render(&page);
    assert!(text.contains("<rect class=\"refused\" x=\"0\" y=\"0\" width=\"8\" height=\"12\"/>"), "{text}");
    assert!(text.contains("<rect class=\"done\" x=\"20\" y=\"988\" width=\"8\" height=\"12\"/>"), "{text}");
    assert!(text.contains("viewBox=\"0 0 28 1000\""));
}
