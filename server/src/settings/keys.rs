//! Every configuration variable, once (chain#configuration). The parser, `--help`, `colibri doctor` and the reference
//! page all read this table; no other code names a variable.

use colibri_runtime::chain::log::Level;

use super::config::{Durability, SessionPolicy};
use super::rules::{
    Actor, AtCall, Candidates, Integer, Label, ModeName, Path, PublicKeys, Rule, Toolsets, UNSET, Url, Words,
};
use crate::settings::log_level::{LOG_LEVELS, LogLevel};
use colibri_store::TlsPolicy;

/// A variable and the form of its value.
pub struct Key<R> {
    /// The variable's name.
    pub name: &'static str,
    /// The part of the server that uses it.
    pub owner: &'static str,
    /// The form of its value.
    pub rule: R,
    /// Its purpose, in one sentence.
    pub help: &'static str,
}

/// A [`Key`] of any rule, as text.
pub trait Entry: Sync {
    /// Returns the variable's name.
    fn name(&self) -> &'static str;
    /// Returns the part of the server that uses it.
    fn owner(&self) -> &'static str;
    /// Returns the form of its value, in words.
    fn form(&self) -> String;
    /// Returns the meaning of an unset variable, in words.
    fn default_text(&self) -> String;
    /// Returns its purpose, in one sentence.
    fn help(&self) -> &'static str;
}

impl<R: Rule> Entry for Key<R> {
    fn name(&self) -> &'static str {
        self.name
    }
    fn owner(&self) -> &'static str {
        self.owner
    }
    fn form(&self) -> String {
        self.rule.describe()
    }
    fn default_text(&self) -> String {
        self.rule.default_text()
    }
    fn help(&self) -> &'static str {
        self.help
    }
}

const fn key<R>(name: &'static str, owner: &'static str, rule: R, help: &'static str) -> Key<R> {
    Key { name, owner, rule, help }
}

/// The runtime mode.
pub static MODE: Key<ModeName> = key(
    "COLIBRI_MODE",
    "lifecycle",
    ModeName,
    "What the server may do: everything, read only, a throw-away test, or what needs no database.",
);
/// The tools that clients are offered.
pub(crate) static TOOLS: Key<Toolsets> = key(
    "COLIBRI_TOOLS",
    "lifecycle",
    Toolsets,
    "The tools that clients are offered. A shorter list leaves out outputSchema, too, and costs the model less context.",
);
/// The database file.
pub(crate) static DB_PATH: Key<Path> = key(
    "COLIBRI_DB_PATH",
    "store",
    Path { default_text: "data/colibri.db; in TEST data/colibri-<pid>-<8 hex>.test.db, which is removed" },
    "The database file; a relative path starts at the working directory. Several servers may share one file.",
);
/// The shared database, in place of a file.
pub(crate) static DATABASE_URL: Key<Url> = key(
    "COLIBRI_DATABASE_URL",
    "store",
    Url,
    "The PostgreSQL database that servers on several machines share, in place of COLIBRI_DB_PATH; never logged, stored or shown.",
);
/// The password of the URL's user, in a file.
pub(crate) static DATABASE_PASSWORD_FILE: Key<Path> = key(
    "COLIBRI_DATABASE_PASSWORD_FILE",
    "store",
    Path { default_text: UNSET },
    "A file that holds the password for COLIBRI_DATABASE_URL in its first line, so that the URL need not; never logged, stored or shown.",
);
/// Whether a server on the network must prove its name.
pub(crate) static DATABASE_TLS: Key<Words<TlsPolicy>> = key(
    "COLIBRI_DATABASE_TLS",
    "store",
    Words {
        words: &[("verify", TlsPolicy::Verify), ("insecure", TlsPolicy::Insecure)],
        default: TlsPolicy::Verify,
        fold_case: false,
    },
    "Whether a PostgreSQL server on another machine must prove its name (verify) or the URL's sslmode may ask for less (insecure).",
);
/// The time a connection may take.
pub(crate) static DATABASE_CONNECT_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_DATABASE_CONNECT_TIMEOUT_MS",
    "store",
    Integer { min: 1, max: 600_000, default: 5_000 },
    "Milliseconds a connection to PostgreSQL and its login may take.",
);
/// The time a lock may take.
pub(crate) static DATABASE_LOCK_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_DATABASE_LOCK_TIMEOUT_MS",
    "store",
    Integer { min: 1, max: 600_000, default: 5_000 },
    "Milliseconds a call may wait for a lock in PostgreSQL, or for a lost connection to come back, before it fails.",
);
/// The time a statement may take.
pub(crate) static DATABASE_STATEMENT_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_DATABASE_STATEMENT_TIMEOUT_MS",
    "store",
    Integer { min: 1, max: 600_000, default: 30_000 },
    "Milliseconds a statement of a server may run in PostgreSQL before it fails.",
);
/// The time after which a silent process counts as dead.
pub(crate) static DATABASE_LEASE_SECONDS: Key<Integer> = key(
    "COLIBRI_DATABASE_LEASE_SECONDS",
    "store",
    Integer { min: 5, max: 86_400, default: 60 },
    "Seconds after which the running calls of a silent process are closed by others that share the PostgreSQL database.",
);
/// The directory of witness files.
pub(crate) static WITNESS_DIR: Key<Path> = key(
    "COLIBRI_WITNESS_DIR",
    "store",
    Path { default_text: UNSET },
    "A directory on this machine where the server notes the last acknowledged call, to notice a PostgreSQL database that has lost calls.",
);
/// The lowest level of log lines that are written.
pub(crate) static LOG_LEVEL: Key<Words<LogLevel>> = key(
    "COLIBRI_LOG_LEVEL",
    "lifecycle",
    Words { words: &LOG_LEVELS, default: Some(Level::Info), fold_case: true },
    "How much is written to stderr.",
);
/// The time both phases of the start may take.
pub(crate) static STARTUP_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_STARTUP_TIMEOUT_MS",
    "lifecycle",
    Integer { min: 1, max: 600_000, default: 30_000 },
    "Milliseconds the start may take before the server gives up with exit code 75.",
);
/// The prefix of this process's id in the audit log.
pub(crate) static SESSION_ID: Key<Label> = key(
    "COLIBRI_SESSION_ID",
    "lifecycle",
    Label { max: 128 },
    "A label that marks this process's calls in the audit log; it has nothing to do with audit sessions.",
);
/// On whose behalf the host runs.
pub(crate) static ACTOR: Key<Actor> = key(
    "COLIBRI_ACTOR",
    "lifecycle",
    Actor { max: 128 },
    "The person or agent on whose behalf the host runs: a name for the audit log, which the server does not check.",
);
/// The audit session whose work a wrapped server's calls are.
pub(crate) static WRAP_SESSION: Key<Actor> = key(
    "COLIBRI_WRAP_SESSION",
    "wrap",
    Actor { max: 256 },
    "The audit session whose work the calls of `colibri wrap` are, for `colibri report`; it need not exist yet.",
);
/// Whether a reply waits for the disk.
pub(crate) static DURABILITY: Key<Words<Durability>> = key(
    "COLIBRI_DURABILITY",
    "store",
    Words {
        words: &[
            ("full", Durability::Full),
            ("normal", Durability::Normal),
            ("replicated", Durability::Replicated),
        ],
        default: Durability::Full,
        fold_case: false,
    },
    "Whether a reply waits until its data is on disk (full), also on the synchronous standbys of PostgreSQL (replicated), \
     or a power cut may lose the last calls (normal).",
);
/// The directory of skills.
pub(crate) static SKILLS_ROOT: Key<Path> = key(
    "COLIBRI_SKILLS_ROOT",
    "skills",
    Path { default_text: ".agents/skills" },
    "The directory whose SKILL.md files are indexed; a relative path starts at the working directory.",
);
/// Whether thoughts need an audit session.
pub(crate) static TRAIL_SESSION_POLICY: Key<Words<SessionPolicy>> = key(
    "COLIBRI_TRAIL_SESSION_POLICY",
    "trail",
    Words {
        words: &[("required", SessionPolicy::Required), ("optional", SessionPolicy::Optional)],
        default: SessionPolicy::Required,
        fold_case: false,
    },
    "Whether every thought record must belong to an audit session.",
);
/// The key that signs tree heads.
pub(crate) static PROOF_SIGNING_KEY_FILE: Key<Path> = key(
    "COLIBRI_PROOF_SIGNING_KEY_FILE",
    "proof",
    Path { default_text: UNSET },
    "A file with the Ed25519 seed (64 hex characters, readable by its owner only) that signs tree heads; unset leaves them unsigned.",
);
/// Keys trusted besides the signing key.
pub(crate) static PROOF_TRUSTED_KEYS: Key<PublicKeys> = key(
    "COLIBRI_PROOF_TRUSTED_KEYS",
    "proof",
    PublicKeys,
    "Public keys also accepted when old tree heads are verified.",
);
/// Whether finished work feeds reputation.
pub(crate) static REPUTATION_FEED: Key<Words<bool>> = key(
    "COLIBRI_REPUTATION_FEED",
    "reputation",
    Words { words: &[("on", true), ("off", false)], default: true, fold_case: false },
    "Whether finished tasks and sealed sessions change reputations; always off in READONLY.",
);
/// Length of reputation's clock tick.
pub(crate) static EPOCH_SECONDS: Key<Integer> = key(
    "COLIBRI_EPOCH_SECONDS",
    "reputation",
    Integer { min: 1, max: 31_536_000, default: 86_400 },
    "Seconds in an epoch, the tick by which reputations decay.",
);
/// The key of this node.
pub(crate) static CONSENSUS_KEY_FILE: Key<Path> = key(
    "COLIBRI_CONSENSUS_KEY_FILE",
    "consensus",
    Path { default_text: UNSET },
    "A file with this node's Ed25519 seed, created when first needed; unset means a fresh key for each process.",
);
/// Where model candidates come from.
pub(crate) static ROUTER_CANDIDATES: Key<Candidates> = key(
    "COLIBRI_ROUTER_CANDIDATES",
    "router",
    Candidates,
    "Where the models that the router scores come from.",
);
/// The time one attempt may take.
pub(crate) static ROUTER_ATTEMPT_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS",
    "router",
    Integer { min: 1, max: 60_000, default: 30_000 },
    "Milliseconds one attempt at a provider may take.",
);
/// The time one attempt at Anthropic may take.
pub(crate) static ANTHROPIC_TIMEOUT_MS: Key<Integer> = key(
    "COLIBRI_ANTHROPIC_TIMEOUT_MS",
    "router",
    Integer { min: 1, max: 600_000, default: 30_000 },
    "Milliseconds for an attempt at Anthropic, if below the general limit.",
);

const fn model(name: &'static str, default_text: &'static str) -> Key<AtCall> {
    let rule = AtCall { form: "model name", default_text };
    key(name, "router", rule, "The provider's name of the model that is called under this id.")
}

const fn api_key(name: &'static str) -> Key<AtCall> {
    let rule = AtCall { form: "secret", default_text: UNSET };
    key(name, "router", rule, "The provider's API key; never logged, stored or shown.")
}

const fn base_url(name: &'static str, default_text: &'static str) -> Key<AtCall> {
    let rule = AtCall { form: "URL", default_text };
    key(name, "router", rule, "Where the provider's API is.")
}

/// The variables that each call of the router reads raw and checks (chain#configuration; defaults of router#models,
/// router#settings).
pub(crate) static AT_CALL: [Key<AtCall>; 24] = [
    model("COLIBRI_ANTHROPIC_MODEL", "claude-sonnet-4-6"),
    model("COLIBRI_MODEL_CLAUDE", "COLIBRI_ANTHROPIC_MODEL"),
    model("COLIBRI_MODEL_CLAUDE_SONNET_3_5", "claude-sonnet-4-6"),
    model("COLIBRI_MODEL_CLAUDE_HAIKU_3_5", "claude-haiku-4-5"),
    model("COLIBRI_MODEL_GPT_4O", "gpt-4o"),
    model("COLIBRI_MODEL_GPT_4O_MINI", "gpt-4o-mini"),
    model("COLIBRI_MODEL_GEMINI_1_5_PRO", "gemini-3.8-flash"),
    model("COLIBRI_MODEL_LLAMA_3_3_70B", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
    model("COLIBRI_MODEL_MIXTRAL_8X22B", "mistral-medium-latest"),
    model("COLIBRI_MODEL_KIMI_K2", "kimi-k2.6"),
    api_key("COLIBRI_ANTHROPIC_API_KEY"),
    api_key("COLIBRI_OPENAI_API_KEY"),
    api_key("COLIBRI_KIMI_API_KEY"),
    api_key("COLIBRI_CODEX_API_KEY"),
    api_key("COLIBRI_LLAMA_API_KEY"),
    api_key("COLIBRI_MISTRAL_API_KEY"),
    api_key("COLIBRI_GEMINI_API_KEY"),
    base_url("COLIBRI_ANTHROPIC_BASE_URL", "https://api.anthropic.com/v1"),
    base_url("COLIBRI_OPENAI_BASE_URL", "https://api.openai.com/v1"),
    base_url("COLIBRI_KIMI_BASE_URL", "https://api.moonshot.ai/v1"),
    base_url("COLIBRI_CODEX_BASE_URL", "https://api.openai.com/v1"),
    base_url("COLIBRI_LLAMA_BASE_URL", "https://api.together.xyz/v1"),
    base_url("COLIBRI_MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
    base_url("COLIBRI_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta"),
];

/// Returns the whole table, in display order.
pub fn all() -> impl Iterator<Item = &'static dyn Entry> {
    let checked: [&'static dyn Entry; 27] = [
        &MODE,
        &TOOLS,
        &DB_PATH,
        &DATABASE_URL,
        &DATABASE_PASSWORD_FILE,
        &DATABASE_TLS,
        &DATABASE_CONNECT_TIMEOUT_MS,
        &DATABASE_LOCK_TIMEOUT_MS,
        &DATABASE_STATEMENT_TIMEOUT_MS,
        &DATABASE_LEASE_SECONDS,
        &WITNESS_DIR,
        &LOG_LEVEL,
        &STARTUP_TIMEOUT_MS,
        &SESSION_ID,
        &ACTOR,
        &WRAP_SESSION,
        &DURABILITY,
        &SKILLS_ROOT,
        &TRAIL_SESSION_POLICY,
        &PROOF_SIGNING_KEY_FILE,
        &PROOF_TRUSTED_KEYS,
        &REPUTATION_FEED,
        &EPOCH_SECONDS,
        &CONSENSUS_KEY_FILE,
        &ROUTER_CANDIDATES,
        &ROUTER_ATTEMPT_TIMEOUT_MS,
        &ANTHROPIC_TIMEOUT_MS,
    ];
    checked.into_iter().chain(AT_CALL.iter().map(|key| key as &dyn Entry))
}
