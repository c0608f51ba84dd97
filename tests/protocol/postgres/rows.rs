//! Rows that both engines take, of each table.

use super::engines::{Both, Cell, Engines};

pub fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

pub fn number(value: i64) -> Cell {
    Cell::Integer(value)
}

/// Rows that the ones to be tried refer to.
const STAGE: &str = "
INSERT INTO tasks (id, created_at, updated_at, title) VALUES
  ('000000000000000000000000000000000001', 't', 't', 'one'), ('000000000000000000000000000000000002', 't', 't', 'two');
INSERT INTO audit_sessions (session_id, intent, started_at) VALUES ('open', 'why', 't'), ('sealed', 'why', 't'), ('leaf', 'why', 't');
INSERT INTO merkle_roots (session_id, root, record_count, finalized_at)
  VALUES ('sealed', '#r', 1, 't'), ('leaf', '#r', 1, 't');
INSERT INTO merkle_leaves (session_id, leaf_index, record_id, hash, leaf_hash) VALUES ('leaf', 0, 'R', '#a', '#b');
INSERT INTO tree_heads (head_index, session_id, tree_size, root_hash, legacy_root, session_hash, chain_tips_hash, log_exit_no,
  log_row_hash, prev_head_hash, finalized_at, head_hash) VALUES (0, 'sealed', 1, '#a', '#b', '#c', '#d', 0, '#e', '#f', 't', '#g');
INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at)
  VALUES ('R1', 'plan', 'T', 'a', 'x', 't', '#0', '#1', 't');
INSERT INTO trail_heads (task_id, chain_length, tip_id, tip_hash) VALUES ('T', 1, 'R1', '#1');
INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at)
  VALUES ('B1', 'plan', 'bare', 'a', 'x', 't', '#0', '#2', 't');
INSERT INTO reputations (node_id, domain, score, scar_bps, last_activity_epoch) VALUES ('n', 'social', 100, 50, 5);
INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id) VALUES ('n', 'social', 1, 5, 'r', 'e');
INSERT INTO experience_tokens (id, node_id, level, domain, action, outcome_class, outcome_delta, created_at)
  VALUES ('tok_1', 'n', 'L0', 'social', 'a', 'success', 1, 1);
INSERT INTO task_claims (task_id, claim_no, agent_id, caller_no, claimed_at, lease_until, sequence_no)
  VALUES ('000000000000000000000000000000000001', 2, 'a', 1, 't', 'u', 1)
";

/// Writes `#a` as 64 times `a`.
pub fn staged(sql: &str) -> String {
    let mut out = String::new();
    for (at, part) in sql.split('#').enumerate() {
        match part.chars().next().filter(|_| at > 0) {
            Some(letter) => out.push_str(&(letter.to_string().repeat(64) + &part[1..])),
            None => out.push_str(part),
        }
    }
    out
}

/// Both engines with the rows that others refer to; `None` without PostgreSQL.
pub fn stage() -> Option<Engines> {
    let mut engines = Engines::new()?;
    engines.run(&staged(STAGE));
    for (table, row) in rows().into_iter().take(2) {
        engines.run_both(&Both::insert(table, &row));
    }
    Some(engines)
}

pub type Row = Vec<(&'static str, Cell)>;

/// A row a line: its table and its values. `-` is NULL, `!32` that many bytes, and `#a` 64 times the letter. `@3` is a task's
/// id, `##a` a signature, and `%a` a key's id. The first two rows are on the stage already.
const ROWS: &str = "
mcp_consensus_rounds round_id=1 merkle_root=!32 rule_version_hash=!32 prev_merkle_root=!32 leader=s n_arbiters=4 dispute_window_epochs=100 epoch=1 level=PENDING sequence_no=1
mcp_consensus_votes seq=1 round_id=1 sender_id=s public_key=!32 merkle_root=!32 rule_version_hash=!32 vote_type=ACCEPT timestamp_logical=1 signature=!64 origin=PROPOSE epoch=1 sequence_no=1
mcp_consensus_rounds round_id=2 merkle_root=!32 rule_version_hash=!32 prev_merkle_root=!32 leader=s n_arbiters=4 dispute_window_epochs=100 epoch=1 level=PENDING sequence_no=1
mcp_consensus_votes seq=2 round_id=1 sender_id=s public_key=!32 merkle_root=!32 rule_version_hash=!32 vote_type=ACCEPT timestamp_logical=2 signature=!64 origin=PROPOSE epoch=1 sequence_no=1
mcp_consensus_votes seq=3 round_id=1 sender_id=s public_key=!32 merkle_root=!32 rule_version_hash=!32 vote_type=ABSTAIN timestamp_logical=3 signature=!64 origin=VOTE epoch=- sequence_no=-
mcp_consensus_committee round_id=1 position=0 sender_id=s public_key=!32
mcp_consensus_transitions round_id=1 ordinal=0 from_level=PENDING to_level=SOFT epoch=1 evidence=!3
mcp_consensus_equivocations evidence_hash=!32 round_id=1 sender_id=s vote_a_seq=1 vote_b_seq=1 trigger_seq=1 finality_level=SOFT slash_status=APPLIED
reputations node_id=m domain=social score=1 scar_bps=0 ban_until_epoch=3 last_activity_epoch=1
reputation_history id=2 node_id=n domain=social epoch=1 delta=-1 reason=r event_id=e
reputation_ledger history_id=1 dedupe_key=k kind=gain source=task band=- nominal_delta=1 acker_id=a weight_bps=10000 idle_epochs=0 score_before=0 score_settled=0 score_after=1 scar_before=0 scar_after=0 ban_after=- rule_version_hash=#a prev_hash=#b entry_hash=#c recorded_at=1 sequence_no=1
reputation_ledger history_id=1 dedupe_key=k kind=penalty source=import band=severe nominal_delta=1 acker_id=- weight_bps=10000 idle_epochs=0 score_before=0 score_settled=0 score_after=1 scar_before=0 scar_after=0 ban_after=3 rule_version_hash=#a prev_hash=#b entry_hash=#c recorded_at=1 sequence_no=1
reputation_clock id=1 epoch_seconds=60 set_at=0
experience_tokens id=tok_2 node_id=n level=L1.5 domain=execution scenario=s counterparty=c action=a outcome_class=success outcome_delta=1 witnesses=[] created_at=1 promoted_from=tok_1 feature_hash=#a
mcp_witnesses witness_id=wit_1 agent_id=a token_id=tok_1 domain=governance reputation_bps=200 weight_cap=30 created_at=1
audit_sessions session_id=new intent=why task_id=T started_at=t sequence_no=1
thought_records seq=7 id=R2 type=plan task_id=T agent_id=a content=x timestamp=t prev_hash=#1 hash=#2 created_at=t session_id=open zone=- content_compressed=- content_hash=- sequence_no=1
thought_records seq=7 id=R2 type=plan task_id=T agent_id=a content=x timestamp=t prev_hash=#1 hash=#2 created_at=t session_id=open zone=hot content_compressed=- content_hash=#d sequence_no=1
thought_records seq=7 id=R2 type=plan task_id=T agent_id=a content=- timestamp=t prev_hash=#1 hash=#2 created_at=t session_id=open zone=warm content_compressed=x content_hash=#d sequence_no=1
thought_records seq=7 id=R2 type=plan task_id=T agent_id=a content=- timestamp=t prev_hash=#1 hash=#2 created_at=t session_id=open zone=cold content_compressed=- content_hash=#d sequence_no=1
trail_heads task_id=U chain_length=1 tip_id=R tip_hash=#a
merkle_roots session_id=open root=#a record_count=1 finalized_at=t sequence_no=1
merkle_leaves session_id=sealed leaf_index=0 record_id=R hash=#a leaf_hash=#b
tree_heads head_index=1 session_id=leaf tree_size=1 root_hash=#a legacy_root=#b session_hash=#c chain_tips_hash=#d log_exit_no=0 log_row_hash=#e prev_head_hash=#x finalized_at=t head_hash=#y signature=##a key_id=%a public_key=#a
tree_heads head_index=1 session_id=leaf tree_size=1 root_hash=#a legacy_root=#b session_hash=#c chain_tips_hash=#d log_exit_no=0 log_row_hash=#e prev_head_hash=#x finalized_at=t head_hash=#y signature=- key_id=- public_key=-
tree_head_tips head_index=0 task_id=T chain_length=1 tip_hash=#a
tasks id=@3 project_id=p status=DONE priority=p0 assignee=a created_at=t updated_at=t deleted_at=t sequence_no=1 title=x description=y
task_dependencies task_id=@1 depends_on_id=@2
skills root=x name=x description=x version=x entrypoint=x capabilities=x greek_letter=x body=x source_path=x frontmatter_json=x loaded_at=x
skill_roots root=/x loaded_at=t skill_count=0 digest=#a
mcp_model_candidates model_id=m provider=p context_window_tokens=1 latency_tier=fast cost_bps_per_kilotoken=0 domain_fit_profile=255 enabled=1
callers caller_no=1 boot_id=b source=meta client_name=c client_title=c client_version=c protocol=p actor=a os_user=u host=h pid=1 first_seen=t sequence_no=1
task_events task_id=@1 event_no=1 sequence_no=1 task_call=1 kind=claimed from_status=INIT to_status=INIT at=t changes={} claim_no=1 agent_id=a lease_until=t
task_claims task_id=@2 claim_no=1 agent_id=a caller_no=1 claimed_at=t lease_until=t released_at=t sequence_no=1
claim_clock id=1 latest=t
";

/// The rows of [`ROWS`] with their tables.
pub fn rows() -> Vec<(&'static str, Row)> {
    let row = |line: &'static str| {
        let (table, values) = line.split_once(' ').expect("a table and its values");
        (
            table,
            values
                .split(' ')
                .map(|pair| pair.split_once('=').expect("a value"))
                .map(|(name, text)| (name, cell(text)))
                .collect(),
        )
    };
    ROWS.lines().filter(|line| !line.is_empty()).map(row).collect()
}

fn cell(word: &str) -> Cell {
    let (mark, rest) = word.split_at(1);
    match (mark, rest) {
        ("-", "") => Cell::Null,
        ("!", length) => Cell::Blob(length.parse().expect("a length")),
        // A signature is twice as long, and a key's id half as long.
        ("#", letter) if letter.starts_with('#') => Cell::Text(letter[1..].repeat(128)),
        ("#", letter) => Cell::Text(letter.repeat(64)),
        ("%", letter) => Cell::Text(letter.repeat(32)),
        ("@", number) => Cell::Text(format!("{number:0>36}")),
        _ => word.parse().map_or_else(|_| text(word), number),
    }
}
