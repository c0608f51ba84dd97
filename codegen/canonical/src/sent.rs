//! Numbers that 64 bits do not keep: they are hashed as their digits were sent.

use std::iter::Peekable;
use std::vec::IntoIter;

use crate::escape::string_end;

/// A JSON text with a zero in the place of each such number, and what was there.
pub(super) struct Sent<'t> {
    pub(super) text: String,
    /// Each number with its place among all numbers of the text.
    taken: Peekable<IntoIter<(usize, &'t str)>>,
    seen: usize,
}

impl<'t> Sent<'t> {
    /// Takes the numbers out of a text. `None` if it has none.
    pub(super) fn of(json: &'t str) -> Option<Self> {
        let (mut text, mut taken, mut copied) = (String::new(), Vec::new(), 0);
        for (place, (start, number)) in numbers(json).enumerate() {
            if !is_kept(number) {
                text.push_str(json.get(copied..start)?);
                text.push('0');
                copied = start + number.len();
                taken.push((place, number));
            }
        }
        text.push_str(json.get(copied..)?);
        (!taken.is_empty()).then(|| Self { text, taken: taken.into_iter().peekable(), seen: 0 })
    }

    /// Returns what was sent in the place of the next number, if it was taken out.
    pub(super) fn next(&mut self) -> Option<&'t str> {
        let place = self.seen;
        self.seen += 1;
        self.taken.next_if(|(at, _)| *at == place).map(|(_, number)| number)
    }
}

/// Returns whether 64 bits keep every number of a JSON text, so that a value made of it has lost nothing.
pub fn keeps_numbers(json: &str) -> bool {
    numbers(json).all(|(_, number)| is_kept(number))
}

/// Returns every number of a JSON text, with the place where it starts. The parser judges what is not a number.
fn numbers(json: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => at = string_end(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    at += rest.iter().take_while(|byte| belongs_to_number(**byte)).count();
                    return Some((start, json.get(start..at)?));
                }
                _ => {}
            }
        }
        None
    })
}

fn belongs_to_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Returns whether an integer of 64 bits has the value of the number or, if it has a fraction or an exponent, the shortest form of its
/// double.
fn is_kept(number: &str) -> bool {
    let is_integer = !number.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    // A double keeps every 15 digits.
    if number.len() <= 15 && (is_integer || !number.contains(['e', 'E'])) || !is_number(number) {
        return true;
    }
    if is_integer {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let double = number.parse().unwrap_or(f64::INFINITY);
    double.is_finite() && decimal(number) == decimal(ryu_js::Buffer::new().format_finite(double))
}

/// Returns whether a text has the form of a JSON number.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (text, exponent) =
        text.split_once(['e', 'E']).map_or((text, "0"), |(text, exponent)| (text, exponent));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    digits(whole) && (whole == "0" || !whole.starts_with('0')) && digits(fraction) && digits(exponent)
}

/// Returns the size of a number: its digits without zeros at either end, and the power of ten that they count. `None` if the power
/// has over 64 bits.
fn decimal(number: &str) -> Option<(String, i64)> {
    let number = number.trim_start_matches('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some((String::new(), 0));
    }
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = exponent.parse::<i64>().ok()?.checked_sub(fraction)?.checked_add(zeros)?;
    Some((significant.to_owned(), power))
}
