//! The original's tree: what merkletreejs makes of the same leaves, and what the chapter says of proofs.

use colibri_canonical::HexDigest;
use colibri_proof::tree::legacy::{
    EMPTY_TREE_ROOT, LegacyAccumulator, MAX_PROOF_STEPS, ProofStep, Side, build_merkle_tree, generate_proof,
    verify_proof, verify_record_inclusion,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::proof::support::{legacy_leaf, legacy_leaves, records};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../vectors/merkletreejs.json")).unwrap()
}

fn accumulated(leaves: &[HexDigest]) -> String {
    let mut sorted: Vec<HexDigest> = leaves.to_vec();
    sorted.sort_by_key(HexDigest::raw);
    let mut tree = LegacyAccumulator::default();
    sorted.iter().for_each(|leaf| tree.push(leaf));
    assert_eq!(tree.size(), leaves.len() as u64);
    tree.root().as_str().to_owned()
}

#[test]
fn roots_are_those_of_merkletreejs_for_0_to_257_leaves() {
    let vectors = vectors();
    let roots = vectors["roots"].as_array().unwrap();
    assert_eq!(roots.len(), 258);
    for (count, root) in roots.iter().enumerate() {
        // The library has no root for no leaves; the original put this one in its place.
        let root = if count == 0 { EMPTY_TREE_ROOT } else { root.as_str().unwrap() };
        let leaves = legacy_leaves(count);
        assert_eq!(build_merkle_tree(&leaves).root().as_str(), root, "{count} leaves");
        assert_eq!(accumulated(&leaves), root, "{count} leaves, one by one");
    }
}

#[test]
fn roots_are_those_of_the_chapter() {
    let listed = [
        (1, "d2dbf006f96dd05044a8f63d8f118f23925ba4cc5750f8b6c8e287fd506c8188"),
        (2, "70eec33ec1e55edcf6150a2d90fc8f3e8441ebbecbcf9afb84fcb7a8b512a72e"),
        (3, "200d59fb6a1000a82fafe991dade6a31977c60fc0014ddd1de420338e7b21caf"),
        (7, "745154d93733c9bdcebcd608082c4dd671fe71468340b57b67a5b7fe3f893211"),
        (10, "89e9e72196f49b2a0ee8129ae56593cdb81caa951c5f7f183f0158f3078d902e"),
        (16, "9bf2513108359ea1210b17a9806c6002f86dd2ecf623fd318d738dda16b56e8f"),
    ];
    for (count, root) in listed {
        assert_eq!(build_merkle_tree(&legacy_leaves(count)).root().as_str(), root, "{count} leaves");
    }
    // The two records of trail#golden-vectors.
    let pinned = [
        "6a2f9597f563d5515cfa69891a51806d0f93bfbe222997d3ba37c365ceee3f1a",
        "2f616d9fd12baac42b21f0b10bdb4e9840cac24154cffd13da621b4019b1347f",
    ];
    let five = [
        "cf5a3ced9a621eadd272ebf871f8501005f5a93e3589437bcba93b821f62aa5b",
        "f6ec467d458bdca4a24b291f722fee92cabc8443358912d30fe4812400d36a55",
        "fd0b093f33a391d1094bc6b526083274962e42a14835217f6bd8e90213a8c08e",
        "be32f512effce6f1bf5b6e9e4a0e9c111a75e8811b118eb53eb1f1dbd7edc29d",
        "add65fcd73e2bd30e00661310a712a1aa97ed32b5c4b9d26ffd7947de066af0b",
    ];
    let listed = [
        (&pinned[..], "da7cd413f08fbec3407f6232cc0abe9f21206a01242db26113b2860f29c308d7"),
        (&five[..], "7e9bd8291e179966baa07fd3698108b5725fc84fd2071fb7b8fc67668bb7709e"),
    ];
    for (leaves, root) in listed {
        let leaves: Vec<HexDigest> = leaves.iter().map(|leaf| HexDigest::parse(leaf).unwrap()).collect();
        assert_eq!(build_merkle_tree(&leaves).root().as_str(), root);
    }
    let hashes: Vec<HexDigest> = records().iter().map(|record| record.hash).collect();
    let root = |count: usize| build_merkle_tree(&hashes[..count]).root().as_str().to_owned();
    assert_eq!(root(3), "5d9e43f82dba790d461045c26adf0b40de0eb5373d840ec2ee479f23c51ebf98");
    assert_eq!(root(4), "d6f1ba4bb32ac97672bd748b53882e055468b67f92203ef403258b73638e4311");
}

#[test]
fn proofs_are_those_of_merkletreejs() {
    let vectors = vectors();
    let proofs = vectors["proofs"].as_array().unwrap();
    assert!(proofs.len() > 60);
    for case in proofs {
        let (size, index) = (case["size"].as_u64().unwrap(), case["leaf"].as_u64().unwrap());
        let tree = build_merkle_tree(&legacy_leaves(size as usize));
        let expected: Vec<ProofStep> = serde_json::from_value(case["proof"].clone()).unwrap();
        assert_eq!(generate_proof(&tree, &legacy_leaf(index as usize)), expected, "leaf {index} of {size}");
    }
}

#[test]
fn every_proof_verifies_and_no_spoiled_one_does() {
    for count in 1..=64 {
        let leaves = legacy_leaves(count);
        let tree = build_merkle_tree(&leaves);
        let root = tree.root();
        for (index, leaf) in leaves.iter().enumerate() {
            let proof = generate_proof(&tree, leaf);
            let holds = |root: &HexDigest, proof: &[ProofStep], leaf: &HexDigest| {
                verify_proof(root.as_str(), proof, leaf.as_str())
            };
            assert!(holds(&root, &proof, leaf), "leaf {index} of {count}");
            // One bit a proof, another one in each.
            let bit = (index * 7 + count * 13) % 256;
            assert!(!holds(&flipped(&root, bit), &proof, leaf));
            assert!(!holds(&root, &proof, &flipped(leaf, bit)));
            for step in 0..proof.len() {
                let mut spoiled = proof.clone();
                let sibling = HexDigest::parse(&spoiled[step].data).unwrap();
                spoiled[step].data = flipped(&sibling, bit).as_str().to_owned();
                assert!(!holds(&root, &spoiled, leaf), "step {step} of leaf {index} of {count}");
            }
            if let Some((_, shorter)) = proof.split_last() {
                assert!(!holds(&root, shorter, leaf), "leaf {index} of {count}, cut");
            }
        }
    }
}

fn flipped(digest: &HexDigest, bit: usize) -> HexDigest {
    let mut raw = digest.raw();
    raw[bit / 8] ^= 1 << (bit % 8);
    HexDigest::from_raw(&raw)
}

#[test]
fn any_bit_of_a_proof_counts() {
    let tree = build_merkle_tree(&legacy_leaves(3));
    let leaf = legacy_leaf(1);
    let proof = generate_proof(&tree, &leaf);
    let root = tree.root();
    assert!(verify_proof(root.as_str(), &proof, leaf.as_str()));
    for bit in 0..256 {
        assert!(!verify_proof(flipped(&root, bit).as_str(), &proof, leaf.as_str()), "root, bit {bit}");
        assert!(!verify_proof(root.as_str(), &proof, flipped(&leaf, bit).as_str()), "leaf, bit {bit}");
        for step in 0..proof.len() {
            let mut spoiled = proof.clone();
            let sibling = HexDigest::parse(&spoiled[step].data).unwrap();
            spoiled[step].data = flipped(&sibling, bit).as_str().to_owned();
            assert!(!verify_proof(root.as_str(), &spoiled, leaf.as_str()), "step {step}, bit {bit}");
        }
    }
}

#[test]
fn absent_leaves_and_malformed_proofs_verify_nothing() {
    let tree = build_merkle_tree(&legacy_leaves(5));
    let root = tree.root();
    assert_eq!(generate_proof(&tree, &legacy_leaf(5)), []);
    assert_eq!(generate_proof(&build_merkle_tree(&[]), &legacy_leaf(0)), []);
    assert!(!verify_proof(root.as_str(), &[], legacy_leaf(0).as_str()));
    let single = build_merkle_tree(&legacy_leaves(1));
    assert_eq!(generate_proof(&single, &legacy_leaf(0)), []);
    assert!(verify_proof(single.root().as_str(), &[], legacy_leaf(0).as_str()));

    let leaf = legacy_leaf(2);
    let proof = generate_proof(&tree, &leaf);
    let holds = |proof: &[ProofStep]| verify_proof(root.as_str(), proof, leaf.as_str());
    let mut inverted = proof.clone();
    for step in &mut inverted {
        step.position = if step.position == Side::Left { Side::Right } else { Side::Left };
    }
    assert!(holds(&inverted), "the position is advisory");
    let data = proof[0].data.clone();
    for bad in [
        data[2..].to_owned(),
        format!("{data}00"),
        data.to_uppercase(),
        format!("0x{data}"),
        format!("0x{}", &data[2..]),
        String::new(),
        "é".repeat(32),
    ] {
        let mut spoiled = proof.clone();
        spoiled[0].data.clone_from(&bad);
        assert!(!holds(&spoiled), "{bad}");
        assert!(!verify_proof(&bad, &proof, leaf.as_str()) && !verify_proof(root.as_str(), &proof, &bad));
    }
    let endless = vec![proof[0].clone(); MAX_PROOF_STEPS + 1];
    assert!(!holds(&endless));
}

#[test]
fn more_steps_than_any_tree_has_are_refused() {
    let step = ProofStep { position: Side::Left, data: legacy_leaf(1).as_str().to_owned() };
    let fold = |steps: usize| {
        let mut root = legacy_leaf(0);
        for _ in 0..steps {
            root = build_merkle_tree(&[root, legacy_leaf(1)]).root();
        }
        let proof = vec![step.clone(); steps];
        verify_proof(root.as_str(), &proof, legacy_leaf(0).as_str())
    };
    assert!(fold(MAX_PROOF_STEPS));
    assert!(!fold(MAX_PROOF_STEPS + 1));
}

#[test]
fn an_inner_node_passes_for_a_leaf_but_never_for_a_record() {
    let node = HexDigest::parse("436f8729cd6371869e8ddfaee3bd95e7b1c50ab83fd4773f810fac4138b02ac6").unwrap();
    let root = build_merkle_tree(&legacy_leaves(3)).root();
    let proof = [ProofStep { position: Side::Left, data: legacy_leaf(0).as_str().to_owned() }];
    assert!(verify_proof(root.as_str(), &proof, node.as_str()));
    assert_eq!(build_merkle_tree(&[node, legacy_leaf(0)]).root(), root);

    let mut forged = records().remove(0);
    forged.hash = node;
    assert!(!verify_record_inclusion(&forged, &proof, root.as_str()));
}

#[test]
fn a_record_is_a_member_only_as_it_was_hashed() {
    let records = records();
    let hashes: Vec<HexDigest> = records.iter().map(|record| record.hash).collect();
    let tree = build_merkle_tree(&hashes);
    for record in &records {
        let proof = generate_proof(&tree, &record.hash);
        let root = tree.root();
        assert!(verify_record_inclusion(record, &proof, root.as_str()));
        let mut edited = record.clone();
        edited.content.push('!');
        assert!(!verify_record_inclusion(&edited, &proof, root.as_str()));
        let mut renamed = record.clone();
        renamed.hash = HexDigest::ZERO;
        assert!(!verify_record_inclusion(&renamed, &proof, root.as_str()));
    }
    let proof = generate_proof(&tree, &records[2].hash);
    let steps: Vec<(Side, &str)> = proof.iter().map(|step| (step.position, step.data.as_str())).collect();
    assert_eq!(
        steps,
        [
            (Side::Left, "9c7f434b834c8fae6ecf1bb7ded1ed6ad7790dfa407c8d324bb78184ffb4f69e"),
            (Side::Right, "bebde54e40cd7b8fcb5e615f525f795c59b9cc72c127e40faf35233b48dc976e"),
        ]
    );
}

proptest! {
    #[test]
    fn the_order_of_the_input_does_not_matter(
        leaves in (0_usize..80).prop_flat_map(|count| Just(legacy_leaves(count)).prop_shuffle()),
    ) {
        let mut sorted = leaves.clone();
        sorted.sort_by_key(HexDigest::raw);
        let root = build_merkle_tree(&sorted).root();
        prop_assert_eq!(build_merkle_tree(&leaves).root(), root);
        prop_assert_eq!(accumulated(&leaves), root.as_str());
    }

    /// Equal leaves are kept, not merged, and each way to build the tree agrees.
    #[test]
    fn equal_leaves_are_kept(picks in prop::collection::vec(0_usize..4, 2..40)) {
        let leaves: Vec<HexDigest> = picks.into_iter().map(legacy_leaf).collect();
        let tree = build_merkle_tree(&leaves);
        prop_assert_eq!(tree.levels()[0].len(), leaves.len());
        let root = tree.root();
        prop_assert_eq!(accumulated(&leaves), root.as_str());
        for leaf in &leaves {
            prop_assert!(verify_proof(root.as_str(), &generate_proof(&tree, leaf), leaf.as_str()));
        }
    }

    /// No text makes verification panic, and next to none verifies.
    #[test]
    fn hostile_proofs_verify_nothing(root in any::<String>(), data in any::<Vec<String>>(), leaf in any::<String>()) {
        let proof: Vec<ProofStep> =
            data.into_iter().map(|data| ProofStep { position: Side::Right, data }).collect();
        prop_assert!(!verify_proof(&root, &proof, &leaf));
    }
}
