#!/usr/bin/env python3
"""Checks what Colibri's consensus tools return, written from docs/guide/consensus.md, RFC 8032 and RFC 9381 alone.

    consensus.py evidence EVIDENCE_HEX PUBLIC_KEY_HEX...
    consensus.py vrf PUBLIC_KEY_HEX SEED_HEX INPUT_HEX OUTPUT_HEX PROOF_HEX

`evidence` checks the votes in what `consensus_finality` returns against the committee's keys; `vrf` checks what `vrf_eval`
returns. It shares no code with the server and needs nothing beyond Python's standard library. Exit code 0 if all is
sound, 1 if something is not.
"""

import hashlib
import json
import sys

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
IDENTITY = (0, 1, 1, 0)


def sha512(*parts):
    return hashlib.sha512(b"".join(parts)).digest()


def add(a, b):
    """Extended coordinates, complete on this curve (RFC 8032 section 5.1.4)."""
    s, t = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    u, v = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    e, f, g, h = t - s, v - u, v + u, t + s
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = IDENTITY
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def negative(point):
    return (-point[0] % P, point[1], point[2], -point[3] % P)


def encode(point):
    z = pow(point[2], -1, P)
    x, y = point[0] * z % P, point[1] * z % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(data):
    """The point with that encoding, or None: y below P, and no minus zero (RFC 8032 section 5.1.3)."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if len(data) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def is_small(point):
    return encode(multiply(8, point)) == encode(IDENTITY)


BASE = decode(bytes.fromhex("58" + "66" * 31))


def verify_signature(public_key, message, signature):
    """Ed25519, strictly: S below the order, canonical points, none of small order, no cofactor."""
    key, r = decode(public_key), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= Q or key is None or r is None or is_small(key) or is_small(r):
        return False
    k = int.from_bytes(sha512(signature[:32], public_key, message), "little") % Q
    return encode(add(multiply(s, BASE), negative(multiply(k, key)))) == signature[:32]


def verify_proof(public_key, alpha, proof):
    """ECVRF-EDWARDS25519-SHA512-TAI (RFC 9381 section 5.3), the key validated; the output, or None."""
    key, gamma = decode(public_key), decode(proof[:32])
    c, s = int.from_bytes(proof[32:48], "little"), int.from_bytes(proof[48:], "little")
    if len(proof) != 80 or s >= Q or key is None or gamma is None or is_small(key):
        return None
    for attempt in range(256):
        point = decode(sha512(b"\x03\x01", public_key, alpha, bytes([attempt, 0]))[:32])
        if point is not None and not is_small(point):
            break
    else:
        return None
    h = multiply(8, point)
    u = add(multiply(s, BASE), negative(multiply(c, key)))
    v = add(multiply(s, h), negative(multiply(c, gamma)))
    points = b"".join(encode(point) for point in (h, gamma, u, v))
    if sha512(b"\x03\x02", public_key, points, b"\x00")[:16] != proof[32:48]:
        return None
    return sha512(b"\x03\x03", encode(multiply(8, gamma)), b"\x00")


def alpha_of(seed, data):
    return b"colibri-vrf-alpha-v1" + len(seed).to_bytes(8, "big") + seed + data if seed else data


def check_vrf(public_key, seed, data, output, proof):
    sound = verify_proof(public_key, alpha_of(seed, data), proof) == output
    print("the output is that of the key's holder" if sound else "the proof does not show that output")
    return sound


def canonical(value):
    """RFC 8785 for what occurs here: ASCII, integers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def check_evidence(evidence, public_keys):
    """Every vote signed by a member, one each, all ACCEPT on one tuple, and enough of them."""
    members = {"soul:" + hashlib.sha256(key).hexdigest(): key for key in public_keys}
    value = json.loads(evidence)
    sound = canonical(value) == evidence and value.get("tag") in ("quorum", "hard")
    votes = value.get("votes", [])
    for vote in votes:
        unsigned = {name: member for name, member in vote.items() if name != "signature"}
        key = members.get(vote["sender_id"])
        signed = key is not None and verify_signature(key, canonical(unsigned), bytes.fromhex(vote["signature"]))
        print(f"{vote['sender_id']}: {vote['vote_type']}, {'signed' if signed else 'NOT signed'} by a member")
        sound &= signed and vote["vote_type"] == "ACCEPT"
    groups = {(vote["round_id"], vote["merkle_root"], vote["rule_version_hash"]) for vote in votes}
    needed = 2 * len(members) // 3 + 1
    sound &= len(groups) == 1 and len({vote["sender_id"] for vote in votes}) == len(votes) >= needed
    if sound:
        round_id, root, rules = groups.pop()
        print(f"round {round_id}: {len(votes)} of {len(members)} accept root {root} under rules {rules}")
    else:
        print("this is no evidence of a quorum of these keys")
    return sound


def main(arguments):
    checks = {"vrf": (check_vrf, 5), "evidence": (lambda evidence, *keys: check_evidence(evidence, keys), None)}
    check, count = checks.get(arguments[0] if arguments else "", (None, None))
    if check is None or (len(arguments) - 1 != count if count else len(arguments) < 3):
        print(__doc__, file=sys.stderr)
        return 2
    return 0 if check(*map(bytes.fromhex, arguments[1:])) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
