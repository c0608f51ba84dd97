//! The contract between generated code and the people who write handlers.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::remedy::{NextCall, Suggestion};

/// What a handler returns: its typed output, or a [`Failure`].
pub type Outcome<T, E> = Result<T, Failure<E>>;

/// The future of a network tool's handler. It needs no `Send`: it runs on the loop's thread.
pub type NetworkOutcome<T, E> = Pin<Box<dyn Future<Output = Outcome<T, E>>>>;

/// Does the work of a network tool's handler in a thread of its own. A handler that blocks its thread (reads files, calculates, calls a
/// library that waits) would block the loop otherwise, which then answers no other request, not even `ping`. A client that cancels the
/// call gets no reply; the thread ends by itself.
///
/// ```
/// use colibri_runtime::handler::{NetworkOutcome, in_thread};
///
/// fn resolve(host: String) -> NetworkOutcome<usize, std::convert::Infallible> {
///     in_thread(move || {
///         let found = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), 80));
///         Ok(found.map_or(0, Iterator::count))
///     })
/// }
/// ```
pub fn in_thread<T, E>(work: impl FnOnce() -> Outcome<T, E> + Send + 'static) -> NetworkOutcome<T, E>
where
    T: Send + 'static,
    E: Send + 'static,
{
    let (sender, done) = tokio::sync::oneshot::channel();
    let run = move || {
        // The receiver is gone if the call was cancelled.
        let _ = sender.send(guarded(work));
    };
    let started = std::thread::Builder::new().name("handler".to_owned()).spawn(run);
    Box::pin(async move {
        started.map_err(|error| Fault::Other(format!("no thread can be started: {error}")))?;
        match done.await {
            Ok(Ok(outcome)) => outcome,
            // The chain answers a panic, wherever it was.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => Err(Fault::Other("the handler's thread sent nothing".to_owned()).into()),
        }
    })
}

/// Why a handler did not produce its output.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure<E> {
    /// One of the errors the catalogue declares for the tool.
    Domain(E),
    /// A failure outside the catalogue: a storage error or a bug. Always answered as Pattern A.
    Fault(Fault),
}

/// A failure outside the tool's own vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The store failed. Carries the engine's text, without SQL or paths.
    #[error("{0}")]
    Storage(String),
    /// Any other failure; the text reaches the client unchanged.
    #[error("{0}")]
    Other(String),
}

impl<E> From<Fault> for Failure<E> {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl<E: ToolError> From<E> for Failure<E> {
    fn from(error: E) -> Self {
        Self::Domain(error)
    }
}

/// A generated error enum: one variant for each code the catalogue declares for the tool.
pub trait ToolError {
    /// The declared code.
    fn code(&self) -> &'static str;
    /// The declared message form, filled in.
    fn message(&self) -> String;
    /// The declared extra fields, in declared order.
    fn fields(&self) -> Map<String, Value>;
    /// Whether a Pattern A message starts with `CODE: `.
    fn prefixed(&self) -> bool;
    /// The declared remedy, filled in.
    fn remedy(&self) -> String;
    /// The declared calls that help.
    fn next(&self) -> &'static [NextCall];
}

/// What the handlers of one server work with: the store's handle, clock, ids and configuration.
pub trait Context {
    /// The read-only context that `scan` tools get in their helper thread.
    type Scan: Send + 'static;
    /// What `network` tools get, which hold no store: values that may outlive the turn in which the call starts.
    type Network: 'static;

    /// A call is about to be dispatched.
    fn begin_call(&mut self, call: CallStatus);

    /// The next call reports through this how far it is; before [`Context::network`] and a scan's context too.
    fn watch(&mut self, _: Progress) {}

    /// The context of a network call that is about to start.
    fn network(&mut self) -> Self::Network;

    /// Returns whether the call that just succeeded was a rehearsal: its effects are undone, its exit row and its reply stay.
    /// The chain does not ask this for scan and network tools, which have no effects in the store.
    fn is_rehearsal(&self) -> bool {
        false
    }

    /// Takes what the call that just ran says beside its result. It goes to the caller alone: the log's hash of the reply does not
    /// cover it.
    fn take_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }
}

/// What a reply says beside its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its code.
    pub code: &'static str,
    /// The message.
    pub message: String,
}

/// What the chain tells the context about the call that is about to run, and about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallStatus {
    /// The call's number in the audit log, where the sink counts.
    pub sequence_no: Option<i64>,
    /// When the call was entered in the log, in milliseconds since the Unix epoch. Its rows may carry this time, even if the
    /// clock changes meanwhile.
    pub entered_ms: Option<i64>,
    /// Whether the gate is open.
    pub ready: bool,
    /// The sink's kind: `buffer`, the name of the store's engine, `memory`, `noop` or `custom`.
    pub audit_sink: &'static str,
    /// Calls since the start whose exit record could not be stored at first.
    pub exit_failures: u64,
    /// Calls that wait at the gate or for a network tool's lock.
    pub queue_depth: usize,
}

/// The stages of the chain, in order (chain#stages).
pub const STAGES: [&str; 5] = ["tool-lock", "schema-validate", "audit-enter", "dispatch", "audit-exit"];

/// A handler's result after serialisation, before it becomes an envelope.
#[derive(Debug, Clone, PartialEq)]
pub enum Dispatched {
    /// The payload.
    Value(Value),
    /// The payload, written as compact JSON. It is sent as it is.
    Text(String),
    /// A declared error.
    Domain {
        /// The declared code.
        code: &'static str,
        /// The message, without prefix.
        message: String,
        /// Whether a Pattern A message starts with `CODE: `.
        prefixed: bool,
        /// The extra fields.
        fields: Map<String, Value>,
        /// What the caller can do.
        remedy: String,
        /// The calls that help, whether or not the server admits their tools.
        next: Vec<Suggestion>,
    },
    /// A failure outside the catalogue.
    Fault(Fault),
}

impl Dispatched {
    /// Serialises what a handler returned for these arguments.
    pub fn from_outcome<T: serde::Serialize, E: ToolError>(
        outcome: Outcome<T, E>,
        arguments: &Value,
    ) -> Self {
        match outcome {
            Ok(output) => match serde_json::to_string(&output) {
                Ok(text) => Self::Text(text),
                Err(_) => Self::Fault(Fault::Other("result is not serialisable".into())),
            },
            Err(Failure::Domain(error)) => {
                let fields = error.fields();
                let next =
                    error.next().iter().filter_map(|call| call.suggestion(&fields, arguments)).collect();
                Self::Domain {
                    code: error.code(),
                    message: error.message(),
                    prefixed: error.prefixed(),
                    fields,
                    remedy: error.remedy(),
                    next,
                }
            }
            Err(Failure::Fault(fault)) => Self::Fault(fault),
        }
    }
}

/// A scan tool's work, ready to be handed to a helper thread.
pub type ScanCall<C> = Box<dyn FnOnce(&mut <C as Context>::Scan, &Interrupt) -> Dispatched + Send>;

/// A network tool's work, ready to be polled beside the loop.
pub type NetworkCall = Pin<Box<dyn Future<Output = Dispatched>>>;

/// The way from a tool's index in the catalogue to its handler. Generated for every catalogue.
pub trait Dispatch<C: Context> {
    /// Runs a [`Runs::Store`](crate::spec::Runs) or [`Runs::Free`](crate::spec::Runs) tool.
    fn call(&mut self, cx: &mut C, tool: usize, arguments: &Value) -> Dispatched;
    /// Prepares a [`Runs::Scan`](crate::spec::Runs) tool.
    fn scan(&mut self, tool: usize, arguments: Value) -> ScanCall<C>;
    /// Starts a [`Runs::Network`](crate::spec::Runs) tool.
    fn network(&mut self, cx: C::Network, tool: usize, arguments: Value) -> NetworkCall;
    /// Runs an operation, by its index among the catalogue's operations.
    fn operate(&mut self, cx: &mut C, operation: usize, arguments: &Value) -> Dispatched {
        let _ = (cx, arguments);
        Dispatched::Fault(Fault::Other(format!("there is no operation {operation}")))
    }
    /// Drops state in memory that belongs to rows: the savepoint of the last call was rolled back, or a commit
    /// failed.
    fn rolled_back(&mut self) {}
}

/// Decodes validated arguments into a generated input type. Stage 2 has checked them, so a failure
/// is a bug of the generator; it is answered, not panicked over.
///
/// # Errors
/// The decoder's text as [`Fault::Other`].
pub fn decode<T: serde::de::DeserializeOwned>(arguments: &Value) -> Result<T, Fault> {
    T::deserialize(arguments)
        .map_err(|error| Fault::Other(format!("validated arguments do not fit the input type: {error}")))
}

/// For optional-nullable fields: absent is `None`, `null` is `Some(None)`.
pub mod nullable {
    use serde::{Deserialize, Deserializer};

    /// Used by generated types with `#[serde(default, deserialize_with = …)]`.
    ///
    /// # Errors
    /// The inner type's.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}

thread_local! {
    static IN_HANDLER: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Returns whether this thread is inside a handler, whose panics the chain catches and answers. For panic hooks.
pub fn in_handler() -> bool {
    IN_HANDLER.get()
}

/// Runs a handler, and returns a panic as an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> std::thread::Result<T> {
    let before = IN_HANDLER.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    IN_HANDLER.set(before);
    result
}
