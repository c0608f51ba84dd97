//! How sessions and seals are tied to calls (store#ties). Opening a session replies with the whole row; sealing one
//! replies with root and tree head.

mod store;

use colibri_runtime::handler::Fault;

pub use self::store::head_hash_at;
use super::store::{head_of, root, session};
use crate::catalogue::{AuditSessionStartOutput, MerkleFinalizeOutput, ToolId};
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// `audit_sessions`.
#[derive(Debug)]
pub struct SessionTie;

/// `merkle_roots`, with `tree_heads`.
#[derive(Debug)]
pub struct SealTie;

impl TiedTable for SessionTie {
    fn name(&self) -> &'static str {
        "audit_sessions"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::AuditSessionStart, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_session(db, |key, sequence_no| {
            let reply = session(db, key)?.map_or(Reply::Unreadable, |session| {
                Reply::of(&AuditSessionStartOutput {
                    session_id: session.session_id,
                    intent: session.intent,
                    task_id: session.task_id,
                    started_at: session.started_at,
                })
            });
            take(&TiedRow { key, sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::session_place(db, key)
    }
}

impl TiedTable for SealTie {
    fn name(&self) -> &'static str {
        "merkle_roots"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::MerkleFinalize, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_root(db, |key, sequence_no| {
            let reply = match (root(db, key)?, head_of(db, key)?) {
                (Some(root), Some(head)) => Reply::of(&MerkleFinalizeOutput {
                    session_id: key.to_owned(),
                    root: root.root,
                    record_count: root.record_count,
                    finalized_at: root.finalized_at,
                    tree_head: head.into(),
                }),
                _ => Reply::Unreadable,
            };
            take(&TiedRow { key, sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::root_place(db, key)
    }
}
