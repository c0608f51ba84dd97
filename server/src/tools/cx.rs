//! What this server adds to the context of a handler: configuration, facts, keys and router.

use std::cell::OnceCell;
use std::sync::Arc;

use colibri_runtime::chain::log::{Log, NoLog};
use colibri_runtime::handler::Fault;
use colibri_runtime::progress::Progress;

use crate::domains::callers::Observed;
use crate::domains::proof::keyring::Keyring;
use crate::domains::router::service::Router;
use crate::domains::system::facts::SystemFacts;
use crate::settings::config::Config;
use colibri_store::cx;

/// The context of store tools.
pub type Cx = cx::Cx<Parts>;
/// The context of scan tools.
pub type ScanCx = cx::ScanCx<ScanParts>;

/// What handlers need beside the database. Each part belongs to the domain or folder that declares it.
pub struct Parts {
    /// The server's configuration.
    pub config: Arc<Config>,
    /// The server's knowledge about itself; boot keeps it up to date.
    pub facts: SystemFacts,
    /// The key that signs tree heads, if one is configured, and those whose signatures are trusted.
    pub keys: Arc<Keyring>,
    /// Where the server writes what operators should know.
    pub log: Arc<dyn Log>,
    /// The root whose skills this process shows, by its name in the database; empty before boot has found it.
    pub skills_root: String,
    /// Missing until boot has read the candidates.
    pub router: Option<Arc<Router>>,
    /// What the log says about this process; looked up when it is first needed.
    pub observed: OnceCell<Observed>,
}

impl Parts {
    /// Makes the parts that a server has from the start, without keys.
    pub fn new(config: Arc<Config>, facts: SystemFacts) -> Self {
        Self {
            config,
            facts,
            keys: Arc::default(),
            log: Arc::new(NoLog),
            skills_root: String::new(),
            router: None,
            observed: OnceCell::new(),
        }
    }

    /// Returns what the log says about this process.
    pub fn observed(&self) -> &Observed {
        self.observed.get_or_init(Observed::of_this_process)
    }

    /// Returns the process's router.
    ///
    /// # Errors
    /// [`Fault::Other`] before boot has read its candidates.
    pub fn router(&self) -> Result<&Arc<Router>, Fault> {
        self.router.as_ref().ok_or_else(no_router)
    }
}

/// What a scan takes to its thread.
pub struct ScanParts {
    /// The keys, for the signatures that it checks.
    pub keys: Arc<Keyring>,
    /// The configured length of an epoch.
    pub epoch_seconds: u32,
}

impl cx::Parts for Parts {
    type Scan = ScanParts;
    type Network = NetworkCx;

    fn for_scan(&self) -> ScanParts {
        ScanParts { keys: self.keys.clone(), epoch_seconds: self.config.epoch_seconds }
    }

    fn for_network(&self, progress: Progress) -> NetworkCx {
        NetworkCx { router: self.router.clone(), progress }
    }
}

/// The context of network tools. Their calls hold no store and last longer than the turn in which they start.
#[derive(Clone)]
pub struct NetworkCx {
    router: Option<Arc<Router>>,
    progress: Progress,
}

impl NetworkCx {
    /// Returns where the call reports how far it is.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the process's router.
    ///
    /// # Errors
    /// [`Fault::Other`] before boot has read its candidates.
    pub fn router(&self) -> Result<&Arc<Router>, Fault> {
        self.router.as_ref().ok_or_else(no_router)
    }
}

fn no_router() -> Fault {
    Fault::Other("the router is not initialised".into())
}
