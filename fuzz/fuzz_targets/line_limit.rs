//! The property of `colibri_tests::fuzzing::line_limit`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    colibri_tests::fuzzing::line_limit::check(bytes);
});
