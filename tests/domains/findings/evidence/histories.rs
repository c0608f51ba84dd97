//! B2: databases whose seals are signed, unsigned or both, honestly or by an attacker, as the three commands judge them.

use colibri_proof::keys::SigningKey;
use colibri_test_support::engine;
use colibri_test_support::forger::recompute_signing;
use serde_json::json;

use super::desk::{Desk, finish, public, sealed};

/// The key that signs, the one that follows it, and an attacker's.
pub const OWNER: u8 = 1;
pub const NEXT: u8 = 2;
pub const FORGER: u8 = 3;

/// Two sealed sessions with an export of each and a proof of a record of each.
pub struct History {
    pub desk: Desk,
    ids: [String; 2],
}

/// What the commands make of a history, given these keys: `verify`'s exit code without findings, the codes of its findings, and the exit codes of
/// `verify-export` and `check-proof` on what was taken from the first session and from the second.
pub type Verdicts<'a> = (&'a [u8], i32, &'a [&'a str], [i32; 2], [i32; 2]);

impl History {
    /// The real server seals two sessions, each with the key that it has then.
    pub fn sealed_by(keys: [Option<u8>; 2]) -> Self {
        let desk = Desk::new();
        let ids = [("one", keys[0]), ("two", keys[1])].map(|(session_id, key)| {
            let mut server = desk.serve(key);
            let id = sealed(&mut server, session_id);
            finish(server);
            id
        });
        Self { desk, ids }
    }

    /// An attacker changes the file with plain SQL.
    pub fn tampered(self, sql: &str) -> Self {
        self.desk.unguarded().execute_batch(sql).unwrap();
        self
    }

    /// An attacker recomputes everything that the file holds, and signs with a key of their own if they have one.
    pub fn recomputed(self, key: Option<&SigningKey>) -> Self {
        recompute_signing(&engine::unguarded_db(&self.desk.database()), key);
        self
    }

    /// Compares the verdicts of all three commands, for people and as JSON.
    pub fn is_judged(&self, table: &[Verdicts<'_>]) {
        for (session, id) in ["one", "two"].into_iter().zip(&self.ids) {
            let (export, proof) = (format!("{session}.jsonl"), format!("{session}.json"));
            self.desk.run(&["export", session, "--out", &export]).ends(0);
            self.desk.run(&["proof", session, id, "--out", &proof]).ends(0);
        }
        for (keys, sound, findings, exports, proofs) in table {
            let named: Vec<String> =
                keys.iter().flat_map(|seed| ["--key".to_owned(), public(*seed)]).collect();
            let named: Vec<&str> = named.iter().map(String::as_str).collect();
            self.verify_finds(&named, *sound, findings);
            for (at, session) in ["one", "two"].into_iter().enumerate() {
                let export = ["verify-export", &format!("{session}.jsonl")];
                self.holds(
                    &[&export, &named[..]].concat(),
                    exports[at],
                    ["valid: ", "not valid.", "nothing that you gave"],
                );
                let proof = ["check-proof", &format!("{session}.json")];
                self.holds(
                    &[&proof, &named[..]].concat(),
                    proofs[at],
                    ["proof holds", "proof does not hold", "nothing that you gave"],
                );
            }
        }
    }

    /// `sound`: the code if nothing is found.
    fn verify_finds(&self, keys: &[&str], sound: i32, findings: &[&str]) {
        let verify = [&["verify"], keys].concat();
        let (code, text) = match (findings.is_empty(), sound) {
            (true, 3) => (3, "Holds, but only by a key that you did not give: "),
            (true, _) => (sound, "Sound: "),
            (false, _) => (1, "Not sound: "),
        };
        self.desk.run(&verify).ends(code).says(text);
        let found = self.desk.run(&[&verify[..], &["--json"]].concat()).ends(code).json();
        let kinds = found["findings"].as_array().unwrap().iter();
        let kinds: Vec<&str> = kinds.map(|kind| kind["code"].as_str().unwrap()).collect();
        assert_eq!(kinds, findings, "{keys:?}: {found:#}");
        assert_eq!((&found["sound"], &found["verdict"]), (&json!(code != 1), &json!(verdict(code))));
    }

    /// A check of one file: its code, and the words for a good end, a bad one, and one that nothing confirms.
    fn holds(&self, check: &[&str], code: i32, words: [&str; 3]) {
        let text = self.desk.run(check);
        assert_eq!(text.code, Some(code), "{check:?}: {}{}", text.out, text.err);
        let word = words[usize::try_from(code.min(2)).unwrap()];
        assert!(text.out.contains(word), "{check:?}: {word:?} is missing: {}", text.out);
        let json = self.desk.run(&[check, &["--json"]].concat());
        let told = json.json();
        assert_eq!((json.code, &told["valid"]), (Some(code), &(code != 1).into()), "{check:?}");
        assert_eq!(told["verdict"], verdict(code), "{check:?}");
    }
}

fn verdict(code: i32) -> &'static str {
    match code {
        0 => "holds",
        3 => "unconfirmed",
        _ => "fails",
    }
}
