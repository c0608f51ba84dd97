//! Entries as they are identified, pages put together, and lists that were stored.

use colibri::wrap::hash::{list_hash, tool_hash};
use colibri::wrap::limits::{LIST_BYTES, LIST_TOOLS};
use colibri::wrap::list::{Entry, List, Page, Unreadable};
use colibri::wrap::listing::{Listings, request};
use colibri::wrap::pin::{Difference, Pin, SHOWN_DIGITS, SeenList, short};
use colibri_canonical::{NumberRule, canonical_json};
use serde_json::{Value, json};

use super::{answer, list};

fn page(names: &[&str], cursor: Option<&str>) -> Page {
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "inputSchema": {}})).collect();
    let mut result = json!({"tools": tools});
    if let Some(cursor) = cursor {
        result["nextCursor"] = cursor.into();
    }
    let (line, place) = answer(&result.to_string());
    Page::read(&line, &place).unwrap()
}

fn names(list: &List) -> Vec<&str> {
    list.order.iter().map(String::as_str).collect()
}

#[test]
fn an_entry_is_identified_by_its_whole_canonical_form() {
    let entry = json!({"name": "now", "description": "Tell the time.", "inputSchema": {"type": "object"}});
    let canonical = canonical_json(&entry, NumberRule::Wire).unwrap();
    let odd = r#" { "inputSchema":{"type":"object" }, "n\u0061me": "now" , "description":"Tell the time."}"#;
    for text in [entry.to_string(), odd.to_owned()] {
        let read = Entry::of(&text);
        assert_eq!(read.identity, Some((tool_hash(&canonical), canonical.clone())), "{text}");
        assert_eq!(read.name.as_deref(), Some("now"));
    }
    let hash = |entry: &Value| Entry::of(&entry.to_string()).identity.unwrap().0;
    let known = hash(&entry);
    for (member, value) in [
        ("description", json!("Tell the time!")),
        ("title", json!("Now")),
        ("annotations", json!({"readOnlyHint": true})),
        ("_meta", json!({"a": 1})),
        ("nobody/knows", json!(null)),
    ] {
        let mut changed = entry.clone();
        changed[member] = value;
        assert_ne!(hash(&changed), known, "{member}");
    }
}

#[test]
fn an_entry_without_one_reading_has_no_identity() {
    let deep = |levels: usize| format!(r#"{{"name":"a","x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for (text, name) in [
        (r#"{"name":"a","name":"a"}"#, None),
        (r#"{"name":"a","n\u0061me":"b"}"#, None),
        (r#"{"name":1}"#, None),
        (r#"{"name":"\ud800"}"#, None),
        (r#"{}"#, None),
        (r#""a""#, None),
        (r#"{"name":"a","x":1,"x":1}"#, Some("a")),
        (r#"{"name":"a","x":NaN}"#, Some("a")),
        (r#"{"name":"a","x":1e999}"#, Some("a")),
        (r#"{"name":"a","x":"\ud800"}"#, Some("a")),
        (r#"{"name":"a","x":{"\ud800":1}}"#, Some("a")),
        (r#"{"name":"a","\ud800":1}"#, None),
        (deep(125).as_str(), Some("a")),
        (deep(20_000).as_str(), Some("a")),
    ] {
        let entry = Entry::of(text);
        assert_eq!((entry.name.as_deref(), entry.identity), (name, None), "{:.60}", text);
    }
    assert!(Entry::of(&deep(124)).identity.is_some());
    let bytes = b"{\"tools\":[{\"name\":\"a\",\"x\":\"\xff\"}]}";
    let read = Page::read(bytes, &(0..bytes.len())).unwrap();
    assert_eq!((read.entries[0].name.as_deref(), &read.entries[0].identity), (Some("a"), &None));
}

#[test]
fn only_a_hint_that_is_true_counts() {
    for (annotations, reads) in [
        (json!({"readOnlyHint": true}), true),
        (json!({"readOnlyHint": true, "title": "x"}), true),
        (json!({"readOnlyHint": false}), false),
        (json!({"readOnlyHint": "true"}), false),
        (json!({"readOnlyHint": 1}), false),
        (json!({}), false),
        (json!(null), false),
        (json!([true]), false),
    ] {
        let entry = json!({"name": "a", "annotations": annotations}).to_string();
        assert_eq!(Entry::of(&entry).read_only, reads, "{entry}");
    }
    assert!(!Entry::of(r#"{"name":"a","annotations":{"readOnlyHint":true},"annotations":{}}"#).read_only);
}

#[test]
fn pages_make_a_list_when_the_last_one_is_there() {
    let mut listings = Listings::default();
    assert!(listings.is_stale());
    let first = listings.asked(false, None);
    assert_eq!(listings.answered(&first, &mut page(&["a", "b"], Some("2"))), Ok(None));
    let own = listings.asked(true, None);
    assert_eq!(listings.answered(&own, &mut page(&["x"], Some("2"))), Ok(None));
    // A page of no listing, and one that was asked for twice.
    let lost = listings.asked(false, Some("7"));
    assert_eq!(listings.answered(&lost, &mut page(&["z"], None)), Ok(None));
    assert!(listings.is_stale());
    let second = listings.asked(false, Some("2"));
    let list = listings.answered(&second, &mut page(&["c"], None)).unwrap().unwrap();
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert!(!listings.is_stale());
    assert_eq!(listings.answered(&second, &mut page(&["c"], None)), Ok(None));
    let own = listings.asked(true, Some("2"));
    let list = listings.answered(&own, &mut page(&[], None)).unwrap().unwrap();
    assert_eq!(names(&list), ["x"]);
}

#[test]
fn a_change_during_a_listing_leaves_the_list_stale() {
    let mut listings = Listings::default();
    let first = listings.asked(false, None);
    listings.changed();
    assert!(listings.answered(&first, &mut page(&["a"], None)).unwrap().is_some(), "the client reads it");
    assert!(listings.is_stale());
    let again = listings.asked(false, None);
    assert!(listings.answered(&again, &mut page(&["a"], Some("2"))).unwrap().is_none());
    let second = listings.asked(false, Some("2"));
    listings.changed();
    let list = listings.answered(&second, &mut page(&["b"], None)).unwrap().unwrap();
    assert_eq!(names(&list), ["a", "b"]);
    assert!(listings.is_stale());
    let last = listings.asked(false, None);
    assert!(listings.answered(&last, &mut page(&["a"], None)).unwrap().is_some());
    assert!(!listings.is_stale());
    listings.changed();
    assert!(listings.is_stale());
    listings.forget();
    assert!(listings.is_stale());
}

#[test]
fn a_second_listing_of_its_own_counts_as_known() {
    let mut listings = Listings::default();
    let mut lists = |own: bool| {
        let asked = listings.asked(own, None);
        listings.changed();
        assert!(listings.answered(&asked, &mut page(&["a"], None)).unwrap().is_some());
        listings.is_stale()
    };
    // The client's listings in between settle nothing.
    assert_eq!([lists(true), lists(false), lists(true)], [true, true, false]);
    assert_eq!([lists(false), lists(true), lists(true)], [true, true, false]);
    listings.changed();
    assert!(listings.is_stale(), "a later change is one");
}

#[test]
fn lists_over_the_limits_are_unreadable() {
    let many: Vec<String> = (0..=LIST_TOOLS).map(|number| format!("t{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let tools: Vec<Value> = many.iter().map(|name| json!({ "name": name })).collect();
    let (line, place) = answer(&json!({"tools": tools}).to_string());
    assert_eq!(Page::read(&line, &place), Err(Unreadable::ManyTools));
    let mut listings = Listings::default();
    let asked = listings.asked(false, None);
    assert_eq!(listings.answered(&asked, &mut page(&many[..LIST_TOOLS], Some("2"))), Ok(None));
    let asked = listings.asked(false, Some("2"));
    assert_eq!(listings.answered(&asked, &mut page(&["one more"], None)), Err(Unreadable::ManyTools));
    let long = "x".repeat(LIST_BYTES);
    let asked = listings.asked(false, None);
    assert_eq!(listings.answered(&asked, &mut page(&[&long], None)), Err(Unreadable::Long));
    assert_eq!(Unreadable::ManyTools.to_string(), "has over 2048 tools");
}

#[test]
fn a_tool_that_is_listed_twice_is_doubtful() {
    let (a, other) = (json!({"name": "a"}), json!({"name": "a", "title": "b"}));
    let b = json!({"name": "b"});
    let read = list(&[a.clone(), b.clone(), other, a.clone(), json!({"x": 1}), json!(5)]);
    assert_eq!((names(&read), &read.doubtful[..], read.nameless), (vec!["b"], &["a".to_owned()][..], 2));
    assert!(!read.tools.contains_key("a"));
    // On two pages, the second entry is known for doubtful as soon as it comes.
    let mut listings = Listings::default();
    let asked = listings.asked(false, None);
    listings.answered(&asked, &mut page(&["a", "b", "b"], Some("2"))).unwrap();
    let asked = listings.asked(false, Some("2"));
    let mut second = page(&["a", "c"], None);
    let read = listings.answered(&asked, &mut second).unwrap().unwrap();
    let known: Vec<bool> = second.entries.iter().map(|entry| entry.identity.is_some()).collect();
    assert_eq!((known, names(&read)), (vec![false, true], vec!["c"]));
    assert_eq!(read.doubtful, ["b", "a"]);
}

#[test]
fn a_stored_list_is_the_list_that_was_seen() {
    let tools = [json!({"name": "b", "x": 1.0}), json!({"name": "a"})];
    let seen = SeenList { list: list(&tools), instructions: Some("Hi.".to_owned()) };
    let entries: Vec<Value> = seen.entries().map(|entry| serde_json::from_str(entry).unwrap()).collect();
    assert_eq!(entries, [json!({"name": "b", "x": 1}), json!({"name": "a"})]);
    let stored = canonical_json(&json!({"instructions": "Hi.", "tools": entries}), NumberRule::Wire).unwrap();
    assert_eq!(SeenList::stored(&stored), Some(seen.clone()));
    let hashes = seen.list.tools.iter().map(|(name, tool)| (name.clone(), tool.hash)).collect();
    assert_eq!(seen.hash(), list_hash(Some("Hi."), &hashes));
    assert_eq!(short(&seen.hash()), &seen.hash().as_str()[..SHOWN_DIGITS]);
    for bad in ["", "{}", r#"{"tools":1}"#] {
        assert_eq!(SeenList::stored(bad), None, "{bad}");
    }
}

#[test]
fn a_list_is_laid_over_a_pin_and_compared_with_it() {
    let tool = |name: &str, text: &str| json!({"name": name, "description": text});
    let seen = |tools: &[Value], instructions: Option<&str>| SeenList {
        list: list(tools),
        instructions: instructions.map(str::to_owned),
    };
    let mut pin = Pin::default();
    pin.lay(&seen(&[tool("a", "1"), tool("b", "1")], Some("Hi.")), "2026-01-01T00:00:00.000Z");
    // Another order, fewer tools and no instructions do not count as a difference.
    let fewer = pin.difference(&seen(&[tool("b", "1")], None));
    assert!(fewer.is_none() && fewer.gone == ["a"], "{fewer:?}");
    let other = seen(&[tool("c", "1"), tool("b", "2"), tool("d", "1")], Some("Ho."));
    let difference = pin.difference(&other);
    let expected = Difference {
        changed: vec!["b".to_owned()],
        new: vec!["c".to_owned(), "d".to_owned()],
        gone: vec!["a".to_owned()],
        instructions: true,
    };
    assert_eq!(difference, expected);
    assert_eq!(difference.counts(), "1 tool changed, 2 are new, the instructions changed");
    pin.lay(&other, "2026-02-02T00:00:00.000Z");
    assert!(pin.difference(&other).is_none() && pin.tools.len() == 4);
    assert_eq!(pin.since, "2026-02-02T00:00:00.000Z");
    assert!(pin.holds_instructions(Some("Ho.")) && !pin.holds_instructions(Some("Hi.")));
    assert!(
        pin.holds(&Entry::of(&tool("b", "2").to_string()))
            && !pin.holds(&Entry::of(&tool("b", "1").to_string()))
    );
    for (changed, new, words) in [
        (0, 1, "1 tool is new"),
        (0, 2, "2 tools are new"),
        (1, 0, "1 tool changed"),
        (3, 1, "3 tools changed, 1 is new"),
    ] {
        let names = |count: usize| vec![String::new(); count];
        let difference = Difference { changed: names(changed), new: names(new), ..Difference::default() };
        assert_eq!(difference.counts(), words);
    }
}

#[test]
fn a_request_of_its_own_has_the_cursor_and_what_the_call_says_of_its_protocol() {
    assert_eq!(
        request("colibri-wrap:ab:1", None, None),
        b"{\"jsonrpc\":\"2.0\",\"id\":\"colibri-wrap:ab:1\",\"method\":\"tools/list\"}\n"
    );
    let protocol = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"a":1}}"#;
    let sent: Value = serde_json::from_slice(&request("a", Some("\"2"), Some(protocol))).unwrap();
    assert_eq!(
        sent,
        json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {"cursor": "\"2", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"a": 1},
        }}})
    );
}
