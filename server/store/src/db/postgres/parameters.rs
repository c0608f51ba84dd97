//! Parameters of a URL that are refused, each with what to do in its place.

/// Parameters of libpq, of other clients, and of poolers' pages. An error may repeat a name of this list.
pub(super) const REFUSED: [(&str, &str); 41] = [
    ("connect_timeout", "COLIBRI_DATABASE_CONNECT_TIMEOUT_MS sets it"),
    (
        "options",
        "the server sets what it relies on; a hosting service finds its endpoint by the name of the host",
    ),
    ("client_encoding", "it is always UTF8"),
    ("fallback_application_name", "write application_name"),
    ("hostaddr", "write the address in place of the host's name"),
    ("replication", "a server sends statements alone"),
    ("requiressl", "write sslmode=verify-full"),
    ("ssl", "write sslmode=verify-full"),
    ("sslaccept", "write sslmode=verify-full"),
    ("uselibpqcompat", "write sslmode=verify-full"),
    ("sslpassword", "a key with a passphrase cannot be read; write it into a file without one, mode 600"),
    ("sslcertmode", "a certificate is sent if sslcert names one"),
    ("sslcrl", "lists of revoked certificates are not read"),
    ("sslcrldir", "lists of revoked certificates are not read"),
    ("sslsni", "the name of the host is always sent"),
    ("sslcompression", "TLS is never compressed"),
    ("sslkeylogfile", "keys are never written"),
    ("ssl_min_protocol_version", "it is always TLS 1.2 or later"),
    ("ssl_max_protocol_version", "it is always TLS 1.2 or later"),
    ("sslnegotiation", "the server always asks before it starts TLS"),
    ("require_auth", "SCRAM-SHA-256 and client certificates alone are accepted"),
    ("requirepeer", "leave it out"),
    ("keepalives", "the server asks a silent connection by itself"),
    ("keepalives_idle", "the server asks a silent connection by itself"),
    ("keepalives_interval", "the server asks a silent connection by itself"),
    ("keepalives_count", "the server asks a silent connection by itself"),
    ("tcp_user_timeout", "COLIBRI_DATABASE_LOCK_TIMEOUT_MS sets it"),
    ("gssencmode", "GSS is not supported"),
    ("gsslib", "GSS is not supported"),
    ("krbsrvname", "GSS is not supported"),
    ("load_balance_hosts", "hosts are tried in their order"),
    (
        "pgbouncer",
        "a pooler that shares server processes cannot serve Colibri; name PostgreSQL's own port (often 5432 in place of 6543), and leave it out",
    ),
    ("pool_mode", "a pooler is not configured in a URL; leave it out"),
    ("pool_timeout", "a server has one connection; leave it out"),
    ("connection_limit", "a server has one connection; leave it out"),
    ("statement_cache_size", "leave it out"),
    ("prepareThreshold", "leave it out"),
    ("schema", "the tables are always in the schema colibri; leave it out"),
    ("currentSchema", "the tables are always in the schema colibri; leave it out"),
    ("socket_timeout", "COLIBRI_DATABASE_STATEMENT_TIMEOUT_MS sets it"),
    ("sslidentity", "write sslcert and sslkey, two PEM files"),
];

/// What to write in place of a beginning that libpq does not know, either.
pub(super) fn instead_of(text: &str) -> &'static str {
    let scheme = text.split("://").next().unwrap_or_default();
    if text.starts_with("jdbc:postgresql:") {
        "does not start with postgres://; write postgres:// in place of jdbc:postgresql://"
    } else if scheme.starts_with("postgres") && scheme.contains('+') {
        "does not start with postgres://; leave out the driver, the part from + to ://"
    } else if !text.contains("://") && text.contains("host=") {
        "does not start with postgres://; it is a list of parameters: write them as postgres://user@host/database"
    } else {
        "does not start with postgres://"
    }
}
