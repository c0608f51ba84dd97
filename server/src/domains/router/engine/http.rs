//! One HTTP exchange as data that the adapters build and read (router#adapters). Pure.

use std::fmt;

use colibri_proof::secret::Secret;

/// A POST of JSON to a provider.
pub struct HttpRequest {
    /// The complete URL.
    pub url: String,
    /// Whether the host is this machine; then no proxy may see the request (router#network).
    pub loopback: bool,
    /// Headers without secrets.
    pub headers: Vec<(&'static str, String)>,
    /// The header that carries the key.
    pub authorization: Authorization,
    /// The JSON text.
    pub body: String,
}

/// The header that authenticates the request. Its value is assembled only where it is sent (router#secrets).
#[derive(Clone)]
pub struct Authorization {
    /// The header's name.
    pub header: &'static str,
    /// The text before the key: `Bearer ` or nothing.
    pub scheme: &'static str,
    /// The key.
    pub key: Secret,
}

impl fmt::Debug for HttpRequest {
    /// Writes names of headers and the size of the body, but neither key nor prompt.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        names.push(self.authorization.header);
        out.debug_struct("HttpRequest")
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// A server's response with any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The header `retry-after`, if present and text.
    pub retry_after: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why the exchange produced no [`HttpResponse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkFailure {
    /// The host refused the connection.
    Refused,
    /// The host's name does not resolve.
    Dns,
    /// No trusted connection could be made.
    Tls,
    /// The connection ended before the answer did.
    Closed,
    /// The answer is larger than the limit.
    TooLarge,
    /// The time limit has passed.
    Timeout,
    /// Anything else.
    Other,
}

impl fmt::Display for NetworkFailure {
    /// Writes the kind in the words of router#errors.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Refused => "connection refused",
            Self::Dns => "dns failure",
            Self::Tls => "tls failure",
            Self::Closed => "connection closed",
            Self::TooLarge => "response too large",
            Self::Timeout => "timeout",
            Self::Other => "network error",
        })
    }
}
