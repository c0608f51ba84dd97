//! Checkpoints: what is read can be written, and reads as the same.

use colibri_proof::checkpoint::Checkpoint;

/// Members and values of a checkpoint.
pub const TOKENS: &[&str] = &[
    "0",
    "1",
    "-1",
    "null",
    "\"v\":1",
    "\"v\":2",
    "{}",
    "[]",
    ",",
    "\"",
    " ",
    "\n",
    "\"open_calls\":[],",
    "\"last_sequence_no\":2",
    "\"last_exit_no\":2",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "{\"enter_hash\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"sequence_no\":3}",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "A",
    "\\u0000",
];

/// Reads a checkpoint's text.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    match Checkpoint::parse(text) {
        Ok(checkpoint) => {
            let written =
                checkpoint.to_text().unwrap_or_else(|error| panic!("it cannot be written: {error}"));
            assert_eq!(Checkpoint::parse(&written).as_ref(), Ok(&checkpoint));
            let running = checkpoint.log.last_sequence_no - checkpoint.log.last_exit_no;
            assert_eq!(usize::try_from(running), Ok(checkpoint.open_calls.len()));
            true
        }
        Err(reason) => {
            assert!(!reason.is_empty());
            false
        }
    }
}
