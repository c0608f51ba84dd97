//! HTTP outside the loop's thread (router#network). The client blocks, so each request has its own thread. The caller
//! waits on a future; dropping it closes the connection while the thread still uses it.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use ureq::config::Config;
use ureq::http::{HeaderValue, Uri};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error, Proxy};

use super::completion::Pending;
use super::http::{HttpRequest, HttpResponse, NetworkFailure};
use crate::settings::proxy::ProxyVariables;

/// The largest body that is read, in bytes.
pub const BODY_LIMIT: u64 = 8 * 1024 * 1024;

/// A carrier of requests to a provider.
pub trait Transport: Send + Sync {
    /// Sends the request and reads the whole answer within `timeout_ms`, with any status. Dropping the future aborts
    /// the exchange.
    ///
    /// # Errors
    /// The exchange failed before a complete answer arrived.
    fn send(
        &self,
        request: Arc<HttpRequest>,
        timeout_ms: u64,
    ) -> Pending<'static, Result<HttpResponse, NetworkFailure>>;
}

/// The network.
#[derive(Debug, Clone)]
pub struct Network {
    elsewhere: Way,
}

/// The way to other hosts. This machine is always reached directly.
#[derive(Debug, Clone)]
enum Way {
    Direct,
    Through(Proxy),
    /// The configured proxy cannot be used. Requests fail rather than bypass it.
    Nowhere,
}

impl Network {
    /// Makes the network behind this proxy, if one is configured.
    pub fn new(proxy: Option<&ProxyVariables>) -> Self {
        let elsewhere = match proxy {
            None => Way::Direct,
            Some(variables) => through(variables).map_or(Way::Nowhere, Way::Through),
        };
        Self { elsewhere }
    }

    /// Makes a client for one request. Requests share nothing, so that aborting one affects no other. Certificates
    /// are checked against Mozilla's roots, which are compiled in.
    ///
    /// # Errors
    /// [`NetworkFailure::Other`] if the configured proxy cannot be used.
    fn agent(&self, loopback: bool, timeout_ms: u64) -> Result<Agent, NetworkFailure> {
        let proxy = match &self.elsewhere {
            Way::Through(proxy) if !loopback => Some(proxy.clone()),
            Way::Nowhere if !loopback => return Err(NetworkFailure::Other),
            _ => None,
        };
        let config = Config::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .accept_encoding("")
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .build();
        Ok(Agent::with_parts(config, DefaultConnector::default(), NameResolver::default()))
    }
}

/// Converts a proxy for the client; `None` if the client cannot parse the URL.
fn through(variables: &ProxyVariables) -> Option<Proxy> {
    let named = Proxy::new(variables.url.expose()).ok()?;
    let mut builder = Proxy::builder(named.protocol()).host(named.host()).port(named.port());
    if let Some(username) = named.username() {
        builder = builder.username(username);
    }
    if let Some(password) = named.password() {
        builder = builder.password(password);
    }
    variables.exceptions.iter().fold(builder, |builder, host| builder.no_proxy(host)).build().ok()
}

impl Transport for Network {
    fn send(
        &self,
        request: Arc<HttpRequest>,
        timeout_ms: u64,
    ) -> Pending<'static, Result<HttpResponse, NetworkFailure>> {
        let agent = self.agent(request.loopback, timeout_ms);
        Box::pin(async move {
            let (sender, answer) = oneshot::channel();
            let agent = agent?;
            let abort = Abort(Some(agent.clone()));
            let thread = std::thread::Builder::new().name("provider".to_owned());
            // An aborted request has no receiver: the channel is closed, and the answer is dropped.
            let work = move || drop(sender.send(exchange(&agent, &request)));
            thread.spawn(work).map_err(|_| NetworkFailure::Other)?;
            let result = answer.await.unwrap_or(Err(NetworkFailure::Other));
            drop(abort);
            result
        })
    }
}

/// Aborts the client's work when dropped. Name resolution and connecting continue until their time limit; the request
/// then fails instead of being sent.
struct Abort(Option<Agent>);

impl Drop for Abort {
    fn drop(&mut self) {
        if let Some(agent) = self.0.take() {
            agent.shutdown();
        }
    }
}

fn exchange(agent: &Agent, request: &HttpRequest) -> Result<HttpResponse, NetworkFailure> {
    let mut builder = agent.post(&request.url);
    for (name, value) in &request.headers {
        builder = builder.header(*name, value);
    }
    let authorization = &request.authorization;
    let value = HeaderValue::from_str(&format!("{}{}", authorization.scheme, authorization.key.expose()));
    let mut value = value.map_err(|_| NetworkFailure::Other)?;
    value.set_sensitive(true);
    let sent = builder.header(authorization.header, value).send(&request.body);
    let mut response = sent.map_err(|error| failure(&error))?;
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after = retry_after.map(str::to_owned);
    // The client refuses a body as soon as it reaches its limit.
    let body = response.body_mut().with_config().limit(BODY_LIMIT + 1).read_to_vec();
    let body = body.map_err(|error| failure(&error))?;
    Ok(HttpResponse { status: response.status().as_u16(), retry_after, body })
}

/// Returns the kind of a failure. Drops the client's own text, which may contain the URL.
fn failure(error: &Error) -> NetworkFailure {
    match error {
        Error::Timeout(_) => NetworkFailure::Timeout,
        Error::HostNotFound => NetworkFailure::Dns,
        Error::Tls(_) | Error::Pem(_) | Error::Rustls(_) | Error::TlsRequired => NetworkFailure::Tls,
        Error::BodyExceedsLimit(_) | Error::LargeResponseHeader(..) => NetworkFailure::TooLarge,
        Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused => NetworkFailure::Refused,
            ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe => NetworkFailure::Closed,
            // Malformed TLS records, and untrusted certificates.
            ErrorKind::InvalidData => NetworkFailure::Tls,
            _ => NetworkFailure::Other,
        },
        _ => NetworkFailure::Other,
    }
}

/// The default resolver, with failures distinguished from those of connections.
#[derive(Debug, Default)]
struct NameResolver(DefaultResolver);

impl Resolver for NameResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        self.0.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            other => other,
        })
    }
}
