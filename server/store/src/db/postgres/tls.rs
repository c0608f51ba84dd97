//! TLS: what is asked of a server's certificate. (PostgreSQL manual, "SSL Session Encryption" of the protocol, and "SSL Support".)

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::error::PgError;
use super::frontend;
use super::login_files::{ClientCertificate, Presented};
use super::url::{Roots, TlsMode};
use super::wire::{Wire, reason};

/// The most names of a certificate that an error lists.
const MOST_NAMES: usize = 8;

/// Where bundles of the system's authorities are: Debian and Arch, Fedora and its kin (two places), openSUSE, Alpine and BSD, macOS.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/etc/ssl/cert.pem",
];

/// What a URL asks of TLS with one host.
pub(super) struct Asks<'a> {
    pub mode: TlsMode,
    pub host: &'a str,
    pub roots: &'a Roots,
    pub client: Option<&'a ClientCertificate>,
}

/// Asks the server for TLS and shakes hands, as the mode wants it. Without TLS the wire stays as it is. Returns whether the server has asked
/// for this client's certificate.
///
/// # Errors
/// [`PgError::Refused`] for a server that offers no TLS or does not prove who it is; the socket's errors.
pub(super) fn negotiate(wire: &mut Wire, asks: &Asks<'_>, deadline: Instant) -> Result<bool, PgError> {
    let mode = asks.mode;
    if mode == TlsMode::Disable {
        return Ok(false);
    }
    let name = ServerName::try_from(asks.host.to_owned())
        .map_err(|_| PgError::Refused("the URL's host is no name that a certificate can have".to_owned()))?;
    let provider = Arc::new(ring::default_provider());
    let client = asks.client.map(|client| client.read(&provider)).transpose()?;
    let config = config(mode, asks.roots, provider, client.clone())?;
    frontend::ask_for_tls(wire.out());
    match wire.byte(deadline).map_err(|error| unreachable(&error))? {
        b'S' => {}
        b'N' if mode == TlsMode::Prefer => return Ok(false),
        b'N' => return Err(refused("the server offers no TLS; set ssl = on there")),
        // It may be an error message. The server has not proved who it is, so its text is not shown (CVE-2024-10977).
        _ => {
            return Err(PgError::Unreachable(
                "the server answers the request for TLS with something else".to_owned(),
            ));
        }
    }
    let tls = ClientConnection::new(config, name).map_err(|error| explain(&error))?;
    wire.encrypt(tls, deadline).map_err(|error| {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(error) => explain(error),
            None => unreachable(&error),
        }
    })?;
    Ok(client.is_some_and(|client| client.was_asked()))
}

fn unreachable(error: &io::Error) -> PgError {
    PgError::Unreachable(reason(error))
}

fn refused(what: &str) -> PgError {
    PgError::Refused(what.to_owned())
}

fn config(
    mode: TlsMode,
    roots: &Roots,
    provider: Arc<CryptoProvider>,
    client: Option<Arc<Presented>>,
) -> Result<Arc<ClientConfig>, PgError> {
    let checks = matches!(mode, TlsMode::VerifyCa | TlsMode::VerifyFull);
    let chain = checks.then(|| verifier(roots, provider.clone())).transpose()?;
    let judge = Judge { chain, checks_name: mode == TlsMode::VerifyFull, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| explain(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(judge));
    let mut config = match client {
        Some(client) => builder.with_client_cert_resolver(client),
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Arc::new(config))
}

/// Trusts the authorities of a file, those of this system, or those that browsers trust.
fn verifier(roots: &Roots, provider: Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, PgError> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Browsers => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Roots::System => {
            let bundle = BUNDLES.iter().map(Path::new).find(|path| path.exists()).ok_or_else(|| {
                PgError::Setting(
                    "sslrootcert is system, and this system's authorities are in no file that is known; install its certificates (Debian: \
                     ca-certificates), or name a file"
                        .to_owned(),
                )
            })?;
            add_file(&mut store, bundle, "the file of this system's authorities")?;
        }
        Roots::File(path) => add_file(&mut store, path, "the file that sslrootcert names")?,
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
        .build()
        .map_err(|error| PgError::Setting(format!("the certificates of authorities cannot be used: {error}")))
}

/// Adds the authorities of a file. One that cannot be read does not stand in the way of the others: bundles are long.
fn add_file(store: &mut RootCertStore, path: &Path, named: &str) -> Result<(), PgError> {
    let setting = |what: &str| PgError::Setting(format!("{named} {what}"));
    let found = CertificateDer::pem_file_iter(path).map_err(|_| setting("cannot be read"))?;
    let (mut used, mut unread) = (0_usize, 0_usize);
    for certificate in found {
        match certificate {
            Ok(certificate) => match store.add(certificate) {
                Ok(()) => used += 1,
                Err(_) => unread += 1,
            },
            Err(pem::Error::Io(_)) => return Err(setting("cannot be read")),
            Err(_) => unread += 1,
        }
    }
    match (used, unread) {
        (0, 0) => Err(setting("holds no certificate")),
        (0, _) => Err(setting("holds no certificate that can be read")),
        _ => Ok(()),
    }
}

/// Judges a certificate as a mode wants it. The signature of the handshake is checked in every mode.
#[derive(Debug)]
struct Judge {
    /// `None`: any certificate will do.
    chain: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, others, name, ocsp, now) {
            // The chain is checked before the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Says in words why a handshake failed.
fn explain(error: &rustls::Error) -> PgError {
    let why = match error {
        rustls::Error::InvalidCertificate(why) => why,
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            return refused(
                "the server asks for a client certificate; name its files with sslcert= and sslkey=",
            );
        }
        rustls::Error::AlertReceived(
            AlertDescription::HandshakeFailure
            | AlertDescription::ProtocolVersion
            | AlertDescription::InsufficientSecurity,
        )
        | rustls::Error::PeerIncompatible(_) => {
            return PgError::Refused(format!(
                "the server and this client have no version of TLS, no cipher or no kind of key in common: the server needs TLS 1.2 or later, \
                 and a key of RSA with 2048 bits or more, P-256, P-384 or Ed25519 (not P-521) ({error})"
            ));
        }
        other => return PgError::Refused(format!("TLS with the server failed: {other}")),
    };
    PgError::Refused(match why {
        CertificateError::NotValidForName => "the server's certificate does not name the URL's host".to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            "the server's certificate names no host; it needs a subjectAltName with the URL's host".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            // rustls writes a name as `DnsName("db.example")`.
            let bare = |name: &str| printable(name.split('"').nth(1).unwrap_or(name));
            let names: Vec<_> = presented.iter().take(MOST_NAMES).map(|name| bare(name)).collect();
            format!("the server's certificate is for {}, not for the URL's host", names.join(", "))
        }
        CertificateError::UnknownIssuer => {
            "the authority that signed the server's certificate is not trusted; name the authority's file with sslrootcert="
                .to_owned()
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "the server's certificate, or one that signed it, has a kind of key or signature that this client does not take: make one with RSA \
             of 2048 bits or more, P-256, P-384 or Ed25519 (not P-521), and SHA-256 or better"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".to_owned()
        }
        other if other.to_string().contains("CaUsedAsEndEntity") => {
            "the server's certificate is that of an authority; make one for the server itself, with basicConstraints=CA:FALSE"
                .to_owned()
        }
        other => format!("the server's certificate is refused: {}", printable(&other.to_string())),
    })
}

/// A certificate can name anything, control characters too.
fn printable(text: &str) -> String {
    text.chars().take(256).map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}

/// Returns what binds SCRAM to this connection: the hash of the server's certificate, by the hash function of its signature. `None` without
/// TLS, and for a signature without a hash function of its own. (RFC 5929 §4.1, PostgreSQL manual, "SASL Authentication".)
pub(super) fn server_end_point(wire: &Wire) -> Option<Vec<u8>> {
    let certificate = wire.tls()?.peer_certificates()?.first()?;
    Some(match signature_hash(certificate)? {
        256 => Sha256::digest(certificate).to_vec(),
        384 => Sha384::digest(certificate).to_vec(),
        _ => Sha512::digest(certificate).to_vec(),
    })
}

/// Reads which hash a certificate's signature stands on. MD5 and SHA-1 count as SHA-256. (RFC 5280 §4.1, RFC 5929 §4.1.)
fn signature_hash(certificate: &[u8]) -> Option<u32> {
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
    let (whole, _) = element(certificate)?;
    let (_contents, rest) = element(whole)?;
    let (algorithm, _) = element(rest)?;
    let (id, _) = element(algorithm)?;
    let (last, before) = id.split_last()?;
    match (before, last) {
        (RSA, 4 | 5 | 11) | (ECDSA_SHA2, 2) => Some(256),
        (RSA, 12) | (ECDSA_SHA2, 3) => Some(384),
        (RSA, 13) | (ECDSA_SHA2, 4) => Some(512),
        _ => None,
    }
}

/// Returns the contents of the first DER element, and what follows it.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&short, rest) = der.get(1..)?.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_of_a_certificate_are_too_odd_to_look_at(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _hash = signature_hash(&bytes);
        }
    }
}
