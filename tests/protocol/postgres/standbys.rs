//! A server whose commits wait for a standby that is not there.

use std::time::Instant;

use colibri_test_support::client::PATIENCE;
use colibri_test_support::postgres::{Cluster, Role};

use super::reading::findings;
use crate::commands::shell;

#[test]
fn a_server_that_waits_for_an_absent_standby_is_refused_by_name_and_doctor_says_so() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.set_up("board");
    cluster.configure("synchronous_standby_names = 'elsewhere'");
    cluster.reload();
    let began = Instant::now();
    let set = "SHOW synchronous_standby_names";
    while cluster.client(Role::App, "board").query_one(set, &[]).unwrap().get::<_, String>(0) != "elsewhere" {
        assert!(began.elapsed() < PATIENCE, "the server does not read its settings: {}", cluster.log());
    }
    let shell = shell();
    let url = cluster.url(Role::App, "board");
    let variables = [("COLIBRI_DATABASE_URL", url.as_str()), ("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", "100")];
    let called = shell.run_with(&variables, &["call", "task_list"]).ends(1);
    let waits = "the server's commits wait for a synchronous standby (elsewhere), and none";
    assert!(called.out.contains(&format!("STARTUP_FAILED: {waits} confirms them")), "{}", called.out);
    // Of a start that failed no connection waits on, or the next ones would find none.
    let left = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'colibri %'";
    let left: i64 = cluster.client(Role::Superuser, "board").query_one(left, &[]).unwrap().get(0);
    assert_eq!(left, 0);
    let report = shell.run_with(&variables, &["doctor", "--json"]).ends(1).json();
    let failed = findings(&report, "fail");
    assert_eq!(failed, [format!("durability: {waits} follows it")], "{report:#}");
}
