//! The property of `colibri_tests::fuzzing::export`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    colibri_tests::fuzzing::export::check(bytes);
});
