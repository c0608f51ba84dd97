//! Files that a URL names instead of a value: a password file (`passfile`), a service file (`service`), and a client's
//! certificate. (PostgreSQL manual, "The Password File", "The Connection Service File".) No error repeats a line of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::error::PgError;

/// Where libpq looks for services, below the home folder.
const SERVICES: &str = ".pg_service.conf";
/// The most bytes of such a file.
const MOST_BYTES: u64 = 1 << 20;

/// What a login asks a password file for.
pub(super) struct Wanted<'a> {
    pub hosts: Vec<(String, u16)>,
    pub database: &'a str,
    pub user: &'a str,
}

/// Returns the password of a password file for all hosts.
pub(super) fn password(path: &Path, wanted: &Wanted<'_>) -> Result<String, String> {
    let said = |what: &str| format!("names a passfile that {what}");
    for_owner_alone(path).map_err(|what| said(&what))?;
    let text = text_of(path).map_err(said)?;
    let lines: Vec<Vec<String>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(fields)
        .filter(|line| line.len() == 5)
        .collect();
    let of_host = |(host, port): &(String, u16)| {
        let port = port.to_string();
        let asked = [host.as_str(), port.as_str(), wanted.database, wanted.user];
        lines
            .iter()
            .find(|line| line.iter().zip(asked).all(|(field, asked)| field == "*" || field == asked))
            .map(|line| line[4].clone())
    };
    let mut found: Vec<String> = wanted.hosts.iter().filter_map(of_host).collect();
    if found.len() < wanted.hosts.len() {
        return Err(said("has no line for host, port, database and user of the URL"));
    }
    found.dedup();
    match (found.pop(), found.len()) {
        (Some(password), 0) => Ok(password),
        _ => Err(said(
            "has different passwords for the hosts of the URL; give the login one password on all servers",
        )),
    }
}

/// Splits a line at its colons; a backslash takes the next character as it is. The password may contain colons.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            ':' if last < 4 => fields.push(String::new()),
            '\\' => fields[last].extend(characters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

/// Returns the parameters of a service, in their order. Without a path it is libpq's file in the home folder.
pub(super) fn service(name: &str, path: Option<&Path>) -> Result<Vec<(String, String)>, String> {
    let said = |what: &str| format!("names a service whose file {what}");
    let path = match path {
        Some(path) => path.to_owned(),
        None => std::env::home_dir()
            .map(|home| home.join(SERVICES))
            .ok_or_else(|| said("cannot be found; add servicefile="))?,
    };
    let text = text_of(&path).map_err(said)?;
    let begins = format!("[{name}]");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != begins).skip(1).peekable();
    if lines.peek().is_none() && !text.lines().any(|line| line.trim() == begins) {
        return Err(said("has no section of that name"));
    }
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (name, value) = line.split_once('=').ok_or_else(|| said("has a line without ="))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

fn text_of(path: &Path) -> Result<String, &'static str> {
    match std::fs::metadata(path) {
        Ok(about) if about.len() > MOST_BYTES => Err("is too long"),
        Ok(_) => std::fs::read_to_string(path).map_err(|_| "cannot be read"),
        Err(_) => Err("cannot be read"),
    }
}

/// Refuses a file of secrets that other users may read, as libpq does.
#[cfg(unix)]
fn for_owner_alone(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    let about = std::fs::metadata(path).map_err(|_| "cannot be read".to_owned())?;
    // A file of root may be for a group, too: then the system manages its certificates.
    let others = if about.uid() == 0 { 0o037 } else { 0o077 };
    match about.mode() & others {
        0 => Ok(()),
        _ => Err("can be read by other users; run chmod 600 on it".to_owned()),
    }
}

#[cfg(not(unix))]
fn for_owner_alone(_: &Path) -> Result<(), String> {
    Ok(())
}

/// The files of a client's certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// A client's certificate, and whether a server has asked for it.
#[derive(Debug)]
pub(super) struct Presented {
    key: Arc<CertifiedKey>,
    asked: AtomicBool,
}

impl ClientCertificate {
    /// Reads the files.
    pub(super) fn read(&self, provider: &CryptoProvider) -> Result<Arc<Presented>, PgError> {
        let setting = |name: &str, what: &str| PgError::Setting(format!("the file that {name} names {what}"));
        for_owner_alone(&self.key).map_err(|what| setting("sslkey", &what))?;
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|_| setting("sslcert", "cannot be read as PEM"))?;
        if chain.is_empty() {
            return Err(setting("sslcert", "holds no certificate"));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|_| {
            setting("sslkey", "holds no private key that can be read (a key with a passphrase cannot)")
        })?;
        let key = CertifiedKey::from_der(chain, key, provider)
            .map_err(|_| setting("sslkey", "does not belong to the certificate of sslcert, or is of another kind than RSA, P-256, P-384 and Ed25519"))?;
        Ok(Arc::new(Presented { key: Arc::new(key), asked: AtomicBool::new(false) }))
    }
}

impl Presented {
    /// Returns whether a server has asked for it.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for Presented {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.key.key.choose_scheme(schemes)?;
        self.asked.store(true, Ordering::Relaxed);
        Some(self.key.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_line_of_a_password_file_is_split_as_libpq_does() {
        for (line, parts) in [
            ("h:5432:d:u:p", ["h", "5432", "d", "u", "p"]),
            (r"::1", ["", "", "1", "-", "-"]),
            (r"a\:b:*:*:*:p\\q:r", ["a:b", "*", "*", "*", r"p\q:r"]),
        ] {
            let found = fields(line);
            assert!(found.iter().zip(parts).all(|(found, part)| found == part), "{line}: {found:?}");
        }
    }
}
