//! The server's configuration: read from the environment once, checked as a whole, immutable
//! (chain#configuration).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::environment::{Environment, NotUtf8};
use super::keys::{self, Entry, Key};
use super::mode::{Mode, detect_mode};
use super::named_path::{HOME, expanded};
use super::place::{Place, Sharing, is_url};
use super::proxy::ProxyVariables;
use super::rules::{CandidateSource, Path, Rule};
use crate::settings::log_level::LogLevel;
use colibri_proof::secret::Secret;
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::kernel::{Ids, SystemIds};
use colibri_store::{DatabaseUrl, TlsPolicy};

/// The prefix of the server's own variables.
const NAMESPACE: &str = "COLIBRI_";
/// The prefix that no variable may have (chain#configuration).
const LEGACY_NAMESPACE: &str = "AMS_";
/// The suffix of variables whose values are secrets.
const SECRET_SUFFIX: &str = "_API_KEY";

/// Whether a reply waits for the disk (store#durability).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The log is synced before each reply.
    Full,
    /// The log is not synced: a power cut may lose the last calls.
    Normal,
    /// The log is synced on the server and on its synchronous standbys; a shared database alone.
    Replicated,
}

/// Whether a thought record needs an audit session (trail#session-policy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPolicy {
    /// It needs one.
    Required,
    /// It does not need one.
    Optional,
}

/// All settings of the server. Not `Debug`, because it holds secrets.
#[derive(Clone)]
pub struct Config {
    /// The runtime mode.
    pub mode: Mode,
    /// The tools that clients are offered.
    pub tools: Selection,
    /// Where the database is.
    pub place: Place,
    /// How processes work with a shared database.
    pub sharing: Sharing,
    /// Whether the database is TEST's default, which is removed before it is opened and after a clean stop.
    pub ephemeral_db: bool,
    /// The lowest level of log lines that are written.
    pub log_level: LogLevel,
    /// Milliseconds that both phases of the start may take.
    pub startup_timeout_ms: u32,
    /// Prefix of this process's id in the audit log.
    pub session_id: Option<String>,
    /// On whose behalf the host runs, as the operator says.
    pub actor: Option<String>,
    /// The audit session whose work the calls of `colibri wrap` are.
    pub wrap_session: Option<String>,
    /// Whether a reply waits for the disk.
    pub durability: Durability,
    /// The directory of skills.
    pub skills_root: PathBuf,
    /// Whether the operator named that directory.
    pub skills_root_is_set: bool,
    /// Whether thoughts need an audit session.
    pub trail_session_policy: SessionPolicy,
    /// The file with the key that signs tree heads.
    pub proof_signing_key_file: Option<PathBuf>,
    /// Public keys trusted besides the signing key.
    pub proof_trusted_keys: Vec<[u8; 32]>,
    /// Whether finished work feeds reputation.
    pub reputation_feed: bool,
    /// Seconds in a reputation epoch.
    pub epoch_seconds: u32,
    /// The file with this node's consensus key.
    pub consensus_key_file: Option<PathBuf>,
    /// Where the router's candidates come from.
    pub router_candidates: CandidateSource,
    /// Milliseconds one attempt at a provider may take.
    pub router_attempt_timeout_ms: u32,
    /// Milliseconds one attempt at Anthropic may take.
    pub anthropic_timeout_ms: u32,
    /// The proxy that the environment names for other hosts.
    pub proxy: Option<ProxyVariables>,
    at_call: BTreeMap<&'static str, Result<Secret, NotUtf8>>,
    secrets: Vec<Secret>,
}

impl Config {
    /// Returns the defaults, in FULL mode on the given file, for tests.
    pub fn for_tests(db_path: impl Into<PathBuf>) -> Self {
        let mut reader = Reader { env: &Environment::default(), problems: Vec::new() };
        Self { place: Place::File(db_path.into()), ..reader.config(Mode::Full, 0) }
    }

    /// Returns the value of a variable that each call checks for itself (`keys::AT_CALL`), if it is set.
    ///
    /// # Errors
    /// `<NAME> must be valid UTF-8`.
    pub fn at_call(&self, name: &str) -> Result<Option<&Secret>, String> {
        match self.at_call.get(name) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(NotUtf8)) => Err(not_utf8(name)),
        }
    }

    /// Returns the current value of a setting that chooses between words; `None` for every other name. The catalogue
    /// may name such a setting (catalogue#relaxed).
    pub fn word(&self, name: &str) -> Option<&'static str> {
        let policy = &keys::TRAIL_SESSION_POLICY;
        match name {
            _ if name == policy.name => policy.rule.word(&self.trail_session_policy),
            _ if name == keys::MODE.name => Some(self.mode.as_str()),
            _ => None,
        }
    }

    /// Returns the values that no reply, row or log line may show (chain#redaction), without surrounding spaces,
    /// which no provider sees or repeats. A [`Redactor`](colibri_runtime::chain::redact::Redactor) takes them and
    /// leaves out the short ones.
    ///
    /// The names of a database's host and user are not among them: agents use words like `localhost` and `postgres`
    /// in their own texts. No message of the server has them.
    pub fn secrets(&self) -> Vec<String> {
        let shared = if let Place::Shared(url) = &self.place { url.secrets() } else { &[] };
        self.secrets.iter().chain(shared).map(|secret| secret.expose().trim().to_owned()).collect()
    }
}

/// Reads the settings of shared databases alone, for a command whose `--db` names a database: another variable that is
/// wrong does not stand in its way. The second part of the result holds every problem, one line each.
pub(crate) fn load_sharing(env: &Environment) -> (Sharing, Vec<String>) {
    let mut reader = Reader { env, problems: Vec::new() };
    (reader.sharing(), reader.problems)
}

/// Reads the configuration of the process `pid` from its environment. The second part of the result holds warnings,
/// one line each, for unknown variables that look like Colibri's.
///
/// # Errors
/// Every problem, one line each. A variable of the legacy namespace is reported alone.
pub fn load_config(env: &Environment, pid: u32) -> Result<(Config, Vec<String>), Vec<String>> {
    assert_no_donor_namespace(env).map_err(|problem| vec![problem])?;
    let mut reader = Reader { env, problems: Vec::new() };
    let mode = detect_mode(env).unwrap_or_else(|problem| {
        reader.problems.push(problem);
        Mode::Full
    });
    let config = reader.config(mode, pid);
    if !reader.problems.is_empty() {
        return Err(reader.problems);
    }
    let warnings = unknown(env).chain(insecure(&config.place)).collect();
    Ok((config, warnings))
}

/// Rejects variables of the legacy namespace (chain#configuration), as the first step of every start.
///
/// # Errors
/// The fatal line that lists the offending variables.
pub fn assert_no_donor_namespace(env: &Environment) -> Result<(), String> {
    let found = env.names_with_prefix(LEGACY_NAMESPACE);
    if found.is_empty() {
        return Ok(());
    }
    let found = found.join(", ");
    Err(format!(
        "Colibri does not support the legacy AMS_* namespace. Found: {found}. Rename to COLIBRI_* or unset."
    ))
}

/// Returns one line for each unknown variable that looks like Colibri's.
fn unknown(env: &Environment) -> impl Iterator<Item = String> {
    let known: Vec<&str> = keys::all().map(Entry::name).collect();
    let names = env.names_with_prefix(NAMESPACE).into_iter();
    names.filter(|name| !keys::all().any(|key| key.name() == name)).map(move |name| {
        match colibri_suggest::closest(&name, known.iter().copied()) {
            Some(close) => format!("unknown variable {name} is ignored; did you mean {close}?"),
            None => format!("unknown variable {name} is ignored; `colibri --help` lists the known ones"),
        }
    })
}

/// Warns of a server on the network that need not prove its name.
fn insecure(place: &Place) -> Option<String> {
    let Place::Shared(url) = place else { return None };
    let name = keys::DATABASE_TLS.name;
    url.is_insecure().then(|| {
        format!(
            "{name} is insecure, and the URL lets the PostgreSQL server leave its name unproven: another machine may \
             take its place. Write sslmode=verify-full into the URL and unset {name}"
        )
    })
}

/// Returns the file that a server uses if the operator names none.
fn default_place(mode: Mode, pid: u32) -> Place {
    if mode != Mode::Test {
        return Place::File("data/colibri.db".into());
    }
    // Processes in two containers may have the same number, and a folder in common.
    let chance = SystemIds::default().v4();
    Place::File(format!("data/colibri-{pid}-{}.test.db", &chance[..8]).into())
}

fn not_utf8(name: &str) -> String {
    format!("{name} must be valid UTF-8")
}

/// Reads variables one by one and collects every problem.
struct Reader<'a> {
    env: &'a Environment,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Returns the variable's value. If the text is invalid, returns the default and records a problem.
    fn read<R: Rule>(&mut self, key: &Key<R>) -> R::Value {
        let problem = match self.env.get(key.name) {
            Ok(None) => return key.rule.unset(),
            Ok(Some(text)) => match key.rule.parse(text) {
                Ok(value) => return value,
                Err(refusal) => format!("{} {refusal}", key.name),
            },
            Err(NotUtf8) => not_utf8(key.name),
        };
        self.problems.push(problem);
        key.rule.unset()
    }

    /// Returns the value of a variable that names a file or a folder.
    fn path(&mut self, key: &Key<Path>) -> Option<PathBuf> {
        let named = self.read(key)?;
        self.expanded(key.name, &named)
    }

    fn expanded(&mut self, name: &str, named: &std::path::Path) -> Option<PathBuf> {
        let meant = expanded(named, self.env.get_os(HOME));
        meant.map_err(|reason| self.problems.push(format!("{name} {reason}"))).ok()
    }

    fn candidates(&mut self) -> CandidateSource {
        let key = &keys::ROUTER_CANDIDATES;
        match self.read(key) {
            CandidateSource::File(named) => {
                self.expanded(key.name, &named).map_or(CandidateSource::Off, CandidateSource::File)
            }
            other => other,
        }
    }

    fn config(&mut self, mode: Mode, pid: u32) -> Config {
        let sharing = self.sharing();
        let named = self.named_place(sharing.tls);
        let durability = self.durability();
        let skills_root = self.path(&keys::SKILLS_ROOT);
        Config {
            mode,
            tools: self.read(&keys::TOOLS),
            ephemeral_db: mode == Mode::Test && named.is_none(),
            place: named.unwrap_or_else(|| default_place(mode, pid)),
            sharing,
            log_level: self.read(&keys::LOG_LEVEL),
            startup_timeout_ms: self.read(&keys::STARTUP_TIMEOUT_MS),
            session_id: self.read(&keys::SESSION_ID),
            actor: self.read(&keys::ACTOR),
            wrap_session: self.read(&keys::WRAP_SESSION),
            durability,
            skills_root_is_set: skills_root.is_some(),
            skills_root: skills_root.unwrap_or_else(|| ".agents/skills".into()),
            trail_session_policy: self.read(&keys::TRAIL_SESSION_POLICY),
            proof_signing_key_file: self.path(&keys::PROOF_SIGNING_KEY_FILE),
            proof_trusted_keys: self.read(&keys::PROOF_TRUSTED_KEYS),
            reputation_feed: self.read(&keys::REPUTATION_FEED) && mode != Mode::Readonly,
            epoch_seconds: self.read(&keys::EPOCH_SECONDS),
            consensus_key_file: self.path(&keys::CONSENSUS_KEY_FILE),
            router_candidates: self.candidates(),
            router_attempt_timeout_ms: self.read(&keys::ROUTER_ATTEMPT_TIMEOUT_MS),
            anthropic_timeout_ms: self.read(&keys::ANTHROPIC_TIMEOUT_MS),
            proxy: ProxyVariables::read(self.env),
            at_call: self.at_call(),
            secrets: self.secrets(),
        }
    }

    /// Returns the database that the operator names; `None` for the default file.
    fn named_place(&mut self, tls: TlsPolicy) -> Option<Place> {
        let (url, path) = (self.read(&keys::DATABASE_URL), self.path(&keys::DB_PATH));
        let name = keys::DATABASE_URL.name;
        // As a path it would make folders, one of them named by the password.
        if path.as_deref().is_some_and(is_url) {
            let other = keys::DB_PATH.name;
            self.problems.push(format!(
                "{other} is the URL of a database, and takes the path of a file; set {name} instead"
            ));
            return None;
        }
        let Some(url) = url else { return path.map(Place::File) };
        if path.is_some() {
            let other = keys::DB_PATH.name;
            self.problems.push(format!(
                "{name} and {other} are both set, and a server uses one database; unset one of them"
            ));
        }
        let parsed = DatabaseUrl::parse(url.expose(), tls);
        let password = self.database_password();
        let parsed = parsed.and_then(|url| match password {
            Some(password) => url.with_password(password),
            None => Ok(url),
        });
        match parsed {
            Ok(url) => Some(Place::Shared(url)),
            Err(error) => {
                self.problems.push(format!("{name} {}", error.reason()));
                None
            }
        }
    }

    /// Reads the password of the shared database from its file: the first line.
    fn database_password(&mut self) -> Option<Secret> {
        let path = self.path(&keys::DATABASE_PASSWORD_FILE)?;
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let line = read.map(|text| text.lines().next().unwrap_or_default().to_owned());
        match line {
            Ok(line) if !line.is_empty() => return Some(Secret::new(line)),
            Ok(_) => self.problems.push(format!(
                "{} names a file whose first line is empty",
                keys::DATABASE_PASSWORD_FILE.name
            )),
            Err(error) => self.problems.push(format!(
                "{} names a file that cannot be read: {error}",
                keys::DATABASE_PASSWORD_FILE.name
            )),
        }
        None
    }

    fn durability(&mut self) -> Durability {
        let durability = self.read(&keys::DURABILITY);
        let (name, url) = (keys::DURABILITY.name, keys::DATABASE_URL.name);
        if durability == Durability::Replicated && self.env.get_os(url).is_none() {
            self.problems
                .push(format!("{name} is replicated, but a file has no standbys; set {url}, or write full"));
        }
        durability
    }

    fn sharing(&mut self) -> Sharing {
        Sharing {
            tls: self.read(&keys::DATABASE_TLS),
            connect_timeout_ms: self.read(&keys::DATABASE_CONNECT_TIMEOUT_MS),
            lock_timeout_ms: self.read(&keys::DATABASE_LOCK_TIMEOUT_MS),
            statement_timeout_ms: self.read(&keys::DATABASE_STATEMENT_TIMEOUT_MS),
            lease_seconds: self.read(&keys::DATABASE_LEASE_SECONDS),
            witness_dir: self.path(&keys::WITNESS_DIR),
        }
    }

    fn at_call(&self) -> BTreeMap<&'static str, Result<Secret, NotUtf8>> {
        let values = keys::AT_CALL.iter().filter_map(|key| {
            let value = self.env.get(key.name).transpose()?;
            Some((key.name, value.map(Secret::new)))
        });
        values.collect()
    }

    /// Returns the values of all variables that look like API keys, known or not: even a misspelt variable may hold a
    /// key.
    fn secrets(&self) -> Vec<Secret> {
        let names = self.env.names_with_prefix(NAMESPACE);
        let names = names.iter().filter(|name| name.ends_with(SECRET_SUFFIX));
        names.filter_map(|name| self.env.get(name).ok().flatten()).map(Secret::new).collect()
    }
}
