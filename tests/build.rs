//! Compiles the file layer that the crash tests load into servers.

#![allow(clippy::expect_used)]

use std::path::PathBuf;

/// Compiles a shared library beside the other build products; the tests find its path in `COLIBRI_FILE_LAYER`. It needs
/// `LD_PRELOAD` and a C library with the Linux names, so other systems do without it.
fn main() {
    const SOURCE: &str = "shim/files.c";
    println!("cargo::rerun-if-changed={SOURCE}");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if (target("OS"), target("ENV")) != ("linux".to_owned(), "gnu".to_owned()) {
        return;
    }
    let out: PathBuf = std::env::var_os("OUT_DIR").expect("Cargo names it").into();
    let library = out.join("libfiles.so");
    let compiler = cc::Build::new().opt_level(1).warnings(true).extra_warnings(true).get_compiler();
    let mut command = compiler.to_command();
    command.args(["-std=gnu11", "-shared", "-fPIC", "-pthread", SOURCE, "-o"]).arg(&library);
    let status = command.status().expect("the C compiler starts");
    assert!(status.success(), "{SOURCE} does not compile");
    println!("cargo::rustc-env=COLIBRI_FILE_LAYER={}", library.display());
}
