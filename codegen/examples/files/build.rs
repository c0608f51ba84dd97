//! Compiles the catalogue into `OUT_DIR`.

fn main() {
    colibri_codegen::build("catalogue");
}
