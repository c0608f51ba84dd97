//! A server that signs, a session in it, and an auditor with nothing but a file.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::shell::Run;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The session of proof#golden-vectors.
pub const GOLDEN: &str = include_str!("../../../server/proof/tests/vectors/session-export.jsonl");
pub const GOLDEN_KEY: &str = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
const SEED: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A server whose seals are signed with the key of proof#golden-vectors.
pub struct World {
    pub server: Server,
}

impl World {
    pub fn new() -> Self {
        let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
        let key = launch.folder().path().join("key");
        fs::write(&key, SEED).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        }
        Self { server: launch.env("COLIBRI_PROOF_SIGNING_KEY_FILE", key).start() }
    }

    pub fn start(&mut self, session_id: &str) {
        self.server
            .data("audit_session_start", json!({ "intent": "to be exported", "session_id": session_id }));
    }

    pub fn think(&mut self, session_id: &str, task_id: &str, content: &str) -> Value {
        let thought = json!({
            "type": "decision", "task_id": task_id, "agent_id": "a", "content": content, "session_id": session_id,
        });
        self.server.data("thought_record", thought)
    }

    pub fn seal(&mut self, session_id: &str) -> Value {
        self.server.data("merkle_finalize", json!({ "session_id": session_id }))
    }

    /// Two sessions whose records interleave on one task, and a second task; the seal of `S`.
    pub fn interleaved(&mut self) -> Value {
        self.start("S");
        self.start("other");
        for (session, task, content) in [
            ("S", "T", "first"),
            ("other", "T", "in between"),
            ("S", "U", "\"quoted\"\n\u{1f600} \u{1} \u{7f} \u{2028}"),
            ("S", "T", "third"),
            ("S", "T", "fourth"),
            ("other", "T", "afterwards"),
        ] {
            self.think(session, task, content);
        }
        self.seal("S")
    }

    /// `colibri` beside the running server, with its configuration.
    pub fn colibri(&self, arguments: &[&str]) -> Run {
        let mut launch =
            Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(self.server.shared_folder());
        for argument in arguments {
            launch = launch.arg(argument);
        }
        Run::of(launch.command().stdin(Stdio::null()).output().unwrap())
    }

    /// The export of a session, from stdout.
    pub fn export(&self, session_id: &str) -> String {
        let run = self.colibri(&["export", session_id]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
        run.out
    }
}

/// An auditor with an empty folder and an empty environment.
pub struct Auditor {
    pub folder: TempDir,
}

impl Auditor {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn colibri(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-under-test"));
        command.args(arguments).env_clear().current_dir(self.folder.path());
        Run::of(command.stdin(Stdio::null()).output().unwrap())
    }

    /// `colibri verify-export` of these bytes.
    pub fn verify(&self, file: impl AsRef<[u8]>, options: &[&str]) -> Run {
        self.put("export.jsonl", file);
        self.colibri(&[&["verify-export", "export.jsonl"], options].concat())
    }
}
