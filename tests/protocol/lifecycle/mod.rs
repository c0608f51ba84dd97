//! chain#life-cycle: construction, start, shutdown, registration, health.
//!
//! What a process cannot show (an injected transport, clock or sink) runs on a server
//! inside the test, on one thread as the process would. A closed handle is shown beside the
//! handler (server/src/domains/system/tests.rs), which alone can reach it.

mod construction;
mod edges;
mod process;
mod registration;
mod shutdown;
mod start;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::Options;
use colibri::lifecycle::server::{Server as Embedded, create_server};
use colibri::tools::Domains;
use colibri_test_support::client::Launch;

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

/// The real tools under options of the test's.
fn embedded(options: Options) -> Embedded<Dispatcher<Domains>> {
    create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap()
}
