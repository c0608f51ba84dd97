//! An auditor's desk: a folder with files, and the real binary with an environment that says nothing.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use colibri_proof::keys::SigningKey;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use colibri_test_support::sql::Connection;
use serde_json::json;
use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_colibri-under-test");

/// A signing key by the one byte that its seed repeats.
pub fn key(seed: u8) -> SigningKey {
    SigningKey::generate([seed; 32])
}

/// Its public half, as `--key` takes it.
pub fn public(seed: u8) -> String {
    key(seed).public_key().hex()
}

/// Runs a command that is whole but for its streams.
pub fn run(command: &mut Command) -> Run {
    Run::of(command.stdin(Stdio::null()).output().unwrap())
}

/// A folder with a database, and what was taken from it.
pub struct Desk {
    pub folder: Arc<TempDir>,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn database(&self) -> PathBuf {
        self.path("colibri.db")
    }

    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Starts a server, with the key that signs if there is one.
    pub fn serve(&self, seed: Option<u8>) -> Server {
        let launch = Launch::new(BINARY).in_folder(self.folder.clone());
        match seed {
            Some(seed) => launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", self.key_file(seed)).start(),
            None => launch.start(),
        }
    }

    /// The file of a signing key.
    pub fn key_file(&self, seed: u8) -> PathBuf {
        let path = self.path(&format!("key-{seed}"));
        if !path.exists() {
            // The file is made as an operator makes it, and then holds the seed that the test knows.
            run(self.command(&["keys", "generate"]).arg(&path)).ends(0);
            fs::write(&path, key(seed).seed_text().expose()).unwrap();
        }
        path
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command
    }

    /// Runs a command; no variable is set but the database's.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let (name, value) = engine::variable(&self.database());
        self.run_with(&[(name, &value)], arguments)
    }

    /// Runs a command with these variables and no other.
    pub fn run_with(&self, variables: &[(&str, &OsStr)], arguments: &[&str]) -> Run {
        run(self.command(arguments).envs(variables.iter().copied()))
    }

    /// The database, opened by an attacker with its triggers switched off.
    pub fn unguarded(&self) -> Connection {
        let conn = engine::open(self.database());
        conn.ignore_guards();
        conn
    }
}

/// Records two thoughts in a session and seals it; the first thought's id.
pub fn sealed(server: &mut Server, session_id: &str) -> String {
    server.data("audit_session_start", json!({ "intent": "an audit", "session_id": session_id }));
    let ids = ["first", "last"].map(|content| {
        let thought = json!({ "type": "decision", "task_id": "T", "agent_id": "a", "content": content,
            "session_id": session_id });
        server.data("thought_record", thought)["id"].as_str().unwrap().to_owned()
    });
    server.data("merkle_finalize", json!({ "session_id": session_id }));
    let [first, _] = ids;
    first
}

/// Ends a server well.
pub fn finish(server: Server) {
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

/// The permissions of a file, for owner, group and others.
#[cfg(unix)]
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
