//! The verifiable random function.

use colibri_consensus::ecvrf::ecvrf_verify;
use colibri_consensus::private_key::parse_private_key;
use colibri_consensus::vrf::vrf_verify;
use colibri_test_support::client::{Server, envelope};
use serde_json::{Value, json};

use crate::consensus::world::{PKCS8, PUBLIC_B, SEED_A, SEED_B, SEED_C, World, launch, unhex};

/// Seed, input, key, output and proof: the examples of RFC 9381 appendix B.3 and the rows of consensus#vrf.
const VECTORS: [[&str; 5]; 6] = [
    [
        "",
        "",
        SEED_A,
        "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae",
        "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab1268a1b0db10836d9826a528ca76567805",
    ],
    [
        "",
        "72",
        SEED_B,
        "eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb5e33821bc613efb94db5e5b54c70a848a0bef4553a41befc57663b56373a5031",
        "f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed5933bf0864a62558b3ed7f2fea45c92a465301b3bbf5e3e54ddf2d935be3b67926da3ef39226bbc355bdc9850112c8f4b02",
    ],
    [
        "",
        "af82",
        SEED_C,
        "645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c452118fec1219202a0edcf038bb6373241578be7217ba85a2687f7a0310b2df19f",
        "9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf8096bb474e53895c362d8628ee9f9ea3c0e52c7a5c691b6c18c9979866568add7a2d41b00b05081ed0f58ee5e31b3a970e",
    ],
    [
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "0000000000000001",
        SEED_B,
        "882a45adb35b222a0cfd002acc0d5a3ba699be426b2db25430ea4832b57ae4149ff43c7b85ad44ed565f4366d9afe10f2b93fe1efd18fb524111aeaa1e081a22",
        "d66c08d396de95bb2a635610b8fa2e240e3f8504c670c8aab564d3e30a6dcc7d1132a207f75390cb51fb4c8ca4be4a6283498209871dfc17a8047c4de35317eac4b5652e7500502d3d5fb29a437f0c03",
    ],
    [
        "aa",
        "bb",
        SEED_B,
        "2c39ad2079292564ae0fba288c86eec39cf9597d3e58540717a24e7d27ab6b816179f62d218b4dc71301487b07eccf04e44c1091ec5c35885269f739765178c5",
        "47d090473915e648ed4d446f24a9bce594dcb9542f3db9acb6dd142b70aac0a3b5ed903883a2fa6f99b450a2cc75c6de8ac3c2f99244a68d42b09de21603c2e0b12ad7111cb88ced5d82a7ed3c09180c",
    ],
    [
        "aabb",
        "",
        SEED_B,
        "bf61d1e15632d754df5500c69aeebe7960faacfd5d0e4db20c6dd0b82fd3a02a7aa13d3de2b8fd638f0781801f89af8dbe3aa3c1f94907779dfaa618e2315db4",
        "7c6f59fa5ec7108acdaac6d82df123f79f8fbe5dd5df0d38bff43527ace34b5f51eaac57538b3b0466eab1641f8077a84024f096a6dee02fde08604de52abd94e37d5f713364a14ff63a731f6377f400",
    ],
];

fn arguments(seed: &str, input: &str, key: &str) -> Value {
    json!({ "seed_hex": seed, "input_hex": input, "priv_key_hex": key })
}

fn eval(server: &mut Server, seed: &str, input: &str, key: &str) -> Value {
    server.data("vrf_eval", arguments(seed, input, key))
}

fn bytes(data: &Value, key: &str) -> Vec<u8> {
    unhex(data[key].as_str().unwrap())
}

#[test]
fn outputs_and_proofs_are_those_of_the_vectors() {
    let mut server = launch().start();
    for [seed, input, key, output, proof] in VECTORS {
        let expected = json!({ "output_hex": output, "proof_hex": proof });
        assert_eq!(eval(&mut server, seed, input, key), expected, "{seed}, {input}");
    }
}

#[test]
fn what_the_tool_returns_verifies_outside() {
    let mut server = launch().start();
    for [seed, input, key, ..] in VECTORS {
        let data = eval(&mut server, seed, input, key);
        let (mut output, proof) = (bytes(&data, "output_hex"), bytes(&data, "proof_hex"));
        let public = parse_private_key(key).unwrap().public_key();
        let (seed, input) = (unhex(seed), unhex(input));
        assert!(vrf_verify(&seed, &input, &output, &proof, &public));
        output[63] ^= 1;
        assert!(!vrf_verify(&seed, &input, &output, &proof, &public), "another output");
    }
}

/// Of the tool's own proof; all other negative vectors are in `server/consensus/tests/engine/vrf`.
#[test]
fn no_bit_of_a_returned_proof_may_change() {
    let data = eval(&mut launch().start(), "", "", SEED_A);
    let proof = bytes(&data, "proof_hex");
    let public = parse_private_key(SEED_A).unwrap().public_key();
    assert_eq!(
        ecvrf_verify(&public, &[], &proof).map(|output| output.to_vec()),
        Ok(bytes(&data, "output_hex"))
    );
    for bit in 0..640 {
        let mut other = proof.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(ecvrf_verify(&public, &[], &other).is_err(), "bit {bit}");
    }
}

#[test]
fn what_is_no_key_evaluates_nothing() {
    let mut world = World::new();
    for (key, message) in [
        ("", "INVALID_KEY: key is empty"),
        ("aa", "INVALID_KEY: expected 32, 48 or 64 bytes, got 1"),
        (&"aa".repeat(48), "INVALID_KEY: 48-byte key is not an Ed25519 PKCS#8 document"),
        (&format!("{SEED_A}{PUBLIC_B}"), "INVALID_KEY: public half does not match the seed"),
    ] {
        assert_eq!(world.failed("vrf_eval", arguments("", "72", key)), message);
    }
    for key in ["zz", "abc", "AA", "0xaa", &"aa".repeat(129)] {
        world.invalid("vrf_eval", arguments("", "72", key));
    }
    for text in ["zz", "abc", "AA", "0xaa", "é"] {
        world.invalid("vrf_eval", arguments(text, "72", SEED_B));
        world.invalid("vrf_eval", arguments("", text, SEED_B));
    }
    for key in ["seed_hex", "input_hex", "priv_key_hex"] {
        let mut missing = arguments("", "72", SEED_B);
        missing.as_object_mut().unwrap().remove(key);
        world.invalid("vrf_eval", missing);
    }
    let mut more = arguments("", "72", SEED_B);
    more["more"] = json!(1);
    world.invalid("vrf_eval", more);
}

#[test]
fn the_same_call_has_the_same_reply_everywhere() {
    const CALLS: usize = 1_000;
    let mut server = launch().env("COLIBRI_DURABILITY", "normal").start();
    let first = eval(&mut server, "aa", "bb", SEED_B);
    for _ in 0..CALLS / 50 {
        for _ in 0..50 {
            server.send_call("vrf_eval", arguments("aa", "bb", SEED_B));
        }
        for _ in 0..50 {
            assert_eq!(envelope(&server.receive())["data"], first);
        }
    }
    assert_eq!(eval(&mut launch().start(), "aa", "bb", SEED_B), first, "in another process");
    let other = eval(&mut server, "aa", "ba", SEED_B);
    let bits = |data: &Value| bytes(data, "output_hex");
    let changed: u32 = bits(&first).iter().zip(bits(&other)).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert!((150..=362).contains(&changed), "one bit of the input changes half the output: {changed} of 512");
}

#[test]
fn every_form_of_a_key_has_the_same_output() {
    let mut server = launch().start();
    let expected = json!({ "output_hex": VECTORS[1][3], "proof_hex": VECTORS[1][4] });
    for form in [format!("{PKCS8}{SEED_B}"), format!("{SEED_B}{PUBLIC_B}")] {
        assert_eq!(eval(&mut server, "", "72", &form), expected);
    }
}

#[test]
fn inputs_of_a_mebibyte_of_hex_are_taken() {
    let mut world = World::new();
    let (longest, longer) = ("ab".repeat(1 << 19), "ab".repeat((1 << 19) + 1));
    let seeded = eval(&mut world.server, &longest, "", SEED_B);
    let plain = eval(&mut world.server, "", &longest, SEED_B);
    let public = parse_private_key(SEED_B).unwrap().public_key();
    for (data, seed, input) in [(seeded, &longest[..], ""), (plain, "", &longest)] {
        let (output, proof) = (bytes(&data, "output_hex"), bytes(&data, "proof_hex"));
        assert!(vrf_verify(&unhex(seed), &unhex(input), &output, &proof, &public));
    }
    world.invalid("vrf_eval", arguments(&longer, "", SEED_B));
    world.invalid("vrf_eval", arguments("", &longer, SEED_B));
}
