//! SCRAM-SHA-256: client and server prove to each other that they know a password, which neither sends. (RFC 5802, RFC 7677.)
//!
//! PostgreSQL takes the user from the StartupMessage, so SCRAM's own name stays empty.

use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

/// The mechanism, and the one that is bound to the server's certificate.
pub(super) const PLAIN: &str = "SCRAM-SHA-256";
pub(super) const PLUS: &str = "SCRAM-SHA-256-PLUS";

/// The random bytes of the client's nonce. (PostgreSQL's own client takes as many.)
const BYTES_OF_NONCE: usize = 18;
/// The most iterations, some seconds' work. More would let a wrong server keep this client busy. (PostgreSQL's default is 4,096; since
/// version 16 its `scram_iterations` sets it.)
const MOST_ITERATIONS: u32 = 5_000_000;
const BYTES_OF_HASH: usize = digest::SHA256_OUTPUT_LEN;

/// Why SCRAM failed. No text here holds what either side has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScramError {
    #[error("the system has no random bytes")]
    Random,
    #[error("the server's message has no {0}")]
    Missing(&'static str),
    #[error("the server's nonce does not continue the client's")]
    Nonce,
    #[error(
        "the server's iteration count is {0}, and this client takes 1 to {MOST_ITERATIONS}: lower its scram_iterations, and set the password again"
    )]
    Iterations(u32),
    #[error("the server does not prove that it knows the password")]
    Unproven,
}

/// What ties SCRAM to the TLS connection under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Binding {
    /// There is no TLS.
    Unsupported,
    /// There is TLS, and the server does not offer to bind.
    Unrequested,
    /// The hash of the server's certificate. (RFC 5929 §4, `tls-server-end-point`.)
    EndPoint(Vec<u8>),
}

impl Binding {
    fn header(&self) -> &'static str {
        match self {
            Self::Unsupported => "n,,",
            Self::Unrequested => "y,,",
            Self::EndPoint(_) => "p=tls-server-end-point,,",
        }
    }

    /// Returns what the server compares with its own certificate, behind the header.
    fn input(&self) -> Vec<u8> {
        let data = if let Self::EndPoint(hash) = self { hash.as_slice() } else { &[] };
        [self.header().as_bytes(), data].concat()
    }
}

/// A client that has not proved itself.
pub(super) struct Scram {
    password: Zeroizing<String>,
    binding: Binding,
    nonce: String,
    /// The first message without the header.
    bare: String,
}

impl Scram {
    /// # Errors
    /// [`ScramError::Random`].
    pub fn new(password: &str, binding: Binding) -> Result<Self, ScramError> {
        let mut random = [0; BYTES_OF_NONCE];
        SystemRandom::new().fill(&mut random).map_err(|_| ScramError::Random)?;
        Ok(Self::with("", password, binding, BASE64.encode(random)))
    }

    fn with(user: &str, password: &str, binding: Binding, nonce: String) -> Self {
        // The server takes a password that SASLprep refuses as it is.
        let prepared = stringprep::saslprep(password).map_or_else(|_| password.to_owned(), Into::into);
        let bare = format!("n={user},r={nonce}");
        Self { password: Zeroizing::new(prepared), binding, nonce, bare }
    }

    /// Returns the client's first message.
    pub fn first(&self) -> String {
        format!("{}{}", self.binding.header(), self.bare)
    }

    /// Answers the server's first message. Returns the client's last one, and what judges the server's last one.
    ///
    /// # Errors
    /// The message is not a challenge, is not for this client, or asks for too much.
    pub fn answer(self, server_first: &[u8]) -> Result<(String, Verifier), ScramError> {
        let Challenge { text, nonce, salt, iterations } = Challenge::read(server_first, &self.nonce)?;
        let mut salted = Zeroizing::new([0; BYTES_OF_HASH]);
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, self.password.as_bytes(), &mut *salted);
        let salted = hmac::Key::new(hmac::HMAC_SHA256, &*salted);
        let without_proof = format!("c={},r={nonce}", BASE64.encode(self.binding.input()));
        let exchange = format!("{},{text},{without_proof}", self.bare);

        let client_key = hmac::sign(&salted, b"Client Key");
        let stored_key = digest::digest(&digest::SHA256, client_key.as_ref());
        let signature =
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, stored_key.as_ref()), exchange.as_bytes());
        let proof: Vec<u8> =
            client_key.as_ref().iter().zip(signature.as_ref()).map(|(key, sign)| key ^ sign).collect();

        let server_key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&salted, b"Server Key").as_ref());
        Ok((format!("{without_proof},p={}", BASE64.encode(proof)), Verifier { server_key, exchange }))
    }
}

/// The server's first message.
struct Challenge<'a> {
    text: &'a str,
    nonce: &'a str,
    salt: Vec<u8>,
    iterations: NonZeroU32,
}

impl<'a> Challenge<'a> {
    /// Reads `r=…,s=…,i=…`. Extensions behind these are passed over; one in front of them must be understood, and none is.
    fn read(message: &'a [u8], client_nonce: &str) -> Result<Self, ScramError> {
        let text = std::str::from_utf8(message).map_err(|_| ScramError::Missing("nonce"))?;
        let mut attributes = text.split(',');
        let mut next = |name: &str| attributes.next().and_then(|attribute| attribute.strip_prefix(name));
        let nonce = next("r=").ok_or(ScramError::Missing("nonce"))?;
        let own = nonce.strip_prefix(client_nonce).ok_or(ScramError::Nonce)?;
        if own.is_empty() || !own.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ScramError::Nonce);
        }
        let salt = next("s=").and_then(|salt| BASE64.decode(salt).ok()).filter(|salt| !salt.is_empty());
        let salt = salt.ok_or(ScramError::Missing("salt"))?;
        let count: u32 =
            next("i=").and_then(|count| count.parse().ok()).ok_or(ScramError::Missing("iteration count"))?;
        let iterations = NonZeroU32::new(count)
            .filter(|_| count <= MOST_ITERATIONS)
            .ok_or(ScramError::Iterations(count))?;
        Ok(Self { text, nonce, salt, iterations })
    }
}

/// Judges whether the server knows the password, too.
pub(super) struct Verifier {
    server_key: hmac::Key,
    /// All messages up to the proof.
    exchange: String,
}

impl Verifier {
    /// Checks the server's last message, `v=…`.
    ///
    /// # Errors
    /// [`ScramError::Unproven`].
    pub fn check(&self, server_final: &[u8]) -> Result<(), ScramError> {
        let signature =
            server_final.split(|byte| *byte == b',').next().and_then(|first| first.strip_prefix(b"v="));
        let signature = signature.and_then(|signature| BASE64.decode(signature).ok());
        // ring compares in constant time.
        signature
            .and_then(|signature| hmac::verify(&self.server_key, self.exchange.as_bytes(), &signature).ok())
            .ok_or(ScramError::Unproven)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    const NONCE: &str = "rOprNGfwEbeRWgbNEkqO";
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    fn scram(binding: Binding) -> Scram {
        Scram::with("user", "pencil", binding, NONCE.to_owned())
    }

    fn answer(server_first: &str) -> Result<String, ScramError> {
        scram(Binding::Unsupported).answer(server_first.as_bytes()).map(|(answer, _)| answer)
    }

    /// RFC 7677 §3.
    #[test]
    fn the_exchange_of_the_rfc_is_repeated() {
        let scram = scram(Binding::Unsupported);
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let (answer, verifier) = scram.answer(SERVER_FIRST.as_bytes()).unwrap();
        assert_eq!(
            answer,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        let proof = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
        assert_eq!(verifier.check(proof.as_bytes()), Ok(()));
        assert_eq!(verifier.check(format!("{proof},x=later").as_bytes()), Ok(()));
        for wrong in [
            "",
            "v=",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=",
            "v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95A==",
            "e=invalid-proof",
            "x=1,v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        ] {
            assert_eq!(verifier.check(wrong.as_bytes()), Err(ScramError::Unproven), "{wrong}");
        }
    }

    /// RFC 5802 §5. Its hash is another one, so only the parts without a proof are the same.
    #[test]
    fn the_messages_of_the_older_rfc_are_understood() {
        let scram =
            Scram::with("user", "pencil", Binding::Unsupported, "fyko+d2lbbFgONRv9qkxdawL".to_owned());
        assert_eq!(scram.first(), "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL");
        let first = b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
        let (answer, verifier) = scram.answer(first).unwrap();
        assert!(answer.starts_with("c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p="), "{answer}");
        assert_eq!(verifier.check(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="), Err(ScramError::Unproven));
    }

    /// The proofs come from Python's hashlib and hmac.
    #[test]
    fn an_exchange_is_bound_to_the_certificate() {
        for (binding, header, c, proof) in [
            (Binding::Unrequested, "y,,", "eSws", "FoqiHTtQEDE8lz1CdaEe3tK4mS+iMDTl77SPyDS53DY="),
            (
                Binding::EndPoint(vec![0xab; 32]),
                "p=tls-server-end-point,,",
                "cD10bHMtc2VydmVyLWVuZC1wb2ludCwsq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
                "tyYWR6d/N2L2QkI4gWfKtFrp3AIq2iXx4kbU9H2wGrE=",
            ),
        ] {
            let scram = scram(binding);
            assert_eq!(scram.first(), format!("{header}n=user,r={NONCE}"));
            let (answer, _) = scram.answer(SERVER_FIRST.as_bytes()).unwrap();
            assert_eq!(answer, format!("c={c},r={NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p={proof}"));
        }
    }

    /// RFC 4013 §3.
    #[test]
    fn passwords_are_prepared_as_the_server_does() {
        for (password, prepared) in [
            ("I\u{ad}X", "IX"),
            ("user", "user"),
            ("USER", "USER"),
            ("\u{aa}", "a"),
            ("\u{2168}", "IX"),
            ("a\u{a0}b", "a b"),
            // Refused, so they stay.
            ("\u{7}", "\u{7}"),
            ("\u{627}1", "\u{627}1"),
        ] {
            let scram = Scram::with("", password, Binding::Unsupported, String::new());
            assert_eq!(*scram.password, prepared, "{password:?}");
        }
    }

    #[test]
    fn a_challenge_that_is_none_is_refused() {
        let own = "r=rOprNGfwEbeRWgbNEkqO";
        for (first, why) in [
            (String::new(), ScramError::Missing("nonce")),
            (format!("m=must,{own}x,s=c2FsdA==,i=4096"), ScramError::Missing("nonce")),
            ("r=other,s=c2FsdA==,i=4096".to_owned(), ScramError::Nonce),
            (format!("{own},s=c2FsdA==,i=4096"), ScramError::Nonce),
            (format!("{own}\n,s=c2FsdA==,i=4096"), ScramError::Nonce),
            (format!("{own}x"), ScramError::Missing("salt")),
            (format!("{own}x,s=,i=4096"), ScramError::Missing("salt")),
            (format!("{own}x,s=c2FsdA=,i=4096"), ScramError::Missing("salt")),
            (format!("{own}x,i=4096,s=c2FsdA=="), ScramError::Missing("salt")),
            (format!("{own}x,s=c2FsdA=="), ScramError::Missing("iteration count")),
            (format!("{own}x,s=c2FsdA==,i=-1"), ScramError::Missing("iteration count")),
            (format!("{own}x,s=c2FsdA==,i=0"), ScramError::Iterations(0)),
            (format!("{own}x,s=c2FsdA==,i=5000001"), ScramError::Iterations(5_000_001)),
        ] {
            assert_eq!(answer(&first), Err(why), "{first}");
        }
        assert!(answer(&format!("{own}x,s=c2FsdA==,i=1,x=later")).is_ok());
    }

    #[test]
    fn no_two_nonces_are_the_same() {
        let nonce = || Scram::new("p", Binding::Unsupported).map(|scram| scram.nonce).unwrap();
        let nonces: std::collections::BTreeSet<_> = (0..100).map(|_| nonce()).collect();
        assert!(nonces.len() == 100 && nonces.iter().all(|nonce| nonce.len() == 24));
    }

    proptest! {
        #[test]
        fn no_message_is_too_odd_to_refuse(bytes in proptest::collection::vec(any::<u8>(), 0..80), tail in "[,=a-zA-Z0-9+/]{0,40}") {
            prop_assert!(scram(Binding::Unsupported).answer(&bytes).is_err());
            let (_, verifier) = scram(Binding::Unsupported).answer(format!("r={NONCE}x,s=c2FsdA==,i=1").as_bytes()).unwrap();
            prop_assert!(verifier.check(&bytes).is_err());
            let _answer = answer(&format!("r={NONCE}{tail}"));
            let proof = format!("v={tail}");
            prop_assert!(verifier.check(proof.as_bytes()).is_err());
        }
    }
}
