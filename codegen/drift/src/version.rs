//! Versions of catalogues and servers.

/// `MAJOR.MINOR.PATCH` of a semantic version; a pre-release or build part is cut off.
pub(crate) fn version(text: &str) -> Option<[u64; 3]> {
    let (core, tail) = match text.find(['-', '+']) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    };
    let tail_is_sound = tail.is_none_or(|tail| {
        tail.split(['.', '+']).all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    });
    let mut numbers = core.split('.').map(|part| {
        let canonical = part == "0" || !part.starts_with('0');
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if canonical && digits { part.parse().ok() } else { None }
    });
    let triple = [numbers.next()??, numbers.next()??, numbers.next()??];
    (tail_is_sound && numbers.next().is_none()).then_some(triple)
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_semantic() {
        assert_eq!(version("1.20.3"), Some([1, 20, 3]));
        assert_eq!(version("1.2.3-rc.1+build5"), Some([1, 2, 3]));
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "v1.2.3", "1.2.3-", "-1.2.3"] {
            assert_eq!(version(bad), None, "{bad}");
        }
    }
}
