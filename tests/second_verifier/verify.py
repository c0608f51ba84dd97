#!/usr/bin/env python3
"""A second verifier of Colibri databases, written from docs/guide/formats.md alone.

    verify.py DATABASE [PUBLIC_KEY_HEX]

It shares no code with the server and needs nothing beyond Python's standard library. It prints what it checked and
the first thing of each kind that does not fit; exit code 0 if all is sound, 1 if something is not.
"""

import base64
import gzip
import hashlib
import json
import sqlite3
import sys

ZERO = "0" * 64


def sha256(data):
    return hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest()


def canonical(value):
    """RFC 8785 for what occurs here: ASCII keys, integers, strings, null."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Findings:
    def __init__(self):
        self.counts, self.first = {}, {}

    def expect(self, fits, kind, subject):
        if not fits:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            self.first.setdefault(kind, subject)
        return fits


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


def check_seals(db, found, trusted):
    """Every sealed session against its records, and the chain of tree heads."""
    prev, index = ZERO, 0
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
        if head["signature"] is not None and head["public_key"] in trusted:
            fits = ed25519_verifies(head["public_key"], message.encode(), head["signature"])
            found.expect(fits, "seal: signature", session_id)
    roots = db.execute("SELECT count(*) FROM merkle_roots").fetchone()[0]
    found.expect(roots == index, "seal: roots without a tree head", roots)
    return index


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
    return {**{key: row[key] for key in keys}, "content": content}


def session_reply(db, row):
    return {key: row[key] for key in ("session_id", "intent", "task_id", "started_at")}


def seal_reply(db, row):
    head = db.execute("SELECT * FROM tree_heads WHERE session_id = ?", [row["session_id"]]).fetchone()
    tree_head = {**{key: head[key] for key in head.keys()}, "v": 1} if head else None
    return {**{key: row[key] for key in row.keys() if key != "sequence_no"}, "tree_head": tree_head}


TIED = [
    ("tasks", "id", ("task_create", "task_update"), task_reply),
    ("thought_records", "id", ("thought_record",), thought_reply),
    ("audit_sessions", "session_id", ("audit_session_start",), session_reply),
    ("merkle_roots", "session_id", ("merkle_finalize",), seal_reply),
]


def check_ties(db, found):
    """Rows against the calls that wrote them, in both directions."""
    rows = 0
    for table, key, tools, reply in TIED:
        for row in db.execute(f"SELECT * FROM {table}"):
            rows += 1
            call = db.execute("SELECT * FROM actions WHERE sequence_no = ?", [row["sequence_no"]]).fetchone()
            fits = call is not None and call["outcome"] == "ok" and call["tool"] in tools and call["subject"] == row[key]
            if not found.expect(fits, f"tie: {table} row of no call", row[key]):
                continue
            data = reply(db, row)
            if data is not None:
                fits = sha256(canonical({"ok": True, "data": data})) == call["result_hash"]
                found.expect(fits, f"tie: {table} row is not what was answered", row[key])
        marks = ", ".join("?" * len(tools))
        calls = f"SELECT sequence_no, subject FROM actions WHERE outcome = 'ok' AND tool IN ({marks})"
        for call in db.execute(calls + " AND subject IS NOT NULL", tools):
            row = db.execute(f"SELECT sequence_no FROM {table} WHERE {key} = ?", [call["subject"]]).fetchone()
            fits = row is not None and row["sequence_no"] is not None and row["sequence_no"] >= call["sequence_no"]
            found.expect(fits, f"tie: {table} row is missing or older than its call", call["subject"])
    return rows


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


def ed25519_verifies(key_hex, message, signature_hex):
    key, signature = bytes.fromhex(key_hex), bytes.fromhex(signature_hex)
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r, s = point_of(key), point_of(signature[:32]), int.from_bytes(signature[32:], "little")
    small = (0, 1, 1, 0)
    if a is None or r is None or s >= L or point_equal(point_times(8, a), small):
        return False
    challenge = hashlib.sha512(signature[:32] + key + message).digest()
    return point_equal(point_times(s, BASE), point_add(r, point_times(int.from_bytes(challenge, "little") % L, a)))


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: verify.py DATABASE [PUBLIC_KEY_HEX]...")
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    db.execute("BEGIN")
    found = Findings()
    print(f"{check_log(db, found)} closed calls")
    print(f"{check_trail(db, found)} thought records")
    print(f"{check_seals(db, found, set(sys.argv[2:]))} seals")
    print(f"{check_ties(db, found)} rows tied to calls")
    for kind, count in found.counts.items():
        print(f"BROKEN  {kind}: {count}, first {found.first[kind]}")
    print("sound" if not found.counts else "not sound")
    sys.exit(1 if found.counts else 0)


if __name__ == "__main__":
    main()
