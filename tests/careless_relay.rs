//! The relay of the tests that makes one mistake on request; see [`colibri_test_support::careless`].

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    colibri_test_support::careless::run(&arguments);
}
