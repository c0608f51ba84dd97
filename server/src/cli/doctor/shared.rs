//! The part of the examination that a shared database gets.

use colibri_proof::keys::TrustedKeys;

use super::{Finding, content};
use crate::cli::work::Work;
use crate::settings::config::{Config, Durability};
use crate::settings::mode::capabilities_for;
use crate::settings::place::Place;
use crate::shared_schema::SCHEMA;
use colibri_store::Stage;
use colibri_store::shared_examine::{Examination, Unanswered, examination};

const CHECK: &str = "database";
const SCHEMA_CHECK: &str = "schema";
/// A transaction that is open for longer keeps deleted rows and the write-ahead log from going away.
const LONG_TRANSACTION_S: i64 = 600;

/// Examines the configured database, and checks its seals with the trusted keys.
pub fn check(config: &Config, trusted: &TrustedKeys, work: &mut Work<'_>) -> Vec<Finding> {
    let Place::Shared(url) = &config.place else { return Vec::new() };
    let witness = config.sharing.witness_dir.as_deref();
    let found = match examination(url, &config.sharing.session(), &SCHEMA, witness) {
        Ok(found) => found,
        Err(error) => {
            return vec![Finding::fail(CHECK, error.to_string(), way_to(&error))];
        }
    };
    let writes = capabilities_for(config.mode).write_database;
    let mut findings = vec![answers(&found)];
    findings.extend(standby(&found, writes));
    // Without a schema there may be no roles to be a member of.
    if found.stage != Stage::Absent {
        findings.push(rights(&found, writes));
    }
    let (schema, ours) = schema(&found);
    findings.push(schema);
    findings.extend(beside(&found));
    findings.extend(found.loose_locks.iter().map(|reason| {
        Finding::fail("locks", reason.as_str(), "connect to PostgreSQL itself, without a pooler in between")
    }));
    // A standby stores nothing of its own, and neither does a server that only reads.
    if writes && !found.standby {
        findings.push(durability(&found, config.durability));
    }
    if witness.is_some() && ours {
        findings.push(witnessed(&found));
    }
    findings.push(clock(&found));
    findings.extend(oldest(&found));
    findings.extend(leases(&found));
    if ours {
        findings.extend(content::check_shared(url, config, trusted, work));
    }
    findings
}

/// Returns what to do about a server that does not answer.
fn way_to(error: &Unanswered) -> &'static str {
    match error {
        Unanswered::Unreachable(error) if error.to_string().contains("no free connection") => {
            "raise the server's max_connections, or the CONNECTION LIMIT of the role or the database; until then no server starts on it"
        }
        Unanswered::Unreachable(_) => {
            "start the PostgreSQL server, or correct its host and port in COLIBRI_DATABASE_URL; until then no server starts on it"
        }
        Unanswered::Refused(_) => {
            "correct in COLIBRI_DATABASE_URL what the message names (user, password or database); until then no server starts on it"
        }
        Unanswered::Broken(_) => "correct what the message names; until then no server starts on it",
    }
}

fn answers(found: &Examination) -> Finding {
    if let Some(reason) = &found.refused_version {
        return Finding::fail(
            CHECK,
            reason.as_str(),
            "use a server of a version that this release works with",
        );
    }
    let tls = found.tls.as_deref().unwrap_or("no TLS, which only this machine needs none for");
    let mib = found.bytes / (1 << 20);
    Finding::ok(
        CHECK,
        format!(
            "PostgreSQL {} answers ({tls}); the database takes {mib} MiB, and PostgreSQL does not say how much space is free",
            found.version
        ),
    )
}

fn standby(found: &Examination, writes: bool) -> Option<Finding> {
    let refused = found.refused_standby()?;
    Some(match writes {
        true => Finding::fail(
            CHECK,
            refused,
            "write the primary's host into COLIBRI_DATABASE_URL, or the hosts of all servers and \
             target_session_attrs=read-write",
        ),
        false => Finding::ok(CHECK, "the server is a standby: it may be behind the primary"),
    })
}

fn rights(found: &Examination, writes: bool) -> Finding {
    const CHECK: &str = "rights";
    if let Some(lacking) = found.lacking(!writes) {
        let group = if writes { "colibri_app" } else { "colibri_read" };
        let advice =
            format!("let the database's owner run `GRANT {group} TO ROLE`, with the name of this login role");
        return Finding::fail(CHECK, lacking, advice);
    }
    if let Some(excessive) = found.excessive() {
        let advice = "give servers a login role that is a member of colibri_app alone, and keep this one for \
                      `colibri postgres` and `colibri copy`";
        return Finding::warn(CHECK, excessive, advice);
    }
    match found.rights.app {
        true => Finding::ok(
            CHECK,
            "the login role is a member of colibri_app: it adds to the log and cannot change it",
        ),
        false => Finding::ok(CHECK, "the login role is a member of colibri_read: it only reads"),
    }
}

/// Checks the schema; also returns whether the content can be read as this release's.
fn schema(found: &Examination) -> (Finding, bool) {
    let latest = SCHEMA.version();
    if let Some(unfit) = &found.unfit {
        let advice = match found.stage {
            Stage::Absent => {
                "run `colibri postgres setup` as the database's owner, then `colibri postgres migrate`"
            }
            Stage::Empty => "run `colibri postgres migrate` as the database's owner",
            Stage::Hidden => {
                "let the database's owner run `GRANT colibri_app TO ROLE` with the name of this login role; colibri_read is \
                 enough for COLIBRI_MODE=READONLY"
            }
            Stage::At(version) if version < latest => {
                "run `colibri postgres migrate` as the database's owner, once every server has this release"
            }
            Stage::At(_) => {
                "use the release of Colibri that migrated it or a later one, or name another database in COLIBRI_DATABASE_URL"
            }
        };
        return (Finding::fail(SCHEMA_CHECK, unfit.as_str(), advice), false);
    }
    match &found.altered {
        Some(altered) => {
            let advice = "keep a backup as evidence, run `colibri verify`, which names every difference, and have the owner undo \
                          them";
            (Finding::fail(SCHEMA_CHECK, altered.as_str(), advice), true)
        }
        None => {
            let message = format!("version {latest}, tables and rights are as they should be");
            (Finding::ok(SCHEMA_CHECK, message), true)
        }
    }
}

/// Tells what was added to the schema without a promise that rests on it.
fn beside(found: &Examination) -> Option<Finding> {
    let first = found.beside.first()?;
    let more = match found.beside.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(Finding::warn(
        SCHEMA_CHECK,
        format!("{first}{more}; it changes nothing that the log promises"),
        "nothing to do if you know of it: an index that makes questions faster, or another role's right to read",
    ))
}

fn durability(found: &Examination, durability: Durability) -> Finding {
    const CHECK: &str = "durability";
    match durability {
        Durability::Normal => Finding::warn(
            CHECK,
            "COLIBRI_DURABILITY is normal: a crash of the server may lose the last calls",
            "set it to full, unless these calls may be lost",
        ),
        _ if found.lax.is_some() => Finding::fail(
            CHECK,
            found.lax.as_deref().unwrap_or_default(),
            "set both fsync and full_page_writes to on in postgresql.conf, and reload the server",
        ),
        Durability::Replicated if found.standby_names.is_empty() => Finding::fail(
            CHECK,
            found.without_standby().unwrap_or_default(),
            "set synchronous_standby_names on the server, or COLIBRI_DURABILITY to full",
        ),
        _ if !found.standby_names.is_empty() && found.standbys == 0 => Finding::fail(
            CHECK,
            format!(
                "the server's commits wait for a synchronous standby ({}), and none follows it",
                found.standby_names
            ),
            "start the standby, or let the server's synchronous_standby_names name one that follows it",
        ),
        Durability::Replicated => {
            Finding::ok(CHECK, "replies wait for the server's disk and its synchronous standbys")
        }
        Durability::Full if found.standby_names.is_empty() => Finding::ok(
            CHECK,
            "replies wait for the server's disk; without a synchronous standby, a failover may lose the last calls",
        ),
        Durability::Full => {
            Finding::ok(CHECK, "replies wait for the server's disk, and for its synchronous standbys")
        }
    }
}

fn witnessed(found: &Examination) -> Finding {
    const CHECK: &str = "witness";
    match &found.witness {
        Some(reason) => Finding::fail(
            CHECK,
            reason.as_str(),
            "do what the message says (with `mkdir -p` for a folder that is missing); until then no server starts on this machine",
        ),
        None => Finding::ok(CHECK, "the database holds every acknowledged call that this machine has noted"),
    }
}

fn clock(found: &Examination) -> Finding {
    const CHECK: &str = "clock";
    let apart = found.clock_ahead_ms;
    let way = if apart > 0 { "ahead of" } else { "behind" };
    let message = format!("this machine is {} ms {way} the database server", apart.abs());
    match found.clocks_apart() {
        Some(apart) => Finding::warn(CHECK, apart, "set the clocks of both machines by a time server"),
        None => Finding::ok(CHECK, message),
    }
}

fn oldest(found: &Examination) -> Option<Finding> {
    let seconds = found.oldest_transaction_s;
    (seconds > LONG_TRANSACTION_S).then(|| {
        Finding::warn(
            "transactions",
            format!("a transaction has been open for {seconds} s, so PostgreSQL cannot clean up behind it"),
            "find it in pg_stat_activity by xact_start, and let its program end it",
        )
    })
}

fn leases(found: &Examination) -> Option<Finding> {
    let (live, ended) = found.leases?;
    let message = match live {
        1 => "1 process has called within its lease".to_owned(),
        _ => format!("{live} processes have called within their lease"),
    };
    Some(match ended {
        0 => Finding::ok("processes", message),
        _ => Finding::ok(
            "processes",
            format!(
                "{message}; {ended} more are idle or gone, and the next call closes what these have left open"
            ),
        ),
    })
}
