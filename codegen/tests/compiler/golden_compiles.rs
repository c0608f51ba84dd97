//! The golden Rust file, compiled and used: tables against published schemas, message forms, scan and
//! network tools. Its generated round-trip tests run here too.

use std::collections::BTreeMap;

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Context, Dispatch, Dispatched, Fault, NetworkOutcome, Outcome, ToolError};
use colibri_runtime::remedy::Suggestion;
use colibri_runtime::spec::Pattern;
use colibri_runtime::validate::{conforms, validate};
use serde_json::{Value, json};

mod catalogue {
    include!("../golden/catalogue.rs");
}

use catalogue::{
    CATALOGUE, Color, Digest, Dispatcher, ErrNoRecord, ErrNoRecordState, Handlers, PlaceFetchError,
    PlaceFetchInput, PlaceFetchOutput, PlaceImportError, PlaceImportInput, PlaceImportOutput, PlacesTools,
    Point, RecordFetchError, RecordFetchInput, RecordFetchOutput, RecordGetError, RecordGetInput,
    RecordGetOutput, RecordsTools, ShapeDrawError, ShapeDrawInput, ShapeDrawInputStyle, ShapeDrawOutput,
    ShapeScanError, ShapeScanInput, ShapeScanOutput, ShapesTools, ToolId,
};

struct Cx;

impl Context for Cx {
    type Scan = f64;
    type Network = &'static str;

    fn begin_call(&mut self, _: colibri_runtime::handler::CallStatus) {}

    fn network(&mut self) -> &'static str {
        "offline"
    }
}

struct Server;

impl Handlers<Cx> for Server {}

impl ShapesTools<Cx> for Server {
    fn shape_draw(&mut self, _: &mut Cx, input: ShapeDrawInput) -> Outcome<ShapeDrawOutput, ShapeDrawError> {
        Err(ShapeDrawError::ErrOffCanvas {
            count: input.type_value(),
            canvas: None,
            names: vec!["a".into(), "b".into()],
            color: input.line,
        }
        .into())
    }

    fn shape_scan(
        cx: &mut f64,
        interrupt: &Interrupt,
        _: ShapeScanInput,
    ) -> Outcome<ShapeScanOutput, ShapeScanError> {
        if interrupt.is_raised() {
            return Err(ShapeScanError::ScanStopped {}.into());
        }
        Ok(Point { x: *cx, y: 2.0 })
    }
}

impl PlacesTools<Cx> for Server {
    fn place_fetch(
        &mut self,
        state: &'static str,
        _: PlaceFetchInput,
    ) -> NetworkOutcome<PlaceFetchOutput, PlaceFetchError> {
        Box::pin(async move { Err(Fault::Other(state.to_owned()).into()) })
    }

    fn place_import(
        &mut self,
        _: &mut Cx,
        input: PlaceImportInput,
    ) -> Outcome<PlaceImportOutput, PlaceImportError> {
        match input.names.iter().find(|name| *name == "home") {
            Some(name) => Err(PlaceImportError::ErrTaken { name: name.clone() }.into()),
            None => Ok(PlaceImportOutput { taken: i64::try_from(input.names.len()).unwrap() }),
        }
    }
}

impl RecordsTools<Cx> for Server {
    fn record_get(&mut self, _: &mut Cx, input: RecordGetInput) -> Outcome<RecordGetOutput, RecordGetError> {
        match &*input.key {
            "a" => Ok(RecordGetOutput { key: input.key, size: 1 }),
            "b" => Err(RecordGetError::ErrTooLarge { key: input.key }.into()),
            _ => Ok(lookup(input.key)?),
        }
    }

    fn record_fetch(
        &mut self,
        _: &'static str,
        input: RecordFetchInput,
    ) -> NetworkOutcome<RecordFetchOutput, RecordFetchError> {
        Box::pin(async move {
            lookup(input.key)?;
            Ok(RecordFetchOutput { size: 1 })
        })
    }
}

/// What both record tools do: its error becomes theirs.
fn lookup(key: String) -> Result<RecordGetOutput, ErrNoRecord> {
    Err(ErrNoRecord { key, state: ErrNoRecordState::Gone })
}

impl ShapeDrawInput {
    /// The property `type`, whose name is a keyword.
    fn type_value(&self) -> i64 {
        self.type_
    }
}

fn index(id: ToolId) -> usize {
    id as usize
}

#[test]
fn declared_errors_carry_code_message_and_fields() {
    let arguments = json!({"kind": "circle"});
    let dispatched = Dispatcher(Server).call(&mut Cx, index(ToolId::ShapeDraw), &arguments);
    let Dispatched::Domain { code, message, fields, prefixed, remedy, next } = dispatched else {
        panic!("{dispatched:?}")
    };
    assert_eq!(code, "ERR_OFF_CANVAS");
    assert_eq!(message, "3 points are off the canvas: a -> b, deep-blue");
    assert!(!prefixed, "Pattern B has no prefix");
    let expected = json!({"count": 3, "canvas": null, "names": ["a", "b"], "color": "deep-blue"});
    assert_eq!(Value::Object(fields), expected);
    assert_eq!(remedy, "Move a and b onto the canvas.");
    // The place has no name, since the canvas has none.
    let next: Vec<Value> = next.into_iter().map(Suggestion::into_value).collect();
    let arguments = json!({"kind": "circle", "fillColor": "deep-blue", "tags": ["a"]});
    assert_eq!(
        next,
        [json!({"tool": "shape_draw", "arguments": arguments, "ask": {"points": "where it lies"}})]
    );
}

#[test]
fn an_error_that_tools_share_becomes_the_error_of_each() {
    let arguments = json!({ "key": "c" });
    let of_get = Dispatcher(Server).call(&mut Cx, index(ToolId::RecordGet), &arguments);
    let mut call = Dispatcher(Server).network("", index(ToolId::RecordFetch), arguments);
    let polled = call.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert_eq!(polled, std::task::Poll::Ready(of_get.clone()));
    let Dispatched::Domain { code, message, fields, remedy, .. } = of_get else { panic!("{of_get:?}") };
    assert_eq!((code, &*message), ("ERR_NO_RECORD", "there is no record c, its state is gone"));
    assert_eq!(
        (Value::Object(fields), &*remedy),
        (json!({ "key": "c", "state": "gone" }), "Take another key than c.")
    );
    let spec = ToolId::RecordGet.spec();
    assert_eq!(spec.codes, ["ERR_NO_RECORD", "ERR_TOO_LARGE"]);
}

#[test]
fn scan_tools_run_without_the_server() {
    let scan = Dispatch::<Cx>::scan(&mut Dispatcher(Server), index(ToolId::ShapeScan), json!({}));
    assert_eq!(
        scan(&mut 1.0, &Interrupt::default()),
        Dispatched::Text(json!({"x": 1.0, "y": 2.0}).to_string())
    );
    assert!(!ShapeScanError::ScanStopped {}.prefixed(), "prefix: false");
}

#[test]
fn an_index_of_the_wrong_kind_is_a_fault() {
    let wrong = Dispatcher(Server).call(&mut Cx, index(ToolId::ShapeScan), &json!({}));
    assert!(matches!(wrong, Dispatched::Fault(Fault::Other(_))), "{wrong:?}");
    let beyond =
        Dispatch::<Cx>::scan(&mut Dispatcher(Server), 99, json!({}))(&mut 1.0, &Interrupt::default());
    assert!(matches!(beyond, Dispatched::Fault(Fault::Other(_))), "{beyond:?}");
}

#[test]
fn an_operation_has_a_handler_and_no_entry_in_the_list() {
    let names =
        |tools: &[colibri_runtime::spec::ToolSpec]| tools.iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(CATALOGUE.operations), ["place_import"]);
    assert!(!names(CATALOGUE.tools).contains(&"place_import"));
    assert_eq!(ToolId::OPERATIONS, [ToolId::PlaceImport]);
    assert!(ToolId::ALL.iter().all(|tool| !tool.spec().is_operation() && tool.spec().name == tool.name()));
    let spec = ToolId::PlaceImport.spec();
    assert_eq!((spec.name, spec.is_operation(), spec.listing), ("place_import", true, ""));
    assert_eq!(ToolId::from_name("place_import"), Some(ToolId::PlaceImport));
    let operate = |names: Value| Dispatcher(Server).operate(&mut Cx, 0, &json!({ "names": names }));
    assert_eq!(operate(json!(["work"])), Dispatched::Text(json!({"taken": 1}).to_string()));
    let Dispatched::Domain { code, prefixed, .. } = operate(json!(["home"])) else { panic!("an error") };
    assert_eq!((code, prefixed), ("ERR_TAKEN", true));
    // Neither way leads to the other's handlers.
    let through_calls = Dispatcher(Server).call(&mut Cx, index(ToolId::PlaceImport), &json!({"names": []}));
    assert!(matches!(through_calls, Dispatched::Fault(Fault::Other(_))), "{through_calls:?}");
    let beyond = Dispatcher(Server).operate(&mut Cx, 1, &json!({"kind": "circle"}));
    assert!(matches!(beyond, Dispatched::Fault(Fault::Other(_))), "{beyond:?}");
}

#[test]
fn absent_null_and_value_are_three_things() {
    let styles = ["{}", r#"{"width":null}"#, r#"{"width":2}"#];
    let decoded: Vec<ShapeDrawInputStyle> = styles.map(|text| serde_json::from_str(text).unwrap()).into();
    assert_eq!([decoded[0].width, decoded[1].width, decoded[2].width], [None, Some(None), Some(Some(2))]);
    for (typed, written) in decoded.iter().zip(styles) {
        assert_eq!(serde_json::to_string(typed).unwrap(), written);
    }
}

#[test]
fn an_empty_list_in_the_output_is_kept() {
    let output = ShapeDrawOutput { drawn: true, level: None, failed: Some(Vec::new()), at: None };
    let encoded = serde_json::to_value(&output).unwrap();
    assert_eq!(encoded, json!({"drawn": true, "level": null, "failed": [], "at": null}));
}

#[test]
fn named_strings_are_checked_and_enums_know_their_texts() {
    assert!("00".parse::<Digest>().is_err());
    assert_eq!("0".repeat(64).parse::<Digest>().unwrap().to_string(), "0".repeat(64));
    assert_eq!(Color::ALL.map(Color::as_str), ["red", "deep-blue"]);
    assert_eq!("deep-blue".parse::<Color>().unwrap(), Color::DeepBlue);
}

#[test]
fn tables_judge_like_the_published_schemas() {
    let circle = |more: Value| {
        let mut arguments = json!({"kind": "circle"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let cases = [
        (json!({}), false),
        (circle(json!({})), true),
        (circle(json!({"unknown": 1})), false),
        (circle(json!({"type": 0})), false),
        (circle(json!({"type": 9})), true),
        (circle(json!({"type": 4})), false),
        (circle(json!({"fillColor": null})), true),
        (circle(json!({"fillColor": "deep-blue"})), true),
        (circle(json!({"fillColor": "green"})), false),
        (circle(json!({"line": null})), false),
        (circle(json!({"digest": null})), true),
        (circle(json!({"digest": "e3"})), false),
        (circle(json!({"opacity": 1.5})), false),
        (circle(json!({"opacity": 1.25})), true),
        (circle(json!({"points": [{"x": 1, "y": 2}, {"x": 1, "y": 2}]})), false),
        (circle(json!({"points": [{"x": 1, "y": 2}]})), true),
        (circle(json!({"tags": ["ab", null]})), true),
        (circle(json!({"tags": ["b"]})), false),
        (circle(json!({"weights": {"a": 1}})), true),
        (circle(json!({"weights": {"b": 1}})), false),
        (circle(json!({"style": {"width": 0}})), false),
        (circle(json!({"style": {"width": null}})), true),
        (circle(json!({"anchor": 1.5})), false),
        (circle(json!({"anchor": [1, 2]})), true),
        (circle(json!({"extra": null})), true),
    ];
    let spec = ToolId::ShapeDraw.spec();
    let listing: Value = serde_json::from_str(spec.listing).unwrap();
    let published = jsonschema::validator_for(&listing["inputSchema"]).unwrap();
    for (arguments, sound) in cases {
        assert_eq!(published.is_valid(&arguments), sound, "published: {arguments}");
        assert_eq!(validate(spec.input, &[], &mut arguments.clone()).is_ok(), sound, "table: {arguments}");
    }
}

#[test]
fn a_network_tool_gets_the_context_that_the_store_s_gives_for_it() {
    let arguments = json!({ "name": "Kyoto" });
    let mut call =
        Dispatcher(Server).network(Context::network(&mut Cx), index(ToolId::PlaceFetch), arguments);
    let polled = call.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert_eq!(polled, std::task::Poll::Ready(Dispatched::Fault(Fault::Other("offline".to_owned()))));
}

#[test]
fn replies_of_every_form_fit_the_envelope_schema() {
    let failed = json!({"ok": false, "error": {"code": "HANDLER_ERROR", "message": "m", "details": {}}});
    let payloads = BTreeMap::from([
        ("shape_draw", json!({"drawn": true, "level": 2, "at": {"corner": {"x": 1, "y": 2}}})),
        ("shape_scan", json!({"x": 1, "y": 2})),
        ("place_fetch", json!({"digest": "0".repeat(64)})),
        ("record_get", json!({"key": "a", "size": 1})),
        ("record_fetch", json!({"size": 1})),
    ]);
    for spec in CATALOGUE.tools.iter().filter(|spec| spec.pattern != Pattern::Plain) {
        let listing: Value = serde_json::from_str(spec.listing).unwrap();
        let envelope = jsonschema::validator_for(&listing["outputSchema"]).unwrap();
        let payload = &payloads[spec.name];
        assert!(conforms(spec.output, payload), "{}", spec.name);
        assert!(envelope.is_valid(&json!({"ok": true, "data": payload})), "{}", spec.name);
        assert!(envelope.is_valid(&failed), "{}", spec.name);
        assert!(!envelope.is_valid(&json!({"ok": true, "data": {"x": "no"}})), "{}", spec.name);
        let refused =
            json!({"ok": true, "data": {"ok": false, "error": {"code": "E", "message": "m", "more": 1}}});
        assert_eq!(envelope.is_valid(&refused), spec.pattern == Pattern::B, "{}", spec.name);
    }
}

#[test]
fn a_reply_without_envelope_is_described_as_the_payload_with_its_descriptions() {
    let spec = ToolId::RecordGet.spec();
    assert_eq!(spec.pattern, Pattern::Plain);
    let listing: Value = serde_json::from_str(spec.listing).unwrap();
    let published = jsonschema::validator_for(&listing["outputSchema"]).unwrap();
    assert!(published.is_valid(&json!({"key": "a", "size": 1})));
    assert!(!published.is_valid(&json!({"ok": true, "data": {"key": "a", "size": 1}})));
    assert_eq!(listing["outputSchema"]["properties"]["size"]["description"], "In bytes.");
    assert_eq!(ToolId::RecordFetch.spec().pattern, Pattern::C);
}

#[test]
fn published_schemas_are_plain() {
    for spec in CATALOGUE.tools {
        for banned in ["$ref", "$schema", "x-message"] {
            assert!(!spec.listing.contains(banned), "{}: {banned}", spec.name);
        }
        assert_eq!(ToolId::from_name(spec.name).map(ToolId::name), Some(spec.name));
    }
}

#[test]
fn a_generated_type_reads_its_pattern_as_the_published_schema_means_it() {
    // The golden catalogue's `Word` has the pattern `^\p{L}+$`, which without the flag `u` asks for the letters `p{L}`.
    let word: catalogue::Word = serde_json::from_value(json!("Ada")).unwrap();
    assert_eq!(word.to_string(), "Ada");
    assert!(serde_json::from_value::<catalogue::Word>(json!("p{L}")).is_err());
}
