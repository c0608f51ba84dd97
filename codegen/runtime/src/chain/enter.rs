//! Stage 3: the enter rows, in a transaction that first closes what earlier calls left open.

use crate::chain::Chain;
use crate::chain::check::Verdict;
use crate::chain::log::Level;
use crate::chain::row::Entered;
use crate::chain::store::{Access, Store, StoreFault};
use crate::handler::Dispatch;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Writes the enter rows of these calls in a transaction of their own.
    pub(super) fn enter<'a>(
        &mut self,
        calls: impl IntoIterator<Item = &'a mut Entered>,
    ) -> Result<(), StoreFault> {
        self.begin_entering(calls)?;
        self.commit_entered()
    }

    /// Opens a transaction and writes the enter rows.
    pub(super) fn begin_entering<'a>(
        &mut self,
        calls: impl IntoIterator<Item = &'a mut Entered>,
    ) -> Result<(), StoreFault> {
        self.begin(Access::Write)?;
        self.close_unclosed()?;
        for call in calls {
            call.row.sequence_no = Some(self.store.audit_enter(&Self::enter_event(call))?);
        }
        Ok(())
    }

    /// Commits what [`Chain::begin_entering`] began.
    pub(super) fn commit_entered(&mut self) -> Result<(), StoreFault> {
        self.store.commit()?;
        self.forget_closed();
        Ok(())
    }

    /// Marks calls as not entered, because stage 3 failed: none has a row, and none goes on.
    pub(super) fn mark_not_entered<'a>(
        &mut self,
        calls: impl IntoIterator<Item = &'a mut Entered>,
        reason: &str,
    ) {
        self.store.roll_back();
        self.log(Level::Error, format_args!("[audit] enter failed: {reason}"));
        for call in calls {
            call.row.sequence_no = None;
            if call.is_open() {
                call.verdict = Verdict::AuditFailed(reason.to_owned());
            }
        }
    }
}
