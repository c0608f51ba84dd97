//! The arguments of the commands that check a file.

use std::path::PathBuf;

use clap::Args;
use colibri_canonical::HexDigest;

/// What an auditor brings along.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct Evidence {
    /// The hash that was published when the session was sealed: head hash, RFC 9162 root or legacy root
    #[arg(long, value_name = "HEX", value_parser = parse_hash)]
    pub root: Option<HexDigest>,
    /// A public key that you trust, or a file that holds it: a valid signature by one of these is required; may be repeated
    #[arg(long, value_name = "FILE|HEX")]
    pub key: Vec<String>,
    /// Require a signature by one of the keys of --key, also where --root matches: exit 1 without it
    #[arg(long)]
    pub require_key: bool,
}

impl Evidence {
    /// Checks whether the file must be signed by one of the keys.
    pub(super) fn signature_wanted(&self) -> bool {
        self.require_key || !self.key.is_empty()
    }
}

/// Of `check-proof` and `verify-export`.
#[derive(Debug, Args, PartialEq, Eq)]
pub struct CheckFile {
    /// The file to check; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What is trusted.
    #[command(flatten)]
    pub evidence: Evidence,
    /// Print the verdict as JSON
    #[arg(long)]
    pub json: bool,
}

/// A hash, in either case of its letters.
fn parse_hash(text: &str) -> Result<HexDigest, String> {
    HexDigest::parse(&text.to_ascii_lowercase()).ok_or_else(|| "a hash is 64 hex characters".to_owned())
}
