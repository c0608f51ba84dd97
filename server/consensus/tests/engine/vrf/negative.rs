//! What verification must refuse (consensus#vrf).

use colibri_consensus::ecvrf::{VrfError, ecvrf_proof_to_hash, ecvrf_verify};

use crate::vrf::support::{SEED_A, SEED_B, array, hex, key, unhex};

/// Key A's proof for no bytes (RFC 9381 example 16).
const PROOF: &str = "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805";
/// The same with the group's order added to s.
const PROOF_PLUS_ORDER: &str = "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d9714a6c656cb68b83c2d4055f28ed48a2768a1b0db10836d9826a528ca76567815";
/// The eight points of small order, each in every encoding that a lenient decoder takes (the list that libsodium
/// refuses, of which the sign bit is free).
const SMALL_ORDER: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

fn verify(public_key: &[u8; 32], alpha: &[u8], proof: &[u8]) -> Option<VrfError> {
    ecvrf_verify(public_key, alpha, proof).err()
}

#[test]
fn no_bit_of_a_proof_may_change() {
    let (public, proof) = (key(SEED_A).public_key(), unhex(PROOF));
    assert_eq!(verify(&public, &[], &proof), None);
    for bit in 0..640 {
        let mut other = proof.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(verify(&public, &[], &other), Some(VrfError::InvalidProof), "bit {bit}");
    }
}

#[test]
fn no_other_form_of_the_same_proof_passes() {
    let (public, proof) = (key(SEED_A).public_key(), unhex(PROOF));
    let longer = [&proof[..], &[0]].concat();
    for other in [&unhex(PROOF_PLUS_ORDER)[..], &proof[..79], &longer, &[]] {
        assert_eq!(verify(&public, &[], other), Some(VrfError::InvalidProof), "{}", hex(other));
        assert_eq!(ecvrf_proof_to_hash(other), Err(VrfError::InvalidProof), "{}", hex(other));
    }
    // Invalid encodings of Gamma: a sign bit on zero, and y of the prime or more.
    for low in 0xed..=0xff {
        let mut gamma = [0xff; 32];
        (gamma[0], gamma[31]) = (low, 0x7f);
        let other = [&gamma[..], &proof[32..]].concat();
        assert_eq!(ecvrf_proof_to_hash(&other), Err(VrfError::InvalidProof), "{}", hex(&other));
    }
}

#[test]
fn neither_input_nor_key_may_be_another() {
    let (public, proof) = (key(SEED_A).public_key(), unhex(PROOF));
    assert_eq!(verify(&public, &[0], &proof), Some(VrfError::InvalidProof));
    assert_eq!(verify(&key(SEED_B).public_key(), &[], &proof), Some(VrfError::InvalidProof));
}

#[test]
fn keys_of_small_order_and_in_second_encodings_are_none() {
    let proof = unhex(PROOF);
    for text in SMALL_ORDER {
        for sign in [0, 0x80] {
            let mut public: [u8; 32] = array(text);
            public[31] ^= sign;
            assert_eq!(verify(&public, &[], &proof), Some(VrfError::InvalidKey), "{}", hex(&public));
        }
    }
    // On no curve: y = 2 has no x.
    let mut public = [0; 32];
    public[0] = 2;
    assert_eq!(verify(&public, &[], &proof), Some(VrfError::InvalidKey));
}
