//! No log line is written while a transaction is open, at any fault of the store.

use super::*;
use crate::chain::log::Level;

/// Looks at each line, and at what the chain says of transactions.
struct Watching {
    open: Arc<AtomicBool>,
    held: AtomicBool,
    lines: AtomicUsize,
}

impl Log for Watching {
    fn enabled(&self, _: Level) -> bool {
        true
    }
    fn write(&self, _: Level, line: &str) {
        self.lines.fetch_add(1, Ordering::SeqCst);
        let open = self.open.load(Ordering::SeqCst);
        assert!(self.held.load(Ordering::SeqCst) || !open, "while a transaction is open: {line}");
    }
    fn hold(&self) {
        self.held.store(true, Ordering::SeqCst);
    }
    fn release(&self) {
        assert!(!self.open.load(Ordering::SeqCst), "released while a transaction is open");
        self.held.store(false, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn no_line_is_written_while_a_transaction_is_open() {
    let batch =
        || ["keep", "refuse", "panic", "nobody", "keep"].iter().enumerate().map(|(id, tool)| call(id, tool));
    let mut clean = chain(FaultyStore::sound());
    run(&mut clean, batch().collect()).await;
    for first in 0..=clean.store.step {
        for (length, mode) in [(1, Mode::Refuse), (3, Mode::Refuse), (1, Mode::Drop)] {
            let store = FaultyStore::new(&[first..first + length], mode);
            let (held, lines) = (AtomicBool::new(false), AtomicUsize::new(0));
            let log = Arc::new(Watching { open: store.open.clone(), held, lines });
            let audit = Audit::Store { kind: "memory" };
            let mut chain = chain_over(store, audit, Arc::new(Stopped), log.clone());
            run(&mut chain, batch().collect()).await;
            chain.close_pending();
            assert!(log.lines.load(Ordering::SeqCst) >= 5, "a line for each call");
            assert!(!log.held.load(Ordering::SeqCst), "lines are kept although no transaction is open");
        }
    }
}
