//! The property of `colibri_test_support::fuzzing::server_lines`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    colibri_test_support::fuzzing::server_lines::check(bytes);
});
