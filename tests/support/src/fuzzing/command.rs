//! A command of the server on a file, as an auditor runs it: its exit code, and what it shows.

use colibri::cli::{Next, Streams, run_with};
use colibri::settings::environment::Environment;
use serde_json::Value;

use super::genuine::KEY;

/// Runs `colibri COMMAND - --key KEY`, for people or as JSON. The code and what was printed must agree; the code.
pub fn judge(command: &str, file: &[u8], as_json: bool) -> u8 {
    let mut arguments = vec![command.into(), "-".into(), "--key".into(), KEY.into()];
    arguments.extend(as_json.then(|| "--json".into()));
    let (mut out, mut err, mut input) = (Vec::new(), Vec::new(), file);
    let streams = Streams { out: &mut out, err: &mut err, input: &mut input, color: false, width: None };
    let Next::Exit(code) = run_with(&arguments, &Environment::default(), streams) else {
        panic!("{command} does not serve");
    };
    let (out, err) = (String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"));
    assert_eq!(code == 2, !err.is_empty(), "a complaint goes with code 2: {err}");
    if as_json && code != 2 {
        let verdict: Value = serde_json::from_str(&out).expect("one JSON document");
        assert_eq!(verdict["valid"], Value::Bool(code == 0), "{out}");
    }
    for text in [out, err] {
        let unseen = colibri_visible::characters(&text).find(|(c, hidden)| *hidden && *c != '\n');
        assert_eq!(unseen, None, "a terminal would obey: {text:?}");
    }
    code
}
