//! Values on the way to a proof, which only this file can test. One of them, the nonce, must never be published.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{Expanded, Parts, decode_point, encode_to_curve, scalar};
use crate::ecvrf::ecvrf_prove;
use crate::private_key::parse_private_key;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// An example of RFC 9381 appendix B.3.
struct Example {
    seed: &'static str,
    alpha: &'static str,
    attempt: u8,
    h: &'static str,
    k: &'static str,
    u: &'static str,
    v: &'static str,
}

const EXAMPLES: [Example; 3] = [
    Example {
        seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        alpha: "",
        attempt: 0,
        h: "91bbed02a99461df1ad4c6564a5f5d829d0b90cfc7903e7a5797bd658abf3318",
        k: "8a49edbd1492a8ee09766befe50a7d563051bf3406cbffc20a88def030730f0f",
        u: "aef27c725be964c6a9bf4c45ca8e35df258c1878b838f37d9975523f09034071",
        v: "5016572f71466c646c119443455d6cb9b952f07d060ec8286d678615d55f954f",
    },
    Example {
        seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        alpha: "72",
        attempt: 1,
        h: "5b659fc3d4e9263fd9a4ed1d022d75eaacc20df5e09f9ea937502396598dc551",
        k: "d8c3a66921444cb3427d5d989f9b315aa8ca3375e9ec4d52207711a1fdb44107",
        u: "1dcb0a4821a2c48bf53548228b7f170962988f6d12f5439f31987ef41f034ab3",
        v: "fd03c0bf498c752161bae4719105a074630a2aa5f200ff7b3995f7bfb1513423",
    },
    Example {
        seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        alpha: "af82",
        attempt: 0,
        h: "bf4339376f5542811de615e3313d2b36f6f53c0acfebb482159711201192576a",
        k: "5ffdbc72135d936014e8ab708585fda379405542b07e3bd2c0bd48437fbac60a",
        u: "2bae73e15a64042fcebf062abe7e432b2eca6744f3e8265bc38e009cd577ecd5",
        v: "88cba1cb0d4f9b649d9a86026b69de076724a93a65c349c988954f0961c5d506",
    },
];

#[test]
fn values_on_the_way_are_those_of_rfc_9381() {
    for Example { seed, alpha, attempt, h, k, u, v } in EXAMPLES {
        let (key, alpha) = (parse_private_key(seed).unwrap(), unhex(alpha));
        let public = key.public_key();
        let (tried, point) = encode_to_curve(&public, &alpha).unwrap();
        assert_eq!((tried, point.compress().to_bytes().to_vec()), (attempt, unhex(h)), "{seed}: H");
        let nonce = Expanded::of(&key).nonce(&point);
        assert_eq!(nonce.to_bytes().to_vec(), unhex(k), "{seed}: k");
        assert_eq!(EdwardsPoint::mul_base(&nonce).compress().to_bytes().to_vec(), unhex(u), "{seed}: U");
        assert_eq!((point * *nonce).compress().to_bytes().to_vec(), unhex(v), "{seed}: V");

        // The verifier's U and V are the same points, from the proof and the public key alone.
        let Parts { gamma, c, s } = Parts::of(&ecvrf_prove(&key, &alpha).unwrap()).unwrap();
        let (y, c) = (decode_point(&public).unwrap(), scalar(&c));
        assert_eq!((EdwardsPoint::mul_base(&s) - y * c).compress().to_bytes().to_vec(), unhex(u));
        assert_eq!((point * s - gamma * c).compress().to_bytes().to_vec(), unhex(v));
    }
}

/// The encodings that RFC 8032 §5.1.3 refuses and the curve crate takes: y of p and more, and -0.
#[test]
fn points_have_one_encoding_only() {
    let mut lenient = 0;
    for sign in [0x00, 0x80] {
        // p is 2^255 - 19, so the encodings not below it end in 0xed to 0xff.
        for low in 0xed..=0xff {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (low, 0x7f | sign);
            assert!(decode_point(&bytes).is_none(), "{bytes:02x?}");
            lenient += usize::from(CompressedEdwardsY(bytes).decompress().is_some());
        }
    }
    for y in [1, -1] {
        let mut bytes = [0; 32];
        match y {
            1 => bytes[0] = 1,
            _ => (bytes, bytes[0], bytes[31]) = ([0xff; 32], 0xec, 0x7f),
        }
        assert!(decode_point(&bytes).is_some(), "x = 0 has the sign 0: {bytes:02x?}");
        bytes[31] |= 0x80;
        assert!(decode_point(&bytes).is_none(), "{bytes:02x?}");
        lenient += usize::from(CompressedEdwardsY(bytes).decompress().is_some());
    }
    assert!(lenient > 10, "the curve crate takes {lenient} of them, so the check here is needed");
}
