//! The consensus tools.

use super::Domains;
use super::cx::Cx;
use crate::catalogue::{
    ConsensusFinalityError, ConsensusFinalityInput, ConsensusFinalityOutput, ConsensusFinalityOutputLevel,
    ConsensusGossipError, ConsensusGossipInput, ConsensusGossipOutput, ConsensusProposeError,
    ConsensusProposeInput, ConsensusProposeOutput, ConsensusTools, ConsensusVoteError, ConsensusVoteInput,
    ConsensusVoteInputVoteVoteType, ConsensusVoteOutput, VrfEvalError, VrfEvalInput, VrfEvalOutput, notices,
};
use crate::domains::consensus::errors::Refusal;
use crate::domains::consensus::node_key::node_key;
use crate::domains::consensus::output::{proposed, voted};
use crate::domains::consensus::overlay::{Memory, Overlay};
use crate::domains::consensus::rounds::Rounds;
use crate::domains::consensus::service::{Ballot, Proposal, Service};
use crate::domains::consensus::store::Tables;
use crate::settings::mode::capabilities_for;
use colibri_canonical::hex;
use colibri_consensus::canonical::Hash;
use colibri_consensus::ecvrf::VrfError;
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::messages::VoteType;
use colibri_consensus::private_key::{PrivateKey, parse_private_key};
use colibri_consensus::signing::Ed25519Signer;
use colibri_consensus::vrf::vrf_eval;
use colibri_runtime::handler::{Fault, Outcome};
use zeroize::Zeroizing;

/// The consensus state between calls.
#[derive(Debug, Default)]
pub struct Consensus {
    service: Service,
    /// In READONLY, the rounds that are not written.
    memory: Memory,
    /// The node's key, once it was needed.
    signer: Option<Ed25519Signer>,
}

impl Consensus {
    /// Reloads what the rolled-back rows changed.
    pub fn rolled_back(&mut self) {
        self.service.rolled_back();
    }

    /// Runs `work` on the rounds: the stored ones, or those in memory above them if the database must not be written.
    fn on_rounds<T>(
        &mut self,
        cx: &Cx,
        work: impl FnOnce(&mut Service, &mut dyn Rounds) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut tables = Tables(cx.db()?);
        if capabilities_for(cx.parts.config.mode).write_database {
            return work(&mut self.service, &mut tables);
        }
        work(&mut self.service, &mut Overlay { below: tables, memory: &mut self.memory })
    }

    /// Returns the node's key: that of the configured file, or one for this process only.
    fn node_signer(&mut self, cx: &mut Cx) -> Result<Ed25519Signer, Refusal> {
        if let Some(signer) = &self.signer {
            return Ok(signer.clone());
        }
        let key = match cx.parts.config.consensus_key_file.clone() {
            Some(path) => node_key(&path, || cx.secret())?,
            None => PrivateKey::from_seed(&*cx.secret()?),
        };
        let signer = Ed25519Signer::from_seed(key.seed());
        self.signer = Some(signer.clone());
        Ok(signer)
    }

    /// Returns the round id that a text names, if the round exists.
    fn find(&mut self, cx: &Cx, text: &str) -> Result<i64, Refusal> {
        let not_found = || Refusal::RoundNotFound(text.to_owned());
        let round_id: i64 = text.parse().map_err(|_| not_found())?;
        // Only one form is valid: no leading zeros.
        if round_id.to_string() != text {
            return Err(not_found());
        }
        let known = self.on_rounds(cx, |_, rounds| Ok(rounds.mark(round_id)?.is_some()))?;
        if known { Ok(round_id) } else { Err(not_found()) }
    }
}

impl ConsensusTools<Cx> for Domains {
    fn consensus_propose(
        &mut self,
        cx: &mut Cx,
        input: ConsensusProposeInput,
    ) -> Outcome<ConsensusProposeOutput, ConsensusProposeError> {
        let consensus = &mut self.consensus;
        let proposal = Proposal {
            merkle_root: hash(&input.event.merkle_root_hex)?,
            rule_version_hash: hash(&input.event.rule_version_hash_hex)?,
            signer: &consensus.node_signer(cx)?,
            salt: cx.secret()?,
            now_ms: u64::try_from(cx.now_ms()).unwrap_or(0),
            sequence_no: cx.sequence_no(),
        };
        let (round_id, level) =
            consensus.on_rounds(cx, |service, rounds| service.propose(rounds, &proposal))?;
        let named = round_id.to_string();
        cx.set_subject(&named);
        tell_memory(cx, &named);
        Ok(proposed(round_id, level))
    }

    fn consensus_vote(
        &mut self,
        cx: &mut Cx,
        input: ConsensusVoteInput,
    ) -> Outcome<ConsensusVoteOutput, ConsensusVoteError> {
        let consensus = &mut self.consensus;
        let key = input.priv_key.map(Zeroizing::new);
        let round_id = consensus.find(cx, &input.round_id)?;
        let signer = match key {
            Some(text) => Ed25519Signer::from_seed(parse_private_key(&text).map_err(Refusal::from)?.seed()),
            None => consensus.node_signer(cx)?,
        };
        let ballot = Ballot {
            round_id,
            merkle_root: hash(&input.vote.merkle_root_hex)?,
            rule_version_hash: hash(&input.vote.rule_version_hash_hex)?,
            vote_type: match input.vote.vote_type {
                ConsensusVoteInputVoteVoteType::Accept => VoteType::Accept,
                ConsensusVoteInputVoteVoteType::Reject => VoteType::Reject,
                ConsensusVoteInputVoteVoteType::Abstain => VoteType::Abstain,
            },
            signer: &signer,
            sequence_no: cx.sequence_no(),
        };
        let (seq, vote, counts) = consensus.on_rounds(cx, |service, rounds| service.vote(rounds, &ballot))?;
        cx.set_subject(&seq.to_string());
        if !counts {
            cx.notify(notices::VOTE_NOT_COUNTED, &[("round_id", &input.round_id)]);
        }
        tell_memory(cx, &input.round_id);
        Ok(voted(&vote.signature))
    }

    fn consensus_finality(
        &mut self,
        cx: &mut Cx,
        input: ConsensusFinalityInput,
    ) -> Outcome<ConsensusFinalityOutput, ConsensusFinalityError> {
        let consensus = &mut self.consensus;
        let round_id = consensus.find(cx, &input.round_id)?;
        let (level, evidence) =
            consensus.on_rounds(cx, |service, rounds| service.finality(rounds, round_id))?;
        Ok(ConsensusFinalityOutput {
            round_id: input.round_id,
            level: match level {
                FinalityLevel::Pending => ConsensusFinalityOutputLevel::Pending,
                FinalityLevel::Soft => ConsensusFinalityOutputLevel::Soft,
                FinalityLevel::Quorum => ConsensusFinalityOutputLevel::Quorum,
                FinalityLevel::Hard => ConsensusFinalityOutputLevel::Hard,
                FinalityLevel::Absolute => ConsensusFinalityOutputLevel::Absolute,
            },
            evidence: evidence.map(|bytes| hex::encode(&bytes)),
        })
    }

    fn consensus_gossip(
        &mut self,
        _: &mut Cx,
        _: ConsensusGossipInput,
    ) -> Outcome<ConsensusGossipOutput, ConsensusGossipError> {
        // A committee of one has no peers (consensus#not-built).
        Ok(ConsensusGossipOutput { events_sent: Vec::new(), events_received: Vec::new() })
    }

    fn vrf_eval(&mut self, _: &mut Cx, input: VrfEvalInput) -> Outcome<VrfEvalOutput, VrfEvalError> {
        let text = Zeroizing::new(input.priv_key_hex);
        let key = parse_private_key(&text)
            .map_err(|error| VrfEvalError::InvalidKey { reason: error.to_string() })?;
        let (seed, alpha) = (bytes(&input.seed_hex)?, bytes(&input.input_hex)?);
        let evaluated = vrf_eval(&seed, &alpha, &key)
            .map_err(|error: VrfError| VrfEvalError::VrfFailure { reason: error.to_string() })?;
        Ok(VrfEvalOutput {
            output_hex: hex::encode(&evaluated.output),
            proof_hex: hex::encode(&evaluated.proof),
        })
    }
}

/// Says of a round that it is in this process's memory alone, where the database is not written.
fn tell_memory(cx: &mut Cx, round_id: &str) {
    if !capabilities_for(cx.parts.config.mode).write_database {
        cx.notify(notices::ROUND_NOT_STORED, &[("round_id", round_id)]);
    }
}

/// Decodes 32 bytes of hex, which the schema has checked.
fn hash(text: &str) -> Result<Hash, Fault> {
    hex::decode_array(text).ok_or_else(not_hex)
}

/// Decodes hex of any length, which the schema has checked.
fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    hex::decode(text).ok_or_else(not_hex)
}

fn not_hex() -> Fault {
    Fault::Other("validated arguments are not lowercase hex".to_owned())
}
