//! The requests of a capture, in either era, over any connection.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Era;
use crate::snapshot::{self, IDENTITY};

/// The newest revision that begins with `initialize`.
const HANDSHAKE_REVISION: &str = "2025-11-25";
/// The revision without one.
pub(super) const STATELESS_REVISION: &str = "2026-07-28";
/// How long a server may be silent on `server/discover` before it is also asked to `initialize`. Whichever it answers first counts, so a
/// slow start does not decide the era.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most pages of one list.
const PAGES: usize = 1_000;
/// The longest cursor, in bytes.
const CURSOR_BYTES: usize = 8 * 1024;
/// JSON-RPC's code for a method that a server does not have.
const NO_METHOD: i64 = -32601;

/// Each list: the capability under which a server announces it, the method, and the member with its entries.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "tools"),
    ("prompts", "prompts/list", "prompts"),
    ("resources", "resources/list", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates"),
];

/// Why an answer is missing.
#[derive(Debug)]
pub enum Trouble {
    /// The process could not be started.
    Start(String),
    /// It is not there in time.
    Late(&'static str),
    /// The server has ended; `greeted` if it had answered something.
    Ended { method: &'static str, how: String, greeted: bool },
    /// The server answers with an error; `greeting` if it does not speak the era.
    Refused { method: &'static str, why: String, greeting: bool },
    /// What the server says cannot be used; the text completes `the server …`.
    Unusable(String),
    /// A signal asked this process to end.
    Interrupted,
}

/// An error in the place of a result.
#[derive(Debug)]
pub struct Refusal {
    pub code: Option<i64>,
    pub why: String,
}

/// The answer to a request.
pub type Answer = Result<Value, Refusal>;

/// A way to a server.
pub trait Connection {
    /// Sends a request.
    fn send(&mut self, id: u64, method: &'static str, params: Value, until: Instant) -> Result<(), Trouble>;

    /// Waits for the answer to one of these requests.
    fn answer(&mut self, ids: &[u64], method: &'static str, until: Instant)
    -> Result<(u64, Answer), Trouble>;

    /// Sends a notification.
    fn notify(&mut self, method: &'static str, until: Instant) -> Result<(), Trouble>;

    /// Notes the revision that both sides speak from here on.
    fn agreed(&mut self, revision: &str);
}

/// The client's answer to a request of the server. A client without capabilities has an answer to `ping` alone; roots are what some
/// servers ask for all the same.
pub fn reply(request: &Value) -> Option<Value> {
    let id = request.get("id")?;
    let method = request.get("method")?.as_str()?;
    let result = match method {
        "ping" => json!({}),
        "roots/list" => json!({ "roots": [] }),
        _ => {
            let error = json!({ "code": NO_METHOD, "message": format!("this client has no {method}") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Reads a message as the answer to a request; `None` if it is another message.
pub fn answer_in(message: &Value) -> Option<(u64, Answer)> {
    if message.get("method").is_some() {
        return None;
    }
    let id = message.get("id")?.as_u64()?;
    if let Some(result) = message.get("result") {
        return Some((id, Ok(result.clone())));
    }
    let error = message.get("error")?;
    let code = error.get("code").and_then(Value::as_i64);
    let said = error.get("message").and_then(Value::as_str).unwrap_or("no message");
    let why = code.map_or_else(|| said.to_owned(), |code| format!("{code}, {said}"));
    Some((id, Err(Refusal { code, why })))
}

/// A run of requests.
struct Asker<'a> {
    server: &'a mut dyn Connection,
    until: Instant,
    sent: u64,
    /// The `_meta` of each request of the stateless era.
    meta: Option<Value>,
}

/// Asks for the greeting and all lists. Returns the era and the content of a snapshot.
pub fn ask_all(
    server: &mut dyn Connection,
    era: Option<Era>,
    until: Instant,
) -> Result<(Era, Value), Trouble> {
    let mut asker = Asker { server, until, sent: 0, meta: None };
    let (era, greeting) = asker.greet(era)?;
    if !greeting.is_object() {
        return Err(Trouble::Unusable(format!(
            "answered {} with something other than an object",
            era.greeting()
        )));
    }
    let mut content = Map::new();
    let capabilities = greeting.get("capabilities").cloned().unwrap_or_default();
    content.insert(era.greeting().to_owned(), told(&greeting));
    for (capability, method, member) in LISTS {
        let mut entries = Vec::new();
        if capabilities.get(capability).is_some_and(|given| !given.is_null()) {
            entries = asker.list(method, member, &mut content)?;
        } else if member != "tools" {
            continue;
        }
        content.insert(member.to_owned(), Value::Array(entries));
    }
    let content = Value::Object(content);
    // A snapshot that cannot be read again would be useless.
    snapshot::from_tools_list(&content.to_string())
        .map_err(|why| Trouble::Unusable(format!("gave a list that cannot be used: {why}")))?;
    Ok((era, content))
}

/// What a snapshot keeps of a greeting: not what belongs to one answer, and the identity in one place in both eras.
fn told(greeting: &Value) -> Value {
    const KEPT: [&str; 5] =
        ["capabilities", "instructions", "protocolVersion", "serverInfo", "supportedVersions"];
    let Value::Object(members) = snapshot::given(greeting) else { return json!({}) };
    let identity = members.get("_meta").and_then(|meta| meta.get(IDENTITY)).cloned();
    let mut kept: Map<String, Value> =
        members.into_iter().filter(|(name, _)| KEPT.contains(&name.as_str())).collect();
    if let Some(identity) = identity {
        kept.entry("serverInfo").or_insert(identity);
    }
    if let Some(identity) = kept.get_mut("serverInfo") {
        *identity = snapshot::given(identity);
    }
    // Without an identity the greeting would count as another answer.
    kept.entry("serverInfo").or_insert_with(|| json!({}));
    Value::Object(kept)
}

impl Asker<'_> {
    fn greet(&mut self, era: Option<Era>) -> Result<(Era, Value), Trouble> {
        if era == Some(Era::Handshake) {
            let id = self.initialize()?;
            return self.shaken(id);
        }
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
            "io.modelcontextprotocol/clientInfo": client(),
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.server.agreed(STATELESS_REVISION);
        let discover = self.send(Era::Stateless.greeting(), json!({ "_meta": meta }))?;
        let patience = if era.is_none() { self.until.min(Instant::now() + PATIENCE) } else { self.until };
        let mut asked = vec![discover];
        let mut until = patience;
        loop {
            let (id, answer) = match self.server.answer(&asked, Era::Stateless.greeting(), until) {
                Err(Trouble::Late(_)) if era.is_none() && asked.len() == 1 && until < self.until => {
                    asked.push(self.initialize()?);
                    until = self.until;
                    continue;
                }
                other => other?,
            };
            match answer {
                Ok(greeting) if id == discover && speaks_stateless(&greeting) => {
                    self.server.agreed(STATELESS_REVISION);
                    self.meta = Some(meta);
                    return Ok((Era::Stateless, greeting));
                }
                answer if id == discover => {
                    let why = match answer {
                        Err(refusal) => refusal.why,
                        Ok(_) => format!("it does not speak {STATELESS_REVISION}"),
                    };
                    if era.is_some() {
                        return Err(Trouble::Refused { method: "server/discover", why, greeting: true });
                    }
                    let id = match asked.get(1) {
                        Some(id) => *id,
                        None => self.initialize()?,
                    };
                    return self.shaken(id);
                }
                answer => return self.welcomed(answer),
            }
        }
    }

    fn initialize(&mut self) -> Result<u64, Trouble> {
        self.server.agreed("");
        let params = json!({
            "protocolVersion": HANDSHAKE_REVISION,
            "capabilities": {},
            "clientInfo": client(),
        });
        self.send("initialize", params)
    }

    fn shaken(&mut self, id: u64) -> Result<(Era, Value), Trouble> {
        let (_, answer) = self.server.answer(&[id], "initialize", self.until)?;
        self.welcomed(answer)
    }

    fn welcomed(&mut self, answer: Answer) -> Result<(Era, Value), Trouble> {
        let refused =
            |refusal: Refusal| Trouble::Refused { method: "initialize", why: refusal.why, greeting: true };
        let greeting = answer.map_err(refused)?;
        let revision = greeting.get("protocolVersion").and_then(Value::as_str).unwrap_or(HANDSHAKE_REVISION);
        self.server.agreed(revision);
        self.server.notify("notifications/initialized", self.until)?;
        Ok((Era::Handshake, greeting))
    }

    fn send(&mut self, method: &'static str, params: Value) -> Result<u64, Trouble> {
        self.sent += 1;
        self.server.send(self.sent, method, params, self.until)?;
        Ok(self.sent)
    }

    /// Asks for all pages of a list. Of the list of tools, `content` also gets how long it may be cached.
    fn list(
        &mut self,
        method: &'static str,
        member: &str,
        content: &mut Map<String, Value>,
    ) -> Result<Vec<Value>, Trouble> {
        let mut entries = Vec::new();
        let mut earlier = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let mut params = Map::new();
            params.extend(self.meta.clone().map(|meta| ("_meta".to_owned(), meta)));
            params.extend(cursor.clone().map(|cursor| ("cursor".to_owned(), cursor.into())));
            let id = self.send(method, Value::Object(params))?;
            let (_, answer) = self.server.answer(&[id], method, self.until)?;
            let page = match answer {
                Ok(page) => page,
                // Resources without templates are announced like those with templates.
                Err(Refusal { code: Some(NO_METHOD), .. }) if member != "tools" => return Ok(Vec::new()),
                Err(refusal) => {
                    return Err(Trouble::Refused { method, why: refusal.why, greeting: false });
                }
            };
            let Some(Value::Array(items)) = page.get(member) else {
                return Err(Trouble::Unusable(format!("answered {method} without an array `{member}`")));
            };
            entries.extend(items.iter().map(snapshot::given));
            if member == "tools" {
                for name in ["cacheScope", "ttlMs"] {
                    content.extend(page.get(name).map(|value| (name.to_owned(), value.clone())));
                }
            }
            let next = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            let Some(next) = next else { return Ok(entries) };
            if next.len() > CURSOR_BYTES {
                return Err(Trouble::Unusable(format!(
                    "gives a `nextCursor` of over {CURSOR_BYTES} bytes with {method}"
                )));
            }
            if !earlier.insert(next.clone()) {
                return Err(Trouble::Unusable(format!(
                    "gives a `nextCursor` a second time with {method}, so its pages have no end"
                )));
            }
            cursor = Some(next);
        }
        Err(Trouble::Unusable(format!("answered {method} with over {PAGES} pages")))
    }
}

fn client() -> Value {
    json!({ "name": "mcp-drift", "version": env!("CARGO_PKG_VERSION") })
}

fn speaks_stateless(greeting: &Value) -> bool {
    let versions = greeting.get("supportedVersions").and_then(Value::as_array);
    versions.is_some_and(|versions| versions.iter().any(|version| version == STATELESS_REVISION))
}
