//! Variables that are wrong, each kind of them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::site::{DATABASE, Finding, Site};
use super::{Cause, fails, warns};

const LAST: &[char] = &[',', '.', ';', ' ', '?'];

/// Takes the last word of a list that the message gives.
fn set_to_last_of(variable: &str, list: &str, site: &Site, found: &Finding) {
    let words = found.word_behind(list, &['.', ';']);
    site.set(variable, words.rsplit(", ").next().unwrap());
}

pub const CAUSES: &[Cause] = &[
    fails(
        "A mode that is not one of the four",
        |site| site.set("COLIBRI_MODE", "full"),
        "Invalid COLIBRI_MODE: \"full\"",
        |site, found| {
            let named = found.word_behind("Expected one of ", LAST);
            assert_eq!(named, "FULL");
            site.set("COLIBRI_MODE", named);
        },
    ),
    fails(
        "A toolset that is misspelt",
        |site| site.set("COLIBRI_TOOLS", "cor"),
        "COLIBRI_TOOLS has the unknown word \"cor\"",
        |site, found| site.set("COLIBRI_TOOLS", found.word_behind("did you mean ", LAST)),
    ),
    fails(
        "A number that is too small",
        |site| site.set("COLIBRI_STARTUP_TIMEOUT_MS", "0"),
        "COLIBRI_STARTUP_TIMEOUT_MS must be an integer",
        |site, found| site.set("COLIBRI_STARTUP_TIMEOUT_MS", found.word_behind(" and ", LAST)),
    ),
    fails(
        "A word that is not a known one",
        |site| site.set("COLIBRI_LOG_LEVEL", "loud"),
        "COLIBRI_LOG_LEVEL must be one of",
        |site, found| set_to_last_of("COLIBRI_LOG_LEVEL", "one of ", site, found),
    ),
    fails(
        "A URL where a path belongs",
        |site| site.set("COLIBRI_DB_PATH", "postgres://colibri@db/board"),
        "COLIBRI_DB_PATH is the URL of a database",
        |site, _| site.set("COLIBRI_DB_PATH", DATABASE),
    ),
    fails(
        "A file and a shared database at once",
        |site| site.set("COLIBRI_DATABASE_URL", "postgres://colibri@localhost/board"),
        "COLIBRI_DATABASE_URL and COLIBRI_DB_PATH are both set",
        |site, _| site.unset("COLIBRI_DATABASE_URL"),
    ),
    fails(
        "A shared database that is not a URL",
        |site| {
            site.unset("COLIBRI_DB_PATH");
            site.set("COLIBRI_DATABASE_URL", "board");
        },
        "COLIBRI_DATABASE_URL ",
        |site, _| {
            site.unset("COLIBRI_DATABASE_URL");
            site.set("COLIBRI_DB_PATH", DATABASE);
        },
    ),
    fails(
        "Standbys demanded of a file",
        |site| site.set("COLIBRI_DURABILITY", "replicated"),
        "COLIBRI_DURABILITY is replicated",
        |site, found| site.set("COLIBRI_DURABILITY", found.word_behind("or write ", LAST)),
    ),
    fails(
        "A variable of the predecessor",
        |site| site.set("AMS_MODE", "FULL"),
        "Found: AMS_MODE",
        |site, _| site.unset("AMS_MODE"),
    ),
    fails(
        "A name that is too long",
        |site| site.set("COLIBRI_ACTOR", "a".repeat(129)),
        "COLIBRI_ACTOR must be 1 to 128 printable characters",
        |site, _| site.unset("COLIBRI_ACTOR"),
    ),
    fails(
        "A value that is not UTF-8",
        |site| site.set("COLIBRI_SESSION_ID", OsString::from_vec(vec![b'a', 0xff])),
        "COLIBRI_SESSION_ID must be valid UTF-8",
        |site, _| site.unset("COLIBRI_SESSION_ID"),
    ),
    fails(
        "A trusted key that is not hexadecimal",
        |site| site.set("COLIBRI_PROOF_TRUSTED_KEYS", "key.pub"),
        "COLIBRI_PROOF_TRUSTED_KEYS must be",
        |site, _| site.unset("COLIBRI_PROOF_TRUSTED_KEYS"),
    ),
    fails(
        "A source of candidates of no known form",
        |site| site.set("COLIBRI_ROUTER_CANDIDATES", "table"),
        "COLIBRI_ROUTER_CANDIDATES must be one of",
        |site, found| site.set("COLIBRI_ROUTER_CANDIDATES", found.word_behind("one of ", LAST)),
    ),
    warns(
        "A variable that is misspelt",
        |site| {
            site.unset("COLIBRI_DB_PATH");
            site.set("COLIBRI_DB_PTH", DATABASE);
        },
        "unknown variable COLIBRI_DB_PTH is ignored",
        |site, found| {
            site.unset("COLIBRI_DB_PTH");
            site.set(&found.word_behind("did you mean ", LAST), DATABASE);
        },
    ),
];
