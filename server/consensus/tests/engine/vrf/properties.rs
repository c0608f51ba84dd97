//! Properties of every key and input. `COLIBRI_VRF_RUNS` says how many are tried.

use colibri_consensus::ecvrf::{ecvrf_proof_to_hash, ecvrf_prove, ecvrf_verify};
use colibri_consensus::private_key::PrivateKey;
use colibri_consensus::vrf::{alpha, vrf_eval, vrf_verify};
use proptest::collection::vec;
use proptest::prelude::*;

fn runs() -> ProptestConfig {
    let runs = std::env::var("COLIBRI_VRF_RUNS").ok().and_then(|runs| runs.parse().ok());
    ProptestConfig::with_cases(runs.unwrap_or(64))
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn every_proof_verifies_and_is_bound_to_all_it_was_made_for(
        private in any::<[u8; 32]>(),
        seed in vec(any::<u8>(), 0..40),
        input in vec(any::<u8>(), 0..200),
        flip in any::<prop::sample::Index>(),
    ) {
        let key = PrivateKey::from_seed(&private);
        let public = key.public_key();
        let evaluation = vrf_eval(&seed, &input, &key).unwrap();
        prop_assert!(vrf_verify(&seed, &input, &evaluation.output, &evaluation.proof, &public));
        prop_assert_eq!(ecvrf_proof_to_hash(&evaluation.proof), Ok(evaluation.output));

        let mut proof = evaluation.proof;
        let bit = flip.index(640);
        proof[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(ecvrf_verify(&public, &alpha(&seed, &input), &proof).is_err(), "bit {bit}");
        let mut other = public;
        other[bit % 32] ^= 1 << (bit % 8);
        prop_assert!(ecvrf_verify(&other, &alpha(&seed, &input), &evaluation.proof).is_err(), "bit {bit}");
        let longer = [&input[..], &[0]].concat();
        prop_assert!(ecvrf_verify(&public, &alpha(&seed, &longer), &evaluation.proof).is_err());
    }

    /// consensus#vrf: about half of the output's bits change with one bit of the input. With 512 bits, less than
    /// 150 or more than 362 are further than nine standard deviations away.
    #[test]
    fn one_bit_of_the_input_changes_half_the_output(
        private in any::<[u8; 32]>(),
        mut input in vec(any::<u8>(), 1..60),
        flip in any::<prop::sample::Index>(),
    ) {
        let key = PrivateKey::from_seed(&private);
        let before = vrf_eval(&[1], &input, &key).unwrap();
        prop_assert_eq!(vrf_eval(&[1], &input, &key).unwrap(), before, "the same again");
        let bit = flip.index(input.len() * 8);
        input[bit / 8] ^= 1 << (bit % 8);
        let after = vrf_eval(&[1], &input, &key).unwrap();
        let changed: u32 = before.output.iter().zip(after.output).map(|(a, b)| (a ^ b).count_ones()).sum();
        prop_assert!((150..=362).contains(&changed), "{changed} of 512 bits");
    }

    #[test]
    fn no_two_pairs_become_the_same_bytes(
        one in (vec(0..3_u8, 1..6), vec(0..3_u8, 0..6)),
        other in (vec(0..3_u8, 1..6), vec(0..3_u8, 0..6)),
        private in any::<[u8; 32]>(),
    ) {
        prop_assert_eq!(alpha(&one.0, &one.1) == alpha(&other.0, &other.1), one == other);
        // The same bytes, split at another place.
        let joined = [&one.0[..], &one.1].concat();
        let key = PrivateKey::from_seed(&private);
        if !one.1.is_empty() {
            prop_assert_ne!(vrf_eval(&one.0, &one.1, &key).unwrap(), vrf_eval(&joined, &[], &key).unwrap());
        }
    }

    #[test]
    fn no_bytes_make_verification_panic(
        public in any::<[u8; 32]>(),
        alpha in vec(any::<u8>(), 0..80),
        proof in vec(any::<u8>(), 0..100),
        exact in any::<[[u8; 16]; 5]>(),
    ) {
        for proof in [&proof[..], exact.as_flattened()] {
            prop_assert!(ecvrf_verify(&public, &alpha, proof).is_err());
            ecvrf_proof_to_hash(proof).ok();
        }
    }

    /// Below the tool: proving alone, and its output without verification.
    #[test]
    fn proving_needs_no_verification(private in any::<[u8; 32]>(), alpha in vec(any::<u8>(), 0..300)) {
        let key = PrivateKey::from_seed(&private);
        let proof = ecvrf_prove(&key, &alpha).unwrap();
        prop_assert_eq!(ecvrf_verify(&key.public_key(), &alpha, &proof), ecvrf_proof_to_hash(&proof));
    }
}
