//! Which base URLs a key may be sent to (router#settings): `https` anywhere, `http` on this machine only. Pure.

/// An accepted base URL, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// The URL.
    pub text: String,
    /// Whether the host is this machine.
    pub loopback: bool,
}

impl BaseUrl {
    /// Checks a URL.
    ///
    /// # Errors
    /// The reason, which does not repeat the value: it may hold a password.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte));
        if !plain {
            return Err("it has characters that must be percent-encoded");
        }
        let (scheme, rest) = text.split_once("://").ok_or("it must begin with https://")?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "https" && scheme != "http" {
            return Err("it must begin with https://");
        }
        if rest.contains(['?', '#']) {
            return Err("it must have neither query nor fragment");
        }
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') {
            return Err("it must not hold a user name or password");
        }
        let loopback = is_loopback(host(authority)?);
        if scheme == "http" && !loopback {
            return Err("plain http is for this machine only");
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        Ok(Self { text: format!("{scheme}://{rest}"), loopback })
    }
}

/// Returns the host of `host` or `host:port`.
fn host(authority: &str) -> Result<&str, &'static str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("its host is not a name or an address")?;
            let port = if after.is_empty() { None } else { after.strip_prefix(':').or(Some("?")) };
            let hexadecimal = |c: char| c.is_ascii_hexdigit() || ":.".contains(c);
            (Some(host).filter(|host| host.contains(':') && host.chars().all(hexadecimal)), port)
        }
        None => {
            let (host, port) = match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            };
            let named = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
            (Some(host).filter(|host| !host.is_empty() && host.chars().all(named)), port)
        }
    };
    if let Some(port) = port {
        let digits = port.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || port.parse::<u16>().ok().is_none_or(|port| port == 0) {
            return Err("its port is not a number between 1 and 65535");
        }
    }
    host.ok_or("its host is not a name or an address")
}

/// Checks for `localhost`, 127.0.0.0/8 in four decimal parts, or `::1`. Other names of this machine (`127.1`, a name
/// in a hosts file) do not count: the resolver would decide where the key goes.
fn is_loopback(host: &str) -> bool {
    let mut parts = host.split('.');
    let octet = |part: &str| {
        part.parse::<u8>().is_ok()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part == "0" || !part.starts_with('0'))
    };
    let in_127 = parts.next() == Some("127") && parts.clone().count() == 3 && parts.all(octet);
    in_127 || host.eq_ignore_ascii_case("localhost") || host == "::1"
}
