//! Who a server is to others, and where its password comes from.

use colibri_test_support::client::Launch;
use colibri_test_support::postgres::{Database, Role};
use serde_json::json;

use crate::commands::shell;

#[test]
fn the_password_may_come_from_a_file_of_its_own() {
    let Some(database) = Database::new() else { return };
    let shell = shell();
    let url = database.url(Role::App);
    let password = database.cluster().password();
    let bare = url.replace(&format!(":{password}@"), "@");
    let file = shell.path().join("password");
    std::fs::write(&file, format!("{password}\n")).unwrap();
    let file = file.to_str().unwrap();
    let call = |url: &str, file: &str| {
        let variables = [("COLIBRI_DATABASE_URL", url), ("COLIBRI_DATABASE_PASSWORD_FILE", file)];
        shell.run_with(&variables, &["call", "task_list"])
    };
    call(&bare, file).ends(0);
    for (url, file, words) in [
        (url.as_str(), file, "has a password already"),
        (bare.as_str(), "nowhere/password", "names a file that cannot be read"),
        (bare.as_str(), "/dev/null", "names a file whose first line is empty"),
    ] {
        let refused = call(url, file);
        let said = format!("{}{}", refused.out, refused.err);
        assert!(refused.code != Some(0) && said.contains(words) && !said.contains(password), "{said}");
    }
}

#[test]
fn a_connection_says_whose_it_is_and_the_holder_of_a_lock_is_named_by_its_host() {
    let Some(database) = Database::new() else { return };
    let url = format!("{}?application_name=payments", database.url(Role::App));
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let launch = launch.env("COLIBRI_DATABASE_URL", &url).env("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", "300");
    let mut server = launch.start();
    server.data("task_create", json!({ "title": "who" }));
    let mut admin = database.client(Role::Superuser);
    let name = "SELECT application_name FROM pg_stat_activity WHERE usename = 'test_app' AND datname = current_database()";
    let name: String = admin.query_one(name, &[]).unwrap().get(0);
    assert!(name.starts_with("payments ") && name.contains(" on "), "{name}");
    let mut refused = |hold: &str| {
        admin.batch_execute(&format!("BEGIN; {hold}")).unwrap();
        let reply = server.call("task_create", json!({ "title": "waits" }));
        admin.batch_execute("ROLLBACK").unwrap();
        reply.to_string()
    };
    let said = refused(
        "SET LOCAL application_name = 'colibri 0123456789ab on build-07'; SELECT pg_advisory_xact_lock(1129071186, 2)",
    );
    assert!(
        said.contains("lock of the log") && said.contains("colibri 0123456789ab on build-07 (server process"),
        "{said}"
    );
    let said = refused("LOCK TABLE colibri.exits IN ACCESS EXCLUSIVE MODE");
    assert!(
        said.contains("another program has kept the table exits locked")
            && said.contains("of the role postgres"),
        "{said}"
    );
}
