//! Cutting entries out of a line: what stays is byte for byte as it was.

use colibri::wrap::extents::{cut, items, members, text};
use colibri::wrap::list::{Page, Unreadable};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answer;

#[test]
fn an_entry_leaves_with_one_comma_and_nothing_else() {
    for (array, keep, left) in [
        ("[1,2,3]", &[1, 2][..], "[2,3]"),
        ("[1,2,3]", &[0, 2], "[1,3]"),
        ("[1,2,3]", &[0, 1], "[1,2]"),
        ("[1,2,3]", &[], "[]"),
        ("[1,2,3]", &[0, 1, 2], "[1,2,3]"),
        ("[1,2,3]", &[1], "[2]"),
        ("[1,2,3,4]", &[0, 3], "[1,4]"),
        ("[ 1\t, 2 ,\r3 ]", &[0, 2], "[ 1\t  ,\r3 ]"),
        ("[ 1 , 2 ]", &[1], "[   2 ]"),
        ("[ 1 ]", &[], "[  ]"),
        ("[]", &[], "[]"),
        ("[ ]", &[], "[ ]"),
        (r#"[{"a":"]\",}"},[1,[2]],NaN,-1.0e0]"#, &[0, 3], r#"[{"a":"]\",}"},-1.0e0]"#),
    ] {
        let place = 3..3 + array.len();
        let line = format!("xx {array} yy").into_bytes();
        let parts = items(&line, &place).unwrap();
        let pieces = parts.without(|index| keep.contains(&index));
        assert_eq!(
            String::from_utf8(cut(&line, &pieces)).unwrap(),
            format!("xx {left} yy"),
            "{array} {keep:?}"
        );
    }
}

#[test]
fn what_is_no_array_or_object_has_no_parts() {
    for bad in ["", "1", "[", "[1", "[1,", "[1,]", "[,]", "[1 2]", "[}", "{}", "[\"", "[\"\\", "[:]", "[}]"] {
        assert_eq!(items(bad.as_bytes(), &(0..bad.len())), None, "{bad}");
    }
    for bad in ["[]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1", "{\"a", "{]"] {
        assert_eq!(members(bad.as_bytes(), &(0..bad.len())), None, "{bad}");
    }
    assert_eq!(items(b"[]", &(0..9)), None);
}

#[test]
fn names_are_read_with_their_escapes_undone() {
    let object = r#"{ "to\u006fls" : [1] , "a\ud800":2, "":{}}"#;
    let (members, _) = members(object.as_bytes(), &(0..object.len())).unwrap();
    let read: Vec<_> =
        members.iter().map(|member| (member.name.as_deref(), &object[member.value.clone()])).collect();
    assert_eq!(read, [(Some("tools"), "[1]"), (None, "2"), (Some(""), "{}")]);
    assert_eq!((text(b"\"\\u0041\""), text(b"\"\xff\""), text(b"1")), (Some("A".to_owned()), None, None));
}

/// JSON with white space wherever it may stand.
fn written(value: &Value, spaces: &mut dyn FnMut() -> &'static str) -> String {
    let mut parts = Vec::new();
    let [open, close] = match value {
        Value::Array(values) => {
            for value in values {
                parts.push(format!("{}{}{}", spaces(), written(value, spaces), spaces()));
            }
            ['[', ']']
        }
        Value::Object(members) => {
            for (name, value) in members {
                let name = Value::from(name.as_str());
                parts.push(format!("{}{name}{}:{}{}", spaces(), spaces(), written(value, spaces), spaces()));
            }
            ['{', '}']
        }
        other => return other.to_string(),
    };
    format!("{open}{}{}{close}", spaces(), parts.join(","))
}

fn any_entry() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c\\[\\]{}\",:\\\\]{0,6}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        text.clone().prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..3)
                .prop_map(|members| members.into_iter().collect()),
        ]
    });
    let named = ("[a-d]", value.clone())
        .prop_map(|(name, value)| json!({"name": name, "inputSchema": {"type": "object"}, "x": value}));
    prop_oneof![4 => named, 1 => value]
}

proptest! {
    #[test]
    fn cutting_then_parsing_equals_parsing_then_filtering(
        entries in prop::collection::vec(any_entry(), 0..7),
        keep in any::<u8>(),
        spaces in prop::collection::vec(any::<u8>(), 64),
        first in any::<bool>(),
    ) {
        let mut spaces = spaces.into_iter().cycle();
        let mut space = || ["", "", " ", "\t\r "][usize::from(spaces.next().unwrap() % 4)];
        let array = written(&Value::from(entries.clone()), &mut space);
        let result = match first {
            true => format!(r#"{{"tools": {array} ,"_meta":{{"a":1}}}}"#),
            false => format!(r#"{{"_meta":{{"tools":[]}}, "to\u006fls":{array}}}"#),
        };
        let (line, place) = answer(&result);
        let page = Page::read(&line, &place).unwrap();
        prop_assert_eq!(page.entries.len(), entries.len());
        let kept = |index: usize| keep & (1 << index) != 0;
        let left: Value = serde_json::from_slice(&cut(&line, &page.parts.without(kept))).unwrap();
        let mut expected: Value = serde_json::from_slice(&line).unwrap();
        let mut index = 0;
        expected["result"]["tools"].as_array_mut().unwrap().retain(|_| {
            index += 1;
            kept(index - 1)
        });
        prop_assert_eq!(left, expected);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(prop_oneof![
        3 => prop::sample::select(b"{}[]\",:\\ 1atools".to_vec()), 1 => any::<u8>()], 0..60)) {
        let whole = 0..bytes.len();
        let _ = members(&bytes, &whole);
        if let Some(parts) = items(&bytes, &whole) {
            let left = cut(&bytes, &parts.without(|index| index % 2 == 0));
            let again = items(&left, &(0..left.len())).unwrap();
            prop_assert_eq!(again.extents.len(), parts.extents.len().div_ceil(2));
        }
        let _ = Page::read(&bytes, &whole);
    }
}

#[test]
fn a_result_without_one_list_is_unreadable() {
    for (result, why) in [
        ("{}", Unreadable::NoTools),
        ("[]", Unreadable::NoTools),
        (r#"{"tools":{}}"#, Unreadable::NoTools),
        (r#"{"tools":[],"tools":[]}"#, Unreadable::NoTools),
        (r#"{"tools":[],"too\u006cs":[]}"#, Unreadable::NoTools),
        (r#"{"tools":[],"\ud800":1}"#, Unreadable::NoTools),
        (r#"{"tools":[],"nextCursor":1}"#, Unreadable::Cursor),
        (r#"{"tools":[],"nextCursor":"a","nextCursor":null}"#, Unreadable::Cursor),
    ] {
        let (line, place) = answer(result);
        assert_eq!(Page::read(&line, &place), Err(why), "{result}");
    }
    for (result, cursor) in [
        (r#"{"tools":[]}"#, None),
        (r#"{"tools":[],"nextCursor":null}"#, None),
        (r#"{"tools":[],"nextCursor":"\u0061"}"#, Some("a")),
        (r#"{"tools":[],"nextCursor":""}"#, Some("")),
    ] {
        let (line, place) = answer(result);
        assert_eq!(Page::read(&line, &place).unwrap().cursor.as_deref(), cursor, "{result}");
    }
}
