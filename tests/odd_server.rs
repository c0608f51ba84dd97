//! The server of the tests that plays what it is asked to; see [`colibri_test_support::odd`].

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    colibri_test_support::odd::run(&arguments);
}
