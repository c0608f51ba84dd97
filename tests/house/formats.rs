//! `docs/reference/formats.md` is what a second verifier is written from, so its preimages must hash to what it says.

use colibri_canonical::sha256_hex;

const PAGE: &str = include_str!("../../docs/reference/formats.md");

/// The blocks marked as preimages, with the digest in the line after each.
fn preimages() -> Vec<(&'static str, &'static str)> {
    let blocks = PAGE.split("```preimage\n").skip(1);
    blocks
        .map(|rest| {
            let (preimage, rest) = rest.split_once("\n```\n").expect("the block ends");
            let digest = rest.trim_start().strip_prefix("SHA-256: `").expect("a digest follows");
            (preimage, &digest[..64])
        })
        .collect()
}

#[test]
fn every_preimage_of_the_page_has_the_digest_it_states() {
    let preimages = preimages();
    assert!(preimages.len() >= 8, "{} blocks", preimages.len());
    for (preimage, digest) in preimages {
        assert_eq!(sha256_hex(preimage.as_bytes()), digest, "{preimage}");
    }
}

#[test]
fn the_pages_json_is_canonical() {
    use colibri_canonical::{NumberRule, canonical_text};
    for (preimage, _) in preimages() {
        // A tree head, a session, tips: the first line is the domain tag.
        let json = preimage.split_once('\n').map_or(preimage, |(_, json)| json);
        assert_eq!(canonical_text(json, NumberRule::Sent).as_deref(), Some(json));
    }
}
