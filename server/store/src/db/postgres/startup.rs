//! The start of a connection: who this is, and proofs from both sides. (PostgreSQL manual, "Start-up" and "SASL Authentication".)
//!
//! SCRAM-SHA-256 alone proves anything to this client: the server sees no password and shows that it knows one. On a TLS connection SCRAM is
//! bound to the server's certificate. Cleartext and MD5 would show a server that is not the right one what it needs, so they are refused. A
//! server that asks for no proof (`trust`, `peer`) is accepted through a Unix socket and on a loopback address alone: there, the operating system
//! says who listens. Over the network it is accepted if both sides have shown a certificate (postgres#connection).

use std::collections::BTreeMap;
use std::io;
use std::time::Instant;

use super::backend::{Frame, Message, Request, mechanisms};
use super::body::Body;
use super::error::{PgError, ServerError};
use super::frontend;
use super::options::SessionOptions;
use super::poolers;
use super::scram::{Binding, PLAIN, PLUS, Scram, ScramError, Verifier};
use super::tls;
use super::url::{DatabaseUrl, Host, TlsMode};
use super::wire::{Wire, broken, reason};

/// The most messages of a login. PostgreSQL 18 sends some twenty.
const MOST_MESSAGES: usize = 200;
/// What is kept of the parameters that a server reports: how many, and how long name and value may be.
const MOST_PARAMETERS: usize = 64;
const BYTES_OF_PARAMETER: usize = 256;

/// What is known when the server is ready.
#[derive(Debug, Default)]
pub(super) struct Started {
    pub pid: i32,
    pub parameters: BTreeMap<String, String>,
}

impl Started {
    /// Keeps a parameter that the server reports, if it is UTF-8 and within bounds.
    pub fn keep(&mut self, name: &[u8], value: &[u8]) {
        let (Ok(name), Ok(value)) = (std::str::from_utf8(name), std::str::from_utf8(value)) else { return };
        if name.len().max(value.len()) > BYTES_OF_PARAMETER {
            return;
        }
        if self.parameters.len() < MOST_PARAMETERS || self.parameters.contains_key(name) {
            self.parameters.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// How far the proofs are.
enum Proof {
    /// Nothing has been asked.
    None,
    /// The client has started SCRAM.
    Started(Box<Scram>),
    /// The client has proved itself.
    Sent(Box<Verifier>),
    /// The server has proved itself.
    Done,
}

/// Logs in.
///
/// # Errors
/// [`PgError::Refused`] for a server that asks for something else than SCRAM, proves nothing, or refuses the login;
/// [`PgError::Unreachable`] for one that cannot serve now.
pub(super) fn start(
    wire: &mut Wire,
    url: &DatabaseUrl,
    host: &Host,
    knows_us: bool,
    options: &SessionOptions,
    deadline: Instant,
) -> Result<Started, PgError> {
    introduce(wire, url, options)?;
    let mut started = Started::default();
    let mut proof = Proof::None;
    let mut logged_in = false;
    for _ in 0..MOST_MESSAGES {
        let (tag, body) = next(wire, deadline).map_err(|error| unreachable(&error))?;
        match Message::read(tag, &body).map_err(|error| unreachable(&error))? {
            Message::NoticeResponse(_) => {}
            Message::ErrorResponse(fields) => return Err(refusal(ServerError::read(fields).as_ref())),
            Message::ParameterStatus(name, value) if logged_in => started.keep(name, value),
            Message::BackendKeyData(pid) if logged_in => started.pid = pid.cast_signed(),
            Message::ReadyForQuery(_) if logged_in => return ready(started),
            Message::Authentication(Request::Done) if !logged_in => {
                accept(&proof, url, host, knows_us)?;
                logged_in = true;
            }
            Message::Authentication(request) if !logged_in => proof = answer(wire, url, proof, request)?,
            _ => return Err(unreachable(&broken("it sent a message that does not belong to a login"))),
        }
    }
    Err(unreachable(&broken("its login does not end")))
}

fn unreachable(error: &io::Error) -> PgError {
    PgError::Unreachable(reason(error))
}

fn refused(what: impl Into<String>) -> PgError {
    PgError::Refused(what.into())
}

/// Returns tag and body of the next message, waiting for it.
fn next(wire: &mut Wire, deadline: Instant) -> io::Result<(u8, Vec<u8>)> {
    loop {
        if let Some(frame) = Frame::take(&mut wire.came, wire.most_bytes)? {
            return Ok((frame.tag, wire.came.at(frame.body).to_vec()));
        }
        if !wire.advance()? {
            wire.wait(Some(deadline))?;
        }
    }
}

/// Writes the StartupMessage. The settings of the session travel in it, so that they hold from the first statement on.
fn introduce(wire: &mut Wire, url: &DatabaseUrl, options: &SessionOptions) -> Result<(), PgError> {
    let settings = options.parameters(url);
    let mut parameters = vec![("user", url.user.expose())];
    parameters.extend(url.database.as_ref().map(|database| ("database", database.expose())));
    parameters.extend(settings.iter().map(|(name, value)| (*name, value.as_ref())));
    frontend::start(wire.out(), parameters)
        .map_err(|_| PgError::Usage("a setting of the session has a zero byte"))
}

/// Answers a request for a proof.
fn answer(wire: &mut Wire, url: &DatabaseUrl, proof: Proof, request: Request<'_>) -> Result<Proof, PgError> {
    match (request, proof) {
        (Request::Sasl(list), Proof::None) => Ok(Proof::Started(begin_scram(wire, url, list)?)),
        (Request::SaslContinue(data), Proof::Started(scram)) => {
            let (answer, verifier) = scram.answer(data).map_err(not_scram)?;
            frontend::sasl_next(wire.out(), &answer)?;
            Ok(Proof::Sent(Box::new(verifier)))
        }
        (Request::SaslFinal(data), Proof::Sent(verifier)) => {
            verifier.check(data).map_err(not_scram)?;
            Ok(Proof::Done)
        }
        (Request::Cleartext, _) => Err(refused(
            "the server asks for the password in cleartext, which is refused; set its pg_hba.conf to scram-sha-256",
        )),
        (Request::Md5, _) => Err(refused(
            "the server asks for the password as MD5, which is refused; set password_encryption and its pg_hba.conf to \
             scram-sha-256, then set the password again",
        )),
        (Request::Other(name), _) => Err(other_method(name)),
        _ => Err(unreachable(&broken("it sent a message that does not belong to this step of a login"))),
    }
}

fn other_method(name: &str) -> PgError {
    refused(format!("the server asks for {name}, which is refused; set its pg_hba.conf to scram-sha-256"))
}

fn not_scram(error: ScramError) -> PgError {
    refused(format!("SCRAM with the server failed: {error}"))
}

fn begin_scram(wire: &mut Wire, url: &DatabaseUrl, list: Body<'_>) -> Result<Box<Scram>, PgError> {
    let offered = mechanisms(list)
        .ok_or_else(|| unreachable(&broken("its list of authentication mechanisms has no end")))?;
    let offers = |name: &str| offered.contains(&name.as_bytes());
    let end_point = tls::server_end_point(wire);
    let (mechanism, binding) = match end_point {
        Some(hash) if offers(PLUS) => (PLUS, Binding::EndPoint(hash)),
        None if url.requires_binding && wire.tls().is_some() => {
            return Err(refused(
                "the server's certificate is signed with a kind of key for which there is no channel binding, such as Ed25519 or RSA-PSS \
                 (RFC 5929), and the URL asks for it: let an authority with an RSA or ECDSA key sign it, or write channel_binding=prefer",
            ));
        }
        _ if url.requires_binding => {
            return Err(refused(
                "the server cannot bind SCRAM to TLS, and the URL asks for it (channel_binding=require)",
            ));
        }
        _ if !offers(PLAIN) => {
            let names: Vec<_> = offered
                .iter()
                .take(4)
                .map(|name| name.escape_ascii().to_string().chars().take(40).collect::<String>())
                .collect();
            return Err(other_method(&names.join(", ")));
        }
        // Tells a server that can bind SCRAM that this client can, too: an attacker in between may have shortened the list.
        Some(_) => (PLAIN, Binding::Unrequested),
        None => (PLAIN, Binding::Unsupported),
    };
    let Some(password) = &url.password else {
        return Err(refused(
            "the server asks for a password, and the URL has none; write it there, or name its file with passfile= or \
             COLIBRI_DATABASE_PASSWORD_FILE",
        ));
    };
    let scram = Scram::new(password.expose(), binding).map_err(not_scram)?;
    frontend::sasl_first(wire.out(), mechanism, &scram.first())?;
    Ok(Box::new(scram))
}

/// Decides whether the server may let this client in now.
fn accept(proof: &Proof, url: &DatabaseUrl, host: &Host, knows_us: bool) -> Result<(), PgError> {
    match proof {
        Proof::Done => Ok(()),
        Proof::None if host.place.is_local() && !url.requires_binding => Ok(()),
        // Both sides have shown a certificate.
        Proof::None if knows_us && host.tls == TlsMode::VerifyFull && !url.requires_binding => Ok(()),
        Proof::None => Err(refused(
            "the server asks for no password over the network (trust), which is refused; set its pg_hba.conf to scram-sha-256",
        )),
        Proof::Started(_) | Proof::Sent(_) => {
            Err(refused("the server ends SCRAM without proving that it knows the password"))
        }
    }
}

/// Says in words why the server refuses the login. Its own text would name the user and the database.
fn refusal(error: Option<&ServerError>) -> PgError {
    let Some(error) = error else { return unreachable(&broken("it sent an error without fields")) };
    if let Some(refused) = poolers::refusal(&error.message) {
        return refused;
    }
    let what = match error.code.as_str() {
        "28P01" => "the server refuses the password, or does not know the user",
        "28000" => {
            "the server does not let this user in from here: its pg_hba.conf has no line for user, database and address, or asks \
             for TLS (sslmode=verify-full) or for a client certificate (sslcert= and sslkey=); or the role may not log in"
        }
        "3D000" => {
            "the server does not have the database that the URL names behind its last / (without one, that of the user's name)"
        }
        "42501" => "the user may not connect to this database",
        "57P03" => "the server is starting, stopping or recovering",
        "53300" => "the server has no free connection",
        _ => "the server refuses the connection",
    };
    let text = format!("{what} (SQLSTATE {})", error.code);
    match error.code.get(..2) {
        Some("28" | "3D" | "42" | "22") => PgError::Refused(text),
        _ => PgError::Unreachable(text),
    }
}

fn ready(started: Started) -> Result<Started, PgError> {
    match started.parameters.get("client_encoding").map(String::as_str) {
        Some("UTF8") => Ok(started),
        _ => Err(refused("the server does not speak UTF8 with this client")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::url::TlsPolicy;
    use super::*;

    #[test]
    fn a_server_that_asks_for_no_password_is_accepted_on_this_machine_alone() {
        for (url, accepted) in [
            ("postgres://u:p@localhost/d", true),
            ("postgres://u:p@/d?host=/run", true),
            ("postgres://u:p@127.0.0.1/d", true),
            ("postgres://u:p@db.example/d", false),
            ("postgres://u:p@192.0.2.1/d", false),
        ] {
            let with_certificate = DatabaseUrl::parse(url, TlsPolicy::Verify)
                .map(|url| accept(&Proof::None, &url, &url.hosts()[0], true).is_ok());
            assert_eq!(with_certificate, Ok(true), "{url}");
            let parsed = DatabaseUrl::parse(url, TlsPolicy::Verify).ok();
            let verdict = parsed.map(|url| accept(&Proof::None, &url, &url.hosts()[0], false).is_ok());
            assert_eq!(verdict, Some(accepted), "{url}");
        }
    }
}
