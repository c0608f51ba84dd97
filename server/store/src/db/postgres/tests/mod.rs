//! The client against servers of PostgreSQL, and against scripted ones that do what PostgreSQL never does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conditions;
mod copying;
mod cuts;
mod fake;
mod handle;
mod hostile;
mod login;
mod pages;
mod pipeline;
mod tls;
mod url;

use colibri_test_support::postgres::{Cluster, Role};

use super::{DatabaseUrl, Session, SessionOptions, TlsPolicy};

/// Parses a URL that must be right.
fn parse(url: &str) -> DatabaseUrl {
    DatabaseUrl::parse(url, TlsPolicy::Verify).expect("the URL is right")
}

/// A session in the cluster that all tests share; `None` without PostgreSQL. Tests make temporary tables alone.
fn session() -> Option<Session> {
    let url = parse(&Cluster::shared()?.socket_url(Role::Superuser, "postgres"));
    let options = SessionOptions { settings: Vec::new(), ..SessionOptions::default() };
    Some(Session::connect(&url, &options).expect("the server lets us in"))
}
