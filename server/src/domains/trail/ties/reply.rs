//! The reply of the call that recorded a thought: the bytes whose hash the log keeps. Pure.

use colibri_canonical::HexDigest;
use colibri_canonical::object::text;

use super::super::output::unknown_task;
use crate::catalogue::WarningCode;

/// The fields of the reply, in the order of their canonical keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordReply<'a> {
    pub agent_id: &'a str,
    pub content: &'a str,
    pub hash: &'a str,
    pub id: &'a str,
    pub prev_hash: &'a str,
    pub session_id: Option<&'a str>,
    pub task_id: &'a str,
    pub timestamp: &'a str,
    pub kind: &'a str,
    /// Whether the reply warns that no task has the id.
    pub warned: bool,
}

impl RecordReply<'_> {
    /// Appends the canonical JSON of the envelope that is sent (chain#hashes). Verification does this for every
    /// record, so it avoids the general encoder's maps; a test compares the two.
    fn write(&self, out: &mut Vec<u8>) {
        text(out, b"{\"data\":{\"agent_id\":", Some(self.agent_id));
        text(out, b",\"content\":", Some(self.content));
        text(out, b",\"hash\":", Some(self.hash));
        text(out, b",\"id\":", Some(self.id));
        text(out, b",\"prev_hash\":", Some(self.prev_hash));
        text(out, b",\"session_id\":", self.session_id);
        text(out, b",\"task_id\":", Some(self.task_id));
        text(out, b",\"timestamp\":", Some(self.timestamp));
        text(out, b",\"type\":", Some(self.kind));
        if self.warned {
            text(out, b",\"warnings\":[{\"code\":", Some(WarningCode::TaskUnknown.as_str()));
            text(out, b",\"message\":", Some(&unknown_task(self.task_id)));
            out.extend_from_slice(b"}]");
        }
        out.extend_from_slice(b"},\"ok\":true}");
    }

    /// Returns the reply's hash. `scratch` is cleared first; a walk passes the same buffer for every record.
    pub(super) fn hash(&self, scratch: &mut Vec<u8>) -> HexDigest {
        scratch.clear();
        self.write(scratch);
        HexDigest::of(scratch)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalogue::ThoughtRecordOutput;
    use crate::domains::ties::Reply;
    use colibri_proof::record::THOUGHT_TYPES;

    proptest! {
        #[test]
        fn the_reply_has_the_hash_of_the_one_that_is_sent(
            texts in proptest::array::uniform7(any::<String>()),
            session_id in proptest::option::of(any::<String>()),
            kind in proptest::sample::select(THOUGHT_TYPES.as_slice()),
            warned in any::<bool>(),
        ) {
            let [agent_id, content, hash, id, prev_hash, task_id, timestamp] = texts.each_ref();
            let reply = RecordReply {
                agent_id, content, hash, id, prev_hash, task_id, timestamp,
                session_id: session_id.as_deref(),
                kind: kind.as_str(),
                warned,
            };
            let built = Reply::Hash(reply.hash(&mut Vec::new()));
            let [agent_id, content, hash, id, prev_hash, task_id, timestamp] = texts.clone();
            let warnings = warned.then(|| vec![crate::domains::trail::output::warned(unknown_task(&task_id))]);
            let sent = ThoughtRecordOutput {
                warnings,
                agent_id, content, hash, id, prev_hash, task_id, timestamp, session_id: session_id.clone(),
                type_: kind.into(),
            };
            prop_assert_eq!(built, Reply::of(&sent));
        }
    }
}
