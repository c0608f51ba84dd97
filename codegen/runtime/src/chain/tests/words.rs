//! What is said in the end: declared errors, secrets, long texts, results that do not fit.

use super::*;
use crate::chain::audit::{AuditSink, MemorySink, RowOutcome};
use crate::chain::call::{Arguments, Flaw};
use crate::chain::ending::Ending;
use crate::chain::log::{Level, Log};
use crate::chain::registry::RegistrationError;
use crate::chain::row::args_hash;
use crate::handler::Dispatched;
use crate::schema::{Additional, ArrayRule, ObjectRule, Property, RecordRule, Schema, Shape, UnionRule};

async fn said(tool: &str, key: &str) -> Value {
    let mut chain = chain(FaultyStore::sound());
    envelope(&run(&mut chain, vec![keyed(tool, key)]).await[0])
}

#[tokio::test]
async fn declared_errors_stand_where_their_pattern_says() {
    let b = said("domain", "x").await;
    // The third suggestion is of a tool that is not there.
    let next = json!([
        { "tool": "keep", "arguments": { "key": "x" } },
        { "tool": "early", "arguments": { "key": "x" } }
    ]);
    let members = json!({
        "code": "NO", "message": "x", "why": ["x", { "again": "x" }, 1, null], "remedy": "leave x out", "next": next
    });
    assert_eq!(b["data"], json!({ "ok": false, "error": members }));
    let a = said("domain_a", "x").await;
    let details = json!({ "code": "NO", "why": ["x", { "again": "x" }, 1, null], "remedy": "leave x out", "next": next });
    assert_eq!(
        a,
        json!({ "ok": false, "error": { "code": "FAILED", "message": "NO: x", "details": details } })
    );
}

/// The wire could read its id and its hash, and not its arguments.
#[tokio::test]
async fn a_call_that_cannot_be_read_is_refused_with_what_is_wrong() {
    let repeated = [Flaw::Repeated(Some("title".into())), Flaw::Repeated(None)];
    let others = [Flaw::LoneSurrogate, Flaw::TooDeep, Flaw::NotUtf8, Flaw::Number, Flaw::Syntax];
    for flaw in repeated.into_iter().chain(others) {
        let mut chain = chain(FaultyStore::sound());
        let unreadable = Some(flaw.clone());
        let call = Call { args_hash: Some("ab".into()), unreadable, ..keyed("keep", "x") };
        let replies = run(&mut chain, vec![call]).await;
        assert!(message(&replies).contains(&*flaw.problem()), "{}", message(&replies));
        assert_eq!(outcomes(&chain), [Some("invalid")]);
    }
}

/// Admits every tool but this one.
struct Without(&'static str);

impl crate::chain::admission::Admission for Without {
    fn lists(&self, _: &ToolSpec) -> bool {
        true
    }
    fn admit(&self, tool: &ToolSpec) -> Result<(), crate::chain::admission::Denial> {
        if tool.name == self.0 { Closed.admit(tool) } else { Ok(()) }
    }
}

#[tokio::test]
async fn calls_that_the_server_would_refuse_are_not_suggested() {
    let mut chain = chain(FaultyStore::sound());
    for (refused, tools) in [("early", Some(json!(["keep"]))), ("keep", None)] {
        chain.add_admission(Box::new(Without(refused)));
        let replies = run(&mut chain, vec![keyed("domain", "x")]).await;
        let error = &envelope(&replies[0])["data"]["error"];
        let names =
            error["next"].as_array().map(|calls| calls.iter().map(|call| call["tool"].clone()).collect());
        assert_eq!((names, &error["remedy"]), (tools, &json!("leave x out")), "without {refused}");
    }
}

#[tokio::test]
async fn the_chain_says_what_to_do_about_its_own_refusals() {
    let invalid = &said("strict", "x").await["error"]["details"];
    assert_eq!(invalid["remedy"], "correct it");
    let storage = &said("refuse", "x").await["error"];
    assert_eq!(
        (&storage["message"], &storage["details"]),
        (&json!("STORAGE: refused"), &json!({ "remedy": "call again" }))
    );
    assert_eq!(said("nobody", "x").await["error"]["remedy"], "list the tools.");
    assert!(said("panic", "x").await["error"].get("details").is_none(), "nothing is known of a panic");
}

#[tokio::test]
async fn secrets_are_replaced_wherever_an_error_holds_them() {
    let error = &said("domain", "hunter2hunter2!").await["data"]["error"];
    assert_eq!(error["message"], "[redacted]!");
    assert_eq!(error["why"], json!(["[redacted]!", { "again": "[redacted]!" }, 1, null]));
    assert_eq!(
        (&error["remedy"], &error["next"][0]["arguments"]),
        (&json!("leave [redacted]! out"), &json!({ "key": "[redacted]!" }))
    );
    let mut chain = chain(FaultyStore::sound());
    let traced = Call { trace_context: Some("hunter2hunter2".to_owned()), ..keyed("secret", "x") };
    let replies = run(&mut chain, vec![call(1, "hunter2hunter2"), traced]).await;
    assert_eq!(envelope(&replies[0])["error"]["message"], "Unknown tool: [redacted]");
    assert!(succeeded(&replies[1]));
}

#[tokio::test]
async fn a_result_that_does_not_fit_is_a_handler_error() {
    assert_eq!(said("number", "x").await["error"]["message"], "result is not serialisable");
    assert_eq!(said("number", "written").await["error"]["message"], "result is not serialisable");
    assert_eq!(said("misfit", "written").await, said("misfit", "x").await);
    let misfit = said("misfit", "x").await;
    assert_eq!(misfit["error"]["message"], "result does not fit the output schema of misfit: \"no object\"");
}

/// The reply to a call of a tool of the third pattern.
async fn answered(tool: &str, key: &str) -> (Answer, Value) {
    let mut chain = chain(FaultyStore::sound());
    let mut replies = run(&mut chain, vec![keyed(tool, key)]).await;
    let said = envelope(&replies[0]);
    (replies.swap_remove(0).answer, said)
}

#[tokio::test]
async fn under_pattern_c_an_error_has_its_own_code_and_its_fields_beside_it() {
    let suggested = json!({ "tool": "keep", "arguments": { "key": "x" } });
    let early = json!({ "tool": "early", "arguments": { "key": "x" } });
    let error = json!({
        "code": "NO",
        "message": "x",
        "why": ["x", { "again": "x" }, 1, null],
        "remedy": "leave x out",
        "next": [suggested, early],
    });
    let (answer, said) = answered("flat", "x").await;
    assert_eq!(said, json!({ "ok": false, "error": error }));
    assert!(matches!(answer, Answer::Tool { is_error: true, .. }));
    let (answer, said) = answered("plain", "x").await;
    assert_eq!(said, json!({ "error": error }));
    assert!(matches!(answer, Answer::Failure { .. }), "the output schema describes the payload alone");
}

#[tokio::test]
async fn under_pattern_c_the_chain_answers_in_the_same_form() {
    let storage = json!({ "code": "FAILED", "message": "STORAGE: refused", "remedy": "call again" });
    assert_eq!(answered("flat", "refuse").await.1, json!({ "ok": false, "error": storage }));
    assert_eq!(answered("plain", "refuse").await.1, json!({ "error": storage }));
    let mut chain = chain(FaultyStore::sound());
    for (tool, answers_ok) in [("flat", true), ("plain", false)] {
        let calls = vec![Call { arguments: json!({}).into(), ..call(1, tool) }];
        let said = envelope(&run(&mut chain, calls).await[0]);
        assert_eq!(said.get("ok"), answers_ok.then_some(&json!(false)), "{said}");
        let error = &said["error"];
        assert_eq!((&error["code"], &error["remedy"]), (&json!("INVALID"), &json!("correct it")));
        assert_eq!(error["issues"][0]["path"], json!(["key"]));
    }
    chain.store.fails = vec![chain.store.step + 1..usize::MAX];
    let said = envelope(&run(&mut chain, vec![keyed("plain", "value")]).await[0]);
    assert_eq!(said["error"]["code"], "NOT_ENTERED", "{said}");
}

#[tokio::test]
async fn without_an_envelope_the_payload_is_sent_as_it_is() {
    for key in ["written", "value"] {
        let (answer, said) = answered("plain", key).await;
        assert_eq!(said, json!({ "b": 1, "a": 2 }));
        assert_eq!(answer, Answer::Tool { envelope: r#"{"b":1,"a":2}"#.to_owned(), is_error: false });
    }
    let chain = chain(FaultyStore::sound());
    let plain = &CATALOGUE.tools[13];
    let text = chain.words("plain").dispatched(plain, Dispatched::Text(r#"{"b":1,"a":2}"#.to_owned()));
    let value = chain.words("plain").dispatched(plain, Dispatched::Value(json!({ "b": 1, "a": 2 })));
    assert_eq!(text.result_hash, value.result_hash);
    assert_eq!(value.result, Some(json!({ "b": 1, "a": 2 })), "a sink gets the payload");
    let twice = chain.words("plain").dispatched(plain, Dispatched::Text(r#"{"a":1,"a":2}"#.to_owned()));
    assert_eq!(twice.answer, Some(Answer::Tool { envelope: r#"{"a":2}"#.to_owned(), is_error: false }));
}

#[test]
fn long_names_and_messages_are_cut_at_a_character() {
    let mut chain = chain(FaultyStore::sound());
    let checked =
        chain.check(Call { arguments: Arguments::Text("null".into()), ..call(1, &"ö".repeat(200)) });
    assert_eq!(checked.arguments, json!({}), "null counts as no arguments");
    assert_eq!(chain.enter_row(checked).row.tool, "ö".repeat(128));
    let ending = chain.words("keep").storage_failure(&"ö".repeat(9000));
    assert_eq!(ending.error_message.unwrap().chars().count(), 500);
    let Some(Answer::Tool { envelope, .. }) = chain.startup_failure("keep", "why") else {
        panic!("no answer")
    };
    assert!(envelope.contains("STARTUP: why"));
}

#[test]
fn nesting_beyond_the_encoder_still_has_a_hash() {
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    assert_eq!(args_hash(&deep).len(), 64);
    let chain = chain(FaultyStore::sound());
    let ending = chain.words("keep").dispatched(&CATALOGUE.tools[0], Dispatched::Value(deep));
    assert_eq!((ending.outcome, ending.result_hash.unwrap().len()), (RowOutcome::Ok, 64));
}

/// What a handler wrote is sent as it was written, and hashed as its value is.
#[test]
fn a_written_payload_ends_as_its_value_does() {
    let chain = chain(FaultyStore::sound());
    let end = |dispatched| chain.words("keep").dispatched(&CATALOGUE.tools[0], dispatched);
    let sent = |ending: &Ending| match &ending.answer {
        Some(Answer::Tool { envelope, is_error: false }) => envelope.clone(),
        other => panic!("{other:?}"),
    };
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(300), "]".repeat(300));
    for text in [r#"{"b":{"d":1,"c":[1.5,"\u0001é"]},"a":null}"#, r#"{"a":1,"b":2,"a":3}"#, "[]", &deep] {
        let value = colibri_canonical::value_of(text).unwrap();
        let (written, built) = (end(Dispatched::Text(text.to_owned())), end(Dispatched::Value(value)));
        assert_eq!((sent(&written), &written.result_hash), (sent(&built), &built.result_hash), "{text}");
        assert_eq!(written.outcome, RowOutcome::Ok);
    }
    let broken = end(Dispatched::Text("{".to_owned()));
    assert_eq!(broken.error_message.as_deref(), Some("result is not serialisable"));
}

#[test]
fn a_group_is_registered_whole_or_not_at_all() {
    static NUMBERS: [ToolSpec; 4] = [
        ToolSpec { output: &ARRAY, ..tool("array") },
        ToolSpec { output: &RECORD, ..tool("record") },
        ToolSpec { output: &UNION, ..tool("union") },
        tool("keep"),
    ];
    static ARRAY: Schema =
        shape(Shape::Array(&ArrayRule { items: ANY_NUMBER, min: None, max: None, unique: false }));
    static RECORD: Schema =
        shape(Shape::Record(&RecordRule { keys: None, values: ANY_NUMBER, min: None, max: None }));
    static UNION: Schema = shape(Shape::Union(&UnionRule { branches: &[ANY_NUMBER], exclusive: false }));
    const fn shape(shape: Shape) -> Schema {
        Schema { shape, nullable: false, message: None }
    }
    let mut registry = Registry::of(&CATALOGUE).unwrap();
    let before = registry.tools().len();
    let refused = registry.register_all(&NUMBERS).unwrap_err();
    assert_eq!(refused, RegistrationError::AlreadyRegistered("keep".to_owned()));
    assert_eq!(registry.tools().len(), before);
    assert!(registry.lookup("array").is_none() && !registry.returns_numbers("array"));
    static FLAG: Schema = shape(Shape::Object(&ObjectRule {
        properties: &[Property { name: "b", schema: shape(Shape::Boolean), required: true, default: None }],
        additional: Additional::Closed,
    }));
    static FLAGGED: ToolSpec = ToolSpec { output: &FLAG, ..tool("flagged") };
    registry.register(&FLAGGED).unwrap();
    assert!(!registry.returns_numbers("flagged"));
    registry.register_all(&NUMBERS[..3]).unwrap();
    assert!(["array", "record", "union"].iter().all(|name| registry.returns_numbers(name)));
}

/// A catalogue whose one tool takes anything where the setting says so, and nothing elsewhere.
static SETTABLE: CatalogueSpec = CatalogueSpec {
    tools: &[ToolSpec {
        input: &STRICT,
        relaxed: Some(&Relaxation { setting: "RULE", value: "loose", tool: tool("keep") }),
        ..tool("keep")
    }],
    ..CATALOGUE_HEAD
};

#[test]
fn a_setting_relaxes_what_is_enforced() {
    let input_of = |registry: Registry| registry.get(0).map(|tool| std::ptr::eq(tool.input, &ANYTHING));
    let under = |name: &'static str, value: &'static str| {
        Registry::under(&SETTABLE, &|asked| (asked == name).then_some(value)).unwrap()
    };
    assert_eq!(input_of(under("RULE", "loose")), Some(true));
    for strict in [under("RULE", "tight"), under("OTHER", "loose"), Registry::of(&SETTABLE).unwrap()] {
        assert_eq!(input_of(strict), Some(false));
    }
}

#[test]
fn small_parts_do_what_they_say() {
    let outcomes = [RowOutcome::Ok, RowOutcome::DomainError, RowOutcome::Error, RowOutcome::Invalid];
    let words: Vec<&str> = outcomes.into_iter().map(RowOutcome::as_str).collect();
    assert_eq!(words, ["ok", "domain_error", "error", "invalid"]);
    assert_eq!([RowOutcome::Denied, RowOutcome::Aborted].map(RowOutcome::as_str), ["denied", "aborted"]);
    assert!(!NoLog.enabled(Level::Error));
    NoLog.write(Level::Error, "dropped");
    let mut replies: Vec<Reply> = Vec::new();
    crate::chain::call::Outlet::flush(&mut replies);
    assert!(replies.is_empty());
    assert_eq!(MemorySink::default().last_sequence_no(), None);
}

/// Admits nothing.
struct Closed;

impl crate::chain::admission::Admission for Closed {
    fn lists(&self, _: &ToolSpec) -> bool {
        true
    }
    fn admit(&self, tool: &ToolSpec) -> Result<(), crate::chain::admission::Denial> {
        let details = json!({ "tool": tool.name, "remedy": "ask" }).as_object().unwrap().clone();
        Err(crate::chain::admission::Denial { code: "DENIED", message: "closed".to_owned(), details })
    }
}

#[tokio::test]
async fn a_refusal_carries_its_details() {
    let mut chain = chain(FaultyStore::sound());
    let replies = run(&mut chain, vec![call(1, "strict")]).await;
    assert_eq!(
        envelope(&replies[0])["error"]["message"],
        "Invalid parameters for strict: there is no parameter \"key\". strict takes no parameters."
    );
    chain.add_admission(Box::new(Closed));
    let replies = run(&mut chain, vec![call(1, "strict")]).await;
    assert_eq!(envelope(&replies[0])["error"]["details"], json!({ "tool": "strict", "remedy": "ask" }));
    assert_eq!(outcomes(&chain), [Some("invalid"), Some("denied")]);
}

/// Keeps every line.
#[derive(Default)]
struct Lines(std::sync::Mutex<Vec<String>>);

impl Log for Lines {
    fn enabled(&self, level: Level) -> bool {
        level <= Level::Debug
    }
    fn write(&self, level: Level, message: &str) {
        self.0.lock().unwrap().push(format!("{level:?} {message}"));
    }
}

#[tokio::test]
async fn each_ended_call_is_one_line() {
    for (audit, level, number) in [
        (Audit::Store { kind: "memory" }, "Debug", "1"),
        (Audit::Sink(Box::new(MemorySink::default()) as Box<dyn AuditSink>), "Info", "1"),
        (Audit::Buffer, "Debug", "-"),
    ] {
        let lines = Arc::new(Lines::default());
        let mut chain = chain_over(FaultyStore::sound(), audit, Arc::new(Stopped), lines.clone());
        run(&mut chain, vec![call(1, "early")]).await;
        let written = lines.0.lock().unwrap().clone();
        let start =
            format!("{level} [audit] seq={number} tool=early outcome=ok code=- duration_ms=0 correlation=");
        assert!(written.len() == 1 && written[0].starts_with(&start), "{written:?}");
    }
}

#[test]
fn registration_is_checked_and_ends_at_the_start() {
    static BAD: [ToolSpec; 2] = [tool("9 x"), ToolSpec { input: &ANY_NUMBER_ITSELF, ..tool("odd") }];
    static ANY_NUMBER_ITSELF: Schema = ANY_NUMBER;
    let mut chain = chain(FaultyStore::sound());
    chain.seal_registry();
    let mut registry = Registry::empty(chain.registry().catalogue());
    let texts: Vec<String> =
        BAD.iter().map(|tool| registry.register(tool).unwrap_err().to_string()).collect();
    assert_eq!(texts, ["invalid tool name: 9 x", "inputSchema must be an object schema"]);
    registry.start();
    let late = registry.register(&CATALOGUE.tools[0]).unwrap_err();
    assert_eq!(late.to_string(), "cannot register tool after start: keep");
    assert!(chain.kernel().redactor.redact("x") == "x");
    chain.set_queue_depth(3);
    assert_eq!(chain.status(None).queue_depth, 3);
}

#[test]
fn an_idle_redactor_touches_nothing() {
    let mut members = json!({ "a": "b" }).as_object().unwrap().clone();
    Redactor::default().clone().redact_members(&mut members);
    assert_eq!(members["a"], "b");
    let refused: StoreFault = std::io::Error::from(std::io::ErrorKind::WouldBlock).into();
    assert_eq!(refused.0, "operation would block");
}

#[test]
fn a_gate_with_a_sink_of_its_own_opens_at_once() {
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(MemorySink::default())));
    chain.open(FaultyStore::sound(), "ignored").unwrap();
    assert!(chain.is_ready());
    assert_eq!(chain.status(None).audit_sink, "memory");
}

#[test]
fn a_redactor_takes_secrets_of_any_length_that_it_is_told_to_take() {
    assert_eq!(
        Redactor::of_length(1, ["k".to_owned()]).redact("a k at the end: k"),
        "a [redacted] at the end: [redacted]"
    );
    assert_eq!(Redactor::default().redact("nothing to look for"), "nothing to look for");
}
