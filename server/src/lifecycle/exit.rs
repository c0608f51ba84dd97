//! Exit codes of the process (chain#commands), and how it ends immediately.

use std::process::exit;
use std::time::Duration;

use colibri_runtime::chain::log::{Level, Log};

/// Done, sound, or a clean stop.
pub const SUCCESS: u8 = 0;
/// A finding, a failure, or a forced stop.
pub const FAILURE: u8 = 1;
/// The start took too long.
pub const STARTUP_TIMEOUT: u8 = 75;

/// The longest that a process which ends immediately may take for its last line.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Ends the process without draining it, after a line that says why. The end waits for nothing: the log may go to a disk that hangs.
pub fn at_once(log: &dyn Log, level: Level, why: &str, code: u8) -> ! {
    let code = i32::from(code);
    let _ = std::thread::Builder::new().name("end".to_owned()).spawn(move || {
        std::thread::sleep(LAST_WORDS);
        exit(code);
    });
    // What a transaction of this thread has kept comes first; the transaction ends with the process.
    log.release();
    log.write(level, why);
    exit(code)
}
