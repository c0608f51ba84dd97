-- Which table belongs to whom, and which migration makes it. Documentation: never executed.
-- A domain reaches another's tables through that domain's functions only; views are listed as tables are.

-- table: tasks
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 002_tasks
--   one row a task; rows are marked as deleted, never removed

-- table: task_dependencies
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 003_task_dependencies
--   one row for each task that another waits for

-- table: actions
--   owner: alpha, the audit log (server/store)
--   migration: 004_actions
--   one row a call, closed by its exit, chained in the order of exits

-- table: actions_head
--   owner: alpha, the audit log (server/store)
--   migration: 004_actions
--   one row: where the log ends

-- table: action_events
--   owner: alpha, the audit log (server/store)
--   migration: 004_actions
--   a view: the enter and exit of each call as two rows

-- table: audit_sessions
--   owner: eta, the proof store (server/src/domains/proof)
--   migration: 005_thought_records
--   one row a session that thought records can be bound to

-- table: thought_records
--   owner: zeta, the decision trail (server/src/domains/trail)
--   migration: 005_thought_records
--   one row a thought, hash-chained per task

-- table: trail_heads
--   owner: zeta, the decision trail (server/src/domains/trail)
--   migration: 005_thought_records
--   one row a task that has thoughts: the tip of its chain

-- table: merkle_roots
--   owner: eta, the proof store (server/src/domains/proof)
--   migration: 006_seals
--   one row a sealed session: its root

-- table: merkle_leaves
--   owner: eta, the proof store (server/src/domains/proof)
--   migration: 006_seals
--   one row a record of a sealed session, as it was then

-- table: tree_heads
--   owner: eta, the proof store (server/src/domains/proof)
--   migration: 006_seals
--   one row a seal, each committing to the one before

-- table: tree_head_tips
--   owner: eta, the proof store (server/src/domains/proof)
--   migration: 006_seals
--   one row a task touched by a seal: how long its chain was

-- table: skills
--   owner: epsilon, the skill registry (server/src/domains/skills)
--   migration: 007_skills
--   one row a skill of a root, an index of the files; made anew with its root by 013_skill_roots

-- table: skill_index
--   owner: epsilon, the skill registry (server/src/domains/skills)
--   migration: 007_skills
--   one row: what the last load wrote; 013_skill_roots puts skill_roots in its place

-- table: skill_roots
--   owner: epsilon, the skill registry (server/src/domains/skills)
--   migration: 013_skill_roots
--   one row a root: what its last load wrote

-- table: reputations
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 008_reputation
--   one row a node and domain, as its last ledger entry left it

-- table: reputation_history
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 008_reputation
--   one row an event that moved a standing

-- table: experience_tokens
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 009_experience_tokens
--   one row a token; a promotion is a row of its own

-- table: mcp_witnesses
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 009_experience_tokens
--   one row a witness of a token

-- table: reputation_ledger
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 010_reputation_ledger
--   one row a row of the history: what went into it, hash-chained

-- table: reputation_clock
--   owner: lambda, reputation (server/src/domains/reputation)
--   migration: 010_reputation_ledger
--   at most one row: how long an epoch is

-- table: mcp_consensus_rounds
--   owner: theta, consensus (server/src/domains/consensus)
--   migration: 011_consensus
--   one row a round

-- table: mcp_consensus_committee
--   owner: theta, consensus (server/src/domains/consensus)
--   migration: 011_consensus
--   one row an arbiter of a round

-- table: mcp_consensus_votes
--   owner: theta, consensus (server/src/domains/consensus)
--   migration: 011_consensus
--   one row a signed vote, in the order of their coming

-- table: mcp_consensus_transitions
--   owner: theta, consensus (server/src/domains/consensus)
--   migration: 011_consensus
--   one row a step of a round's finality, with its evidence

-- table: mcp_consensus_equivocations
--   owner: theta, consensus (server/src/domains/consensus)
--   migration: 011_consensus
--   one row an arbiter who signed two different tuples in a round

-- table: mcp_model_candidates
--   owner: delta, the model router (server/src/domains/router)
--   migration: 012_model_candidates
--   one row a model that the operator may enable

-- table: callers
--   owner: alpha, the audit log (server/store)
--   migration: 014_callers
--   one row each time a process's calls come from another identity than before

-- table: task_events
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 015_task_history
--   one row an event of a task's history, from its first change or claim on

-- table: task_claims
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 015_task_history
--   one row a task that was ever claimed: its newest claim

-- table: claim_clock
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 015_task_history
--   at most one row: the latest time by which a claim was judged

-- table: task_event_list
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 015_task_history
--   a view: each event of task_events, and of each task that has none the one that its row stands for

-- table: wrap_runs
--   owner: wrapped servers (server/src/domains/wrap)
--   migration: 016_wrap
--   one row a start of `colibri wrap`

-- table: tool_pins
--   owner: wrapped servers (server/src/domains/wrap)
--   migration: 016_wrap
--   one row a list of tools of a wrapped server, and one a list that was accepted

-- table: call_notes
--   owner: alpha, the audit log (server/src/domains/notes)
--   migration: 017_call_notes
--   one row a note: what was learned about a call beside its outcome
