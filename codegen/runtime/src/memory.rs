//! A store that keeps everything in memory: for servers without a database, for examples and tests.

use std::collections::VecDeque;

use crate::chain::audit::{EnterEvent, ExitEvent, MEMORY_SINK_ROWS, MemoryRow};
use crate::chain::store::{Access, Store, StoreFault};
use crate::handler::{CallStatus, Context};

/// What handlers over a [`MemoryStore`] work with.
#[derive(Debug, Clone)]
pub struct MemoryCx<T> {
    /// The server's data. What a failing call did to it is undone.
    pub data: T,
    status: Option<CallStatus>,
    rehearsal: bool,
}

impl<T> MemoryCx<T> {
    /// Nothing that this call does to the data stays, even if it succeeds.
    pub fn rehearse(&mut self) {
        self.rehearsal = true;
    }

    /// What the chain says of the running call; `None` before the first one.
    pub fn status(&self) -> Option<CallStatus> {
        self.status
    }
}

impl<T: Clone + Send + 'static> Context for MemoryCx<T> {
    type Scan = T;
    type Network = ();

    fn begin_call(&mut self, call: CallStatus) {
        self.status = Some(call);
        self.rehearsal = false;
    }

    fn is_rehearsal(&self) -> bool {
        self.rehearsal
    }

    fn network(&mut self) {}
}

/// What a rolled back transaction had done to the audit rows.
#[derive(Debug, Clone)]
enum Undo {
    Entered,
    Closed(i64),
}

/// Transactions and savepoints by copying `T`; audit rows like the table's, the last 10,000 of them.
#[derive(Debug, Clone)]
pub struct MemoryStore<T> {
    cx: MemoryCx<T>,
    before: Option<T>,
    undo: Vec<Undo>,
    savepoint: Option<T>,
    rows: VecDeque<MemoryRow>,
    last: i64,
}

impl<T: Clone> MemoryStore<T> {
    /// A store that starts with `data`.
    pub fn new(data: T) -> Self {
        Self {
            cx: MemoryCx { data, status: None, rehearsal: false },
            before: None,
            undo: Vec::new(),
            savepoint: None,
            rows: VecDeque::new(),
            last: 0,
        }
    }

    fn row(&mut self, sequence_no: i64) -> Option<&mut MemoryRow> {
        self.rows.iter_mut().rev().find(|row| row.sequence_no == sequence_no)
    }

    /// The audit rows, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = &MemoryRow> {
        self.rows.iter()
    }

    /// The data.
    pub fn data(&self) -> &T {
        &self.cx.data
    }
}

impl<T: Clone + Send + 'static> Store for MemoryStore<T> {
    type Cx = MemoryCx<T>;

    fn cx(&mut self) -> &mut Self::Cx {
        &mut self.cx
    }

    fn begin(&mut self, _: Access) -> Result<(), StoreFault> {
        self.before = Some(self.cx.data.clone());
        self.undo.clear();
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreFault> {
        self.before = None;
        Ok(())
    }

    fn roll_back(&mut self) {
        let Some(data) = self.before.take() else { return };
        self.cx.data = data;
        for step in std::mem::take(&mut self.undo).into_iter().rev() {
            match step {
                Undo::Entered => {
                    self.last -= 1;
                    self.rows.pop_back();
                }
                Undo::Closed(sequence_no) => {
                    if let Some(row) = self.row(sequence_no) {
                        row.reopen();
                    }
                }
            }
        }
    }

    fn in_transaction(&self) -> bool {
        self.before.is_some()
    }

    fn leave_queue(&mut self) {}

    fn savepoint(&mut self) -> Result<(), StoreFault> {
        self.savepoint = Some(self.cx.data.clone());
        Ok(())
    }

    fn release(&mut self) -> Result<(), StoreFault> {
        self.savepoint = None;
        Ok(())
    }

    fn roll_back_to_savepoint(&mut self) -> Result<(), StoreFault> {
        let saved = self.savepoint.clone().ok_or_else(|| StoreFault("no savepoint is open".to_owned()))?;
        self.cx.data = saved;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreFault> {
        Ok(())
    }

    fn upkeep(&mut self) {}

    fn audit_enter(&mut self, event: &EnterEvent<'_>) -> Result<i64, StoreFault> {
        self.last += 1;
        if self.rows.len() == MEMORY_SINK_ROWS {
            self.rows.pop_front();
        }
        self.rows.push_back(MemoryRow::entered(self.last, event));
        self.undo.push(Undo::Entered);
        Ok(self.last)
    }

    fn audit_exit(
        &mut self,
        sequence_no: i64,
        _: &EnterEvent<'_>,
        exit: &ExitEvent<'_>,
    ) -> Result<(), StoreFault> {
        let row = self.row(sequence_no).filter(|row| row.outcome.is_none());
        row.ok_or_else(|| StoreFault("the audit row is gone or closed".to_owned()))?.close(exit);
        self.undo.push(Undo::Closed(sequence_no));
        Ok(())
    }

    fn audit_is_open(&mut self, sequence_no: i64) -> Result<bool, StoreFault> {
        Ok(self.row(sequence_no).is_some_and(|row| row.outcome.is_none()))
    }

    fn scan_cx(&mut self) -> Result<T, StoreFault> {
        Ok(self.cx.data.clone())
    }
}
