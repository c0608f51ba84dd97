//! The arguments of `colibri init`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::super::init::hosts::HOSTS;

/// What `init` is asked for.
#[derive(Debug, Clone, Args, PartialEq, Eq)]
#[command(
    after_help = "Without --host it lists the hosts whose configuration is found. With it, it makes a signing key if there is\n\
                  none, also without --write, and prints the host's block and the lines for AGENTS.md. --write puts the block into\n\
                  the host's configuration, if that is plain JSON or TOML without an entry of colibri, and the lines into AGENTS.md,\n\
                  or into CLAUDE.md or GEMINI.md if the host reads that and it is there. Exit 1 if a file was left as it is."
)]
pub struct Init {
    /// The program that is to start Colibri
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(HOSTS.iter().map(|host| host.name)))]
    pub host: Option<String>,
    /// The database, a file or a URL; by default COLIBRI_DATABASE_URL, otherwise ~/.local/share/colibri/colibri.db
    #[arg(long, value_name = "FILE|URL", requires = "host")]
    pub db: Option<PathBuf>,
    /// The file of the key that signs seals, made if it is missing; by default ~/.config/colibri/seal.key
    #[arg(long, value_name = "FILE", requires = "host")]
    pub key: Option<PathBuf>,
    /// Sign no seals
    #[arg(long, requires = "host", conflicts_with = "key")]
    pub no_key: bool,
    /// The person or agent on whose behalf the host works, for the audit log
    #[arg(long, value_name = "TEXT", requires = "host")]
    pub actor: Option<String>,
    /// The tools to offer: all, or toolsets and tools with commas between them
    #[arg(long, value_name = "LIST", requires = "host")]
    pub tools: Option<String>,
    /// The project's folder, whose AGENTS.md tells agents of Colibri; by default the working directory
    #[arg(long, value_name = "DIR", requires = "host")]
    pub project: Option<PathBuf>,
    /// Write the host's configuration and the lines for agents, too; keep the host's old file as FILE.before-colibri
    #[arg(long, requires = "host")]
    pub write: bool,
}
