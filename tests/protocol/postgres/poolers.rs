//! PgBouncer in front of the database: it is named, and where it keeps what a session sets, it works.

use colibri_test_support::postgres::{Cluster, Pooler, Role};

use crate::commands::shell;

/// What PgBouncer does not know of a start packet.
const IGNORED: &str = "bytea_output, quote_all_identifiers, client_min_messages, idle_session_timeout, statement_timeout, lock_timeout, \
                       search_path, idle_in_transaction_session_timeout, tcp_user_timeout, synchronous_commit, extra_float_digits, \
                       default_transaction_isolation, default_transaction_read_only, row_security";

#[test]
fn a_pooler_is_named_and_works_where_it_keeps_what_a_session_sets() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.set_up("board");
    let shell = shell();
    let call = |pooler: &Pooler| {
        let url = pooler.url(&cluster, "board");
        shell.run_with(&[("COLIBRI_DATABASE_URL", &url)], &["call", "task_create", r#"{"title": "pooled"}"#])
    };
    for (mode, ignored, words) in [
        ("session", "", "PgBouncer stands in front of PostgreSQL and refuses the parameter"),
        ("transaction", "", "PgBouncer stands in front of PostgreSQL and refuses the parameter"),
        ("transaction", IGNORED, "a pooler such as PgBouncer stands in front of PostgreSQL"),
        ("statement", IGNORED, "a pooler such as PgBouncer stands in front of PostgreSQL"),
    ] {
        let Some(pooler) = Pooler::start(&cluster, "board", mode, ignored) else { return };
        let refused = call(&pooler).ends(1);
        let said = format!("{}{}", refused.out, refused.err);
        assert!(said.contains(words) && said.contains("pool_mode = session"), "{mode} {ignored}: {said}");
    }
    // What a role sets otherwise is set again by the session, although the pooler has dropped it from the start packet.
    let admin = "ALTER ROLE test_app SET client_min_messages = 'error'; ALTER ROLE test_app SET bytea_output = 'escape'";
    cluster.client(Role::Superuser, "postgres").batch_execute(admin).unwrap();
    let Some(pooler) = Pooler::start(&cluster, "board", "session", IGNORED) else { return };
    call(&pooler).ends(0);
    let url = pooler.url(&cluster, "board");
    let verified = shell.run_with(&[("COLIBRI_DATABASE_URL", &url)], &["verify"]).ends(0);
    assert!(verified.out.contains("Sound"), "{}", verified.out);
}
