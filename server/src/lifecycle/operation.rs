//! Calls that only the operator makes, by a command in its own process. The database is opened as a server opens
//! it, and each call goes through the same five stages under the process's own boot id. The command serves no client; `colibri wrap`
//! passes the calls of one on.
//!
//! No code path bypasses the chain (chain#one-way-in); an operation only enters it another way than a client's call.

use std::sync::Arc;

use colibri_runtime::chain::Chain;
use colibri_runtime::chain::call::{Answer, Call, NO_REQUEST, Reply, ReplyTo};
use colibri_runtime::chain::client::{Client, Source};
use colibri_runtime::chain::log::Level;
use colibri_runtime::handler::Dispatch;
use colibri_runtime::progress::Progress;
use serde_json::Value;

use super::options::{AuditChoice, Options};
use super::phase2;
use super::server::{Server, StartError, create_server};
use crate::catalogue::{CATALOGUE, ToolId};
use crate::tools::cx::{Cx, Parts};
use colibri_store::ServerStore;

/// Why an operation has no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// The process cannot be set up. The text lists bad variables, one line each.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The database did not open, or what was to be stored may not be durable.
    #[error("{0}")]
    Failed(String),
}

/// A process that makes the operator's calls; see the page above.
pub struct Operator<D: Dispatch<Cx>>(Server<D>);

impl<D: Dispatch<Cx>> Operator<D> {
    /// Opens the database. `options` are those of a server; the transport in them is not used.
    ///
    /// # Errors
    /// See [`OperationError`].
    pub fn open(dispatch: D, options: Options) -> Result<Self, OperationError> {
        let options = Options { audit: AuditChoice::ByMode, ..options };
        let mut operator = Self(create_server(&CATALOGUE, dispatch, options)?);
        operator.0.open_for_operation().map_err(OperationError::Failed)?;
        Ok(operator)
    }

    /// Makes one call of an operation and returns its envelope, as a client would get it from a tool. The operation reports to `progress`.
    ///
    /// # Errors
    /// [`OperationError::Failed`]. Refusals of the chain or the handler are in the envelope.
    pub fn call(
        &mut self,
        operation: ToolId,
        arguments: Value,
        progress: Progress,
    ) -> Result<Value, OperationError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .map_err(|error| OperationError::Failed(format!("no runtime: {error}")))?;
        runtime.block_on(self.call_within(operation, arguments, progress))
    }

    /// Does the same for a command that has a runtime of its own.
    ///
    /// # Errors
    /// As [`Operator::call`].
    pub(crate) async fn call_within(
        &mut self,
        operation: ToolId,
        arguments: Value,
        progress: Progress,
    ) -> Result<Value, OperationError> {
        self.0.operate(operation, arguments, progress).await.map_err(OperationError::Failed)
    }

    /// Returns the chain, for rows of calls that another process handles.
    pub fn chain(&mut self) -> &mut Chain<ServerStore<Parts>, D> {
        &mut self.0.chain
    }
}

impl<D: Dispatch<Cx>> Drop for Operator<D> {
    /// Closes the database, as a server that ends does.
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl<D: Dispatch<Cx>> Server<D> {
    /// Runs the second phase of the start on this thread, without what only a server does.
    fn open_for_operation(&mut self) -> Result<(), String> {
        self.chain.seal_registry();
        let Some(mut phase2) = self.phase2.take() else {
            return Err("the server was started before".to_owned());
        };
        phase2.index_skills = false;
        let log = phase2.log.clone();
        let sink = phase2::sink(&phase2.config);
        let (store, _) = phase2::open(phase2, &*log)?;
        self.chain.open(store, sink).map_err(|fault| fault.to_string())
    }

    /// Makes one call of the operation; returns the envelope of its reply.
    async fn operate(
        &mut self,
        operation: ToolId,
        arguments: Value,
        progress: Progress,
    ) -> Result<Value, String> {
        let call = Call {
            reply_to: ReplyTo { id: NO_REQUEST.into(), stateless: true, member: None, progress },
            name: operation.name().to_owned(),
            arguments: arguments.into(),
            args_hash: None,
            trace_context: None,
            client: Arc::new(Client::unnamed(Source::Command)),
            bytes: 0,
            since_ms: 0.0,
            unreadable: None,
        };
        let mut replies: Vec<Reply> = Vec::new();
        self.chain.operate(call, &mut replies).await;
        if let Some(reason) = self.chain.fatal() {
            self.log.write(Level::Error, &format!("[colibri] fatal: {reason}"));
        }
        match replies.pop().map(|reply| reply.answer) {
            Some(Answer::Tool { envelope, .. } | Answer::Failure { text: envelope }) => {
                serde_json::from_str(&envelope)
                    .map_err(|error| format!("the reply is not a valid envelope: {error}"))
            }
            Some(Answer::UnknownTool { message, .. }) => Err(message),
            None => Err(format!("{} gave no reply", operation.name())),
        }
    }
}
