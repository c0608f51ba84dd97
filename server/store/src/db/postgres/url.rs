//! The URL of a database: `postgres://user:password@host:port/database?sslmode=…`. (PostgreSQL manual, "Connection URIs".)
//!
//! Differences from libpq: nothing is taken from the environment, and a password file or a service file is read only if the URL names it.
//! A parameter that would weaken or replace a setting of the server is refused by its name. No error and no `Debug` shows any part of the
//! URL.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::path::PathBuf;

use colibri_proof::secret::Secret;
use percent_encoding::percent_decode_str;

use super::login_files::{ClientCertificate, Wanted, password, service};
use super::parameters::{REFUSED, instead_of};

/// PostgreSQL's port.
const PORT: u16 = 5432;
/// The most hosts that a URL may name.
const MOST_HOSTS: usize = 16;
/// The value of `sslrootcert` that means the authorities of this system.
const SYSTEM: &str = "system";

/// Where a database is and how to reach it. Parsed once; its `Debug` shows no part of it.
#[derive(Clone)]
pub struct DatabaseUrl {
    hosts: Vec<Host>,
    pub(super) user: Secret,
    pub(super) password: Option<Secret>,
    pub(super) database: Option<Secret>,
    pub(super) roots: Roots,
    pub(super) client: Option<ClientCertificate>,
    pub(super) application_name: String,
    pub(super) target: Option<Target>,
    pub(super) requires_binding: bool,
    secrets: Vec<Secret>,
}

/// Which authorities may have signed a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Roots {
    /// Those that browsers trust.
    Browsers,
    /// Those of this system.
    System,
    /// Those of a file.
    File(PathBuf),
}

/// One server of the list.
#[derive(Clone)]
pub(super) struct Host {
    pub place: Place,
    pub port: u16,
    pub tls: TlsMode,
}

/// Where a server listens.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The folder of a Unix socket.
    Folder(PathBuf),
    /// A name or an address.
    Name(String),
}

/// Whether a connection is encrypted, and what is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// Never. What a Unix socket has, and a loopback host whose URL names no `sslmode`.
    Disable,
    /// If the server offers it; the certificate is not checked.
    Prefer,
    /// Always; the certificate is not checked.
    Require,
    /// Always; an authority that is trusted has signed the certificate.
    VerifyCa,
    /// The same, and the certificate names the host.
    VerifyFull,
}

/// What a server must be. (PostgreSQL manual, `target_session_attrs`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Anything.
    Any,
    /// It takes writes.
    ReadWrite,
    /// It takes none.
    ReadOnly,
    /// It is not a standby.
    Primary,
    /// It is a standby.
    Standby,
}

/// What `COLIBRI_DATABASE_TLS` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsPolicy {
    /// A host that is not this machine must prove its name.
    Verify,
    /// A URL may ask for less.
    Insecure,
}

/// Why a URL is refused, without any part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("COLIBRI_DATABASE_URL {0}")]
pub struct UrlError(String);

impl UrlError {
    /// Returns the end of a sentence that begins with the name of what was refused.
    pub fn reason(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(redacted)")
    }
}

impl Place {
    /// Returns whether only this machine can listen there.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Folder(_) => true,
            Self::Name(name) => {
                name.eq_ignore_ascii_case("localhost")
                    || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        }
    }
}

impl DatabaseUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// What is wrong, without any part of the URL.
    pub fn parse(text: &str, policy: TlsPolicy) -> Result<Self, UrlError> {
        let rest = text
            .strip_prefix("postgres://")
            .or_else(|| text.strip_prefix("postgresql://"))
            .ok_or_else(|| error(instead_of(text)))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').map_or((login, None), |(user, rest)| (user, Some(rest)));
        let mut parts = Parts {
            user: decode(user)?,
            password: password.map(decode).transpose()?.unwrap_or_default(),
            database: decode(path)?,
            hosts: hosts_of_authority(hosts)?,
            ..Parts::default()
        };
        for (at, pair) in query.split('&').filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| error(&format!("has a parameter without = (number {})", at + 1)))?;
            parts.take(name, decode(value)?, at + 1)?;
        }
        // The login as a whole, because a redactor does not take a short password for itself.
        let raw = password.filter(|raw| !raw.is_empty());
        let secrets = [Some(text), raw.map(|_| login), raw].into_iter().flatten().map(Secret::new);
        parts.finish(policy, secrets.collect())
    }

    /// Gives it the password that another setting holds.
    ///
    /// # Errors
    /// The URL has one already.
    pub fn with_password(mut self, password: Secret) -> Result<Self, UrlError> {
        if self.password.is_some() {
            return Err(error(
                "has a password already; unset COLIBRI_DATABASE_PASSWORD_FILE, or leave the password out of the URL",
            ));
        }
        self.secrets.push(password.clone());
        self.password = Some(password);
        Ok(self)
    }

    /// Returns the servers in the order in which they are tried.
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// Returns what the URL calls its connections.
    pub(crate) fn application_name(&self) -> &str {
        &self.application_name
    }

    /// Returns whether a connection over the network may go to a server that did not prove its name. A start warns then.
    pub fn is_insecure(&self) -> bool {
        self.hosts.iter().any(|host| !host.place.is_local() && host.tls != TlsMode::VerifyFull)
    }

    /// Returns what a redactor must find: the URL and the password, as they are and as they are written.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }
}

/// A URL while it is read.
#[derive(Default)]
struct Parts {
    hosts: Vec<(Place, Option<u16>)>,
    ports: Vec<u16>,
    user: String,
    password: String,
    database: String,
    mode: Option<TlsMode>,
    roots: Option<String>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    passfile: Option<PathBuf>,
    service: Option<String>,
    service_file: Option<PathBuf>,
    application_name: Option<String>,
    target: Option<Target>,
    requires_binding: bool,
}

impl Parts {
    fn take(&mut self, name: &str, value: String, number: usize) -> Result<(), UrlError> {
        match name {
            "host" if !self.hosts.is_empty() => {
                return Err(error("names hosts twice: before the / and as host="));
            }
            "host" => {
                let places = value.split(',').map(|host| Ok((place(host)?, None)));
                self.hosts = places.collect::<Result<_, UrlError>>()?;
            }
            "port" => self.ports = value.split(',').map(port).collect::<Result<_, _>>()?,
            "user" => self.user = value,
            "password" => self.password = value,
            "dbname" => self.database = value,
            "sslmode" => self.mode = Some(mode(&value)?),
            "sslrootcert" => self.roots = Some(value),
            "sslcert" => self.certificate = Some(value.into()),
            "sslkey" => self.key = Some(value.into()),
            "passfile" => self.passfile = Some(value.into()),
            "service" => self.service = Some(value),
            "servicefile" => self.service_file = Some(value.into()),
            "application_name" => self.application_name = Some(value),
            "target_session_attrs" => self.target = Some(target(&value)?),
            "channel_binding" => {
                self.requires_binding = match value.as_str() {
                    "require" => true,
                    "prefer" => false,
                    _ => return Err(error("has a channel_binding that is not prefer or require")),
                };
            }
            _ => {
                // A name that libpq does not have is not repeated: a password with a raw `?` or `&` would end up here.
                let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
                return Err(refused.map_or_else(
                    || error(&format!("has an unknown parameter (number {number}); write ? and & in a password as %3F and %26")),
                    |(refused, instead)| error(&format!("has the parameter {refused}: {instead}")),
                ));
            }
        }
        Ok(())
    }

    /// Fills what the URL leaves open from the service that it names.
    fn fill(&mut self) -> Result<(), UrlError> {
        let Some(name) = self.service.take() else { return Ok(()) };
        let has_hosts = !self.hosts.is_empty();
        let parameters = service(&name, self.service_file.as_deref()).map_err(|what| error(&what))?;
        for (number, (name, value)) in parameters.into_iter().enumerate() {
            let is_set = match name.as_str() {
                "host" => has_hosts,
                "port" => has_hosts || !self.ports.is_empty(),
                "user" => !self.user.is_empty(),
                "password" => !self.password.is_empty() || self.passfile.is_some(),
                "dbname" => !self.database.is_empty(),
                "sslmode" => self.mode.is_some(),
                "sslrootcert" => self.roots.is_some(),
                "sslcert" => self.certificate.is_some(),
                "sslkey" => self.key.is_some(),
                "passfile" => self.passfile.is_some() || !self.password.is_empty(),
                "application_name" => self.application_name.is_some(),
                "target_session_attrs" => self.target.is_some(),
                "service" | "servicefile" => return Err(error("names a service that names another service")),
                _ => false,
            };
            if !is_set {
                self.take(&name, value, number + 1)?;
            }
        }
        Ok(())
    }

    /// Reads the password of the password file, unless there is another one.
    fn look_up_password(&mut self, hosts: &[Host]) -> Result<(), UrlError> {
        let Some(path) = self.passfile.take().filter(|_| self.password.is_empty()) else { return Ok(()) };
        let named = |host: &Host| match &host.place {
            Place::Folder(_) => ("localhost".to_owned(), host.port),
            Place::Name(name) => (name.clone(), host.port),
        };
        let database = if self.database.is_empty() { &self.user } else { &self.database };
        let wanted = Wanted { hosts: hosts.iter().map(named).collect(), database, user: &self.user };
        self.password = password(&path, &wanted).map_err(|what| error(&what))?;
        Ok(())
    }

    fn client(&mut self) -> Result<Option<ClientCertificate>, UrlError> {
        match (self.certificate.take(), self.key.take()) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some(ClientCertificate { certificate, key })),
            _ => Err(error("has one of sslcert and sslkey, and a client certificate needs both")),
        }
    }

    fn finish(mut self, policy: TlsPolicy, mut secrets: Vec<Secret>) -> Result<DatabaseUrl, UrlError> {
        self.fill()?;
        if self.hosts.is_empty() {
            return Err(error(
                "names no host; write postgres://user@host/database, or ?host=/folder for a Unix socket",
            ));
        }
        if self.hosts.len() > MOST_HOSTS {
            return Err(error(&format!("names more than {MOST_HOSTS} hosts")));
        }
        if self.user.is_empty() {
            return Err(error("names no user; write postgres://user@host/database"));
        }
        if !matches!(self.ports.len(), 0 | 1) && self.ports.len() != self.hosts.len() {
            return Err(error("has another number of ports than of hosts"));
        }
        let port_of = |at: usize| self.ports.get(at).or(self.ports.first()).copied().unwrap_or(PORT);
        let hosts = std::mem::take(&mut self.hosts).into_iter().enumerate().map(|(at, (place, port))| {
            let tls = mode_of(&place, self.mode, policy)?;
            Ok(Host { port: port.unwrap_or_else(|| port_of(at)), tls, place })
        });
        let hosts = hosts.collect::<Result<Vec<_>, UrlError>>()?;
        self.look_up_password(&hosts)?;
        let client = self.client()?;
        let roots = match self.roots {
            None => Roots::Browsers,
            Some(name) if name == SYSTEM => Roots::System,
            Some(path) => Roots::File(path.into()),
        };
        let secret = |text: String| (!text.is_empty()).then(|| Secret::new(text));
        let password = secret(self.password);
        secrets.extend(password.clone());
        Ok(DatabaseUrl {
            hosts,
            user: Secret::new(self.user),
            password,
            database: secret(self.database),
            roots,
            client,
            application_name: self.application_name.unwrap_or_else(|| "colibri".to_owned()),
            target: self.target,
            requires_binding: self.requires_binding,
            secrets,
        })
    }
}

/// Decides how a host is reached. A Unix socket is never encrypted. A loopback host is not either, unless the URL asks for it: both ends
/// are this machine. Any other host must prove its name (postgres#connection).
fn mode_of(place: &Place, asked: Option<TlsMode>, policy: TlsPolicy) -> Result<TlsMode, UrlError> {
    match (place, asked) {
        (Place::Folder(_), _) => Ok(TlsMode::Disable),
        (_, None) if place.is_local() => Ok(TlsMode::Disable),
        (_, None) => Ok(TlsMode::VerifyFull),
        (_, Some(mode))
            if mode == TlsMode::VerifyFull || place.is_local() || policy == TlsPolicy::Insecure =>
        {
            Ok(mode)
        }
        _ => Err(error(
            "has an sslmode other than verify-full for a host on the network; write sslmode=verify-full, \
             or set COLIBRI_DATABASE_TLS=insecure to connect to a server that need not prove its name",
        )),
    }
}

fn error(what: &str) -> UrlError {
    UrlError(what.to_owned())
}

/// Replaces escapes. `%00` is refused: the protocol ends a text with it.
fn decode(text: &str) -> Result<String, UrlError> {
    let starts_escape =
        |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(starts_escape) {
        return Err(error("has a % that starts no escape; write it as %25"));
    }
    let decoded =
        percent_decode_str(text).decode_utf8().map_err(|_| error("has escapes that are not UTF-8"))?;
    if decoded.contains('\0') {
        return Err(error("has a zero byte"));
    }
    Ok(decoded.into_owned())
}

fn hosts_of_authority(text: &str) -> Result<Vec<(Place, Option<u16>)>, UrlError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|one| {
            let (host, rest) = match one.strip_prefix('[') {
                Some(bracketed) => {
                    let (address, rest) =
                        bracketed.split_once(']').ok_or_else(|| error("has a [ without ]"))?;
                    let known = address.parse::<Ipv6Addr>().is_ok();
                    if !known || !(rest.is_empty() || rest.starts_with(':')) {
                        return Err(error("has brackets around something that is no IPv6 address"));
                    }
                    (address, rest)
                }
                None => one.split_at(one.find(':').unwrap_or(one.len())),
            };
            let number = rest.strip_prefix(':').filter(|number| !number.is_empty()).map(port).transpose()?;
            Ok((place(&decode(host)?)?, number))
        })
        .collect()
}

fn place(host: &str) -> Result<Place, UrlError> {
    if host.is_empty() {
        return Err(error("has an empty name of a host"));
    }
    if host.starts_with('/') {
        return match cfg!(unix) {
            true => Ok(Place::Folder(host.into())),
            false => Err(error("names a Unix socket, which this system does not have")),
        };
    }
    if host.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/') {
        return Err(error("has a name of a host with a character that no name has"));
    }
    Ok(Place::Name(host.to_owned()))
}

fn port(text: &str) -> Result<u16, UrlError> {
    text.parse()
        .ok()
        .filter(|port| *port != 0)
        .ok_or_else(|| error("has a port that is not between 1 and 65535; in a user or password, write / @ : # as %2F %40 %3A %23"))
}

fn mode(text: &str) -> Result<TlsMode, UrlError> {
    Ok(match text {
        "disable" => TlsMode::Disable,
        "prefer" => TlsMode::Prefer,
        "require" => TlsMode::Require,
        "verify-ca" => TlsMode::VerifyCa,
        "verify-full" => TlsMode::VerifyFull,
        _ => {
            return Err(error(
                "has an sslmode that is not verify-full, verify-ca, require, prefer or disable",
            ));
        }
    })
}

fn target(text: &str) -> Result<Target, UrlError> {
    Ok(match text {
        "any" => Target::Any,
        "read-write" => Target::ReadWrite,
        "read-only" => Target::ReadOnly,
        "primary" => Target::Primary,
        "standby" => Target::Standby,
        _ => {
            return Err(error(
                "has a target_session_attrs that is not any, read-write, read-only, primary or standby",
            ));
        }
    })
}
