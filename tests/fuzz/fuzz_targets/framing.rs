//! The property of `colibri_test_support::fuzzing::framing`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    colibri_test_support::fuzzing::framing::check(bytes);
});
