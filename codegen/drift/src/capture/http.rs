//! A server over Streamable HTTP: each message is a POST, answered by JSON or by a stream of events.

use std::io::BufReader;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::{Response, Uri};
use ureq::{Agent, Body, Error};

use super::dialogue::{Answer, Connection, Refusal, STATELESS_REVISION, Trouble, answer_in, reply};
use super::signals;
use super::sse::Events;

/// The largest body that is read, in bytes.
const BODY_BYTES: u64 = 64 * 1024 * 1024;
/// How much of an error's body is shown, in characters.
const SHOWN: usize = 300;
/// How long the end of a session may take.
const LEAVE_WAIT: Duration = Duration::from_secs(2);
const SESSION: &str = "mcp-session-id";

/// A server at an address.
pub struct Endpoint<'a> {
    url: &'a str,
    headers: &'a [(String, String)],
    agent: Agent,
    revision: String,
    session: Option<String>,
    answers: Vec<(u64, Answer)>,
}

impl<'a> Endpoint<'a> {
    pub fn new(url: &'a str, headers: &'a [(String, String)]) -> Self {
        let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
        // This machine is reached directly, also where a proxy is configured.
        let local =
            host.is_some_and(|host| ["localhost", "[::1]"].contains(&&*host) || host.starts_with("127."));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could lead the headers, which may hold secrets, to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("mcp-drift/", env!("CARGO_PKG_VERSION")));
        let config = if local { config.proxy(None) } else { config };
        Self {
            url,
            headers,
            agent: config.build().into(),
            revision: String::new(),
            session: None,
            answers: Vec::new(),
        }
    }

    /// Ends the session, if there is one. A server that does not end it forgets it some time.
    pub fn leave(&mut self) {
        if self.session.is_none() {
            return;
        }
        let mut request = self.agent.delete(self.url);
        for (name, value) in self.all_headers(None) {
            request = request.header(name, value);
        }
        let _ = request.config().timeout_global(Some(LEAVE_WAIT)).build().call();
    }

    fn all_headers(&self, method: Option<&str>) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers = self.headers.to_vec();
        if !self.revision.is_empty() {
            headers.push(own("mcp-protocol-version", &self.revision));
        }
        if let Some(method) = method.filter(|_| self.revision == STATELESS_REVISION) {
            headers.push(own("mcp-method", method));
        }
        headers.extend(self.session.iter().map(|session| own(SESSION, session)));
        headers
    }

    fn post(&self, message: &Value, method: &'static str, until: Instant) -> Result<Response<Body>, Trouble> {
        if signals::raised() {
            return Err(Trouble::Interrupted);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Trouble::Late(method));
        }
        let mut request = self.agent.post(self.url);
        for (name, value) in self.all_headers(Some(method)) {
            request = request.header(name, value);
        }
        request
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .config()
            .timeout_global(Some(left))
            .build()
            .send(message.to_string())
            .map_err(|error| failure(&error, method))
    }

    /// Takes a message: an answer is kept, a request of the server is answered.
    fn take(&mut self, message: Value, until: Instant) -> Result<(), Trouble> {
        if let Value::Array(batch) = message {
            return batch.into_iter().try_for_each(|message| self.take(message, until));
        }
        if let Some(answer) = answer_in(&message) {
            self.answers.push(answer);
        } else if let Some(reply) = reply(&message) {
            self.post(&reply, "the reply to its own request", until)?;
        }
        Ok(())
    }

    /// Reads the body of a response until the answer with this id is there.
    fn read(
        &mut self,
        response: Response<Body>,
        id: u64,
        method: &'static str,
        until: Instant,
    ) -> Result<(), Trouble> {
        let kind = response.body().mime_type().unwrap_or_default().to_owned();
        let mut body = response.into_body();
        let body = body.with_config().limit(BODY_BYTES);
        if kind != "text/event-stream" {
            let text = body.lossy_utf8(true).read_to_string().map_err(|error| failure(&error, method))?;
            let message = serde_json::from_str(&text).map_err(|_| {
                Trouble::Unusable(format!("answered {method} with what is not JSON: {}", shown(&text)))
            })?;
            return self.take(message, until);
        }
        let mut events = Events::new(BufReader::new(body.reader()));
        while !self.answers.iter().any(|(other, _)| *other == id) {
            let data = events.next_data().map_err(|error| match error.downcast::<Error>() {
                Ok(error) => failure(&error, method),
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Trouble::Late(method),
                Err(error) => Trouble::Unusable(format!("broke the answer to {method} off: {error}")),
            })?;
            let Some(data) = data else {
                return Err(Trouble::Unusable(format!("closed the stream before it answered {method}")));
            };
            // An event without data only keeps the stream open.
            if let Ok(message) = serde_json::from_str(&data) {
                self.take(message, until)?;
            }
        }
        Ok(())
    }
}

impl Connection for Endpoint<'_> {
    fn send(&mut self, id: u64, method: &'static str, params: Value, until: Instant) -> Result<(), Trouble> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.post(&message, method, until)?;
        if let Some(session) = response.headers().get(SESSION).and_then(|value| value.to_str().ok()) {
            self.session = Some(session.to_owned());
        }
        let status = response.status().as_u16();
        if status == 200 {
            return self.read(response, id, method, until);
        }
        let place = response.headers().get("location").and_then(|place| place.to_str().ok());
        let place = place.map(str::to_owned);
        let text = response.into_body().with_config().limit(BODY_BYTES).lossy_utf8(true).read_to_string();
        let text = text.unwrap_or_default();
        let answered = serde_json::from_str::<Value>(&text).ok().and_then(|message| answer_in(&message));
        match (answered, status) {
            (Some((_, answer)), 400..=599) if status != 401 && status != 403 => {
                self.answers.push((id, answer));
                Ok(())
            }
            (_, 401 | 403) => Err(Trouble::Unusable(format!(
                "answered {method} with HTTP {status}; does --header give what it asks for, such as 'Authorization: Bearer …'?"
            ))),
            (_, 300..=399) => Err(Trouble::Unusable(format!(
                "redirects to {}; give that address with --url if you trust it",
                place.unwrap_or_default()
            ))),
            _ => {
                let why = format!("HTTP {status}, {}", shown(&text));
                self.answers.push((id, Err(Refusal { code: None, why })));
                Ok(())
            }
        }
    }

    fn answer(&mut self, ids: &[u64], method: &'static str, _: Instant) -> Result<(u64, Answer), Trouble> {
        match self.answers.iter().position(|(id, _)| ids.contains(id)) {
            Some(at) => Ok(self.answers.swap_remove(at)),
            None => Err(Trouble::Unusable(format!("answered another request than {method}"))),
        }
    }

    fn notify(&mut self, method: &'static str, until: Instant) -> Result<(), Trouble> {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        self.post(&message, method, until).map(drop)
    }

    fn agreed(&mut self, revision: &str) {
        revision.clone_into(&mut self.revision);
    }
}

fn failure(error: &Error, method: &'static str) -> Trouble {
    match error {
        Error::Timeout(_) => Trouble::Late(method),
        Error::BadUri(_) | Error::Http(_) => {
            Trouble::Unusable(format!("cannot be used as an address or header: {error}"))
        }
        Error::BodyExceedsLimit(_) => {
            Trouble::Unusable(format!("answered {method} with a body that is too long"))
        }
        other => Trouble::Unusable(format!("cannot be reached: {other}")),
    }
}

fn shown(text: &str) -> String {
    match text.trim() {
        "" => "no text".to_owned(),
        text => text.chars().take(SHOWN).collect(),
    }
}
