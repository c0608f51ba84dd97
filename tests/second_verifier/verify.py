#!/usr/bin/env python3
"""A second verifier of Colibri databases and of exports of sessions, written from docs/reference/formats.md alone.

    verify.py DATABASE [PUBLIC_KEY_HEX]...
    verify.py --export FILE [PUBLIC_KEY_HEX]...
    verify.py --proof FILE [PUBLIC_KEY_HEX]...

It shares no code with the server and needs nothing beyond Python's standard library. It prints what it checked and
the first thing of each kind that does not fit. Exit code 0 if all is sound, 1 if something is not, 3 if all is sound but
only a key or a root that was not given can confirm it. If keys are given, one of them must have signed: the tree head of
an export or a proof, and in a database every tree head from the first signed one on, of which there must be one if there
are tree heads at all.
"""

import base64
import gzip
import hashlib
import json
import re
import sqlite3
import sys
from datetime import datetime, timedelta, timezone

from wraps import check_wraps, pin_reply, run_reply

ZERO = "0" * 64


def sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def canonical(value):
    """RFC 8785 for what occurs here: ASCII keys, integers, strings, null."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Findings:
    def __init__(self):
        self.counts, self.first, self.confirmed = {}, {}, True

    def expect(self, fits, kind, subject):
        if not fits:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.first.setdefault(kind, subject)
        return fits


TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def is_row(row):
    """Whether a row of the log has values that a call leaves."""
    closed, ok, aborted = row["outcome"] != "running", row["outcome"] == "ok", row["outcome"] == "aborted"
    fits = len(row["correlation_id"]) == 36 and 36 <= len(row["boot_id"]) <= 165 and is_hash(row["args_hash"])
    fits &= row["mode"] in ("FULL", "READONLY", "TEST", "MINIMAL") and row["enter_ms"] >= 0
    fits &= TIME.fullmatch(row["entered_at"]) is not None
    ends = ("error_code", "error_message", "result_hash", "duration_ms", "exited_at", "exit_no", "prev_hash", "row_hash", "subject")
    if not closed:
        return fits and all(row[name] is None for name in ends)
    fits &= row["outcome"] in ("ok", "domain_error", "error", "invalid", "denied", "aborted")
    fits &= (row["error_code"] is None) == ok and not (ok and row["error_message"] is not None)
    fits &= aborted if row["result_hash"] is None else not aborted and is_hash(row["result_hash"])
    fits &= aborted if row["duration_ms"] is None else not aborted and row["duration_ms"] >= 0
    return fits and TIME.fullmatch(row["exited_at"] or "") is not None and (ok or row["subject"] is None)


def check_log(db, found):
    """The chain of closed rows, the numbering of all, and the head."""
    tip, exit_no = ZERO, 0
    for row in db.execute("SELECT * FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no"):
        columns = dict(row)
        stored = columns.pop("row_hash")
        exit_no += 1
        found.expect(columns["exit_no"] == exit_no, "log: exit_no has a gap", exit_no)
        found.expect(columns["prev_hash"] == tip, "log: link", columns["sequence_no"])
        tip = sha256(canonical(columns))
        found.expect(stored == tip, "log: row hash", columns["sequence_no"])
    for row in db.execute("SELECT * FROM actions"):
        found.expect(is_row(row), "log: a value that no call leaves", row["sequence_no"])
    rows, highest = db.execute("SELECT count(*), coalesce(max(sequence_no), 0) FROM actions").fetchone()
    found.expect(rows == highest, "log: sequence_no has a gap", highest)
    head = db.execute("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head").fetchone()
    found.expect(head is not None and tuple(head) == (highest, exit_no, tip), "log: head", "actions_head")
    return exit_no


def thought_content(row):
    """The text of a record; None when it is gone by policy, False when it is lost."""
    if row["content"] is not None:
        return row["content"]
    if row["content_compressed"] is None:
        return None
    try:
        text = gzip.decompress(base64.b64decode(row["content_compressed"], validate=True)).decode()
    except (ValueError, OSError, EOFError):
        return False
    return text if sha256(text) == row["content_hash"] else False


def check_trail(db, found):
    """Every chain of every task, and where each is said to end."""
    tips, count = {}, 0
    for row in db.execute("SELECT * FROM thought_records ORDER BY seq"):
        count += 1
        content = thought_content(row)
        length, tip, _ = tips.get(row["task_id"], (0, ZERO, None))
        found.expect(row["prev_hash"] == tip, "trail: link", row["id"])
        if found.expect(content is not False, "trail: content", row["id"]) and content is not None:
            preimage = {key: row[key] for key in ("id", "type", "task_id", "timestamp", "prev_hash")}
            fits = sha256(canonical({**preimage, "content": content})) == row["hash"]
            found.expect(fits, "trail: record hash", row["id"])
        tips[row["task_id"]] = (length + 1, row["hash"], row["id"])
    heads = {row["task_id"]: row for row in db.execute("SELECT * FROM trail_heads")}
    for task in heads.keys() | tips.keys():
        length, tip, last = tips.get(task, (0, ZERO, None))
        head = heads.get(task)
        fits = head is not None and (head["chain_length"], head["tip_hash"], head["tip_id"]) == (length, tip, last)
        found.expect(fits, "trail: head", task)
    return count


def legacy_root(hashes):
    level = sorted(bytes.fromhex(one) for one in hashes)
    while len(level) > 1:
        pairs = [sorted(level[at : at + 2]) for at in range(0, len(level), 2)]
        level = [hashlib.sha256(b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex() if level else sha256(b"")


def tree_root(leaves):
    """RFC 9162 §2.1.1 over leaf hashes."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\x01" + tree_root(leaves[:split]) + tree_root(leaves[split:])).digest()


def leaf_hash(row):
    content_hash = row["content_hash"] if row["content"] is None else sha256(row["content"])
    keys = ("id", "type", "task_id", "agent_id", "timestamp", "prev_hash", "hash", "session_id")
    envelope = {**{key: row[key] for key in keys}, "content_hash": content_hash, "v": 1}
    return hashlib.sha256(b"\x00" + canonical(envelope).encode()).digest()


HEAD_FIELDS = (
    "session_id session_hash tree_size root_hash legacy_root chain_tips_hash head_index prev_head_hash "
    "log_exit_no log_row_hash finalized_at"
).split()


def check_signature(head, message, where, found):
    """The signature of a tree head and what it says of itself, if there is one; whether there is."""
    signature, key_id, public_key = (head[key] for key in ("signature", "key_id", "public_key"))
    if signature is None and key_id is None and public_key is None:
        return False
    fits = is_hash(public_key) and sha256(bytes.fromhex(public_key))[:32] == key_id
    fits = fits and is_hex(signature, 128) and ed25519_verifies(public_key, message.encode(), signature)
    return found.expect(fits, f"{where}: signature", head["session_id"]) or True


def check_seals(db, found, trusted):
    """Every sealed session against its records, and the chain of tree heads."""
    prev, index, signed = ZERO, 0, False
    for head in db.execute("SELECT * FROM tree_heads ORDER BY head_index"):
        session_id = head["session_id"]
        message = "colibri-tree-head-v1\n" + canonical({**{key: head[key] for key in HEAD_FIELDS}, "v": 1})
        found.expect(head["head_index"] == index, "seal: head_index has a gap", session_id)
        found.expect(head["prev_head_hash"] == prev, "seal: link of heads", session_id)
        found.expect(sha256(message) == head["head_hash"], "seal: head hash", session_id)
        index, prev = index + 1, head["head_hash"]

        session = db.execute("SELECT * FROM audit_sessions WHERE session_id = ?", [session_id]).fetchone()
        facts = {key: session[key] for key in ("session_id", "intent", "task_id", "started_at")} if session else None
        fits = sha256("colibri-session-v1\n" + canonical(facts)) == head["session_hash"]
        found.expect(fits, "seal: session", session_id)

        rows = db.execute("SELECT * FROM thought_records WHERE session_id = ? ORDER BY seq", [session_id]).fetchall()
        leaves = [leaf_hash(row) for row in rows]
        frozen = db.execute("SELECT * FROM merkle_leaves WHERE session_id = ? ORDER BY leaf_index", [session_id])
        frozen = [(leaf["leaf_index"], leaf["record_id"], leaf["hash"], leaf["leaf_hash"]) for leaf in frozen]
        now = [(at, row["id"], row["hash"], leaves[at].hex()) for at, row in enumerate(rows)]
        found.expect(frozen == now, "seal: frozen leaves", session_id)
        root = db.execute("SELECT * FROM merkle_roots WHERE session_id = ?", [session_id]).fetchone()
        legacy = legacy_root(row["hash"] for row in rows)
        stored = root is not None and (root["root"], root["record_count"], root["finalized_at"])
        fits = stored == (legacy, len(rows), head["finalized_at"]) and legacy == head["legacy_root"]
        found.expect(fits, "seal: legacy root", session_id)
        fits = bool(leaves) and tree_root(leaves).hex() == head["root_hash"] and len(leaves) == head["tree_size"]
        found.expect(fits, "seal: root", session_id)

        tips = db.execute("SELECT * FROM tree_head_tips WHERE head_index = ?", [head["head_index"]]).fetchall()
        tips = [{key: tip[key] for key in ("task_id", "chain_length", "tip_hash")} for tip in tips]
        tips.sort(key=lambda tip: tip["task_id"].encode("utf-16-be"))
        fits = sha256("colibri-chain-tips-v1\n" + canonical(tips)) == head["chain_tips_hash"]
        found.expect(fits, "seal: chain tips", session_id)
        for tip in tips:
            nth = db.execute(
                "SELECT hash FROM thought_records WHERE task_id = ? ORDER BY seq LIMIT 1 OFFSET ?",
                [tip["task_id"], tip["chain_length"] - 1],
            ).fetchone()
            found.expect(nth is not None and nth["hash"] == tip["tip_hash"], "seal: chain was cut", tip["task_id"])

        if head["log_exit_no"]:
            row = db.execute("SELECT row_hash FROM actions WHERE exit_no = ?", [head["log_exit_no"]]).fetchone()
            fits = row is not None and row["row_hash"] == head["log_row_hash"]
        else:
            fits = head["log_row_hash"] == ZERO
        found.expect(fits, "seal: place in the log", session_id)
        of_head = check_signature(head, message, "seal", found)
        signed |= of_head
        # A trusted key that signs a later head confirms the earlier ones, too.
        found.confirmed = head["public_key"] in trusted if of_head else found.confirmed
        fits = not trusted or not signed or head["public_key"] in trusted
        found.expect(fits, "seal: signed by none of the keys", session_id)
    roots = db.execute("SELECT count(*) FROM merkle_roots").fetchone()[0]
    found.expect(roots == index, "seal: roots without a tree head", roots)
    found.expect(not trusted or signed or index == 0, "seal: no tree head is signed", index)
    return index


def caller_of(db, sequence_no):
    """The number of the caller of a call; None for calls from before callers, and for calls that are not there."""
    caller = db.execute(
        "SELECT c.caller_no FROM actions AS a JOIN callers AS c ON c.boot_id = a.boot_id AND c.sequence_no < a.sequence_no "
        "WHERE a.sequence_no = ? ORDER BY c.sequence_no DESC LIMIT 1",
        [sequence_no],
    ).fetchone()
    return None if caller is None else caller["caller_no"]


def task_reply(db, row):
    data = {key: row[key] for key in row.keys() if key != "sequence_no"}
    waits = db.execute("SELECT depends_on_id FROM task_dependencies WHERE task_id = ? ORDER BY rowid", [row["id"]])
    waits = [one["depends_on_id"] for one in waits]
    return {**data, "task_id": row["id"], **({"depends_on": waits} if waits else {})}


def thought_reply(db, row):
    content = thought_content(row)
    if not isinstance(content, str):
        return None
    keys = ("id", "type", "task_id", "agent_id", "timestamp", "prev_hash", "hash", "session_id")
    data = {**{key: row[key] for key in keys}, "content": content}
    known = db.execute("SELECT 1 FROM tasks WHERE id = ?", [row["task_id"]]).fetchone()
    if known is None and caller_of(db, row["sequence_no"]) is not None:
        message = f"No task has the id {row['task_id']}; the trail is kept under that name all the same."
        data["warnings"] = [{"code": "TASK_UNKNOWN", "message": message}]
    return data


def session_reply(db, row):
    return {key: row[key] for key in ("session_id", "intent", "task_id", "started_at")}


def seal_reply(db, row):
    head = db.execute("SELECT * FROM tree_heads WHERE session_id = ?", [row["session_id"]]).fetchone()
    tree_head = {**{key: head[key] for key in head.keys()}, "v": 1} if head else None
    return {**{key: row[key] for key in row.keys() if key != "sequence_no"}, "tree_head": tree_head}


def caller_reply(db, row):
    return {key: row[key] for key in row.keys()}


def note_reply(db, row):
    return {key: row[key] for key in ("note_no", "about", "kind", "noted_at", "body")}


# Each table with its key, the tools that write it, its reply, and the order in which its rows were created.
TIED = [
    ("callers", "caller_no", ("caller_begin",), caller_reply, "caller_no"),
    ("tasks", "id", ("task_create", "task_update"), task_reply, "rowid"),
    ("thought_records", "id", ("thought_record",), thought_reply, "seq"),
    ("audit_sessions", "session_id", ("audit_session_start",), session_reply, "rowid"),
    ("merkle_roots", "session_id", ("merkle_finalize",), seal_reply, "rowid"),
    ("wrap_runs", "run_id", ("wrap_begin",), run_reply, "run_no"),
    ("tool_pins", "pin_no", ("pins_note", "pins_accept"), pin_reply, "pin_no"),
    ("call_notes", "note_no", ("call_note",), note_reply, "note_no"),
]


def check_callers(db, found):
    """The numbers of callers, and that each call from the first stored one on has a caller before it."""
    numbers = [row["caller_no"] for row in db.execute("SELECT caller_no FROM callers ORDER BY caller_no")]
    found.expect(numbers == list(range(1, len(numbers) + 1)), "callers: caller_no has a gap", len(numbers))
    without = db.execute(
        "SELECT a.sequence_no FROM actions AS a WHERE tool <> 'caller_begin' AND sequence_no > "
        "(SELECT min(sequence_no) FROM actions WHERE tool = 'caller_begin') AND NOT EXISTS (SELECT 1 FROM callers AS c "
        "WHERE c.boot_id = a.boot_id AND c.sequence_no < a.sequence_no)"
    )
    for call in without:
        found.expect(False, "callers: call without a caller", call["sequence_no"])
    return len(numbers)


def check_order(db, table, key, tools, order, found):
    """Each call that creates a row names one of its own, and the rows stand in the order in which these calls ended."""
    tools, place = [tool for tool in tools if tool != "task_update"], None
    marks = ", ".join("?" * len(tools))
    calls = (f"SELECT a.sequence_no, a.subject, t.{order} AS place FROM actions AS a LEFT JOIN {table} AS t ON t.{key} = a.subject "
             f"WHERE a.outcome = 'ok' AND a.tool IN ({marks}) ORDER BY a.exit_no")
    for call in db.execute(calls, tools):
        found.expect(call["subject"] is not None, f"tie: call without a row of {table}", call["sequence_no"])
        if call["place"] is not None:
            found.expect(place is None or call["place"] > place, f"tie: order of {table}", call["subject"])
            place = max(call["place"], place or call["place"])


def check_ties(db, found):
    """Rows against the calls that wrote them, in both directions."""
    rows = 0
    for table, key, tools, reply, order in TIED:
        check_order(db, table, key, tools, order, found)
        for row in db.execute(f"SELECT * FROM {table}"):
            rows += 1
            call = db.execute("SELECT * FROM actions WHERE sequence_no = ?", [row["sequence_no"]]).fetchone()
            fits = call is not None and call["outcome"] == "ok" and call["tool"] in tools and call["subject"] == str(row[key])
            if not found.expect(fits, f"tie: {table} row of no call", row[key]):
                continue
            data = reply(db, row)
            if data is not None:
                fits = sha256(canonical({"ok": True, "data": data})) == call["result_hash"]
                found.expect(fits, f"tie: {table} row is not what was answered", row[key])
        marks = ", ".join("?" * len(tools))
        calls = f"SELECT exit_no, subject FROM actions WHERE outcome = 'ok' AND tool IN ({marks})"
        # The row's own call must not have ended before this one.
        last = (f"SELECT a.exit_no FROM {table} AS t JOIN actions AS a ON a.sequence_no = t.sequence_no "
                f"WHERE t.{key} = ?")
        for call in db.execute(calls + " AND subject IS NOT NULL", tools):
            row = db.execute(last, [call["subject"]]).fetchone()
            fits = row is not None and row["exit_no"] is not None and row["exit_no"] >= call["exit_no"]
            found.expect(fits, f"tie: {table} row is missing or older than its call", call["subject"])
    return rows


# The tools whose calls leave each kind of event.
EVENT_TOOLS = {
    "created": ("task_create",),
    "migrated": ("task_create", "task_update"),
    "changed": ("task_update",),
    "claimed": ("task_claim",),
    "taken_over": ("task_claim",),
    "renewed": ("task_claim",),
    "released": ("task_release",),
}
BEGINNINGS = ("created", "migrated")
FINISHED = ("DONE", "CANCELLED")
PIPELINE = ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE"]
STEPS = {*zip(PIPELINE, PIPELINE[1:]), ("VERIFY", "GATHER"), *((state, "CANCELLED") for state in PIPELINE[:-1])}
TASK_FIELDS = ("project_id", "title", "description", "priority", "assignee", "created_at", "deleted_at")
CLAIM_COLUMNS = ("claim_no", "agent_id", "lease_until")


def changes_of(event):
    """The changed fields, each with its old and its new value; None if the text is not of that form."""
    try:
        changes = json.loads(event["changes"])
    except (ValueError, RecursionError):
        return None
    fits = isinstance(changes, dict) and canonical(changes) == event["changes"]
    return changes if fits and all(isinstance(pair, list) and len(pair) == 2 for pair in changes.values()) else None


class History:
    """A task and its newest claim, as the events so far leave them."""

    def __init__(self, task_id):
        self.task_id, self.event_no, self.task_call, self.exit_no, self.claim = task_id, 0, None, 0, None
        self.clear()

    def clear(self):
        self.task = {"id": self.task_id, "task_id": self.task_id, **dict.fromkeys(TASK_FIELDS)}
        self.task |= {"status": None, "updated_at": ""}

    def set(self, changes, fields):
        """Whether all changes are of these fields, begin at their values and end at others."""
        fits = all(name in fields and old == self.task.get(name) and old != new for name, (old, new) in changes.items())
        self.task |= {name: new for name, (_, new) in changes.items()}
        if self.task.get("depends_on") is None:
            self.task.pop("depends_on", None)
        return fits

    def begin(self, event, changes):
        fields = {*TASK_FIELDS, "depends_on"}
        if event["kind"] == "created":
            fields.remove("created_at")
        self.clear()
        fits = self.set(changes, fields)
        if event["kind"] == "created":
            self.task["created_at"] = event["at"]
        return fits

    def change(self, event, changes):
        fits = self.set(changes, {*TASK_FIELDS, "depends_on"} - {"created_at"}) and event["from_status"] == self.task["status"]
        ends = event["to_status"] in FINISHED and event["to_status"] != event["from_status"]
        if ends and self.claim is not None and self.claim["released_at"] is None:
            self.claim |= {"released_at": event["at"], "sequence_no": event["sequence_no"]}
        return fits

    def take_claim(self, event, changes, caller_no):
        kind, before = event["kind"], self.claim
        begins, held = kind in ("claimed", "taken_over"), before is not None and before["released_at"] is None
        fits = event["from_status"] == event["to_status"] == self.task["status"] and held == (kind != "claimed")
        fits &= kind == "released" or event["to_status"] not in FINISHED
        holders = {}
        if kind == "taken_over" and held and before["agent_id"] != event["agent_id"]:
            holders = {"held_by": [before["agent_id"], event["agent_id"]]}
        fits &= changes == holders
        if begins:
            fits &= event["claim_no"] == ((before["claim_no"] or 0) + 1 if before else 1)
            self.claim = {"caller_no": caller_no, "claimed_at": event["at"]}
        elif before is not None:
            fits &= all(before[name] == event[name] for name in CLAIM_COLUMNS if (kind, name) != ("renewed", "lease_until"))
        else:
            self.claim = {"caller_no": None, "claimed_at": None}
        self.claim |= {name: event[name] for name in CLAIM_COLUMNS} | {"sequence_no": event["sequence_no"]}
        self.claim["released_at"] = event["at"] if kind == "released" else None
        return fits

    def take(self, event, caller_no):
        """Takes the next event; whether it agrees with the events before."""
        changes, kind = changes_of(event), event["kind"]
        of_claim = kind not in (*BEGINNINGS, "changed", "deleted")
        fits = changes is not None and all((event[name] is not None) == of_claim for name in CLAIM_COLUMNS)
        fits &= event["task_call"] == (self.task_call if of_claim else event["sequence_no"])
        if of_claim:
            fits &= self.take_claim(event, changes, caller_no)
        else:
            fits &= event["at"] >= self.task["updated_at"] and (kind in BEGINNINGS) == (event["from_status"] is None)
            fits &= (self.begin if kind in BEGINNINGS else self.change)(event, changes or {})
            self.task["updated_at"], self.task_call = event["at"], event["task_call"]
        self.task["status"] = event["to_status"]
        self.event_no = event["event_no"]
        return fits

    def reply(self, event, taken_from):
        """What the call of the last event was answered."""
        if event["kind"] == "released":
            keys = {"task_id": self.task_id, "claim": event["claim_no"], "agent_id": event["agent_id"]}
            return keys | {"released_at": event["at"]}
        if event["claim_no"] is None:
            return self.task
        answer = {"task": self.task, "claim": event["claim_no"], "agent_id": event["agent_id"], "until": event["lease_until"]}
        return answer | {"renewed": event["kind"] == "renewed", "taken_over_from": taken_from, "retry_at": None}


def check_event(db, history, event, found):
    """An event against the events before it and against its call."""
    kind, subject = event["kind"], (event["task_id"], event["event_no"])
    fits = event["event_no"] == history.event_no + 1 and (kind != "created" if history.event_no else kind in BEGINNINGS)
    found.expect(fits, "history: event_no has a gap, or no beginning", subject)
    taken_from = history.claim["agent_id"] if kind == "taken_over" and history.claim else None
    caller_no = caller_of(db, event["sequence_no"])
    found.expect(history.take(event, caller_no), "history: not what was before the event", subject)
    step = (event["from_status"], event["to_status"])
    known = event["to_status"] in (*PIPELINE, "CANCELLED") and (kind, step[1]) != ("created", "DONE")
    fits = known and (step[0] is None or step[0] == step[1] or step in STEPS)
    found.expect(fits, "history: no step of the pipeline", subject)

    call = db.execute("SELECT * FROM actions WHERE sequence_no = ?", [event["sequence_no"]]).fetchone()
    fits = call is not None and call["outcome"] == "ok" and call["tool"] in EVENT_TOOLS.get(kind, ())
    fits = fits and call["subject"] == event["task_id"] and (call["exit_no"] or 0) > history.exit_no
    if found.expect(fits and (caller_no is None) == (kind == "migrated"), "history: event of no call", subject):
        history.exit_no = call["exit_no"]
        fits = sha256(canonical({"ok": True, "data": history.reply(event, taken_from)})) == call["result_hash"]
        found.expect(fits, "history: not what was answered", subject)


def check_history_end(db, history, found):
    """The rows of a task and of its claim are where its events lead."""
    task_id = history.task_id
    found.expect(history.event_no > 1, "history: one event alone", task_id)
    row = db.execute("SELECT * FROM tasks WHERE id = ?", [task_id]).fetchone()
    if not found.expect(row is not None, "history: events of no task", task_id):
        return
    if row["sequence_no"] == history.task_call:
        found.expect(task_reply(db, row) == history.task, "history: row of the task", task_id)
    else:
        # A server of 0.1.0 wrote the row behind the last event.
        found.expect(caller_of(db, row["sequence_no"]) is None, "history: row without an event", task_id)
    row = db.execute("SELECT * FROM task_claims WHERE task_id = ?", [task_id]).fetchone()
    expected = None if history.claim is None else {"task_id": task_id, **history.claim}
    found.expect((row and dict(row)) == expected, "history: row of the claim", task_id)


def claim_time(entered_at, latest):
    """The time of a call that claims or releases; None if the call's own time is malformed."""
    try:
        a_day_later = datetime.strptime(entered_at, "%Y-%m-%dT%H:%M:%S.%fZ") + timedelta(days=1)
    except ValueError:
        return None
    except OverflowError:
        # No time that can be written is more than a day after the last day of the year 9999.
        return max(entered_at, latest)
    limit = a_day_later.strftime("%Y-%m-%dT%H:%M:%S.") + f"{a_day_later.microsecond // 1000:03}Z"
    return entered_at if latest > limit else max(entered_at, latest)


def check_claim_clock(db, found):
    """The times of claims, over all tasks."""
    latest = ""
    events = db.execute("SELECT e.*, a.entered_at FROM task_events AS e JOIN actions AS a ON a.sequence_no = e.sequence_no "
                        "WHERE e.claim_no IS NOT NULL ORDER BY a.exit_no")
    for event in events:
        fits = event["at"] == claim_time(event["entered_at"], latest)
        found.expect(fits, "history: time of a claim", (event["task_id"], event["event_no"]))
        latest = event["at"]
    clocks = [tuple(row) for row in db.execute("SELECT id, latest FROM claim_clock")]
    found.expect(clocks == ([(1, latest)] if latest else []), "history: clock of claims", latest)


def check_histories(db, found):
    """Every event of every task, the rows where they end, and that no call is without its event."""
    count, history, told, claimed = 0, None, set(), set()
    for event in db.execute("SELECT * FROM task_events ORDER BY task_id, event_no"):
        count += 1
        if history is None or history.task_id != event["task_id"]:
            if history is not None:
                check_history_end(db, history, found)
            history = History(event["task_id"])
        check_event(db, history, event, found)
        told.add((event["sequence_no"], event["task_id"]))
        claimed.update([event["task_id"]] if history.claim else [])
    if history is not None:
        check_history_end(db, history, found)
    calls = db.execute("SELECT sequence_no, subject FROM actions WHERE outcome = 'ok' AND subject IS NOT NULL "
                       "AND tool IN ('task_update', 'task_claim', 'task_release')")
    for call in calls:
        fits = tuple(call) in told or caller_of(db, call["sequence_no"]) is None
        found.expect(fits, "history: call without an event", call["sequence_no"])
    for row in db.execute("SELECT task_id FROM task_claims"):
        found.expect(row["task_id"] in claimed, "history: claim without an event", row["task_id"])
    check_claim_clock(db, found)
    return count


ENTRY_FIELDS = (
    "acker_id ban_after band delta domain epoch event_id history_id idle_epochs kind node_id nominal_delta prev_hash "
    "reason rule_version_hash scar_after scar_before score_after score_before score_settled source weight_bps"
).split()


def is_of_call(entry, call):
    """Whether a call can have caused an entry."""
    subject, event_id = call["subject"], entry["event_id"]
    if call["outcome"] != "ok" or subject is None:
        return False
    if entry["source"] == "task":
        return call["tool"] == "task_update" and event_id == f"task:{subject}:done"
    if entry["source"] == "session":
        return call["tool"] == "merkle_finalize" and event_id == f"session:{subject}:{entry['node_id']}"
    first, _, last = subject.partition("-")
    numbers = first.isdigit() and last.isdigit() and int(first) <= entry["history_id"] <= int(last)
    return entry["source"] == "import" and call["tool"] == "reputation_import" and numbers


# 9999-12-31T23:59:59.999Z, the last time that can be written.
LAST_MS = 253402300799999


def time_text(milliseconds):
    time = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%S") + f".{milliseconds % 1000:03}Z"


def check_entry_call(db, entry, last_exit_no, found):
    """The call of an entry: the place where it ended."""
    call = db.execute("SELECT * FROM actions WHERE sequence_no = ?", [entry["sequence_no"]]).fetchone()
    if not found.expect(call is not None and is_of_call(entry, call), "ledger: entry of no call", entry["history_id"]):
        return last_exit_no
    found.expect(call["exit_no"] >= last_exit_no, "ledger: order of calls", entry["history_id"])
    times = sorted((call["entered_at"], call["exited_at"]))
    fits = 0 <= entry["recorded_at"] <= LAST_MS and times[0] <= time_text(entry["recorded_at"]) <= times[1]
    found.expect(fits, "ledger: not recorded while its call ran", entry["history_id"])
    if entry["source"] == "task" and caller_of(db, entry["sequence_no"]) is not None:
        first = "SELECT kind, to_status FROM task_events WHERE task_id = ? ORDER BY event_no LIMIT 1"
        first = db.execute(first, [call["subject"]]).fetchone()
        fits = first is not None and (first["kind"] == "migrated" or tuple(first) == ("created", "INIT"))
        found.expect(fits, "ledger: entry for a task that could not earn", entry["history_id"])
    return max(last_exit_no, call["exit_no"])


def tokens_of(entry):
    if (entry["source"], entry["reason"]) != ("task", "task_done"):
        return []
    token = {"node_id": entry["node_id"], "domain": entry["domain"], "counterparty": entry["acker_id"],
             "outcome_delta": entry["delta"], "created_at": entry["recorded_at"] // 1000}
    return [{**token, "level": level} for level in ("L0", "L1")[: 1 if entry["acker_id"] is None else 2]]


def check_ledger(db, found):
    """The chain of entries, what each continues, and what they leave."""
    clocks = db.execute("SELECT * FROM reputation_clock").fetchall()
    seconds = clocks[0]["epoch_seconds"] if clocks else 1
    tokens = iter(db.execute("SELECT * FROM experience_tokens ORDER BY rowid"))
    standings, count, tip, highest, last_exit_no, first_at, imported = {}, 0, ZERO, 0, 0, None, 0
    rows = db.execute("SELECT * FROM reputation_ledger AS l JOIN reputation_history AS h ON h.id = l.history_id ORDER BY h.id")
    for entry in rows:
        count += 1
        number, key = entry["history_id"], (entry["node_id"], entry["domain"])
        found.expect(number == count, "ledger: history_id has a gap", number)
        found.expect(entry["prev_hash"] == tip, "ledger: link", number)
        tip = sha256(canonical({field: entry[field] for field in ENTRY_FIELDS}))
        found.expect(entry["entry_hash"] == tip, "ledger: entry hash", number)
        dedupe = [entry[field] for field in ("event_id", "node_id", "domain", "kind")] + [entry["band"] or ""]
        found.expect(entry["dedupe_key"] == canonical(dedupe), "ledger: dedupe_key", number)
        before = standings.get(key, (0, 0, None, None))[:2]
        found.expect((entry["score_before"], entry["scar_before"]) == before, "ledger: what was before", number)
        standings[key] = (entry["score_after"], entry["scar_after"], entry["ban_after"], entry["epoch"])
        present = max(entry["recorded_at"] // 1000 // seconds, highest)
        fits = entry["epoch"] <= present if entry["source"] == "import" else entry["epoch"] == present
        found.expect(fits, "ledger: epoch", number)
        highest = max(highest, entry["epoch"])
        first_at = entry["recorded_at"] if first_at is None else first_at
        last_exit_no = check_entry_call(db, entry, last_exit_no, found)
        imported += entry["source"] == "import"
        raised_from = None
        for expected in tokens_of(entry):
            token = next(tokens, None)
            fits = token is not None and all(token[name] == value for name, value in expected.items())
            found.expect(fits and token["promoted_from"] == raised_from, "ledger: token", number)
            raised_from = token["id"] if token else None
    found.expect(next(tokens, None) is None, "ledger: token of no entry", count)
    single = len(clocks) == 1 and (clocks[0]["id"], clocks[0]["set_at"]) == (1, first_at)
    found.expect(single if count else not clocks, "ledger: clock", first_at)
    events = db.execute("SELECT count(*) FROM reputation_history").fetchone()[0]
    entries = db.execute("SELECT count(*) FROM reputation_ledger").fetchone()[0]
    found.expect(events == entries == count, "ledger: events and entries", (events, entries))
    spans = db.execute("SELECT subject FROM actions WHERE tool = 'reputation_import' AND outcome = 'ok' AND subject IS NOT NULL")
    spans = [[int(end) for end in row["subject"].split("-")] for row in spans]
    found.expect(sum(last - first + 1 for first, last in spans) == imported, "ledger: entries of imports", imported)
    for row in db.execute("SELECT * FROM reputations"):
        # A row that no entry is about was put in by hand.
        expected = standings.pop((row["node_id"], row["domain"]), None)
        stored = (row["score"], row["scar_bps"], row["ban_until_epoch"], row["last_activity_epoch"])
        found.expect(expected in (None, stored), "ledger: standing", (row["node_id"], row["domain"]))
    found.expect(not standings, "ledger: standing is missing", sorted(standings))
    return count


# Ed25519 verification, RFC 8032 §5.1.7, in the form of its appendix A.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)


def point_add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_times(scalar, point):
    product = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            product = point_add(product, point)
        point, scalar = point_add(point, point), scalar >> 1
    return product


def point_equal(one, other):
    return (one[0] * other[2] - other[0] * one[2]) % P == 0 and (one[1] * other[2] - other[1] * one[2]) % P == 0


def point_of(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_1 % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_small(point):
    """Whether the order of a point is 1, 2, 4 or 8: such a key or point R fits signatures of many messages."""
    return point_equal(point_times(8, point), (0, 1, 1, 0))


def ed25519_verifies(key_hex, message, signature_hex):
    key, signature = bytes.fromhex(key_hex), bytes.fromhex(signature_hex)
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r, s = point_of(key), point_of(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or is_small(a) or is_small(r):
        return False
    challenge = hashlib.sha512(signature[:32] + key + message).digest()
    return point_equal(point_times(s, BASE), point_add(r, point_times(int.from_bytes(challenge, "little") % L, a)))


# The keys of each line of an export, in the order of the lines.
SESSION_KEYS = {"session_id", "intent", "task_id", "started_at"}
HEADER_KEYS = {"format", "v", "session", "state", "record_count"}
RECORD_KEYS = set("id type task_id agent_id content content_hash timestamp prev_hash hash session_id".split())
TIP_KEYS = {"task_id", "chain_length", "tip_hash"}
HEAD_KEYS = {*HEAD_FIELDS, "v", "head_hash", "signature", "key_id", "public_key"}
# The keys of a proof.
PROOF_KEYS = {"format", "v", "record", "legacy", "rfc9162", "tree_head"}
LEGACY_KEYS = {"root", "record_count", "proof"}
STEP_KEYS = {"data", "position"}
TREE_KEYS = {"leaf_index", "tree_size", "audit_path", "root_hash"}
NUMBERS = {"v", "record_count", "chain_length", "tree_size", "leaf_index", "head_index", "log_exit_no"}
OBJECTS = {"session", "record", "legacy", "rfc9162", "tree_head"}
LISTS = {"proof", "audit_path"}
TYPES = ("plan", "analysis", "decision", "reflection")
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_PROOF_BYTES = 16 * 1024 * 1024
MAX_STEPS = 64


class NoExport(Exception):
    """The file leaves the form of an export or a proof."""


def is_hex(text, digits):
    """Whether a value is a text of so many lowercase hexadecimal digits; `bytes.fromhex` takes blanks and capitals, too."""
    return isinstance(text, str) and len(text) == digits and all(digit in "0123456789abcdef" for digit in text)


def is_hash(text):
    return is_hex(text, 64)


def members(value, keys, nullable=()):
    """An object with exactly these keys: natural numbers, objects, lists, texts, and null where that may be."""
    if not isinstance(value, dict) or value.keys() != keys:
        raise NoExport("not the members that belong there")
    for key, one in value.items():
        kind = int if key in NUMBERS else dict if key in OBJECTS else list if key in LISTS else str
        fits = type(one) is kind and (kind is not int or 0 <= one < 2**53)
        if not fits and not (one is None and key in nullable):
            raise NoExport(f"a value that {key} cannot have")
    return value


def export_lines(file):
    """The lines of an export, each canonical; at last one that says that there are no more."""
    for number in range(1, sys.maxsize):
        line = file.readline(MAX_LINE_BYTES + 2)
        if not line:
            return
        try:
            if not line.endswith(b"\n") or len(line) > MAX_LINE_BYTES + 1:
                raise NoExport("too long, or without its end")
            value = json.loads(line[:-1].decode())
            if (canonical(value) + "\n").encode() != line:
                raise NoExport("not canonical")
            yield value
        except (NoExport, ValueError, RecursionError) as error:
            raise NoExport(f"line {number}: {error}") from error


def next_of(lines, key):
    value = next(lines, None)
    if not isinstance(value, dict) or (key is not None and value.keys() != {key}):
        raise NoExport(f"no {key or 'header'} where one should be")
    return value[key] if key else value


def check_export_record(record, session_id, tips, misled, found):
    """A record by itself and in its chain; its leaf hash."""
    members(record, RECORD_KEYS, ("content",))
    for key in ("content_hash", "prev_hash", "hash"):
        found.expect(is_hash(record[key]), f"export: {key} is none", record["id"])
    named = all(record[key] for key in ("id", "task_id", "agent_id", "timestamp"))
    fits = named and record["type"] in TYPES
    found.expect(fits, "export: no such record", record["id"])
    found.expect(record["session_id"] == session_id, "export: record of another session", record["id"])
    if record["content"] is not None:
        found.expect(sha256(record["content"]) == record["content_hash"], "export: content", record["id"])
        preimage = {key: record[key] for key in ("id", "type", "task_id", "timestamp", "prev_hash", "content")}
        found.expect(sha256(canonical(preimage)) == record["hash"], "export: record hash", record["id"])
    count, gaps, last = tips.get(record["task_id"], (0, 0, ZERO))
    if record["prev_hash"] != last:
        found.expect(record["prev_hash"] != ZERO, "export: a chain begins twice", record["id"])
        gaps += 1
        misled.append(record["prev_hash"])
    tips[record["task_id"]] = (count + 1, gaps, record["hash"])
    return leaf_hash(record)


def check_export_seal(header, hashes, leaves, chains, lines, found, trusted):
    tips = next_of(lines, "tips")
    if not isinstance(tips, list):
        raise NoExport("the tips are no list")
    tasks = [members(tip, TIP_KEYS)["task_id"].encode("utf-16-be") for tip in tips]
    found.expect(all(a < b for a, b in zip(tasks, tasks[1:])), "export: order of tips", "tips")
    head = members(next_of(lines, "tree_head"), HEAD_KEYS, ("signature", "key_id", "public_key"))
    session, session_id = header["session"], header["session"]["session_id"]
    message = "colibri-tree-head-v1\n" + canonical({**{key: head[key] for key in HEAD_FIELDS}, "v": head["v"]})
    checks = {
        "head is of another session": head["session_id"] == session_id and head["v"] == 1,
        "session": sha256("colibri-session-v1\n" + canonical(session)) == head["session_hash"],
        "legacy root": legacy_root(hashes) == head["legacy_root"],
        "root": tree_root(leaves).hex() == head["root_hash"] and len(leaves) == head["tree_size"],
        "chain tips": sha256("colibri-chain-tips-v1\n" + canonical(tips)) == head["chain_tips_hash"],
        "tasks of the tips": {tip["task_id"] for tip in tips} == chains.keys(),
        "head hash": sha256(message) == head["head_hash"],
        "link of heads": is_hash(head["prev_head_hash"]) and (head["head_index"] == 0) == (head["prev_head_hash"] == ZERO),
        "place in the log": is_hash(head["log_row_hash"]) and (head["log_exit_no"] == 0) == (head["log_row_hash"] == ZERO),
    }
    for kind, fits in checks.items():
        found.expect(fits, f"export: {kind}", session_id)
    for tip in tips:
        count, gaps, last = chains.get(tip["task_id"], (0, 0, ZERO))
        later = tip["tip_hash"] != last
        least = count + gaps + later
        fits = tip["chain_length"] == least if not (gaps or later) else tip["chain_length"] >= least
        fits = fits and is_hash(tip["tip_hash"]) and not (later and tip["tip_hash"] in hashes)
        found.expect(fits, "export: tip", tip["task_id"])
    check_signature(head, message, "export", found)
    found.confirmed = head["public_key"] in trusted
    found.expect(not trusted or found.confirmed, "export: signed by none of the keys", session_id)


def check_export(file, found, trusted):
    """An export of a session; what it holds, in words."""
    lines = export_lines(file)
    header = members(next_of(lines, None), HEADER_KEYS)
    members(header["session"], SESSION_KEYS, ("task_id",))
    if header["format"] != "colibri-session-export" or header["v"] != 1 or header["state"] not in ("open", "sealed"):
        raise NoExport("line 1: no header of an export")
    hashes, leaves, chains, misled = [], [], {}, []
    for _ in range(header["record_count"]):
        record = next_of(lines, "record")
        leaves.append(check_export_record(record, header["session"]["session_id"], chains, misled, found))
        hashes.append(record["hash"])
    known = set(hashes)
    found.expect(len(known) == len(hashes), "export: a record twice", "hash")
    fits = len(set(misled)) == len(misled) and not known.intersection(misled)
    found.expect(fits, "export: a record follows one that cannot be before it", "prev_hash")
    if header["state"] == "sealed":
        if not all(is_hash(one) for one in hashes) or not hashes:
            raise NoExport("a sealed session without records, or with a hash that is none")
        check_export_seal(header, hashes, leaves, chains, lines, found, trusted)
    else:
        found.expect(not trusted, "export: an open session is not signed", header["session"]["session_id"])
    if next(lines, None) is not None:
        raise NoExport("lines behind the end")
    return f"{len(hashes)} records of a session that is {header['state']}, {len(misled)} links out of the file"


def verify_export(path, trusted):
    """An export, alone. Without a seal nothing outside of the file can confirm it."""
    found = Findings()
    found.confirmed = False
    try:
        with open(path, "rb") as file:
            print(check_export(file, found, trusted))
    except (NoExport, ValueError) as error:
        found.expect(False, "export: form", error)
    return found


def fold(leaf, step, steps):
    for data in steps:
        leaf = step(leaf, bytes.fromhex(data))
    return leaf


def audit_path_root(index, size, leaf, path):
    """RFC 9162 §2.1.3.2; None when the path does not fit the index and the size."""
    if index >= size:
        return None
    position, last = index, size - 1
    for data in map(bytes.fromhex, path):
        if last == 0:
            return None
        if position % 2 or position == last:
            leaf = hashlib.sha256(b"\x01" + data + leaf).digest()
            while position and position % 2 == 0:
                position, last = position >> 1, last >> 1
        else:
            leaf = hashlib.sha256(b"\x01" + leaf + data).digest()
        position, last = position >> 1, last >> 1
    return leaf if last == 0 else None


def read_proof(path):
    """The four parts of a proof file, each of its one form."""
    with open(path, "rb") as file:
        data = file.read(MAX_PROOF_BYTES + 1)
    proof = members(json.loads(data.decode()), PROOF_KEYS)
    if len(data) > MAX_PROOF_BYTES or data != canonical(proof).encode() + b"\n":
        raise NoExport("too long, or not canonical")
    record, legacy, tree, head = (proof[key] for key in ("record", "legacy", "rfc9162", "tree_head"))
    members(record, RECORD_KEYS, ("content",))
    members(head, HEAD_KEYS, ("signature", "key_id", "public_key"))
    members(legacy, LEGACY_KEYS)
    members(tree, TREE_KEYS)
    steps = [members(step, STEP_KEYS) for step in legacy["proof"]]
    hashes = [record["hash"], *(step["data"] for step in steps), *tree["audit_path"]]
    if proof["format"] != "colibri-inclusion-bundle" or (proof["v"], head["v"]) != (1, 1) or record["type"] not in TYPES:
        raise NoExport("no proof of this version")
    if len(steps) > MAX_STEPS or any(step["position"] not in ("left", "right") for step in steps):
        raise NoExport("no path in the legacy tree")
    if not all(map(is_hash, hashes)):
        raise NoExport("a hash that is none")
    return record, legacy, tree, head


def verify_proof(path, trusted):
    """A proof file, alone."""
    found = Findings()
    try:
        parts = read_proof(path)
    except (NoExport, ValueError, RecursionError) as error:
        found.expect(False, "proof: form", error)
        return found
    record, legacy, tree, head = parts
    if record["content"] is not None:
        preimage = {key: record[key] for key in ("content", "id", "type", "task_id", "timestamp", "prev_hash")}
        fits = sha256(record["content"]) == record["content_hash"] and sha256(canonical(preimage)) == record["hash"]
        found.expect(fits, "proof: record", record["id"])
    pair = lambda one, other: hashlib.sha256(min(one, other) + max(one, other)).digest()
    steps = [step["data"] for step in legacy["proof"]]
    fits = fold(bytes.fromhex(record["hash"]), pair, steps).hex() == legacy["root"] == head["legacy_root"]
    found.expect(fits, "proof: legacy root", record["id"])
    leaf = leaf_hash(record | {"content": None})
    root = audit_path_root(tree["leaf_index"], tree["tree_size"], leaf, tree["audit_path"])
    fits = root is not None and root.hex() == tree["root_hash"] == head["root_hash"]
    found.expect(fits, "proof: root", record["id"])
    fits = legacy["record_count"] == tree["tree_size"] == head["tree_size"] and record["session_id"] == head["session_id"]
    found.expect(fits, "proof: size or session", record["id"])
    message = "colibri-tree-head-v1\n" + canonical({**{key: head[key] for key in HEAD_FIELDS}, "v": 1})
    found.expect(sha256(message) == head["head_hash"], "proof: head hash", head["session_id"])
    check_signature(head, message, "proof", found)
    found.confirmed = head["public_key"] in trusted
    found.expect(not trusted or found.confirmed, "proof: signed by none of the keys", head["session_id"])
    return found


def main():
    # A reader may write a key in either case; a file may not.
    keys = {key.lower() for key in sys.argv[2:]}
    if sys.argv[1:2] == ["--proof"] and len(sys.argv) > 2:
        conclude(verify_proof(sys.argv[2], keys))
    exported = sys.argv[1:2] == ["--export"]
    if len(sys.argv) < 2 + exported:
        sys.exit("usage: verify.py DATABASE [PUBLIC_KEY_HEX]...\n       verify.py --export FILE [PUBLIC_KEY_HEX]...\n"
                 "       verify.py --proof FILE [PUBLIC_KEY_HEX]...")
    conclude(verify_export(sys.argv[2], keys) if exported else verify_database(keys))


def verify_database(trusted):
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    db.execute("BEGIN")
    found = Findings()
    print(f"{check_log(db, found)} closed calls")
    print(f"{check_trail(db, found)} thought records")
    print(f"{check_seals(db, found, trusted)} seals")
    print(f"{check_callers(db, found)} callers")
    print(f"{check_ties(db, found)} rows tied to calls")
    print(f"{check_histories(db, found)} events of tasks")
    print(f"{check_ledger(db, found)} entries of the reputation ledger")
    print(f"{check_wraps(db, found)} calls to other servers")
    return found


def conclude(found):
    for kind, count in found.counts.items():
        print(f"BROKEN  {kind}: {count}, first {found.first[kind]}")
    print("not sound" if found.counts else "sound" if found.confirmed else "sound, but confirmed by nothing that was given")
    sys.exit(1 if found.counts else 0 if found.confirmed else 3)


if __name__ == "__main__":
    main()
