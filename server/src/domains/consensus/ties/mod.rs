//! How rounds and votes are tied to calls (store#ties). A proposal replies with the round's id and status, a vote
//! with its signature. The other columns follow from the signed votes ([`verify_rounds`](super::verify_rounds)).

mod store;

use colibri_runtime::handler::Fault;

use super::output::{proposed, voted};
use crate::catalogue::ToolId;
use crate::domains::ties::{Place, Reply, TiedRow, TiedTable, Writer};
use colibri_consensus::finality::FinalityLevel;
use colibri_store::db::Db;
use colibri_store::walk::Stop;

/// `mcp_consensus_rounds`, with the committee and the vote of the proposal.
#[derive(Debug)]
pub struct RoundTie;

/// `mcp_consensus_votes`: the votes that a caller requested.
#[derive(Debug)]
pub struct VoteTie;

impl TiedTable for RoundTie {
    fn name(&self) -> &'static str {
        "mcp_consensus_rounds"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::ConsensusPropose, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_round(db, |round_id, level, sequence_no| {
            let reply = FinalityLevel::parse(level)
                .map_or(Reply::Unreadable, |level| Reply::of(&proposed(round_id, level)));
            take(&TiedRow { key: &round_id.to_string(), sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::round_place(db, key)
    }
}

impl TiedTable for VoteTie {
    fn name(&self) -> &'static str {
        "mcp_consensus_votes"
    }

    fn writers(&self) -> &'static [Writer] {
        &[Writer { tool: ToolId::ConsensusVote, creates: true }]
    }

    fn each_row(&self, db: &Db, take: &mut dyn FnMut(&TiedRow<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        store::each_vote(db, |seq, signature, sequence_no| {
            let reply = Reply::of(&voted(signature));
            take(&TiedRow { key: &seq.to_string(), sequence_no, reply })
        })
    }

    fn place(&self, db: &Db, key: &str) -> Result<Option<Place>, Fault> {
        store::vote_place(db, key)
    }
}
