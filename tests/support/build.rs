//! Compiles the probe's catalogue into `OUT_DIR`.

fn main() {
    colibri_codegen::build("catalogue");
}
