//! What is emitted for imported catalogues compiles, without a warning of the compiler or of clippy.

use std::fs;
use std::process::Command;

use colibri_codegen::compile;

use super::{SERVERS, import};
use crate::example_edits::{target, workspace_around};

#[test]
fn generated_code_of_public_servers_compiles_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    workspace_around(folder.path(), "imported");
    let package = folder.path().join("imported");
    fs::create_dir_all(package.join("src")).unwrap();
    let mut modules = String::from("//! Imported.\n");
    for server in &SERVERS {
        let catalogue = package.join(server.name);
        import(server, &catalogue);
        let module = server.name.replace('-', "_");
        fs::write(package.join(format!("src/{module}.generated")), compile(&catalogue).unwrap().rust)
            .unwrap();
        modules.push_str(&format!(
            "/// A server.\npub mod {module} {{\n    include!(\"{module}.generated\");\n}}\n"
        ));
    }
    fs::write(package.join("src/lib.rs"), modules).unwrap();
    let manifest = "[package]\nname = \"imported\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ncolibri-runtime.workspace = true\nserde.workspace = true\nserde_json.workspace = true\n";
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--color=never", "--", "-D", "warnings"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", target())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
}
