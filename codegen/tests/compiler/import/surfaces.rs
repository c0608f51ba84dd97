//! Surfaces come in the forms that the gate reads.

use colibri_codegen::import::{Surface, catalogue};
use serde_json::json;

#[test]
fn forms_of_a_surface_make_the_same_catalogue() {
    let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
    let greeting = json!({"serverInfo": {"name": "s", "version": "1.0.0"}, "instructions": "Hi."});
    let discovery = json!({"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1.0.0"}}, "instructions": "Hi."});
    let files = [
        json!({"initialize": greeting, "tools": [tool]}),
        json!([{"jsonrpc": "2.0", "id": 1, "result": greeting}, {"jsonrpc": "2.0", "id": 2, "result": {"tools": [tool]}}]),
        json!([discovery, {"tools": [tool]}]),
    ]
    .map(|form| {
        let folder = tempfile::tempdir().unwrap();
        let made = catalogue(&Surface::read(&form.to_string()).unwrap(), folder.path()).unwrap();
        assert!(made.findings.is_empty() && made.notes.is_empty(), "{made:?}");
        ["catalogue.yaml", "tools/s.yaml"].map(|file| std::fs::read_to_string(folder.path().join(file)).unwrap())
    });
    assert_eq!(files[0], files[1]);
    assert_eq!(files[0], files[2]);
    assert!(
        files[0][0].contains("\nname: s\n") && files[0][0].contains("\ninstructions: \"Hi.\"\n")
            || files[0][0].contains("\ninstructions: Hi.\n"),
        "{}",
        files[0][0]
    );
}
