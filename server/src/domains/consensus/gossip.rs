//! Gossip of events between nodes (theta §10.1 and §10.2): IHAVE says what its sender holds, IWANT asks for some of
//! it. Bytes in, bytes out; nothing here sends anything. Pure.
//!
//! ```text
//! bytes -> decoded, known sender, signature -> retention -> rules, state root, fork -> what is wanted -> IWANT
//! ```
//!
//! An IHAVE is taken whole or dropped whole. Its logical time is for the node's clock to admit.

use colibri_canonical::hex;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::canonical::{ConsensusSerializationError, HASH_LEN, Hash};
use super::identity::{PublicKeyBytes, SenderId};
use super::messages::{Message, SIGNATURE, SignedMessage, fields, read, signed};
use super::signing::{SignatureBytes, Signer, Verifier};

/// How many epochs back the events of an IHAVE may lie.
pub const GOSSIP_RETENTION_EPOCHS: u64 = 2;
/// How many events a message names at most.
pub const GOSSIP_MAX_EVENT_IDS: usize = 1_000;
/// How far the epoch of a verified root may be from that of a message that builds on it.
const ROOT_EPOCH_DISTANCE: u64 = 1;

const EVENT_IDS: &str = "event_ids";

/// "I have these events."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ihave {
    /// The events, in the sender's order; 1 to [`GOSSIP_MAX_EVENT_IDS`], none twice.
    pub event_ids: Vec<Hash>,
    /// The state that they build on.
    pub state_root_pre: Hash,
    /// The rules under which they were made.
    pub rule_version_hash: Hash,
    /// The fork that they belong to.
    pub fork_id: Hash,
    /// The epoch in which they were made; no logical time.
    pub msg_epoch: u64,
    /// Who has them.
    pub sender_id: SenderId,
    /// When this was said, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

/// "Send me these events."
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iwant {
    /// The events; 1 to [`GOSSIP_MAX_EVENT_IDS`], none twice.
    pub event_ids: Vec<Hash>,
    /// Who wants them.
    pub sender_id: SenderId,
    /// When, in logical time.
    pub timestamp_logical: u64,
    /// The sender's signature.
    pub signature: SignatureBytes,
}

fn ids_to_value(ids: &[Hash]) -> Value {
    ids.iter().map(|id| Value::from(hex::encode(id))).collect()
}

fn ids_from_items(items: &[Value]) -> Result<Vec<Hash>, ConsensusSerializationError> {
    if items.is_empty() || items.len() > GOSSIP_MAX_EVENT_IDS {
        return Err(ConsensusSerializationError::malformed(format!(
            "{EVENT_IDS} has {} items; 1 to {GOSSIP_MAX_EVENT_IDS} are allowed",
            items.len()
        )));
    }
    let id = |item: &Value| item.as_str().and_then(hex::decode_array);
    let bad_length =
        || ConsensusSerializationError::BadLength { field: EVENT_IDS.to_owned(), expected: HASH_LEN };
    let ids: Vec<Hash> =
        items.iter().map(|item| id(item).ok_or_else(bad_length)).collect::<Result<_, _>>()?;
    if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() {
        return Err(ConsensusSerializationError::malformed(format!("{EVENT_IDS} names an event twice")));
    }
    Ok(ids)
}

impl Message for Ihave {
    const MSG_TYPE: Option<&'static str> = Some("IHAVE");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .value(EVENT_IDS, ids_to_value(&self.event_ids))
            .bytes("fork_id", &self.fork_id)
            .integer("msg_epoch", self.msg_epoch)
            .bytes("rule_version_hash", &self.rule_version_hash)
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .bytes("state_root_pre", &self.state_root_pre)
            .integer("timestamp_logical", self.timestamp_logical)
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let ihave = Self {
            event_ids: ids_from_items(reader.items(EVENT_IDS)?)?,
            state_root_pre: reader.bytes("state_root_pre")?,
            rule_version_hash: reader.bytes("rule_version_hash")?,
            fork_id: reader.bytes("fork_id")?,
            msg_epoch: reader.integer("msg_epoch")?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(ihave)
    }
}

impl Message for Iwant {
    const MSG_TYPE: Option<&'static str> = Some("IWANT");

    fn to_value(&self) -> Value {
        fields::<Self>()
            .value(EVENT_IDS, ids_to_value(&self.event_ids))
            .text("sender_id", self.sender_id.as_str())
            .bytes(SIGNATURE, &self.signature)
            .integer("timestamp_logical", self.timestamp_logical)
            .finish()
    }

    fn from_value(value: &Value) -> Result<Self, ConsensusSerializationError> {
        let mut reader = read::<Self>(value)?;
        let iwant = Self {
            event_ids: ids_from_items(reader.items(EVENT_IDS)?)?,
            sender_id: reader.parsed("sender_id", SenderId::parse)?,
            timestamp_logical: reader.integer("timestamp_logical")?,
            signature: reader.bytes(SIGNATURE)?,
        };
        reader.finish()?;
        Ok(iwant)
    }
}

signed!(Ihave, Iwant);

/// Why an IHAVE is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IhaveRefusal {
    /// No IHAVE, nobody known, or not signed by whom it names.
    BadSignature,
    /// Of an epoch too long ago, or not begun.
    OutsideRetention,
    /// Made under other rules. When this goes on, the network may fork.
    RuleVersion,
    /// Built on a state that is not known here; a checkpoint has to be fetched.
    StateRoot,
    /// Of another fork.
    ForkId,
}

impl IhaveRefusal {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadSignature => "bad_signature",
            Self::OutsideRetention => "outside_retention",
            Self::RuleVersion => "rule_version",
            Self::StateRoot => "state_root",
            Self::ForkId => "fork_id",
        }
    }
}

/// What a node holds messages against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiverState {
    active_rule_version: Hash,
    last_checkpoint_state_root: Hash,
    verified_roots: BTreeMap<Hash, u64>,
    fork_id: Hash,
    current_epoch: u64,
}

impl ReceiverState {
    /// A node under these rules on this fork, whose state has `checkpoint` as its root, verified in `epoch`.
    pub fn new(active_rule_version: Hash, fork_id: Hash, checkpoint: Hash, epoch: u64) -> Self {
        Self {
            active_rule_version,
            last_checkpoint_state_root: checkpoint,
            verified_roots: BTreeMap::from([(checkpoint, epoch)]),
            fork_id,
            current_epoch: epoch,
        }
    }

    /// Takes note of a root that was verified in `epoch`.
    pub fn verified(&mut self, root: Hash, epoch: u64) {
        self.verified_roots.insert(root, epoch);
    }

    /// The same for one that becomes the checkpoint.
    pub fn checkpoint(&mut self, root: Hash, epoch: u64) {
        self.last_checkpoint_state_root = root;
        self.verified(root, epoch);
    }

    /// The root of the last checkpoint, which is always among those that are known.
    pub fn last_checkpoint_state_root(&self) -> &Hash {
        &self.last_checkpoint_state_root
    }

    /// How many roots are known.
    pub fn roots(&self) -> usize {
        self.verified_roots.len()
    }

    /// Enters an epoch and forgets the roots that no message within the retention can build on any more, the
    /// checkpoint's excepted.
    pub fn enter_epoch(&mut self, epoch: u64) {
        self.current_epoch = epoch;
        let oldest = epoch.saturating_sub(GOSSIP_RETENTION_EPOCHS + ROOT_EPOCH_DISTANCE);
        let checkpoint = self.last_checkpoint_state_root;
        self.verified_roots.retain(|root, verified| *verified >= oldest || *root == checkpoint);
    }

    /// Whether a message's three anchors are those of this node; the first that is not, in the order of theta §10.2.
    ///
    /// # Errors
    /// The anchor's refusal.
    pub fn check_anchors(&self, ihave: &Ihave) -> Result<(), IhaveRefusal> {
        if ihave.rule_version_hash != self.active_rule_version {
            return Err(IhaveRefusal::RuleVersion);
        }
        let verified = self.verified_roots.get(&ihave.state_root_pre);
        if verified.is_none_or(|epoch| epoch.abs_diff(ihave.msg_epoch) > ROOT_EPOCH_DISTANCE) {
            return Err(IhaveRefusal::StateRoot);
        }
        if ihave.fork_id == self.fork_id { Ok(()) } else { Err(IhaveRefusal::ForkId) }
    }
}

/// The keys of the senders that a node knows.
pub type KnownSenders = BTreeMap<SenderId, PublicKeyBytes>;

/// Whether a message of `msg_epoch` is not too old, nor of an epoch beyond the next.
pub fn within_retention_horizon(msg_epoch: u64, current: u64, retention: u64) -> bool {
    msg_epoch <= current.saturating_add(1) && current.saturating_sub(msg_epoch) <= retention
}

/// Reads an IHAVE and holds it against everything that theta §10.2 asks, in that order.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn receive_ihave(
    bytes: &[u8],
    state: &ReceiverState,
    senders: &KnownSenders,
    verifier: &(impl Verifier + ?Sized),
) -> Result<Ihave, IhaveRefusal> {
    let ihave: Ihave = opened(bytes, senders, verifier).ok_or(IhaveRefusal::BadSignature)?;
    if !within_retention_horizon(ihave.msg_epoch, state.current_epoch, GOSSIP_RETENTION_EPOCHS) {
        return Err(IhaveRefusal::OutsideRetention);
    }
    state.check_anchors(&ihave)?;
    Ok(ihave)
}

/// Reads an IWANT; `None` unless a known sender has signed it.
pub fn receive_iwant(
    bytes: &[u8],
    senders: &KnownSenders,
    verifier: &(impl Verifier + ?Sized),
) -> Option<Iwant> {
    opened(bytes, senders, verifier)
}

fn opened<M: SignedMessage>(
    bytes: &[u8],
    senders: &KnownSenders,
    verifier: &(impl Verifier + ?Sized),
) -> Option<M> {
    let message = M::decode(bytes).ok()?;
    let key = senders.get(&message.signer_id())?;
    message.is_signed_by(key, verifier).then_some(message)
}

/// Asks for the events of an IHAVE that are neither held nor seen, in its order; `None` when there are none.
///
/// # Errors
/// [`ConsensusSerializationError::IntegerRange`] for a logical time beyond 2^63−1.
pub fn build_iwant(
    ihave: &Ihave,
    locally_have: &BTreeSet<Hash>,
    seen: impl Fn(&Hash) -> bool,
    timestamp_logical: u64,
    signer: &(impl Signer + ?Sized),
) -> Result<Option<Iwant>, ConsensusSerializationError> {
    let missing = |id: &&Hash| !locally_have.contains(*id) && !seen(id);
    let event_ids: Vec<Hash> = ihave.event_ids.iter().filter(missing).copied().collect();
    if event_ids.is_empty() {
        return Ok(None);
    }
    let unsigned = Iwant { event_ids, sender_id: signer.sender_id(), timestamp_logical, signature: [0; 64] };
    unsigned.signed_by(signer).map(Some)
}
