//! One HTTP exchange as data: what the adapters build and read (router#adapters). Pure.

use std::fmt;

use colibri_proof::secret::Secret;

/// A POST of JSON to a provider.
pub struct HttpRequest {
    /// Where to, complete.
    pub url: String,
    /// The host is this machine: no proxy may see the request (router#network).
    pub loopback: bool,
    /// Headers that everybody may see.
    pub headers: Vec<(&'static str, String)>,
    /// The header that carries the key.
    pub authorization: Authorization,
    /// The JSON text.
    pub body: String,
}

/// The header that proves who asks. Its value is put together where it is sent and nowhere else (router#secrets).
#[derive(Clone)]
pub struct Authorization {
    /// The header's name.
    pub header: &'static str,
    /// What stands before the key: `Bearer ` or nothing.
    pub scheme: &'static str,
    /// The key.
    pub key: Secret,
}

impl fmt::Debug for HttpRequest {
    /// Names of headers and the size of the body: neither key nor prompt.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        names.push(self.authorization.header);
        out.debug_struct("HttpRequest")
            .field("headers", &names)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// What a server answered, whatever it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The header `retry-after`, if it is there and text.
    pub retry_after: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why there is no [`HttpResponse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkFailure {
    /// Nobody listens there.
    Refused,
    /// The host's name has no address.
    Dns,
    /// No trusted connection could be made.
    Tls,
    /// The connection ended before the answer did.
    Closed,
    /// The answer is larger than the limit.
    TooLarge,
    /// The time given was over.
    Timeout,
    /// Anything else.
    Other,
}

impl fmt::Display for NetworkFailure {
    /// The kind, as router#errors words it.
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
