//! Proofs and outputs from publications and from another implementation.

use colibri_consensus::ecvrf::{ecvrf_proof_to_hash, ecvrf_prove, ecvrf_verify};
use colibri_consensus::vrf::{alpha, vrf_eval, vrf_verify};
use serde_json::Value;

use crate::vrf::support::{AA, SEED_A, SEED_B, SEED_C, hex, key, unhex};

/// Seed, alpha, pi and beta of RFC 9381 appendix B.3.
const EXAMPLES: [[&str; 4]; 3] = [
    [
        SEED_A,
        "",
        "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805",
        "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae",
    ],
    [
        SEED_B,
        "72",
        "f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02",
        "eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb5e33821bc613efb94db5e5b54c70a848a0bef4553a41befc57663b56373a5031",
    ],
    [
        SEED_C,
        "af82",
        "9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e",
        "645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c452118fec1219202a0edcf038bb6373241578be7217ba85a2687f7a0310b2df19f",
    ],
];

/// Seed, input, output and proof of key B (consensus#vrf).
const TOOL_LEVEL: [[&str; 4]; 3] = [
    [
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "0000000000000001",
        "882a45adb35b222a0cfd002acc0d5a3ba699be426b2db25430ea4832b57ae4149ff43c7b85ad44ed565f4366d9afe10f2b93fe1efd18fb524111aeaa1e081a22",
        "d66c08d396de95bb2a635610b8fa2e240e3f8504c670c8aab564d3e30a6dcc7d1132a207f75390cb51fb4c8ca4be4a6283498209871dfc17a8047c4de35317eac4b5652e7500502d3d5fb29a437f0c03",
    ],
    [
        "aa",
        "bb",
        "2c39ad2079292564ae0fba288c86eec39cf9597d3e58540717a24e7d27ab6b816179f62d218b4dc71301487b07eccf04e44c1091ec5c35885269f739765178c5",
        "47d090473915e648ed4d446f24a9bce594dcb9542f3db9acb6dd142b70aac0a3b5ed903883a2fa6f99b450a2cc75c6de8ac3c2f99244a68d42b09de21603c2e0b12ad7111cb88ced5d82a7ed3c09180c",
    ],
    [
        "aabb",
        "",
        "bf61d1e15632d754df5500c69aeebe7960faacfd5d0e4db20c6dd0b82fd3a02a7aa13d3de2b8fd638f0781801f89af8dbe3aa3c1f94907779dfaa618e2315db4",
        "7c6f59fa5ec7108acdaac6d82df123f79f8fbe5dd5df0d38bff43527ace34b5f51eaac57538b3b0466eab1641f8077a84024f096a6dee02fde08604de52abd94e37d5f713364a14ff63a731f6377f400",
    ],
];

#[test]
fn examples_of_rfc_9381_are_reproduced() {
    for [seed, alpha, proof, output] in EXAMPLES {
        let (key, alpha) = (key(seed), unhex(alpha));
        let proven = ecvrf_prove(&key, &alpha).unwrap();
        assert_eq!(hex(&proven), proof, "{seed}");
        assert_eq!(hex(&ecvrf_verify(&key.public_key(), &alpha, &proven).unwrap()), output, "{seed}");
        assert_eq!(hex(&ecvrf_proof_to_hash(&proven).unwrap()), output, "{seed}");
        // Without a seed, the input is proven as it is.
        let evaluation = vrf_eval(&[], &alpha, &key).unwrap();
        assert_eq!((hex(&evaluation.output), hex(&evaluation.proof)), (output.to_owned(), proof.to_owned()));
    }
}

#[test]
fn seed_and_input_are_told_apart() {
    for [seed, input, output, proof] in TOOL_LEVEL {
        let evaluation = vrf_eval(&unhex(seed), &unhex(input), &key(SEED_B)).unwrap();
        assert_eq!(hex(&evaluation.output), output, "{seed}, {input}");
        assert_eq!(hex(&evaluation.proof), proof, "{seed}, {input}");
    }
    let text = "636f6c696272692d7672662d616c7068612d76310000000000000020".to_owned();
    assert_eq!(hex(&alpha(&AA, &unhex("0000000000000001"))), text + &"aa".repeat(32) + "0000000000000001");
}

#[test]
fn what_was_evaluated_verifies_and_nothing_else_does() {
    let with_seed = TOOL_LEVEL.map(|[seed, input, ..]| (SEED_B, seed, input));
    let without = EXAMPLES.map(|[private, alpha, ..]| (private, "", alpha));
    for (private, seed, input) in with_seed.into_iter().chain(without) {
        let (key, seed, input) = (key(private), unhex(seed), unhex(input));
        let public = key.public_key();
        let evaluation = vrf_eval(&seed, &input, &key).unwrap();
        let (output, proof) = (evaluation.output, evaluation.proof);
        assert!(vrf_verify(&seed, &input, &output, &proof, &public));
        for bit in 0..512 {
            let mut other = output;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!vrf_verify(&seed, &input, &other, &proof, &public), "bit {bit} of the output");
        }
        assert!(!vrf_verify(&seed, &input, &output[..63], &proof, &public));
        assert!(!vrf_verify(&[&seed[..], &[1]].concat(), &input, &output, &proof, &public));
        assert!(!vrf_verify(&seed, &[&input[..], &[1]].concat(), &output, &proof, &public));
    }
}

/// See the file's `origin`.
#[test]
fn another_implementation_makes_the_same_proofs() {
    let vectors: Value = serde_json::from_str(include_str!("../../vectors/ecvrf-tai.json")).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let field = |name: &str| case[name].as_str().unwrap();
        let evaluation = vrf_eval(&[], &unhex(field("alpha")), &key(field("seed"))).unwrap();
        assert_eq!(hex(&evaluation.proof), field("proof"), "{case}");
        assert_eq!(hex(&evaluation.output), field("output"), "{case}");
    }
}
