//! What the scanner finds in a line.

use colibri_canonical::HexDigest;

use crate::wrap::flights::Id;
use crate::wrap::limits::{ID_BYTES, METHOD_BYTES};
use crate::wrap::scan::{Ending, Found, Kind, Message, Scan};

/// The messages of a line, in one piece; and how many outermost values ended.
pub(super) fn messages(line: &[u8]) -> (Vec<Message>, usize) {
    let (mut scan, mut messages, mut values, mut rest) = (Scan::default(), Vec::new(), 0, line);
    while !rest.is_empty() {
        let (read, found) = scan.read(rest);
        rest = &rest[read..];
        match found {
            Some(Found::Element(message)) => messages.push(message),
            Some(Found::Value(place, message)) => {
                assert!(line[place].ends_with(&line[line.len() - rest.len() - 1..line.len() - rest.len()]));
                messages.extend(message);
                values += 1;
            }
            None => assert_eq!(rest, b""),
        }
    }
    (messages, values)
}

fn one(line: &str) -> Kind {
    let (mut messages, _) = messages(line.as_bytes());
    assert_eq!(messages.len(), 1, "{line}");
    messages.remove(0).kind
}

fn ending(line: &str) -> Ending {
    let Kind::Answer(answer) = one(line) else { panic!("{line}: no answer") };
    answer.ending
}

#[test]
fn an_answer_is_known_whatever_the_order_of_its_members() {
    let result = r#"{"a":[{"id":6,"error":"}"}],"content":[]}"#;
    for line in [
        format!(r#"{{"jsonrpc":"2.0","id":5,"result":{result}}}"#),
        format!(r#"{{"result":{result},"jsonrpc":"2.0","id":5}}"#),
        format!("\u{feff} \t{{ \"\\u0069d\" : 5 ,\t\"resul\\u0074\"\r: {result} , \"x\" : [ 1 ] }} \r"),
        format!("\u{a0}{{\"id\":5,\"x\":1.0e0,\"result\":{result}}}"),
    ] {
        let Kind::Answer(answer) = one(&line) else { panic!("{line}") };
        assert_eq!(answer.id, Id::read(b"5"), "{line}");
        assert_eq!(&line[answer.value.clone()], result, "{line}");
        assert_eq!(answer.hash, HexDigest::of(result.as_bytes()), "{line}");
        assert_eq!(answer.ending, Ending::Ok, "{line}");
    }
}

#[test]
fn values_of_any_type_have_their_extent() {
    for value in ["5", "-1.5e3", "true", "null", "NaN", "\"a\\\"b\"", "[]", "[[1,2],{}]", "{}", "\"\""] {
        for line in [
            format!(r#"{{"result":{value},"id":1}}"#),
            format!(r#"{{"id":1,"result":{value}}}"#),
            format!(r#"{{"id":1, "result" : {value} }}"#),
        ] {
            let Kind::Answer(answer) = one(&line) else { panic!("{line}") };
            assert_eq!(&line[answer.value.clone()], value, "{line}");
            assert_eq!(answer.hash, HexDigest::of(value.as_bytes()), "{line}");
        }
    }
}

#[test]
fn a_result_says_how_its_call_ended() {
    for (members, expected) in [
        (r#""content":[]"#, Ending::Ok),
        (r#""content":[],"isError":false"#, Ending::Ok),
        (r#""isError" : true ,"content":[]"#, Ending::ToolError),
        (r#""isError":"true""#, Ending::Ok),
        (r#""resultType":"complete""#, Ending::Ok),
        (r#""resultType":"comp\u006cete","isError":true"#, Ending::ToolError),
        (r#""resultType":"input_required","isError":true"#, Ending::InputRequired),
        (r#""resultType":"task""#, Ending::TaskCreated),
        (r#""task":{"taskId":"1"}"#, Ending::TaskCreated),
        (r#""task":{},"content":[]"#, Ending::Ok),
        (r#""resultType":"later""#, Ending::ResultUnknown),
        (r#""resultType":null"#, Ending::ResultUnknown),
        (r#""content":[{"isError":true,"resultType":"task"}]"#, Ending::Ok),
    ] {
        assert_eq!(ending(&format!(r#"{{"id":1,"result":{{{members}}}}}"#)), expected, "{members}");
    }
    assert_eq!(ending(r#"{"id":1,"result":[{"isError":true}]}"#), Ending::Ok);
}

#[test]
fn an_error_says_its_code() {
    for (value, code) in [
        (r#"{"code":-32602,"message":"no"}"#, Some(-32602)),
        (r#"{"message":"code","data":{"code":1},"code" : 7 }"#, Some(7)),
        (r#"{"code":"7"}"#, None),
        (r#"{"code":1.5}"#, None),
        ("null", None),
    ] {
        assert_eq!(ending(&format!(r#"{{"id":1,"error":{value}}}"#)), Ending::RpcError(code), "{value}");
    }
}

#[test]
fn methods_ids_and_their_limits() {
    let spoken = |method: &str| Kind::Spoken(Some(method.into()));
    assert_eq!(
        one(r#"{"method":"notifications/tools\/list_changed"}"#),
        spoken("notifications/tools/list_changed")
    );
    assert_eq!(one(r#"{"id":3,"method":"ping","params":{"result":1}}"#), spoken("ping"));
    assert_eq!(one(r#"{"method":5}"#), Kind::Spoken(None));
    let longest = "m".repeat(METHOD_BYTES - 2);
    assert_eq!(one(&format!(r#"{{"method":"{longest}"}}"#)), spoken(&longest));
    assert_eq!(one(&format!(r#"{{"method":"{longest}m"}}"#)), Kind::Spoken(None));
    for (raw, known) in [("7", true), ("\"x\"", true), ("{}", false), ("true", false), ("05", false)] {
        let Kind::Answer(answer) = one(&format!(r#"{{"id":{raw},"result":{{}}}}"#)) else { panic!("{raw}") };
        assert_eq!(answer.id.is_some(), known, "{raw}");
    }
    for (length, known) in [(ID_BYTES, true), (ID_BYTES + 1, false)] {
        let line = format!(r#"{{"result":1,"id":"{}"}}"#, "x".repeat(length - 2));
        let Kind::Answer(answer) = one(&line) else { panic!("{length}") };
        assert_eq!(answer.id.is_some(), known, "{length}");
    }
    assert_eq!(one(r#"{"error":{},"id":null}"#), Kind::Unaddressed);
    assert_eq!(one(r#"{"error":{}}"#), Kind::Unaddressed);
    let Kind::Answer(answer) = one(r#"{"id":null,"result":{}}"#) else { panic!() };
    assert_eq!(answer.id, None);
}

#[test]
fn what_readers_disagree_on_is_ambiguous() {
    for line in [
        r#"{"id":5,"id":6,"result":{}}"#,
        r#"{"id":null,"id":6,"result":{}}"#,
        r#"{"id":5,"result":{},"result":{}}"#,
        r#"{"id":5,"\u0072esult":{},"result":{}}"#,
        r#"{"id":5,"result":{},"error":{}}"#,
        r#"{"id":5,"error":{},"error":{}}"#,
        r#"{"method":"a","method":"a"}"#,
        r#"{"id":5,"method":"ping","result":{}}"#,
        r#"{"id":5,"error":{},"method":"ping"}"#,
        r#"{"ID":5,"result":{}}"#,
        r#"{"id":5,"Result":{}}"#,
        r#"{"id":5}"#,
        // Go's reader takes two letters beyond ASCII for `s` and `k`.
        "{\"id\":5,\"method\":\"x\",\"re\u{17f}ult\":{}}",
        r#"{"id":5,"method":"x","re\u017fult":{}}"#,
    ] {
        assert_eq!(one(line), Kind::Ambiguous, "{line}");
    }
    // Members of members are not the message's.
    assert!(matches!(one(r#"{"id":5,"result":{"id":6,"result":1,"error":2,"ID":1}}"#), Kind::Answer(_)));
}

#[test]
fn each_outermost_value_and_each_element_is_a_message() {
    let (found, values) =
        messages(br#"[ {"id":1,"result":1} , 5, "}", [{"id":2,"result":2}], {"method":"x"}]"#);
    assert_eq!((found.len(), values), (2, 1));
    assert!(matches!((&found[0].kind, &found[1].kind), (Kind::Answer(_), Kind::Spoken(_))));
    let (found, values) =
        messages(br#"{"id":1,"result":1}{"id":2,"result":2} [{"id":3,"result":3}] x {"id":4,"result":4}"#);
    assert_eq!((found.len(), values), (3, 3));
    for line in [
        "",
        "  \r",
        "banner {\"id\":1,\"result\":1}",
        "\u{2192} {\"id\":1,\"result\":1}",
        "{}",
        "{broken",
        "}",
        "[]",
        "5",
    ] {
        assert_eq!(messages(line.as_bytes()).0, [], "{line}");
    }
}
