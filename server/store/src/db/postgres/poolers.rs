//! What is said of a pooler between this client and PostgreSQL (postgres#conditions).

use super::error::PgError;

/// How the names of PgBouncer's own refusals begin, which no server of PostgreSQL has.
const UNSUPPORTED: &str = "unsupported startup parameter";
/// What to do about a pooler.
pub(super) const INSTEAD: &str = "name PostgreSQL's own port in COLIBRI_DATABASE_URL (often 5432 in place of 6432 or 6543), or a port of the pooler \
                              that gives each connection a server process of its own (pool_mode = session)";

/// What PgBouncer does not know of a start packet. A test starts it with this list.
const UNKNOWN: &str = "bytea_output, client_min_messages, default_transaction_isolation, default_transaction_read_only, extra_float_digits, \
                       idle_in_transaction_session_timeout, idle_session_timeout, lock_timeout, quote_all_identifiers, row_security, \
                       search_path, statement_timeout, synchronous_commit, tcp_user_timeout";

/// Refuses a pooler that shares processes.
pub(super) fn shared() -> PgError {
    PgError::Refused(format!(
        "a pooler such as PgBouncer stands in front of PostgreSQL and hands one server process to several connections, so that no lock and \
         no setting stays with this one: {INSTEAD}"
    ))
}

/// Says in words why a pooler refuses a start packet. Its text names one of our parameters.
pub(super) fn refusal(message: &str) -> Option<PgError> {
    let name = message.strip_prefix(UNSUPPORTED)?.trim_start_matches(':').trim();
    let name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then_some(name)?;
    Some(PgError::Refused(format!(
        "PgBouncer stands in front of PostgreSQL and refuses the parameter {name}: {INSTEAD}. There, Colibri sets its parameters once it is \
         connected: write ignore_startup_parameters = {UNKNOWN}"
    )))
}
