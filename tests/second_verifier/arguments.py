#!/usr/bin/env python3
"""The `args_hash` of a call's arguments, written from docs/reference/formats.md alone.

Reads one JSON text a line from standard input and prints its hash, or `-` for a text without a canonical form.
"""

import hashlib
import json
import sys
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal

# Wide enough that no number is rounded.
EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)


class Number(str):
    """A number as it was sent."""


class Doubled(ValueError):
    """An object that names a member twice."""


def members(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Doubled
    return found


def ecmascript(double):
    """A double as ECMAScript prints it: the shortest digits that give it back, with an exponent from 1e21 on and below 1e-6."""
    _, digits, exponent = Decimal(repr(double)).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    short = digits.rstrip("0")
    exponent += len(digits) - len(short)
    if not short:
        return "0"
    # The value is 0.short times ten to the power of `point`.
    point, sign = len(short) + exponent, "-" if double < 0 else ""
    if len(short) <= point <= 21:
        return sign + short + "0" * (point - len(short))
    if 0 < point <= 21:
        return f"{sign}{short[:point]}.{short[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{short}"
    fraction = f".{short[1:]}" if len(short) > 1 else ""
    return f"{sign}{short[0]}{fraction}e{point - 1:+d}"


def number(sent):
    """What is hashed of a number: as 64 bits print it if they keep its value, otherwise as it was sent."""
    if not any(mark in sent for mark in ".eE"):
        fits = len(sent) <= 20 and -(2**63) <= int(sent) < 2**64
        return str(int(sent)) if fits else str(sent)
    if not sent.lower().split("e")[0].strip("-0."):
        return "0"
    double = float(sent)
    if double in (0.0, float("inf"), float("-inf")):
        return str(sent)
    kept = EXACT.compare(Decimal(sent), Decimal(repr(double))) == 0
    return ecmascript(double) if kept else str(sent)


def canonical(value):
    if isinstance(value, Number):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    return json.dumps(value, ensure_ascii=False)


def args_hash(text):
    """The hash of arguments; None if they have no canonical form."""
    try:
        value = json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=members)
        form = canonical({} if value is None else value).encode()
    except (Doubled, UnicodeEncodeError):
        return None
    return hashlib.sha256(form).hexdigest()


if __name__ == "__main__":
    for line in sys.stdin:
        print(args_hash(line) or "-")
