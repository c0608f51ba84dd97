//! The tools' replies, as the handlers send them and as verification rebuilds them from the rows.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::catalogue::{ConsensusProposeOutput, ConsensusProposeOutputStatus, ConsensusVoteOutput};
use colibri_consensus::finality::FinalityLevel;

/// Builds the reply to a proposal. A round that is beyond QUORUM by now was at QUORUM then.
pub fn proposed(round_id: i64, level: FinalityLevel) -> ConsensusProposeOutput {
    let agreed = level >= FinalityLevel::Quorum;
    let status =
        if agreed { ConsensusProposeOutputStatus::Quorum } else { ConsensusProposeOutputStatus::Pending };
    ConsensusProposeOutput { round_id: round_id.to_string(), status }
}

/// Builds the reply to a vote.
pub fn voted(signature: &[u8]) -> ConsensusVoteOutput {
    ConsensusVoteOutput { vote_signed: true, sig_b64: STANDARD.encode(signature) }
}
