//! The "fixed node" of consensus#node-key: node key A, logical clock 0, an empty database.

use std::fs;
use std::path::{Path, PathBuf};

use colibri_canonical::hex;
use colibri_consensus::identity::SenderId;
use colibri_consensus::private_key::parse_private_key;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::sql::Connection;
use colibri_test_support::stored::stored;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The seeds of the arbiters A and B (consensus#identity).
pub const SEED_A: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
pub const SEED_B: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
pub const SEED_C: &str = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7";
pub const PUBLIC_B: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
/// What a PKCS#8 document of an Ed25519 key begins with.
pub const PKCS8: &str = "302e020100300506032b657004220420";

/// The two roots and the rules of the golden votes.
pub const R: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
pub const R2: &str = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";
pub const V: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// The signatures of consensus#messages.
pub const SIG_V2: &str =
    "uAvvUPvZZUn0FY+s4avbFeJ8HN87qv5RaNWshkQing9r4WMsoMoFtXei2iDzXa0GieECIVM5MOTWVu9SaAMYAA==";
pub const SIG_V2R: &str =
    "VN9/r6B9lQYuPTlqeZGYuq0drqrbubjVk/+LUReLAzXgR6roQ6mkIr97DzSc38pya2zP+e1WJL3SK9HgOADvDQ==";
pub const SIG_VX: &str =
    "54EDgNUiP80zcq24VQyMcUC3htH6ifdbyHy0gLvS4/BoUt8NgcySXyh3X2/qMsVvg/I6JhkPuEdJIMlnTkpQBQ==";
pub const SIG_VB: &str =
    "3p8/XJeX+/S7oBV4SnZh9ZAR2qTfb5e/YpauGvoDDcudM53YIpiLqoIW8HFWD1Pp9BkLWnqu/ep5ifiLMIsQAA==";

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// The same with node key A.
pub fn fixed_node() -> Launch {
    with_key_file(launch(), SEED_A)
}

/// The same with a key file of that text in its folder.
pub fn with_key_file(launch: Launch, text: &str) -> Launch {
    let path = key_file(launch.folder().path(), text);
    launch.env("COLIBRI_CONSENSUS_KEY_FILE", path)
}

/// A key file that only its owner may read.
pub fn key_file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("node.key");
    fs::write(&path, text).unwrap();
    set_mode(&path, 0o600);
    path
}

/// Sets a file's permissions where there are such.
pub fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}

/// A running server and a look behind it.
pub struct World {
    pub server: Server,
    pub sql: Connection,
}

impl World {
    /// A fixed node.
    pub fn new() -> Self {
        Self::around(fixed_node().start())
    }

    /// A fixed node that has proposed (R, V): round 1 is at QUORUM.
    pub fn proposed() -> Self {
        let mut world = Self::new();
        assert_eq!(world.propose(R), json!({ "round_id": "1", "status": "QUORUM" }));
        world
    }

    /// The same after an ACCEPT of the node: round 1 is at HARD.
    pub fn hard() -> Self {
        let mut world = Self::proposed();
        assert_eq!(world.vote("1", R, "ACCEPT"), SIG_V2);
        world
    }

    pub fn around(mut server: Server) -> Self {
        server.data("task_list", json!({}));
        let sql = server.sql();
        Self { server, sql }
    }

    /// Proposes a root under the rules V.
    pub fn propose(&mut self, root: &str) -> Value {
        let event = json!({ "merkle_root_hex": root, "rule_version_hash_hex": V });
        self.server.data("consensus_propose", json!({ "event": event }))
    }

    /// Votes with the node's key; the signature.
    pub fn vote(&mut self, round_id: &str, root: &str, vote_type: &str) -> String {
        self.signed(vote(round_id, root, vote_type))
    }

    /// Votes ACCEPT on (R, V) of round 1 with that key.
    pub fn vote_by(&mut self, key: &str) -> String {
        self.signed(vote_by("1", R, "ACCEPT", key))
    }

    fn signed(&mut self, arguments: Value) -> String {
        let data = self.server.data("consensus_vote", arguments);
        assert_eq!(data["vote_signed"], true, "{data}");
        assert_eq!(data.as_object().unwrap().len(), 2, "{data}");
        data["sig_b64"].as_str().unwrap().to_owned()
    }

    /// What is known of a round's finality.
    pub fn finality(&mut self, round_id: &str) -> Value {
        self.server.data("consensus_finality", json!({ "round_id": round_id }))
    }

    pub fn level(&mut self, round_id: &str) -> String {
        self.finality(round_id)["level"].as_str().unwrap().to_owned()
    }

    /// The evidence of a round, as bytes.
    pub fn evidence(&mut self, round_id: &str) -> Vec<u8> {
        unhex(self.finality(round_id)["evidence"].as_str().expect("evidence"))
    }

    /// The message of a `HANDLER_ERROR`, which must leave everything as it was.
    pub fn failed(&mut self, tool: &str, arguments: Value) -> String {
        let (code, message) = self.refused(tool, arguments);
        assert_eq!(code, "HANDLER_ERROR", "{message}");
        message
    }

    /// Calls a tool with arguments that no schema allows; nothing may be stored.
    pub fn invalid(&mut self, tool: &str, arguments: Value) {
        let shown = arguments.to_string();
        assert_eq!(self.refused(tool, arguments).0, "INVALID_PARAMS", "{tool} {shown}");
    }

    fn refused(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let before = stored(&self.sql);
        let envelope = self.server.call(tool, arguments);
        assert_eq!(envelope["ok"], false, "{envelope}");
        assert_eq!(stored(&self.sql), before, "{envelope}");
        let text = |key: &str| envelope["error"][key].as_str().unwrap().to_owned();
        if text("code") == "INVALID_PARAMS" {
            let issues = envelope["error"]["details"]["issues"].as_array().expect("issues");
            assert!(!issues.is_empty(), "{envelope}");
        }
        (text("code"), text("message"))
    }

    /// A number from the database.
    pub fn number(&self, sql: &str) -> i64 {
        self.sql.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// How many proofs of double votes are stored, and the hash of the first.
    pub fn equivocations(&self) -> (i64, Option<String>) {
        let sql = "SELECT evidence_hash FROM mcp_consensus_equivocations ORDER BY evidence_hash";
        let mut statement = self.sql.prepare(sql).unwrap();
        let hashes = statement.query_map([], |row| Ok(hex::encode(&row.get::<_, Vec<u8>>(0)?))).unwrap();
        let hashes: Vec<String> = hashes.map(Result::unwrap).collect();
        (i64::try_from(hashes.len()).unwrap(), hashes.first().cloned())
    }
}

/// Arguments of a vote by the node.
pub fn vote(round_id: &str, root: &str, vote_type: &str) -> Value {
    let vote = json!({ "merkle_root_hex": root, "rule_version_hash_hex": V, "vote_type": vote_type });
    json!({ "round_id": round_id, "vote": vote })
}

/// Arguments of a vote by the holder of `key`.
pub fn vote_by(round_id: &str, root: &str, vote_type: &str, key: &str) -> Value {
    let mut arguments = vote(round_id, root, vote_type);
    arguments["privKey"] = json!(key);
    arguments
}

/// Arguments of a proposal, with that root and those rules.
pub fn event(root: &str, rules: &str) -> Value {
    json!({ "event": { "merkle_root_hex": root, "rule_version_hash_hex": rules } })
}

/// Returns the id of the sender with that seed.
pub fn sender_id(seed: &str) -> SenderId {
    SenderId::of(&parse_private_key(seed).unwrap().public_key())
}

/// Values that are not 32 bytes of lowercase hex.
pub fn malformed_hashes() -> Vec<Value> {
    let texts =
        ["a".repeat(63), "a".repeat(65), String::new(), "A".repeat(64), format!("0x{}", "a".repeat(62))];
    let texts = texts.into_iter().chain([format!("{}g", "a".repeat(63)), format!(" {}", "a".repeat(63))]);
    texts.map(Value::from).chain([Value::Null, json!(1), json!(["aa"])]).collect()
}

pub fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
