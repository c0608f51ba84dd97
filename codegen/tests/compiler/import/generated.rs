//! What is emitted for imported catalogues compiles, without a warning of the compiler or of clippy.

use std::fs;
use std::path::Path;
use std::process::Command;

use colibri_codegen::compile;

use super::{SERVERS, import};

#[test]
fn generated_code_of_public_servers_compiles_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let codegen = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::create_dir(folder.path().join("src")).unwrap();
    let mut modules = String::from("//! Imported.\n");
    for server in &SERVERS {
        let catalogue = folder.path().join(server.name);
        import(server, &catalogue);
        let module = server.name.replace('-', "_");
        fs::write(folder.path().join(format!("src/{module}.generated")), compile(&catalogue).unwrap().rust)
            .unwrap();
        modules.push_str(&format!(
            "/// A server.\npub mod {module} {{\n    include!(\"{module}.generated\");\n}}\n"
        ));
    }
    fs::write(folder.path().join("src/lib.rs"), modules).unwrap();
    let manifest = format!(
        "[package]\nname = \"imported\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ncolibri-runtime = {{ path = '{}' }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = {{ version = \"1\", features = [\"preserve_order\", \"raw_value\"] }}\n\n[workspace]\n",
        codegen.join("runtime").display()
    );
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::copy(codegen.join("../Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["clippy", "--offline", "--quiet", "--color=never", "--all-targets", "--", "-D", "warnings"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("example"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
}
