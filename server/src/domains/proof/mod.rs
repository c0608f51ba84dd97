//! The proof store (eta): sealed sessions, their trees, heads and signatures.
//!
//! ```text
//! record -> envelope -> rfc9162 (tree that fixes order, author and session) -+
//!        -> legacy (the original's tree, over the records' own hashes) ------+-> head -> keys (signature) -> bundle
//! ```
//!
//! The tools: `service` opens and seals sessions, `store` keeps them. What is stored is held against the records
//! again by [`verify_seal`] (one session) or [`each_session`], [`verify_sealed_records`] and [`verify_head_chain`]
//! (all of them); [`bundle_of`] takes one record out with its proof. [`keyring`] is what the server signs with and
//! believes.

mod export;
mod heads;
pub mod key_file;
pub mod keyring;
mod leaves;
mod seal;
pub mod service;
mod store;
pub mod ties;
mod tips;

pub use export::{ExportError, bundle_of};
pub use heads::{HeadChainReport, Signers, any_signed_by, verify_head_chain};
pub use leaves::{each_sealed_record, envelope_of};
pub use seal::{SealReport, SessionState, each_session, session_state, verify_seal, verify_sealed_records};
pub use store::{Root, SealedTip, Session, head_of, root, session};
pub use tips::{TaskTips, each_tip_of_task, tip_of_task_after, tips_of_seal};

use colibri_runtime::handler::Outcome;

use self::service::Sealing;
use crate::catalogue::{
    AuditSessionStartError, AuditSessionStartInput, AuditSessionStartOutput, MerkleFinalizeError,
    MerkleFinalizeInput, MerkleFinalizeOutput, MerkleRootError, MerkleRootInput, MerkleRootOutput,
    ProofTools, TreeHead,
};
use crate::context::Cx;
use crate::domains::{Domains, reputation};
use colibri_proof::head::{SignedTreeHead, VERSION};

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
            key: cx.signing_key(),
            feed: reputation::feed::recording(cx),
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
