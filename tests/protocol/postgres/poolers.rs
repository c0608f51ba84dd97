//! PgBouncer in front of the database: it is named, and where it keeps what a session sets, it works.

use colibri_test_support::postgres::{Cluster, Pooler, Role};

use crate::commands::shell;

#[test]
fn a_pooler_is_named_and_works_where_it_keeps_what_a_session_sets() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.set_up("board");
    let shell = shell();
    let call = |pooler: &Pooler| {
        let url = pooler.url(&cluster, "board");
        shell.run_with(&[("COLIBRI_DATABASE_URL", &url)], &["call", "task_create", r#"{"title": "pooled"}"#])
    };
    let refused = |mode: &str, ignored: &str, words: &str| {
        let pooler = Pooler::start(&cluster, "board", mode, ignored)?;
        let refused = call(&pooler).ends(1).json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(
            refused.contains(words) && refused.contains("pool_mode = session"),
            "{mode} {ignored}: {refused}"
        );
        Some(refused)
    };
    let unknown = "PgBouncer stands in front of PostgreSQL and refuses the parameter bytea_output";
    let Some(said) = refused("session", "", unknown) else { return };
    refused("transaction", "", unknown).unwrap();
    // As the message says.
    let ignored = said.split_once("write ignore_startup_parameters = ").unwrap().1;
    for mode in ["transaction", "statement"] {
        refused(mode, ignored, "a pooler such as PgBouncer stands in front of PostgreSQL").unwrap();
    }
    // What a role sets otherwise is set again by the session, although the pooler has dropped it from the start packet.
    let admin = "ALTER ROLE test_app SET client_min_messages = 'error'; ALTER ROLE test_app SET bytea_output = 'escape'";
    cluster.client(Role::Superuser, "postgres").batch_execute(admin).unwrap();
    let Some(pooler) = Pooler::start(&cluster, "board", "session", ignored) else { return };
    call(&pooler).ends(0);
    let url = pooler.url(&cluster, "board");
    let verified = shell.run_with(&[("COLIBRI_DATABASE_URL", &url)], &["verify"]).ends(0);
    assert!(verified.out.contains("Sound"), "{}", verified.out);
}
