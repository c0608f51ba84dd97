"""Honest exports and proofs as a server could have written them, of random sessions, and the keys that sign them."""

import hashlib

import verify
from verify import ZERO, canonical, sha256

TEXTS = ["", "a", "S-1", "\u6f22\u00e9", "\u2028", "\U0001f600", "\ue000", "\uffff", "\x00", "\x1f\x7f", "\"\\/\b\f\n\r\t", "0" * 64,
         "AB" * 32, "g" * 64, "plan", "null", "e\u0301"]
TASKS = ["T", "U", "\U0001f600", "\uffff", "\ue000", "\u00e9", "a"]
HOUR = "2026-05-01T10"


DOUBLES = [verify.BASE]
for _ in range(255):
    DOUBLES.append(verify.point_add(DOUBLES[-1], DOUBLES[-1]))


def base_times(scalar):
    """A multiple of the base point, from its stored doubles: many things are signed here."""
    product = (0, 1, 1, 0)
    for bit, double in enumerate(DOUBLES):
        if scalar >> bit & 1:
            product = verify.point_add(product, double)
    return product


def encoded(point):
    inverse = pow(point[2], verify.P - 2, verify.P)
    x, y = point[0] * inverse % verify.P, point[1] * inverse % verify.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


class Key:
    """An Ed25519 key; RFC 8032 §5.1.5 and §5.1.6."""

    def __init__(self, seed):
        digest = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
        self.prefix, self.public = digest[32:], encoded(base_times(self.scalar))

    def sign(self, message, nonce=None):
        """The signature; a chosen nonce of 0 makes the point R the identity, which is of small order."""
        if nonce is None:
            nonce = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % verify.L
        point = encoded(base_times(nonce))
        challenge = int.from_bytes(hashlib.sha512(point + self.public + message).digest(), "little")
        return point + ((nonce + challenge * self.scalar) % verify.L).to_bytes(32, "little")

    def put(self, head, nonce=None):
        public = self.public.hex()
        signature = self.sign(head_message(head).encode(), nonce).hex()
        head |= {"signature": signature, "public_key": public, "key_id": sha256(self.public)[:32]}


def head_message(head):
    return "colibri-tree-head-v1\n" + canonical({**{key: head[key] for key in verify.HEAD_FIELDS}, "v": 1})


def record_hash(record):
    return sha256(canonical({key: record[key] for key in ("content", "id", "type", "task_id", "timestamp", "prev_hash")}))


def record(dice, task, prev, session_id):
    """A record; retention has dropped the content of some."""
    one = {"id": f"r{dice.randrange(10**9)}", "type": dice.choice(verify.TYPES), "task_id": task, "session_id": session_id,
           "agent_id": dice.choice(["a", "b\u2028", "\U0001f600"]), "content": dice.choice(TEXTS) + "c", "prev_hash": prev,
           "timestamp": f"{HOUR}:00:00.{dice.randrange(1000):03}Z"}
    one |= {"content_hash": sha256(one["content"]), "hash": record_hash(one)}
    return one | ({"content": None} if dice.random() < 0.2 else {})


def session(dice):
    """A session, its records and the tips of their tasks. Some records of the chains belong to other sessions."""
    facts = {"session_id": dice.choice(["S-1", "\u00e9", "\U0001f600"]), "intent": dice.choice(TEXTS),
             "task_id": dice.choice([None, "T"]), "started_at": f"{HOUR}:00:00.000Z"}
    tasks, chains, records = dice.sample(TASKS, dice.randint(1, 4)), {}, []
    for _ in range(dice.choice([1, 2, 3, 4, 5, 7, 8, 9])):
        task = dice.choice(tasks)
        length, last = chains.get(task, (0, ZERO))
        if dice.random() < 0.25:
            length, last = length + dice.randint(1, 3), sha256(f"elsewhere {dice.random()}")
        records.append(record(dice, task, last, facts["session_id"]))
        chains[task] = (length + 1, records[-1]["hash"])
    for task, (length, _) in chains.items():
        if dice.random() < 0.15:
            chains[task] = (length + dice.randint(1, 2), sha256(f"later {dice.random()}"))
    order = sorted(chains, key=lambda task: task.encode("utf-16-be"))
    return facts, records, [{"task_id": task, "chain_length": chains[task][0], "tip_hash": chains[task][1]} for task in order]


def head(dice, facts, records, tips):
    """The unsigned head of a session."""
    index, exit_no = dice.choice([0, 0, 3]), dice.choice([0, 9])
    one = {"v": 1, "head_index": index, "prev_head_hash": "cd" * 32 if index else ZERO, "log_exit_no": exit_no,
           "log_row_hash": "ab" * 32 if exit_no else ZERO, "finalized_at": f"{HOUR}:01:00.000Z", "head_hash": "",
           "signature": None, "key_id": None, "public_key": None}
    fit(one, facts, records, tips)
    return one


def fit(one, facts, records, tips):
    """Gives a head what follows from the records, and its hash."""
    one |= {"session_id": facts["session_id"], "session_hash": sha256("colibri-session-v1\n" + canonical(facts)),
            "tree_size": len(records), "root_hash": verify.tree_root([verify.leaf_hash(row) for row in records]).hex(),
            "legacy_root": verify.legacy_root(row["hash"] for row in records),
            "chain_tips_hash": sha256("colibri-chain-tips-v1\n" + canonical(tips))}
    one["head_hash"] = sha256(head_message(one))


def audit_path(index, leaves):
    """RFC 9162 §2.1.3.1, bottom-up."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return audit_path(index, leaves[:split]) + [verify.tree_root(leaves[split:]).hex()]
    return audit_path(index - split, leaves[split:]) + [verify.tree_root(leaves[:split]).hex()]


def legacy_steps(digest, digests):
    """The siblings of a hash in the legacy tree, bottom-up."""
    level, at, steps = sorted(map(bytes.fromhex, digests)), 0, []
    at = level.index(bytes.fromhex(digest))
    while len(level) > 1:
        if at ^ 1 < len(level):
            steps.append({"data": level[at ^ 1].hex(), "position": "left" if at % 2 else "right"})
        pairs = [sorted(level[first : first + 2]) for first in range(0, len(level), 2)]
        level = [hashlib.sha256(b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
        at //= 2
    return steps


def proof(index, records, sealed):
    """The proof file of a record, as an object."""
    digests = [row["hash"] for row in records]
    leaves = [verify.leaf_hash(row) for row in records]
    return {
        "format": "colibri-inclusion-bundle", "v": 1, "record": records[index], "tree_head": sealed,
        "legacy": {"root": sealed["legacy_root"], "record_count": len(records), "proof": legacy_steps(digests[index], digests)},
        "rfc9162": {"leaf_index": index, "tree_size": len(records), "audit_path": audit_path(index, leaves),
                    "root_hash": sealed["root_hash"]},
    }


def export(facts, records, tips, sealed):
    """The lines of an export, as objects."""
    state = "sealed" if sealed else "open"
    header = {"format": "colibri-session-export", "v": 1, "session": facts, "state": state, "record_count": len(records)}
    return [header, *({"record": row} for row in records), *([{"tips": tips}, {"tree_head": sealed}] if sealed else [])]
