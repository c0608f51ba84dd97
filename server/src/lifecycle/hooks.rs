//! Functions that run when the server stops (chain#shutdown).

use std::cell::RefCell;
use std::rc::Rc;

use crate::tools::cx::Cx;

/// Runs at shutdown, after the transport has stopped and before the database closes.
pub type ShutdownHandler = Box<dyn FnOnce(&mut Cx) -> Result<(), String>>;

/// The registered handlers. Clones share them.
#[derive(Clone, Default)]
pub struct ShutdownHooks {
    registered: Rc<RefCell<Vec<(u64, ShutdownHandler)>>>,
    next: Rc<RefCell<u64>>,
}

/// A handle that can withdraw a handler.
pub struct Registration {
    hooks: ShutdownHooks,
    id: u64,
}

impl Registration {
    /// Withdraws the handler, which then will not run.
    pub fn deregister(self) {
        self.hooks.registered.borrow_mut().retain(|(id, _)| *id != self.id);
    }
}

impl ShutdownHooks {
    /// Adds a handler. Registered twice, it runs twice.
    pub fn register(&self, handler: ShutdownHandler) -> Registration {
        let mut next = self.next.borrow_mut();
        *next += 1;
        self.registered.borrow_mut().push((*next, handler));
        Registration { hooks: self.clone(), id: *next }
    }

    /// Takes the handlers in the order in which they run: the last one registered first. Handlers
    /// registered after this do not run.
    pub fn take(&self) -> Vec<ShutdownHandler> {
        let mut handlers = std::mem::take(&mut *self.registered.borrow_mut());
        handlers.reverse();
        handlers.into_iter().map(|(_, handler)| handler).collect()
    }
}
