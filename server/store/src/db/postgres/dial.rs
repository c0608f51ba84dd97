//! Reaching a server: the hosts of a URL in their order, each of their addresses, with time-outs and keep-alive.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use super::error::PgError;
use super::options::SessionOptions;
use super::startup::{Started, start};
use super::tls::{self, Asks};
use super::url::{DatabaseUrl, Host, Place, Target};
use super::wire::{Socket, Wire, reason};

/// How long a silent connection stays unquestioned, how often it is questioned then, and how many answers may be missing. A machine that is gone is noticed
/// within 25 s.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(10);
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEP_ALIVE_TIMES: u32 = 3;
/// How long sent bytes may stay without an answer from the other machine's kernel.
#[cfg(target_os = "linux")]
const UNANSWERED: Duration = Duration::from_secs(25);
/// The most addresses of a name that are tried.
const MOST_ADDRESSES: usize = 8;
/// The longest message before the login is over. (libpq takes 30,000 bytes.)
const BYTES_BEFORE_LOGIN: usize = 64 << 10;

/// Connects to the first server of the list that is fit. A server that refuses the login ends the search, as in libpq: the next one would count
/// as another attempt with a wrong password.
pub(super) fn dial(url: &DatabaseUrl, options: &SessionOptions) -> Result<(Wire, Started), PgError> {
    let mut reasons = Vec::new();
    for (at, host) in url.hosts().iter().enumerate() {
        let of_host = match url.hosts().len() {
            1 => String::new(),
            many => format!("server {} of {many}: ", at + 1),
        };
        match dial_host(url, host, options) {
            Ok(connected) => return Ok(connected),
            Err(PgError::Unreachable(reason)) => reasons.push(format!("{of_host}{reason}")),
            Err(PgError::Refused(reason)) => return Err(PgError::Refused(format!("{of_host}{reason}"))),
            Err(other) => return Err(other),
        }
    }
    Err(PgError::Unreachable(format!("PostgreSQL cannot be reached: {}", reasons.join("; "))))
}

fn dial_host(url: &DatabaseUrl, host: &Host, options: &SessionOptions) -> Result<(Wire, Started), PgError> {
    let name = match &host.place {
        Place::Folder(folder) => {
            let socket =
                open_folder(folder, host.port).map_err(|error| PgError::Unreachable(reason(&error)))?;
            return log_in(socket, url, host, "", options);
        }
        Place::Name(name) => name,
    };
    // The system's own resolver has time-outs of its own.
    let addresses = (name.as_str(), host.port)
        .to_socket_addrs()
        .map_err(|_| PgError::Unreachable("the URL's host has no address".to_owned()))?;
    let mut last = PgError::Unreachable("the URL's host has no address".to_owned());
    for address in addresses.take(MOST_ADDRESSES) {
        // `localhost` needs no TLS because it is this machine, so it must be.
        if host.place.is_local() && !address.ip().is_loopback() {
            last = PgError::Refused(
                "localhost has an address of another machine here; write the machine's name".to_owned(),
            );
            continue;
        }
        let connected = TcpStream::connect_timeout(&address, options.connect)
            .and_then(prepare)
            .map_err(|error| PgError::Unreachable(reason(&error)))
            .and_then(|socket| log_in(socket, url, host, name, options));
        match connected {
            Err(PgError::Unreachable(reason)) => last = PgError::Unreachable(reason),
            other => return other,
        }
    }
    Err(last)
}

#[cfg(unix)]
fn open_folder(folder: &std::path::Path, port: u16) -> io::Result<Socket> {
    let socket = std::os::unix::net::UnixStream::connect(folder.join(format!(".s.PGSQL.{port}")))?;
    socket.set_nonblocking(true)?;
    Ok(Socket::Unix(socket))
}

#[cfg(not(unix))]
fn open_folder(_folder: &std::path::Path, _port: u16) -> io::Result<Socket> {
    Err(io::ErrorKind::Unsupported.into())
}

fn prepare(socket: TcpStream) -> io::Result<Socket> {
    socket.set_nonblocking(true)?;
    socket.set_nodelay(true)?;
    sockopt::set_socket_keepalive(&socket, true)?;
    sockopt::set_tcp_keepidle(&socket, KEEP_ALIVE_AFTER)?;
    sockopt::set_tcp_keepintvl(&socket, KEEP_ALIVE_EVERY)?;
    sockopt::set_tcp_keepcnt(&socket, KEEP_ALIVE_TIMES)?;
    #[cfg(target_os = "linux")]
    sockopt::set_tcp_user_timeout(&socket, u32::try_from(UNANSWERED.as_millis()).unwrap_or(u32::MAX))?;
    Ok(Socket::Tcp(socket))
}

fn log_in(
    socket: Socket,
    url: &DatabaseUrl,
    host: &Host,
    name: &str,
    options: &SessionOptions,
) -> Result<(Wire, Started), PgError> {
    let deadline = Instant::now() + options.connect;
    let mut wire = Wire::new(socket, BYTES_BEFORE_LOGIN);
    let asks_for = Asks { mode: host.tls, host: name, roots: &url.roots, client: url.client.as_ref() };
    let knows_us = tls::negotiate(&mut wire, &asks_for, deadline)?;
    let started = start(&mut wire, url, host, knows_us, options, deadline)?;
    if let Some(unfit) = unfit(&started, url.target.unwrap_or(options.target)) {
        wire.hang_up();
        return Err(PgError::Unreachable(unfit.to_owned()));
    }
    wire.most_bytes = options.most_bytes;
    Ok((wire, started))
}

/// Says why a server is not what it must be. PostgreSQL reports both parameters at the login since version 14.
fn unfit(started: &Started, target: Target) -> Option<&'static str> {
    let on = |name: &str| started.parameters.get(name).map(|value| value == "on");
    let standby = on("in_hot_standby");
    let takes_no_writes = match (standby, on("default_transaction_read_only")) {
        (Some(standby), Some(read_only)) => Some(standby || read_only),
        _ => None,
    };
    match target {
        Target::Any => None,
        _ if takes_no_writes.is_none() => {
            Some("it does not say whether it is a standby, as PostgreSQL does since version 14")
        }
        Target::ReadWrite if takes_no_writes != Some(false) => {
            Some("it takes no writes (a standby, or a read-only database)")
        }
        Target::ReadOnly if takes_no_writes != Some(true) => {
            Some("it takes writes, and the URL asks for read-only")
        }
        Target::Primary if standby != Some(false) => {
            Some("it is a standby, and the URL asks for the primary")
        }
        Target::Standby if standby != Some(true) => Some("it is no standby, and the URL asks for one"),
        _ => None,
    }
}
