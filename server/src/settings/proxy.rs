//! The proxy that the environment names, in the form that every HTTP client reads. These variables are not the
//! server's own, so the table of keys does not contain them.

use super::environment::Environment;
use colibri_proof::secret::Secret;

/// The variables that may name a proxy, in order of precedence.
const PROXIES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
/// The variables that name hosts to reach without it.
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The proxy for other hosts. Not `Debug`: its URL may hold a password.
#[derive(Clone)]
pub struct ProxyVariables {
    /// The proxy's URL, unchecked.
    pub url: Secret,
    /// Hosts to reach without it: `example.com`, `.example.com`, `*`.
    pub exceptions: Vec<String>,
}

impl ProxyVariables {
    /// Reads the environment; `None` if it names no proxy.
    pub fn read(env: &Environment) -> Option<Self> {
        let first = |names: &[&str]| {
            let values = names.iter().filter_map(|name| env.get_os(name));
            values.map(|value| value.to_string_lossy().trim().to_owned()).find(|value| !value.is_empty())
        };
        let url = Secret::new(first(&PROXIES)?);
        let exceptions = first(&EXCEPTIONS).unwrap_or_default();
        let exceptions = exceptions.split(',').map(str::trim).filter(|host| !host.is_empty());
        Some(Self { url, exceptions: exceptions.map(str::to_owned).collect() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read<const N: usize>(variables: [(&str, &str); N]) -> Option<(String, Vec<String>)> {
        let proxy = ProxyVariables::read(&Environment::from(variables))?;
        Some((proxy.url.expose().to_owned(), proxy.exceptions))
    }

    #[test]
    fn the_first_variable_that_is_not_empty_counts() {
        assert_eq!(read([("HTTPS_PROXY", ""), ("ALL_PROXY", " ")]), None);
        assert_eq!(read([("NO_PROXY", "a")]), None);
        let (url, exceptions) = read([("http_proxy", "http://c"), ("HTTPS_PROXY", "http://b")]).unwrap();
        assert_eq!((url.as_str(), exceptions.len()), ("http://b", 0));
        assert_eq!(read([("ALL_PROXY", "http://a"), ("HTTPS_PROXY", "http://b")]).unwrap().0, "http://a");
    }

    #[test]
    fn exceptions_are_a_list() {
        let (_, exceptions) = read([("ALL_PROXY", "p"), ("no_proxy", "a.example, .b.example,,*")]).unwrap();
        assert_eq!(exceptions, ["a.example", ".b.example", "*"]);
    }
}
