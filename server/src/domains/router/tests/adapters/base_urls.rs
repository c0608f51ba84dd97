//! Where a key may be sent (router#settings).

use crate::domains::router::engine::base_url::BaseUrl;

#[test]
fn https_is_fine_anywhere_and_http_on_this_machine() {
    for (text, kept, loopback) in [
        ("https://api.example.com/v1", "https://api.example.com/v1", false),
        ("https://api.example.com/v1/", "https://api.example.com/v1", false),
        ("https://api.example.com", "https://api.example.com", false),
        ("HTTPS://api.example.com/", "https://api.example.com", false),
        ("https://[2001:db8::1]:8443/v1//", "https://[2001:db8::1]:8443/v1/", false),
        ("https://localhost:8443", "https://localhost:8443", true),
        ("http://localhost:1234/v1", "http://localhost:1234/v1", true),
        ("http://LocalHost", "http://LocalHost", true),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", true),
        ("http://127.255.0.9", "http://127.255.0.9", true),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1", true),
    ] {
        let expected = BaseUrl { text: kept.to_owned(), loopback };
        assert_eq!(BaseUrl::parse(text), Ok(expected), "{text}");
    }
}

#[test]
fn other_base_urls_are_refused() {
    const SCHEME: &str = "it must begin with https://";
    const PLAIN: &str = "plain http is for this machine only";
    const HOST: &str = "its host is not a name or an address";
    const PORT: &str = "its port is not a number between 1 and 65535";
    const QUERY: &str = "it must have neither query nor fragment";
    const USER: &str = "it must not hold a user name or password";
    const CHARACTERS: &str = "it has characters that must be percent-encoded";
    for (text, reason) in [
        ("http://example.com", PLAIN),
        ("https://u:p@example.com", USER),
        ("http://127.0.0.1@example.com", USER),
        ("ftp://x", SCHEME),
        ("https:/x", SCHEME),
        ("example.com", SCHEME),
        ("", SCHEME),
        ("https://x/?a=b", QUERY),
        ("https://x?a", QUERY),
        ("https://x/#a", QUERY),
        ("https://", HOST),
        ("https:///v1", HOST),
        ("https://:443", HOST),
        ("https://[::1", HOST),
        ("https://[x]", HOST),
        ("https://[]", HOST),
        ("https://exa%6dple.com", HOST),
        ("https://x:0", PORT),
        ("https://x:", PORT),
        ("https://x:65536", PORT),
        ("https://x:+80", PORT),
        ("https://[::1]80", PORT),
        ("https://a b", CHARACTERS),
        ("https://x/\u{e9}", CHARACTERS),
        ("https://x/\n", CHARACTERS),
        ("https:\\\\x", CHARACTERS),
        // What a resolver may take for this machine is not what is written there.
        ("http://127.1", PLAIN),
        ("http://127.0.0.1.example.com", PLAIN),
        ("http://0127.0.0.1", PLAIN),
        ("http://127.0.0.01", PLAIN),
        ("http://127.0.0.256", PLAIN),
        ("http://127.0.0.1.", PLAIN),
        ("http://localhost.example.com", PLAIN),
        ("http://[::ffff:127.0.0.1]", PLAIN),
        ("http://0.0.0.0", PLAIN),
        ("http://10.0.0.1", PLAIN),
    ] {
        assert_eq!(BaseUrl::parse(text), Err(reason), "{text}");
    }
}
