//! Proofs exchanged with an independent implementation, the crate `ct-merkle`, in both directions.

use colibri_proof::tree::rfc9162::{
    Hash, consistency_path, inclusion_path, leaf_hash, root, verify_consistency, verify_inclusion,
};
use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use sha2::Sha256;

const LARGEST: usize = 66;

/// Leaf inputs of different lengths.
fn inputs() -> Vec<Vec<u8>> {
    (0..LARGEST).map(|number| format!("input {number} {}", "x".repeat(number)).into_bytes()).collect()
}

fn their_tree(inputs: &[Vec<u8>]) -> MemoryBackedTree<Sha256, Vec<u8>> {
    let mut tree = MemoryBackedTree::new();
    inputs.iter().for_each(|input| tree.push(input.clone()));
    tree
}

fn split(path: &[u8]) -> Vec<Hash> {
    let (hashes, rest) = path.as_chunks::<32>();
    assert!(rest.is_empty());
    hashes.to_vec()
}

fn their_root(hash: &Hash, size: usize) -> RootHash<Sha256> {
    RootHash::new((*hash).into(), size as u64)
}

#[test]
fn inclusion_proofs_are_exchanged_both_ways() {
    let inputs = inputs();
    let leaves: Vec<Hash> = inputs.iter().map(|input| leaf_hash(input)).collect();
    for size in 1..=LARGEST {
        let theirs = their_tree(&inputs[..size]);
        let our_root = root(&leaves[..size]);
        assert_eq!(theirs.root().as_bytes().as_slice(), our_root, "{size} leaves");
        for index in 0..size {
            let path = split(theirs.prove_inclusion(index).as_bytes());
            let at = index as u64;
            assert!(verify_inclusion(at, size as u64, &leaves[index], &path, &our_root), "{index} of {size}");
            let ours = inclusion_path(&leaves[..size], at);
            let proof = InclusionProof::try_from_bytes(ours.concat()).unwrap();
            let judge = their_root(&our_root, size);
            assert!(judge.verify_inclusion(&inputs[index], at, &proof).is_ok(), "{index} of {size}");
            // They refuse ours for another leaf, so their verdict means something.
            assert!(judge.verify_inclusion(&b"another".to_vec(), at, &proof).is_err());
        }
    }
}

#[test]
fn consistency_proofs_are_exchanged_both_ways() {
    let inputs = inputs();
    let leaves: Vec<Hash> = inputs.iter().map(|input| leaf_hash(input)).collect();
    for next in 1..=LARGEST {
        let theirs = their_tree(&inputs[..next]);
        let second = root(&leaves[..next]);
        for size in 1..=next {
            let first = root(&leaves[..size]);
            let path = split(theirs.prove_consistency(next - size).as_bytes());
            let holds = verify_consistency(size as u64, next as u64, &first, &second, &path);
            assert!(holds, "{size} to {next}");
            let ours = consistency_path(&leaves[..next], size as u64);
            assert_eq!(ours, path, "{size} to {next}");
            let proof = ConsistencyProof::try_from_bytes(ours.concat()).unwrap();
            let (old, new) = (their_root(&first, size), their_root(&second, next));
            assert!(new.verify_consistency(&old, &proof).is_ok(), "{size} to {next}");
            let other = their_root(&leaf_hash(b"another"), size);
            assert!(new.verify_consistency(&other, &proof).is_err(), "{size} to {next}");
        }
    }
}
