//! Proxies of the environment: for hosts elsewhere, never for this machine (router#network).

use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE};
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::json;

use super::world::{World, fixture};

/// Every variable that names a proxy names this one.
fn through(launch: Launch, proxy: &Loopback) -> Launch {
    let names = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"];
    let launch = names.into_iter().fold(launch, |launch, name| launch.env(name, proxy.url("")));
    launch.env("NO_PROXY", "").env("no_proxy", "")
}

#[test]
fn this_machine_is_reached_without_a_proxy() {
    let proxy = Loopback::always(Reply::new(200, ""));
    let provider = Loopback::playing([fixture("anthropic", "success")]);
    let mut world = World::around(provider, |launch| through(launch, &proxy));
    assert_eq!(world.call(json!({ "prompt": "ping" }))["content"], "Hello there.");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn a_proxy_sees_the_hosts_name_and_no_key() {
    let proxy = Loopback::always(Reply::new(403, ""));
    let mut world = World::around(Loopback::playing([]), |launch| {
        // A name that exists nowhere (RFC 6761): without the proxy no host would answer.
        through(launch, &proxy).env("COLIBRI_ANTHROPIC_BASE_URL", "https://provider.invalid/v1")
    });
    assert_eq!(world.failure(json!({ "prompt": "ping" })), "Anthropic request failed: network error");
    let seen = proxy.only();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("CONNECT", "provider.invalid:443"));
    assert!(!format!("{seen:?}").contains(&world.key), "{seen:?}");
}

#[test]
fn a_proxy_that_makes_no_sense_is_not_gone_around() {
    let proxy = Loopback::playing([]);
    let mut world = World::around(Loopback::playing([]), |launch| {
        let launch = through(launch, &proxy).env("ALL_PROXY", "gopher://nobody");
        launch.env("COLIBRI_ANTHROPIC_BASE_URL", "https://provider.invalid/v1")
    });
    assert_eq!(world.failure(json!({ "prompt": "ping" })), "Anthropic request failed: network error");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn exceptions_are_reached_without_the_proxy() {
    let proxy = Loopback::playing([]);
    let provider = Loopback::always(Reply::new(200, ""));
    // An address that resolvers take for this machine; as it is written it might be elsewhere.
    let base = format!("https://127.1:{}", provider.address().port());
    let mut world = World::around(Loopback::playing([]), |launch| {
        let launch = through(launch, &proxy).env("NO_PROXY", "elsewhere.example, 127.1");
        launch.env("COLIBRI_ANTHROPIC_BASE_URL", base)
    });
    assert_eq!(world.failure(json!({ "prompt": "ping" })), "Anthropic request failed: tls failure");
    // The provider may take the connection after the client has given it up.
    let began = Instant::now();
    while provider.connections() == 0 && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((proxy.connections(), provider.connections()), (0, 1));
}
