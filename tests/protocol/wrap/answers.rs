//! The answers of `wrap`'s own.

use colibri::wrap::answer::{Answer, Refusal, list_withheld, reply_withheld, server_ended, shown};
use colibri::wrap::name::Name;
use serde_json::{Value, json};

fn github() -> Name {
    "github".parse().unwrap()
}

#[test]
fn a_refused_call_is_answered_with_a_tool_result() {
    for (refusal, text) in [
        (Refusal::Denied, "the tool \"x\" of github is not admitted here"),
        (
            Refusal::NotReadOnly,
            "only read-only tools of github are admitted here, and \"x\" does not say that it is one",
        ),
        (
            Refusal::ToolChanged,
            "the tool \"x\" of github is not the one that was pinned, and was not called. Look and accept: colibri pins diff github --list 91c4d0aa31f2",
        ),
        (
            Refusal::ToolNew,
            "the tool \"x\" of github is not among the pinned ones, and was not called. Look and accept: colibri pins diff github --list 91c4d0aa31f2",
        ),
        (Refusal::ListUnknown, "the tools of github could not be read, so \"x\" was not called"),
        (
            Refusal::NotRecorded("disk full".to_owned()),
            "the call could not be recorded and was not made: disk full",
        ),
    ] {
        let answer = refusal.answer("x", &github(), Some("91c4d0aa31f2"), false);
        let expected = json!({"jsonrpc": "2.0", "id": 7, "result": {
            "content": [{"type": "text", "text": format!("colibri wrap: {text}")}], "isError": true,
        }});
        assert_eq!(serde_json::from_slice::<Value>(&answer.line(Some("7"))).unwrap(), expected);
        assert_eq!(answer.line(Some("7")), [answer.message(Some("7")).as_bytes(), b"\n"].concat());
        assert!(answer.message(Some("7")).contains(answer.value()));
        let stateless: Value =
            serde_json::from_str(refusal.answer("x", &github(), Some("91c4d0aa31f2"), true).value()).unwrap();
        assert_eq!(stateless["resultType"], "complete");
    }
}

#[test]
fn errors_say_whose_they_are() {
    let ended = server_ended(&github(), "exit code 3", true);
    let error = Answer::error(-32603, &ended, Some("ENDED"), &github());
    let expected = json!({"jsonrpc": "2.0", "id": "a\"", "error": {
        "code": -32603, "message": "github ended (exit code 3) before it answered; it may have taken effect",
        "data": {"code": "ENDED", "server": "github"},
    }});
    assert_eq!(serde_json::from_str::<Value>(&error.message(Some(r#""a\"""#))).unwrap(), expected);
    let nameless = Answer::error(-32700, "Parse error", None, &github()).message(None);
    assert_eq!(
        nameless,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":{"server":"github"}}}"#
    );
    assert!(reply_withheld(&github()).starts_with("github answered, but"));
    assert_eq!(list_withheld(&github()), "the tools of github could not be read");
}

#[test]
fn a_tools_name_is_shown_escaped_and_cut() {
    assert_eq!(shown("a\u{202e}\n\u{1b}[31m"), r"a\u{202e}\n\u{1b}[31m");
    assert_eq!(shown(&"é".repeat(128)), "é".repeat(128));
    assert_eq!(shown(&"é".repeat(500)), format!("{}…", "é".repeat(127)));
    for hidden in ["\u{202e}".repeat(500), format!("{}{}", "a".repeat(125), "\u{202e}".repeat(9))] {
        let shown = shown(&hidden);
        assert!(shown.chars().count() <= 128 && shown.ends_with('…'), "{shown}");
        assert!(shown.is_ascii() || shown.trim_end_matches('…').is_ascii());
    }
    let long = "x".repeat(16 << 20);
    assert_eq!(shown(&long).chars().count(), 128);
}
