//! What `colibri verify` says of a server's database.

use colibri_test_support::client::Server;
use serde_json::Value;

use super::era::launch;

/// The codes of its findings, in their order.
pub fn findings(server: &Server) -> Vec<String> {
    let output = launch().beside(server).arg("verify").arg("--json").command().output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let findings = verdict["findings"].as_array().unwrap();
    assert_eq!(verdict["sound"], findings.is_empty(), "{verdict}");
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// Asserts that it finds nothing.
pub fn assert_sound(server: &Server) {
    assert_eq!(findings(server), Vec::<String>::new());
}
