//! TLS: what is asked of a server's certificate. (PostgreSQL manual, "SSL Session Encryption" of the protocol, and "SSL Support".)

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::error::PgError;
use super::frontend;
use super::url::TlsMode;
use super::wire::{Wire, reason};

/// The most names of a certificate that an error lists.
const MOST_NAMES: usize = 8;

/// Asks the server for TLS and shakes hands, as the mode wants it. Without TLS the wire stays as it is.
///
/// # Errors
/// [`PgError::Refused`] for a server that offers no TLS or does not prove who it is; the socket's errors.
pub(super) fn negotiate(
    wire: &mut Wire,
    mode: TlsMode,
    host: &str,
    roots: Option<&Path>,
    deadline: Instant,
) -> Result<(), PgError> {
    if mode == TlsMode::Disable {
        return Ok(());
    }
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| PgError::Refused("the URL's host is no name that a certificate can have".to_owned()))?;
    let config = config(mode, roots)?;
    frontend::ask_for_tls(wire.out());
    match wire.byte(deadline).map_err(|error| unreachable(&error))? {
        b'S' => {}
        b'N' if mode == TlsMode::Prefer => return Ok(()),
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
    })
}

fn unreachable(error: &io::Error) -> PgError {
    PgError::Unreachable(reason(error))
}

fn refused(what: &str) -> PgError {
    PgError::Refused(what.to_owned())
}

fn config(mode: TlsMode, roots: Option<&Path>) -> Result<Arc<ClientConfig>, PgError> {
    let provider = Arc::new(ring::default_provider());
    let checks = matches!(mode, TlsMode::VerifyCa | TlsMode::VerifyFull);
    let chain = checks.then(|| verifier(roots, provider.clone())).transpose()?;
    let judge = Judge { chain, checks_name: mode == TlsMode::VerifyFull, provider: provider.clone() };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| explain(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(judge))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Arc::new(config))
}

/// Trusts the authorities of a file, or those that browsers trust.
fn verifier(
    roots: Option<&Path>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, PgError> {
    let mut store = RootCertStore::empty();
    match roots {
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let setting = |what: &str| PgError::Setting(format!("the file that sslrootcert names {what}"));
            let found = CertificateDer::pem_file_iter(path).map_err(|_| setting("cannot be read"))?;
            for certificate in found {
                let certificate = certificate.map_err(|_| setting("is not PEM"))?;
                store.add(certificate).map_err(|_| setting("holds a certificate that cannot be read"))?;
            }
            if store.is_empty() {
                return Err(setting("holds no certificate"));
            }
        }
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
        .build()
        .map_err(|error| PgError::Setting(format!("the certificates of authorities cannot be used: {error}")))
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
    let rustls::Error::InvalidCertificate(why) = error else {
        return PgError::Refused(format!("TLS with the server failed: {error}"));
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
