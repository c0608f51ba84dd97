//! B6 to B8: the words of a verdict, and its exit code.

use colibri_canonical::HexDigest;
use colibri_proof::record::Preimage;
use serde_json::{Value, json};

use super::desk::{Desk, finish, key, public, sealed};
use super::histories::{NEXT, OWNER};

/// A desk with one sealed session and the files that were taken from it.
fn audited() -> (Desk, String) {
    let desk = Desk::new();
    let mut server = desk.serve(Some(OWNER));
    let id = sealed(&mut server, "S");
    finish(server);
    desk.run(&["export", "S", "--out", "s.jsonl"]).ends(0);
    desk.run(&["proof", "S", &id, "--out", "s.json"]).ends(0);
    (desk, id)
}

/// The stored hash of the record, and the one that it would have with another content.
fn hashes(desk: &Desk, id: &str, content: &str) -> (String, String) {
    let sql = "SELECT hash, prev_hash, task_id, timestamp, type FROM thought_records WHERE id = ?1";
    let columns: Vec<String> =
        desk.unguarded().query_row(sql, [id], |row| (0..5).map(|at| row.get(at)).collect()).unwrap();
    let [stored, prev_hash, task_id, timestamp, kind] = columns.try_into().unwrap();
    let preimage = Preimage {
        content,
        id,
        prev_hash: &prev_hash,
        task_id: &task_id,
        timestamp: &timestamp,
        kind: &kind,
    };
    (stored, preimage.hash(&mut Vec::new()).as_str().to_owned())
}

#[test]
fn finding_b6_people_are_told_which_hash_is_stored_and_which_recomputed() {
    let (desk, id) = audited();
    let (stored, recomputed) = hashes(&desk, &id, "forged");
    let words = format!("stored {stored}, recomputed {recomputed}");
    // The file that was carried away holds the digest beside the content, and the hash too.
    let export = std::fs::read_to_string(desk.path("s.jsonl")).unwrap();
    desk.put("forged.jsonl", export.replace("\"first\"", "\"forged\""));
    let digests = ["first", "forged"].map(|content| HexDigest::of(content.as_bytes()).as_str().to_owned());
    let run = desk.run(&["verify-export", "forged.jsonl"]).ends(1).says(&words);
    run.says(&format!("stored {}, recomputed {}", digests[0], digests[1]));
    // In the database.
    let sql = format!("UPDATE thought_records SET content = 'forged' WHERE id = '{id}'");
    desk.unguarded().execute_batch(&sql).unwrap();
    desk.run(&["verify"]).ends(1).says("HASH_MISMATCH").says(&words);
    desk.run(&["report", "S", "--html", "s.html"]).ends(1);
    let page = std::fs::read_to_string(desk.path("s.html")).unwrap();
    let at = page.find("HASH_MISMATCH").unwrap();
    let (first, then) =
        (page[at..].find("stored <code").unwrap(), page[at..].find("recomputed <code").unwrap());
    assert!(
        page[at + first..at + then].contains(&stored) && page[at + then..].contains(&recomputed),
        "{page}"
    );
}

#[test]
fn finding_b6_the_published_members_keep_their_meaning() {
    let (desk, id) = audited();
    let (stored, recomputed) = hashes(&desk, &id, "forged");
    let sql = format!("UPDATE thought_records SET content = 'forged' WHERE id = '{id}'");
    desk.unguarded().execute_batch(&sql).unwrap();
    let mut server = desk.serve(None);
    let data = server.data("audit_verify_chain", json!({ "task_id": "T" }));
    let issues = data["issues"].as_array().unwrap();
    let issue = issues.iter().find(|issue| issue["code"] == "HASH_MISMATCH").unwrap();
    assert_eq!((&issue["expected"], &issue["actual"]), (&json!(recomputed), &json!(stored)), "{issue}");
    server.kill();
    let export = std::fs::read_to_string(desk.path("s.jsonl")).unwrap();
    desk.put("forged.jsonl", export.replace("\"first\"", "\"forged\""));
    let verdict = desk.run(&["verify-export", "forged.jsonl", "--json"]).ends(1).json();
    let issues = verdict["issues"].as_array().unwrap();
    let issue = issues.iter().find(|issue| issue["code"] == "HASH_MISMATCH").unwrap();
    assert_eq!((&issue["expected"], &issue["actual"]), (&json!(recomputed), &json!(stored)), "{issue}");
}

#[test]
fn finding_b7_a_proof_without_its_content_says_so_first() {
    let (desk, _) = audited();
    let whole = std::fs::read_to_string(desk.path("s.json")).unwrap();
    assert!(whole.contains("\"content\":\"first\""), "{whole}");
    desk.put("cold.json", whole.replace("\"content\":\"first\"", "\"content\":null"));
    let digest = HexDigest::of(b"first");
    let run = desk.run(&["check-proof", "cold.json", "--key", &public(OWNER)]).ends(0);
    let first = run.out.lines().next().unwrap();
    assert_eq!(
        first,
        format!("-     content        not in this file; only its SHA-256 {} is proven", digest.as_str())
    );
    let (_, conclusion) = run.out.split_once("\n\n").unwrap();
    let mut lines = conclusion.lines();
    let verdict = "The content is not in this file; only its hash is proven. For the hash, the proof holds.";
    assert_eq!(lines.next(), Some(verdict), "{}", run.out);
    // The file cannot say why: anyone who passes it on can remove the content.
    assert!(!run.out.contains("retention policy"), "{}", run.out);
    let json = desk.run(&["check-proof", "cold.json", "--json"]).ends(3).json();
    assert_eq!((&json["record_hash"], &json["valid"]), (&Value::Null, &json!(true)));
    let open = json["not_proven"][0].as_str().unwrap();
    assert!(open.starts_with("what the content says; it is not in this file"), "{open}");
    desk.run(&["check-proof", "s.json", "--key", &public(OWNER)]).ends(0).says("\nThe proof holds.\n");
}

#[test]
fn finding_b8_a_file_that_is_no_proof_is_bad_input() {
    let (desk, _) = audited();
    let later = std::fs::read_to_string(desk.path("s.json")).unwrap().replace("\"v\":1}\n", "\"v\":2}\n");
    let export = std::fs::read_to_string(desk.path("s.jsonl")).unwrap();
    let huge = " ".repeat(17 << 20);
    for (file, reason) in [
        ("", "it is empty"),
        ("hello\n", "it does not hold a proof"),
        ("{}", "it does not hold a proof"),
        ("[1,2]", "it does not hold a proof"),
        ("{\"format\":\"colibri-checkpoint\"}", "it does not hold a proof"),
        (&later, "it is a proof of version 2, and this release reads version 1"),
        (&huge, "it is larger than 16 MiB"),
    ] {
        desk.put("other", file);
        for arguments in [&["check-proof", "other"][..], &["check-proof", "other", "--json"]] {
            let run = desk.run(arguments).ends(2);
            assert_eq!(run.out, "");
            assert!(run.err.contains(&format!("other is not a proof: {reason}")), "{}", run.err);
            assert!(run.err.contains("name another file"), "{}", run.err);
        }
    }
    desk.put("other", &export);
    let run = desk.run(&["check-proof", "other"]).ends(2);
    assert!(
        run.err.contains("other is not a proof: it is an export, which `verify-export` reads"),
        "{}",
        run.err
    );
    // The two commands say the same of the same file.
    desk.put("other", "hello\n");
    desk.run(&["verify-export", "other"]).ends(2);
    // A proof that was damaged or written otherwise does not hold.
    let proof = std::fs::read_to_string(desk.path("s.json")).unwrap();
    for changed in
        [&proof[..proof.len() / 2], &proof.replace(',', ", "), &proof.replace("\"leaf_index\"", "\"leaf\"")]
    {
        desk.put("changed", changed);
        desk.run(&["check-proof", "changed"]).ends(1).says("FAIL  form");
    }
}

#[test]
fn finding_b8_another_key_is_named_beside_the_signers() {
    let (desk, _) = audited();
    let (signer, given) = (key(OWNER).public_key(), key(NEXT).public_key());
    for (command, file) in [("check-proof", "s.json"), ("verify-export", "s.jsonl")] {
        let words = format!(
            "FAIL  signature      valid, but by another key: {} ({}) signed it, --key names {} ({})\n",
            signer.key_id(),
            signer.hex(),
            given.key_id(),
            given.hex()
        );
        let run = desk.run(&[command, file, "--key", &given.hex()]).ends(1).says(&words);
        assert!(!run.out.contains("pass") && !run.out.contains("with --key"), "{}", run.out);
        // Without --key, the missing key is what the auditor has to bring.
        let words = format!(
            "valid, but key {} is not trusted; name the signer's public key with --key",
            signer.key_id()
        );
        desk.run(&[command, file]).ends(3).says(&words);
    }
}
