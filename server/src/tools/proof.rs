//! The tools of sessions and seals.

use super::cx::{Cx, ScanCx};
use super::{Domains, recording};
use crate::catalogue::{
    AuditSessionListError, AuditSessionListInput, AuditSessionListInputState, AuditSessionListOutput,
    AuditSessionListOutputSessionsItem, AuditSessionListOutputSessionsItemState, AuditSessionStartError,
    AuditSessionStartInput, AuditSessionStartOutput, MerkleFinalizeError, MerkleFinalizeInput,
    MerkleFinalizeOutput, MerkleRootError, MerkleRootInput, MerkleRootOutput, ProofTools, TreeHead,
};
use crate::domains::proof::listing::{self, Filter, Listed};
use crate::domains::proof::service::{self, Sealing};
use crate::domains::proof::{Session, SessionState};
use colibri_proof::head::{SignedTreeHead, VERSION};
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::Outcome;

impl ProofTools<Cx> for Domains {
    fn audit_session_start(
        &mut self,
        cx: &mut Cx,
        input: AuditSessionStartInput,
    ) -> Outcome<AuditSessionStartOutput, AuditSessionStartError> {
        let session = Session {
            session_id: input.session_id.map_or_else(|| cx.new_id(), |id| id.to_string()),
            intent: input.intent,
            task_id: input.task_id.map(|id| id.to_string()),
            started_at: cx.now(),
        };
        service::start_audit_session(cx.db()?, &session, cx.sequence_no())?;
        cx.set_subject(&session.session_id);
        Ok(AuditSessionStartOutput {
            session_id: session.session_id,
            intent: session.intent,
            task_id: session.task_id,
            started_at: session.started_at,
        })
    }

    fn merkle_finalize(
        &mut self,
        cx: &mut Cx,
        input: MerkleFinalizeInput,
    ) -> Outcome<MerkleFinalizeOutput, MerkleFinalizeError> {
        let now = cx.now();
        let sealing = Sealing {
            now: &now,
            sequence_no: cx.sequence_no(),
            key: cx.parts.keys.signing_key(),
            feed: recording(cx),
            progress: cx.progress(),
        };
        let (root, head) = service::finalize_session(cx.db()?, &input.session_id, &sealing)?;
        cx.set_subject(&input.session_id);
        Ok(MerkleFinalizeOutput {
            session_id: input.session_id.to_string(),
            root: root.root,
            record_count: root.record_count,
            finalized_at: root.finalized_at,
            tree_head: head.into(),
        })
    }

    fn merkle_root(
        &mut self,
        cx: &mut Cx,
        input: MerkleRootInput,
    ) -> Outcome<MerkleRootOutput, MerkleRootError> {
        let (root, head) = service::get_merkle_root(cx.db()?, &input.session_id)?;
        Ok(MerkleRootOutput {
            session_id: input.session_id.to_string(),
            root: root.root,
            record_count: root.record_count,
            finalized_at: root.finalized_at,
            tree_head: head.map(TreeHead::from),
        })
    }

    fn audit_session_list(
        cx: &mut ScanCx,
        interrupt: &Interrupt,
        input: AuditSessionListInput,
    ) -> Outcome<AuditSessionListOutput, AuditSessionListError> {
        let page = listing::list(cx.db(), &input.into(), cx.now_ms(), interrupt, cx.progress())?;
        Ok(AuditSessionListOutput {
            sessions: page.sessions.into_iter().map(Into::into).collect(),
            open_count: page.open_count,
            next_before: page.next_before,
        })
    }
}

impl From<AuditSessionListInput> for Filter {
    fn from(input: AuditSessionListInput) -> Self {
        Self {
            state: match input.state {
                AuditSessionListInputState::Open => Some(SessionState::Open),
                AuditSessionListInputState::Sealed => Some(SessionState::Finalized),
                AuditSessionListInputState::All => None,
            },
            task_id: input.task_id.map(|id| id.to_string()),
            limit: usize::try_from(input.limit).unwrap_or_default(),
            before: input.before.map(|id| id.to_string()),
        }
    }
}

impl From<Listed> for AuditSessionListOutputSessionsItem {
    fn from(listed: Listed) -> Self {
        let (last_record_at, last_agent_id) = listed.last_record.unzip();
        Self {
            session_id: listed.session.session_id,
            intent: listed.session.intent,
            task_id: listed.session.task_id,
            started_at: listed.session.started_at,
            age_seconds: listed.age_seconds,
            state: match listed.state {
                SessionState::Open => AuditSessionListOutputSessionsItemState::Open,
                SessionState::Finalized => AuditSessionListOutputSessionsItemState::Sealed,
            },
            record_count: listed.record_count,
            last_record_at,
            last_agent_id,
            finalized_at: listed.finalized_at,
            head_hash: listed.head_hash,
        }
    }
}

impl From<SignedTreeHead> for TreeHead {
    fn from(SignedTreeHead { head, head_hash, signature }: SignedTreeHead) -> Self {
        let (signature, key_id, public_key) = match signature {
            Some(signed) => (Some(signed.signature), Some(signed.key_id), Some(signed.public_key)),
            None => (None, None, None),
        };
        Self {
            v: VERSION,
            session_id: head.session_id,
            session_hash: head.session_hash,
            tree_size: head.tree_size,
            root_hash: head.root_hash,
            legacy_root: head.legacy_root,
            chain_tips_hash: head.chain_tips_hash,
            head_index: head.head_index,
            prev_head_hash: head.prev_head_hash,
            log_exit_no: head.log_exit_no,
            log_row_hash: head.log_row_hash,
            finalized_at: head.finalized_at,
            head_hash,
            signature,
            key_id,
            public_key,
        }
    }
}
