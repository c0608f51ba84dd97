//! Calls that only the operator makes: the database of the configuration, opened in this process for a command.

use super::Failure;
use super::database::sentence;
use crate::catalogue::Dispatcher;
use crate::lifecycle::operation::{OperationError, Operator};
use crate::lifecycle::options::Options;
use crate::lifecycle::server::StartError;
use crate::settings::environment::Environment;
use crate::settings::keys;
use crate::tools::Domains;

/// Opens the configured database for operations.
///
/// # Errors
/// [`Failure::Usage`] for a bad configuration; [`Failure::Failed`] if the database does not open.
pub fn open(env: &Environment) -> Result<Operator<Dispatcher<Domains>>, Failure> {
    let environment = match env.get_os(keys::LOG_LEVEL.name) {
        Some(_) => env.clone(),
        None => env.with(keys::LOG_LEVEL.name, "warn"),
    };
    let options = Options { environment, ..Options::default() };
    Operator::open(Dispatcher(Domains::default()), options).map_err(Failure::from)
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::Start(StartError::Configuration(problems)) => {
                Self::Usage(format!("{}; correct the variable", sentence(&problems)))
            }
            other => Self::Failed(other.to_string()),
        }
    }
}
