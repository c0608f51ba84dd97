#!/usr/bin/env python3
"""Holds the two verifiers against each other: random exports, proofs and histories of tasks, honest, damaged and forged.

    differential.py PROGRAM [KIND]...      PROGRAM is `colibri`; KIND is exports, proofs or histories, by default all

Both must say of each that it holds, that it holds by nothing that was given, or that it does not hold.
COLIBRI_DIFFERENTIAL_CASES is the number of cases of each kind, COLIBRI_DIFFERENTIAL_SEED the first seed; each case is made
from its own seed alone. What the verifiers disagree about stays in a file, whose name is printed.
"""

import contextlib
import copy
import io
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile

import generated
import made
import verify
from verify import canonical, sha256

OWNER, OTHER = made.Key(b"\x01" * 32), made.Key(b"\x02" * 32)
NUMBERS = [0, 1, 2, -1, 2**53 - 1, 2**53, 2**63, True, False, 1.0, 1.5, "1", None, 10**30]
# Public keys of small order, two of them in a form that no encoder gives.
SMALL = [(1).to_bytes(32, "little"), (verify.P - 1).to_bytes(32, "little"), bytes(32), (verify.P + 1).to_bytes(32, "little"),
         (1 | 1 << 255).to_bytes(32, "little")]


def any_value(dice):
    texts = [dice.choice(made.TEXTS), sha256(str(dice.random()))]
    return dice.choice([*texts, dice.choice(NUMBERS), None, [], {}])


def places(value, here, found):
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        found.append((value, key))
        if isinstance(one, (dict, list)):
            places(one, (value, key), found)


def damage(dice, value):
    """Changes one place of a JSON value."""
    found = []
    places(value, None, found)
    if not found:
        return
    parent, key = dice.choice(found)
    old, die = parent[key], dice.random()
    if die < 0.1 and isinstance(parent, dict):
        del parent[key]
    elif die < 0.15 and isinstance(parent, dict):
        parent[dice.choice(["x", "v", "extra", ""])] = any_value(dice)
    elif die < 0.2 and isinstance(parent, list):
        parent.pop(key) if dice.random() < 0.5 else parent.insert(key, copy.deepcopy(old))
    elif isinstance(old, str) and die < 0.6:
        other = ("f" if old[:1] != "f" else "e") + old[1:]
        parent[key] = dice.choice([old.upper(), old + " ", old[:-1], other, other, dice.choice(made.TEXTS)])
    elif type(old) is int and die < 0.7:
        parent[key] = old + dice.choice([-1, 1, 2])
    else:
        parent[key] = any_value(dice)


def damage_bytes(dice, data):
    """What disks, mails and editors do."""
    at, die = dice.randrange(len(data)), dice.random()
    if die < 0.3:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
    if die < 0.4:
        return data[:at] + data[at + 1 :]
    if die < 0.5:
        return data[:at] + dice.choice([b" ", b"\t", b"\r", b"\n", b'"', b"{", b"}", b",", b":", b"0", b"-", b"e", b"."]) + data[at:]
    if die < 0.6:
        return data.replace(b"\n", b"\r\n")
    if die < 0.8:
        return data[:-1] if die < 0.7 else data + dice.choice([b"\n", b" ", b"{}\n", b"\0"])
    return b"\xef\xbb\xbf" + data if die < 0.9 else data.replace(b"a", b"\\u0061", 1)


def dump(value):
    try:
        return canonical(value).encode() + b"\n"
    except (ValueError, TypeError):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def sign(dice, head):
    """Signs most heads as they should be, and some as they must not be."""
    die = dice.random()
    if die < 0.5:
        OWNER.put(head)
    elif die < 0.55:
        OWNER.put(head, nonce=0)
    elif die < 0.6:
        OTHER.put(head)
    elif die < 0.65:
        OWNER.put(head)
        scalar = int.from_bytes(bytes.fromhex(head["signature"])[32:], "little") + verify.L
        head["signature"] = head["signature"][:64] + scalar.to_bytes(32, "little").hex()
    elif die < 0.7:
        key = dice.choice(SMALL)
        head |= {"public_key": key.hex(), "key_id": sha256(key)[:32], "signature": (key + bytes(32)).hex()}
    elif die < 0.75:
        OWNER.put(head)
        part = dice.choice(["signature", "public_key", "key_id"])
        head[part] = dice.choice([head[part].upper(), None, sha256(OTHER.public)[:32]])


def make_export(dice):
    facts, records, tips = made.session(dice)
    head = made.head(dice, facts, records, tips) if dice.random() < 0.8 else None
    if head:
        sign(dice, head)
    lines = made.export(facts, records, tips, head)
    if dice.random() < 0.65:
        for _ in range(dice.choice([1, 1, 1, 2])):
            die = dice.random()
            if die < 0.15 and records:
                records.pop(dice.randrange(len(records))) if dice.random() < 0.5 else records.append(copy.deepcopy(dice.choice(records)))
            elif die < 0.3:
                dice.shuffle(records)
            else:
                damage(dice, dice.choice([dice.choice(records or [facts]), facts, tips, head or facts, lines[0]]))
        refit(dice, facts, records, tips, head)
        count = lines[0].get("record_count") if dice.random() < 0.3 else len(records)
        lines = [lines[0] | {"record_count": count}, *made.export(facts, records, tips, head)[1:]]
    return b"".join(map(dump, lines))


def refit(dice, facts, records, tips, head):
    """Recomputes hashes after a change, as far as the dice say: a forger goes to the end."""
    level = dice.choice([0, 1, 2, 3, 4, 4, 4])
    with contextlib.suppress(Exception):
        for row in records if level >= 1 else []:
            if row.get("content") is not None:
                row |= {"content_hash": sha256(row["content"]), "hash": made.record_hash(row)}
        if head and level >= 2:
            made.fit(head, facts, records, tips)
        if head and level >= 4 and head.get("signature"):
            OWNER.put(head)


def make_proof(dice):
    facts, records, tips = made.session(dice)
    head = made.head(dice, facts, records, tips)
    sign(dice, head)
    proof = copy.deepcopy(made.proof(dice.randrange(len(records)), records, head))
    if dice.random() < 0.65:
        for _ in range(dice.choice([1, 1, 2])):
            damage(dice, proof)
        with contextlib.suppress(Exception):
            record, head = proof["record"], proof["tree_head"]
            if dice.random() < 0.5 and record.get("content") is not None:
                record |= {"content_hash": sha256(record["content"]), "hash": made.record_hash(record)}
            if dice.random() < 0.6:
                head["head_hash"] = sha256(made.head_message(head))
                if head.get("signature"):
                    OWNER.put(head)
    return dump(proof)


def keys_of(dice):
    owner, other = OWNER.public.hex(), OTHER.public.hex()
    return dice.choice([[], [], [owner], [owner.upper()], [other], [other, owner]])


FILES = {"exports": (make_export, "verify-export", verify.verify_export), "proofs": (make_proof, "check-proof", verify.verify_proof)}


def second(judge):
    """What the second verifier says: 0, 1 or 3, and why. An error of its own is a disagreement."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = judge()
    return (1, found.first) if found.counts else (0 if found.confirmed else 3, {})


def first(program, *arguments):
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return (1 if done.returncode == 2 else done.returncode), done.stdout.decode(errors="replace")


def file_case(kind, seed, program, folder):
    make, command, judge = FILES[kind]
    dice = random.Random(f"{kind} {seed}")
    data = make(dice)
    if dice.random() < 0.1:
        data = damage_bytes(dice, data)
    path, keys = os.path.join(folder, f"{kind}-{seed}"), keys_of(dice)
    with open(path, "wb") as file:
        file.write(data)
    named = [word for key in keys for word in ("--key", key)]
    return 1, path, keys, first(program, command, path, *named), second(lambda: judge(path, {key.lower() for key in keys}))


def case(arguments):
    """One case: how many it judged, the verdict, and a text if the verifiers disagree."""
    kind, seed, program, folder = arguments
    run = generated.history_case if kind == "histories" else file_case
    count, path, keys, (one, told), (two, found) = run(kind, seed, program, folder)
    if one == two:
        os.remove(path)
        return count, one, None
    return count, one, f"{kind} {seed}, keys {keys}: {program} {one}, second verifier {two} {found}, kept as {path}\n{told}"


def judge(program, folder, kinds=("exports", "proofs", "histories")):
    """Holds the verifiers against each other; the folder keeps what they disagree about."""
    cases = int(os.environ.get("COLIBRI_DIFFERENTIAL_CASES", 200))
    seed = int(os.environ.get("COLIBRI_DIFFERENTIAL_SEED", 1))
    for kind in kinds:
        verdicts, judged, disagreements, started = {0: 0, 1: 0, 3: 0}, 0, [], seed
        if kind == "histories":
            generated.prepare(program, folder)
        with multiprocessing.Pool(initializer=os.nice, initargs=(5,)) as pool:
            work = ((kind, number, str(program), str(folder)) for number in range(seed, seed + cases))
            for count, verdict, text in pool.imap_unordered(case, work, chunksize=8):
                verdicts[verdict] = verdicts.get(verdict, 0) + count
                judged += count
                if text:
                    disagreements.append(text)
                    print(text, flush=True)
                if judged >= cases:
                    pool.terminate()
                    break
        told = f"{judged} {kind}, judged alike by both verifiers but {len(disagreements)}: {verdicts[0]} hold, "
        print(told + f"{verdicts[3]} hold by nothing that was given, {verdicts[1]} do not hold (seeds from {started})", flush=True)
        assert not disagreements, f"{len(disagreements)} disagreements"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    judge(sys.argv[1], tempfile.mkdtemp(), sys.argv[2:] or ("exports", "proofs", "histories"))
