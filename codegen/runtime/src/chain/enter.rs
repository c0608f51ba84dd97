//! Stage 3: the enter rows, in a transaction that first closes what earlier calls left open.

use std::collections::VecDeque;

use crate::chain::Chain;
use crate::chain::check::Verdict;
use crate::chain::log::Level;
use crate::chain::row::Entered;
use crate::chain::store::{Access, Store, StoreFault};
use crate::handler::Dispatch;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Stage 3: one transaction for the enter rows of the batch, after what earlier calls left open.
    pub(super) fn enter_all(&mut self, entered: &mut VecDeque<Entered>) -> Result<(), StoreFault> {
        self.enter_open(entered.iter_mut())?;
        self.commit_entered()
    }

    /// Opens a transaction and writes the enter rows of a batch, after what earlier calls left open.
    pub(super) fn enter_open<'a>(
        &mut self,
        entered: impl Iterator<Item = &'a mut Entered>,
    ) -> Result<(), StoreFault> {
        self.store.begin(Access::Write)?;
        self.close_unclosed()?;
        for call in entered {
            call.row.sequence_no = Some(self.store.audit_enter(&Self::enter_event(call))?);
        }
        Ok(())
    }

    /// Commits what [`Chain::enter_open`] began.
    pub(super) fn commit_entered(&mut self) -> Result<(), StoreFault> {
        self.store.commit()?;
        self.forget_closed();
        Ok(())
    }

    /// Refuses all calls because stage 3 failed: no call has a row, and none goes on.
    pub(super) fn refuse_all(&mut self, entered: &mut VecDeque<Entered>, reason: &StoreFault) {
        self.store.roll_back();
        self.log(Level::Error, format_args!("[audit] enter failed: {reason}"));
        for call in entered.iter_mut() {
            call.row.sequence_no = None;
            if matches!(call.verdict, Verdict::Open(_)) {
                call.verdict = Verdict::AuditFailed(reason.0.clone());
            }
        }
    }
}
