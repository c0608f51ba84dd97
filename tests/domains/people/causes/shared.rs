//! A database of PostgreSQL: how it is reached, what the login may do, and what the server holds.

use colibri_test_support::postgres::{Database, Role};

use super::site::{Finding, Site};
use super::{Cause, fails, warns};

const URL: &str = "COLIBRI_DATABASE_URL";
const WITNESS: &str = "COLIBRI_WITNESS_DIR";

fn sound(site: &Site) {
    site.share(Database::new().expect("PostgreSQL is there"), Role::App);
}

/// A database where neither setup nor a migration has run.
fn empty(site: &Site) {
    site.share(Database::empty().expect("PostgreSQL is there"), Role::App);
}

/// A sound one, and something else in its URL.
fn with_url(site: &Site, change: impl Fn(&str) -> String) {
    sound(site);
    let changed = change(&site.value(URL));
    site.set(URL, changed);
}

/// The URL as it was.
fn corrected(site: &Site, _: &Finding) {
    let url = site.shared().url(Role::App);
    site.set(URL, url);
}

/// Runs a statement as the owner of the database server.
fn operator_runs(site: &Site, statement: &str) {
    site.shared().client(Role::Superuser).batch_execute(statement).unwrap();
}

/// Types a command as the operator of the database server.
fn operator_types(site: &Site, line: &str) {
    let (server, operator) = (site.value(URL), site.shared().url(Role::Superuser));
    site.set(URL, operator);
    site.types(line);
    site.set(URL, server);
}

/// A login of this cause alone, in these groups. It stays with the cluster, which goes with the run.
fn new_login(site: &Site, groups: &str) {
    sound(site);
    let name = format!("login_{}", site.shared().name());
    operator_runs(
        site,
        &format!("DROP ROLE IF EXISTS {name}; CREATE ROLE {name} LOGIN PASSWORD 'secret' {groups}"),
    );
    let url = site.value(URL);
    let (_, place) = url.rsplit_once('@').unwrap();
    site.set(URL, format!("postgres://{name}:secret@{place}"));
}

/// The grant of the advice, with the name of the login.
fn granted(site: &Site, found: &Finding) {
    let name = format!("login_{}", site.shared().name());
    operator_runs(site, &found.command("GRANT").replace("ROLE", &name));
}

fn migrated(site: &Site, found: &Finding) {
    for word in ["colibri postgres setup", "colibri postgres migrate"] {
        if found.advice.contains(word) {
            operator_types(site, &found.command(word));
        }
    }
}

pub const CAUSES: &[Cause] = &[
    fails(
        "A server that is not there",
        |site| with_url(site, |url| format!("{}@127.0.0.1:1/board", url.rsplit_once('@').unwrap().0)),
        "PostgreSQL cannot be reached",
        corrected,
    ),
    fails(
        "A wrong password",
        |site| {
            with_url(site, |url| format!("postgres://test_app:wrong@{}", url.rsplit_once('@').unwrap().1));
        },
        "password",
        corrected,
    ),
    fails(
        "A database that is not on the server",
        |site| with_url(site, |url| format!("{}/none", url.rsplit_once('/').unwrap().0)),
        "does not have the database",
        corrected,
    ),
    fails(
        "A login that may not read the schema",
        |site| new_login(site, ""),
        "the login role may not read Colibri's schema",
        granted,
    ),
    fails(
        "A login that may only read, in FULL",
        |site| new_login(site, "IN ROLE colibri_read"),
        "this login is not a member of colibri_app",
        granted,
    ),
    warns(
        "A login that may do everything",
        |site| site.share(Database::new().expect("PostgreSQL is there"), Role::Superuser),
        "this login is a superuser",
        corrected,
    ),
    fails("A database without the schema", empty, "the database has no schema of Colibri's", migrated),
    fails(
        "A schema without a migration",
        |site| {
            empty(site);
            operator_types(site, "colibri postgres setup");
        },
        "the database has no schema of Colibri's",
        migrated,
    ),
    fails(
        "A schema of a later release",
        |site| {
            sound(site);
            operator_runs(site, "INSERT INTO colibri.schema_version (version) VALUES (999)");
        },
        "the database has schema version 999",
        |site, _| sound(site),
    ),
    fails(
        "Rights that the migrations do not give",
        |site| {
            sound(site);
            operator_runs(site, "GRANT DELETE ON colibri.enters TO colibri_app");
        },
        "table enters is not what the migrations make",
        |site, _| operator_runs(site, "REVOKE DELETE ON colibri.enters FROM colibri_app"),
    ),
    fails(
        "A guard of a shared database that is switched off",
        |site| {
            sound(site);
            operator_runs(site, "ALTER TABLE colibri.trail_heads DISABLE TRIGGER trg_heads_step");
        },
        "table trail_heads",
        |site, _| operator_runs(site, "ALTER TABLE colibri.trail_heads ENABLE TRIGGER trg_heads_step"),
    ),
    fails(
        "Standbys demanded of a server without any",
        |site| {
            sound(site);
            site.set("COLIBRI_DURABILITY", "replicated");
        },
        "COLIBRI_DURABILITY is replicated, and the server waits for no standby",
        |site, found| {
            assert!(found.advice.ends_with("COLIBRI_DURABILITY to full"));
            site.set("COLIBRI_DURABILITY", "full");
        },
    ),
    fails(
        "A folder of the witness that is not there",
        |site| {
            sound(site);
            site.set(WITNESS, "witness");
        },
        "Make the folder that COLIBRI_WITNESS_DIR names",
        |site, _| std::fs::create_dir(site.path("witness")).unwrap(),
    ),
];
