//! The lists of tools that the odd server gives.
//!
//! A file holds an array of results of `tools/list`, one a page, whose bytes are written as they are. It is read at each request, and
//! `instructions` of the first page is what `initialize` and `server/discover` answer. In the place of a page, `{"steps": […]}` is a script to
//! play. In both, `${n}` stands for the number of the request among those for tools.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Step;

/// The tools that are listed without a file.
const TOOLS: &str = r#"[{"tools":[
{"name":"echo","description":"Answers with its arguments.","inputSchema":{"type":"object"}},
{"name":"play","description":"Plays a script.","inputSchema":{"type":"object"}}]}]"#;

/// How a request for tools is answered.
pub(super) enum Answer {
    /// With this result.
    Page(String),
    /// As the script says.
    Script(Vec<Step>),
}

/// See the page above.
pub(super) struct Lists {
    file: Option<PathBuf>,
    /// What a client with roots gets instead.
    of_roots: Option<PathBuf>,
    has_roots: bool,
    requests: u64,
}

impl Lists {
    pub fn new(file: Option<PathBuf>, of_roots: Option<PathBuf>) -> Self {
        Self { file, of_roots, has_roots: false, requests: 0 }
    }

    /// Notes what the client can do, where a request says so.
    pub fn meet(&mut self, method: &str, params: &Value) {
        let meta = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let told = if method == "initialize" { &params["capabilities"] } else { meta };
        if told.is_object() {
            self.has_roots = told["roots"].is_object();
        }
    }

    pub fn answer(&mut self, params: &Value) -> Answer {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            steps: Option<&'a RawValue>,
        }
        self.requests += 1;
        let number = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let pages = self.pages();
        let page = pages.get::<usize>(number).map_or(r#"{"tools":[]}"#, |page| page.get());
        let text = page.replace("${n}", &self.requests.to_string());
        let script = serde_json::from_str::<Page<'_>>(&text).expect("a result or a script").steps;
        match script {
            Some(steps) => Answer::Script(serde_json::from_str(steps.get()).expect("steps")),
            None => Answer::Page(text),
        }
    }

    pub fn instructions(&self) -> Value {
        #[derive(Deserialize)]
        struct Page {
            #[serde(default)]
            instructions: Value,
        }
        let pages = self.pages();
        let first = pages.first().expect("a page");
        serde_json::from_str::<Page>(first.get()).expect("a result or a script").instructions
    }

    fn pages(&self) -> Vec<Box<RawValue>> {
        let of_roots = self.of_roots.as_ref().filter(|_| self.has_roots);
        let text = match of_roots.or(self.file.as_ref()) {
            Some(path) => std::fs::read_to_string(path).expect("the tools"),
            None => TOOLS.replace('\n', ""),
        };
        serde_json::from_str(&text).expect("an array of results")
    }
}
