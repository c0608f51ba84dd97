//! The second tree against the published data of Certificate Transparency and against itself.

use colibri_proof::tree::rfc9162::{
    Accumulator, Hash, consistency_path, empty_root, inclusion_path, leaf_hash, node_hash, root,
    verify_consistency, verify_inclusion,
};
use serde_json::Value;

use crate::proof::support::{bundle_record, hash, hashes, hex, leaves, records, unhex};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../vectors/rfc9162.json")).unwrap()
}

fn known_leaves(vectors: &Value) -> Vec<Hash> {
    let inputs = vectors["leaves"].as_array().unwrap();
    inputs.iter().map(|input| leaf_hash(&unhex(input.as_str().unwrap()))).collect()
}

/// Leaves that differ in nothing but their number.
fn numbered(count: usize) -> Vec<Hash> {
    (0..count).map(|number| leaf_hash(&number.to_be_bytes())).collect()
}

/// The definition of RFC 9162 §2.1.1, word by word.
fn defined_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let mut split = 1;
            while split * 2 < leaves.len() {
                split *= 2;
            }
            node_hash(&defined_root(&leaves[..split]), &defined_root(&leaves[split..]))
        }
    }
}

#[test]
fn roots_are_those_of_certificate_transparency() {
    let vectors = vectors();
    let leaves = known_leaves(&vectors);
    assert_eq!(leaves, hashes(&vectors["leaf_hashes"]));
    let roots = hashes(&vectors["roots"]);
    assert_eq!(roots.len(), 9);
    for (count, expected) in roots.iter().enumerate() {
        assert_eq!(root(&leaves[..count]), *expected, "{count} leaves");
    }
}

#[test]
fn paths_are_those_of_certificate_transparency() {
    let vectors = vectors();
    let (leaves, roots) = (known_leaves(&vectors), hashes(&vectors["roots"]));
    let cases = vectors["inclusion"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let (index, size) = (case["index"].as_u64().unwrap(), case["size"].as_u64().unwrap());
        let path = hashes(&case["path"]);
        let at = size as usize;
        assert_eq!(inclusion_path(&leaves[..at], index), path, "{index} of {size}");
        assert!(
            verify_inclusion(index, size, &leaves[index as usize], &path, &roots[at]),
            "{index} of {size}"
        );
    }
    let cases = vectors["consistency"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let (size, next) = (case["size"].as_u64().unwrap(), case["next_size"].as_u64().unwrap());
        let path = hashes(&case["path"]);
        let (first, second) = (&roots[size as usize], &roots[next as usize]);
        assert_eq!(consistency_path(&leaves[..next as usize], size), path, "{size} to {next}");
        assert!(verify_consistency(size, next, first, second, &path), "{size} to {next}");
    }
}

#[test]
fn the_tree_grows_as_it_is_defined() {
    let leaves = numbered(300);
    let mut tree = Accumulator::default();
    for count in 0..=leaves.len() {
        assert_eq!(
            (tree.size(), tree.root()),
            (count as u64, defined_root(&leaves[..count])),
            "{count} leaves"
        );
        leaves.get(count).into_iter().for_each(|leaf| tree.push(*leaf));
    }
}

#[test]
fn every_path_verifies_at_its_own_index_only() {
    let all = numbered(64);
    for size in 1..=64_u64 {
        let leaves = &all[..size as usize];
        let top = root(leaves);
        for index in 0..size {
            let leaf = &leaves[index as usize];
            let path = inclusion_path(leaves, index);
            for other in 0..size + 2 {
                let holds = verify_inclusion(other, size, leaf, &path, &top);
                assert_eq!(holds, other == index, "{index} of {size}, claimed {other}");
            }
        }
    }
}

#[test]
fn spoiled_inclusion_proofs_fail() {
    let all = numbered(33);
    for size in 1..=33_u64 {
        let leaves = &all[..size as usize];
        let top = root(leaves);
        for index in 0..size {
            let leaf = leaves[index as usize];
            let path = inclusion_path(leaves, index);
            for spoiled in spoil(&path, &[leaf, top, empty_root()]) {
                assert!(!verify_inclusion(index, size, &leaf, &spoiled, &top), "{index} of {size}");
            }
            assert!(!verify_inclusion(index, size, &flip(&leaf), &path, &top));
            assert!(!verify_inclusion(index, size, &leaf, &path, &flip(&top)));
        }
    }
    assert_eq!(inclusion_path(&all, 33), [] as [Hash; 0]);
    assert!(!verify_inclusion(0, 0, &all[0], &[], &all[0]));
    assert!(!verify_inclusion(u64::MAX, u64::MAX, &all[0], &all, &all[0]));
    assert!(!verify_inclusion(0, u64::MAX, &all[0], &all, &all[0]));
}

#[test]
fn every_tree_begins_every_later_one() {
    let all = numbered(65);
    let roots: Vec<Hash> = (0..=65).map(|count| root(&all[..count])).collect();
    for next in 0..=65_u64 {
        for size in 0..=next {
            let (first, second) = (&roots[size as usize], &roots[next as usize]);
            let path = consistency_path(&all[..next as usize], size);
            assert!(verify_consistency(size, next, first, second, &path), "{size} to {next}");
            assert_eq!(path.is_empty(), size == 0 || size == next, "{size} to {next}");
            assert!(!verify_consistency(size, next, &flip(first), second, &path), "{size} to {next}");
            if size > 0 {
                assert!(!verify_consistency(size, next, first, &flip(second), &path), "{size} to {next}");
            }
            for spoiled in spoil(&path, &[*first, *second, empty_root()]) {
                assert!(!verify_consistency(size, next, first, second, &spoiled), "{size} to {next}");
            }
        }
    }
}

#[test]
fn a_tree_does_not_begin_an_earlier_or_another_one() {
    let all = numbered(9);
    let (first, second) = (root(&all[..4]), root(&all));
    let path = consistency_path(&all, 4);
    assert!(!verify_consistency(9, 4, &second, &first, &path));
    assert!(!verify_consistency(5, 9, &first, &second, &path));
    assert!(!verify_consistency(4, 9, &second, &first, &path));
    assert!(!verify_consistency(0, 0, &first, &first, &[]), "a tree without leaves has one root");
    assert_eq!(consistency_path(&all, 10), [] as [Hash; 0]);
    // A log that replaced its third leaf cannot prove that it only grew.
    let mut forged = all.clone();
    forged[2] = flip(&forged[2]);
    let forged_path = consistency_path(&forged, 4);
    assert!(!verify_consistency(4, 9, &first, &root(&forged), &forged_path));
}

/// A path with each element changed, one left out at either end, and one put in at either end.
fn spoil(path: &[Hash], extra: &[Hash]) -> Vec<Vec<Hash>> {
    let mut spoiled = Vec::new();
    for at in 0..path.len() {
        let mut changed = path.to_vec();
        changed[at] = flip(&changed[at]);
        spoiled.push(changed);
    }
    if !path.is_empty() {
        spoiled.push(path[1..].to_vec());
        spoiled.push(path[..path.len() - 1].to_vec());
    }
    for hash in extra {
        spoiled.push([path, &[*hash]].concat());
        spoiled.push([&[*hash], path].concat());
    }
    spoiled
}

fn flip(hash: &Hash) -> Hash {
    let mut flipped = *hash;
    flipped[0] ^= 16;
    flipped
}

#[test]
fn envelopes_have_the_leaves_and_roots_of_the_chapter() {
    let records = records();
    let mut first = Vec::new();
    bundle_record(&records[0]).envelope().write(&mut first);
    let expected = concat!(
        r#"{"agent_id":"agent-7","content_hash":"7b8f3d853d39dc3bba08a2cacce6f47b35ab57e92e9cd7bfab37e8f40a51a1e6","#,
        r#""hash":"cc7b371167932eb83c1ac9efea386a61cc245c6848ed735a4baadfaafe06e9a8","#,
        r#""id":"00000000-0000-4000-8000-000000000001","#,
        r#""prev_hash":"0000000000000000000000000000000000000000000000000000000000000000","session_id":"S-1","#,
        r#""task_id":"11111111-1111-4111-8111-111111111111","timestamp":"2026-05-01T10:00:00.000Z","type":"plan","v":1}"#
    );
    assert_eq!(String::from_utf8(first.clone()).unwrap(), expected);
    assert_eq!(first.len(), 428);

    let leaf_hashes = [
        "464c48cb5d5b213e1b12d0e84a6a96cb26d4517432ebf0f85a573fa6b5b19958",
        "5110add766984413f98d83917db0b48343f8b2169484e8eb3e201d379c0c7820",
        "19510a8a4acf236532fd80e725e4cf1772ce3ebd979cf6ceb7591055f8e22558",
        "2c0a56173261b1bdf947efea245147b93836a4a58e4e814e988d6b47a9a25001",
    ];
    let roots = [
        leaf_hashes[0],
        "1a55c8dfe348bdd14c131940687ddf7c92220153ba474c81089cb99d882a4468",
        "93a8f7ac943a2b607e3eec2a3bdc0a0f2e6b4eaa962109895f546402d6cc5cbe",
        "41e1ee33de22d60cea5295541f98a2d847f4d103c7827a414db92ac4af052339",
    ];
    let leaves = leaves();
    assert_eq!(leaves.iter().map(hex).collect::<Vec<_>>(), leaf_hashes);
    for (count, expected) in roots.iter().enumerate() {
        assert_eq!(hex(&root(&leaves[..=count])), *expected);
    }
    let path =
        |count: usize, index| inclusion_path(&leaves[..count], index).iter().map(hex).collect::<Vec<_>>();
    assert_eq!(path(3, 2), [roots[1]]);
    let right = "ef537dce4785bfd863bb06645968610f699a9a91d11537cf2a88a29f9c72ef28";
    assert_eq!(path(4, 1), [leaf_hashes[0], right]);
    assert_eq!(path(4, 2), [leaf_hashes[3], roots[1]]);
    assert!(verify_inclusion(2, 4, &hash(leaf_hashes[2]), &inclusion_path(&leaves, 2), &hash(roots[3])));
}
