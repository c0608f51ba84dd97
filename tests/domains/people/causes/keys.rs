//! Keys: the one that signs seals, those that are trusted, and the node's.

use super::site::{Finding, Site};
use super::{Cause, fails, warns};

const SIGNING: &str = "COLIBRI_PROOF_SIGNING_KEY_FILE";
const TRUSTED: &str = "COLIBRI_PROOF_TRUSTED_KEYS";
const NODE: &str = "COLIBRI_CONSENSUS_KEY_FILE";
/// Hexadecimal, and no point of the curve.
const NO_POINT: &str = "0200000000000000000000000000000000000000000000000000000000000000";
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n";
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";

fn signing(site: &Site, content: &str, mode: u32) {
    site.set(SIGNING, "seal.key");
    site.write("seal.key", content);
    site.mode("seal.key", mode);
}

/// Names a file that `colibri keys generate` makes.
fn new_key(site: &Site, found: &Finding) {
    site.types(&format!("{} new.key", found.command("colibri keys generate")));
    site.set(SIGNING, "new.key");
}

fn node(site: &Site, content: &str, mode: u32) {
    site.set(NODE, "node.key");
    site.write("node.key", content);
    site.mode("node.key", mode);
}

pub const CAUSES: &[Cause] = &[
    fails(
        "A signing key that others may read",
        |site| signing(site, SEED, 0o644),
        "has mode 0644",
        |site, found| site.types_advised(found, "chmod"),
    ),
    fails(
        "A signing key that is not there",
        |site| site.set(SIGNING, "seal.key"),
        "seal.key: No such file",
        |site, found| site.types_advised(found, "colibri keys generate"),
    ),
    fails(
        "A signing key that is not a key",
        |site| signing(site, "no key\n", 0o600),
        "seal.key holds no signing key",
        new_key,
    ),
    fails(
        "A public key in place of the signing key",
        |site| signing(site, PUBLIC, 0o600),
        "seal.key holds no signing key",
        new_key,
    ),
    fails(
        "A signing key that the server's user may not read",
        |site| signing(site, SEED, 0),
        "seal.key: Permission denied",
        |site, _| site.unset(SIGNING),
    ),
    fails(
        "A folder in place of the signing key",
        |site| {
            std::fs::create_dir(site.path("seal.key")).unwrap();
            site.set(SIGNING, "seal.key");
        },
        "seal.key: not a regular file",
        new_key,
    ),
    fails(
        "A trusted key that is not a point of the curve",
        |site| site.set(TRUSTED, NO_POINT),
        NO_POINT,
        |site, _| site.unset(TRUSTED),
    ),
    warns(
        "A node key in a folder that is not there",
        |site| site.set(NODE, "none/node.key"),
        "node key file: cannot be created",
        |site, _| site.set(NODE, "node.key"),
    ),
    warns(
        "A node key that others may read",
        |site| node(site, SEED, 0o644),
        "node key file: has mode 0644",
        |site, found| site.types_advised(found, "chmod"),
    ),
    warns(
        "A node key that is not a key",
        |site| node(site, "no key\n", 0o600),
        "node key file: expected 64",
        |site, _| site.set(NODE, "new.key"),
    ),
];
