//! When an attempt asks the same provider again, and after how long (router#retries). Pure.

/// Requests after the first one.
pub const MAX_RETRIES: u32 = 3;
/// The first wait in milliseconds; it doubles each time. It needs no jitter, because calls run one after the other.
pub const BASE_DELAY_MS: u64 = 100;
/// The longest `Retry-After` that an attempt waits for, in seconds; beyond it the next model of the chain is faster.
pub const LONGEST_RETRY_AFTER_S: u64 = 5;

/// Returns whether a status justifies another request.
pub const fn is_transient(status: u16) -> bool {
    status == 429 || (status >= 500 && status <= 599)
}

/// Returns the milliseconds to wait before the next request; `None` to stop. `requests` have received a transient
/// status, and `left_ms` of the attempt remain.
pub fn next_wait(requests: u32, retry_after: Option<&str>, left_ms: u64) -> Option<u64> {
    if requests > MAX_RETRIES {
        return None;
    }
    let back_off = BASE_DELAY_MS << requests.saturating_sub(1);
    let asked = match retry_after.and_then(whole_seconds) {
        Some(seconds) if seconds > LONGEST_RETRY_AFTER_S => return None,
        Some(seconds) => seconds * 1000,
        None => 0,
    };
    let wait = back_off.max(asked);
    (wait < left_ms).then_some(wait)
}

/// Returns the seconds of a `Retry-After`; `None` for a date or any other text.
fn whole_seconds(text: &str) -> Option<u64> {
    let digits = text.trim();
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number too large for the type still means many seconds.
    whole.then(|| digits.parse().unwrap_or(u64::MAX))
}
