//! A scripted server: it says what a test tells it to, in the protocol's frames or outside of them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The certificates and keys of these tests. `authority` has signed `server` (localhost, 127.0.0.1, ::1; SHA-256), `elsewhere` (db.example; SHA-384)
/// and `expired` (2021), all for the key `server.key`. `stranger` is another authority. `edwards-authority` signs with Ed25519, and has signed `edwards` for
/// the same key. `clients-authority` has signed `client` (test_app), for `client.key`. `openssl ca` and `openssl x509` made them, and they
/// last until 2120.
pub fn certificate(name: &str) -> String {
    format!("{}/src/db/postgres/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A server that talks to one client and then hangs up.
pub struct Fake {
    pub port: u16,
    thread: JoinHandle<()>,
}

impl Fake {
    /// Starts a server that follows a script. A script may end early: its client is what is tested.
    pub fn start(script: impl FnOnce(&mut Peer) -> std::io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let thread = std::thread::spawn(move || {
            let Ok((stream, _)) = listener.accept() else { return };
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
            stream.set_write_timeout(Some(Duration::from_secs(20))).expect("a time-out");
            let _ended_early =
                script(&mut Peer { stream: Box::new(stream.try_clone().expect("a socket")), tcp: stream });
        });
        Self { port, thread }
    }

    /// Its URL, with a password that must appear nowhere.
    pub fn url(&self, parameters: &str) -> String {
        format!("postgres://canaryuser:canarypassword@localhost:{}/canarydatabase{parameters}", self.port)
    }

    /// Waits for the end of the script.
    pub fn end(self) {
        self.thread.join().expect("the script does not panic");
    }
}

/// What a script talks to.
pub struct Peer {
    stream: Box<dyn Stream>,
    tcp: TcpStream,
}

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

impl Peer {
    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// Reads a message without a tag: StartupMessage or SSLRequest.
    pub fn read_start(&mut self) -> std::io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length).saturating_sub(4) as usize];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    /// Reads messages up to one with this tag, and returns its body.
    pub fn read_to(&mut self, wanted: u8) -> std::io::Result<Vec<u8>> {
        loop {
            let mut tag = [0];
            self.stream.read_exact(&mut tag)?;
            let body = self.read_start()?;
            if tag[0] == wanted {
                return Ok(body);
            }
        }
    }

    /// Encrypts everything from now on.
    pub fn encrypt(&mut self, name: &str) -> std::io::Result<()> {
        let chain =
            CertificateDer::pem_file_iter(certificate(&format!("{name}.pem"))).expect("a certificate");
        let key = PrivateKeyDer::from_pem_file(certificate("server.key")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions");
        let config = config.with_no_client_auth().with_single_cert(chain.map(Result::unwrap).collect(), key);
        let connection =
            ServerConnection::new(Arc::new(config.expect("the key fits"))).expect("a connection");
        let mut tls = StreamOwned::new(connection, self.tcp.try_clone()?);
        while tls.conn.is_handshaking() {
            tls.conn.complete_io(&mut tls.sock)?;
        }
        self.stream = Box::new(tls);
        Ok(())
    }

    /// Answers the request for TLS by yes, and shakes hands.
    pub fn accept_tls(&mut self, name: &str) -> std::io::Result<()> {
        self.read_start()?;
        self.send(b"S")?;
        self.encrypt(name)
    }

    /// Lets the client in without a proof, and reports these parameters.
    pub fn log_in(&mut self, parameters: &[(&str, &str)]) -> std::io::Result<()> {
        self.read_start()?;
        self.send(&login(parameters))
    }
}

/// A message.
pub fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("a length").to_be_bytes();
    [&[tag][..], &length, body].concat()
}

/// AuthenticationOk and all that follows it.
pub fn login(parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut all = message(b'R', &[0; 4]);
    for (name, value) in [("client_encoding", "UTF8")].iter().chain(parameters) {
        all.extend(message(b'S', format!("{name}\0{value}\0").as_bytes()));
    }
    all.extend(message(b'K', &[0, 0, 0, 7, 0, 0, 0, 9]));
    all.extend(ready());
    all
}

/// ReadyForQuery, with no transaction open.
pub fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// ErrorResponse.
pub fn error(severity: &str, code: &str, text: &str) -> Vec<u8> {
    message(b'E', format!("S{severity}\0V{severity}\0C{code}\0M{text}\0\0").as_bytes())
}
