#!/usr/bin/env python3
"""Judges coverage: every line, every function, 90 % of the regions. Usage: coverage.py LCOV SUMMARY

Functions that a derive writes, such as Debug, have no behaviour of ours and do not count. Such a function
begins on a line that starts with an attribute.
"""

import json
import os
import sys

REGIONS = 90.0


def missed(lcov: str) -> list[str]:
    """Places that no test reaches, as `path:line: source`."""
    places, path, source = [], "", []
    for line in open(lcov):
        tag, _, value = line.strip().partition(":")
        if tag == "SF":
            path = os.path.relpath(value)
            source = open(value).read().splitlines()
        elif tag == "DA":
            number, count = value.split(",")[:2]
            text = source[int(number) - 1].strip()
            if count == "0" and "/tests/" not in path and not text.startswith("#["):
                places.append(f"{path}:{number}: {text}")
    return places


def main() -> int:
    places = missed(sys.argv[1])
    files = [f for f in json.load(open(sys.argv[2]))["data"][0]["files"] if "/tests/" not in f["filename"]]
    total = sum(f["summary"]["regions"]["count"] for f in files)
    covered = sum(f["summary"]["regions"]["covered"] for f in files)
    share = 100.0 * covered / total
    lines = sum(f["summary"]["lines"]["count"] for f in files)
    print(f"{len(files)} files, {lines} lines, {len(places)} not executed; {share:.1f} % of {total} regions")
    for place in places:
        print(f"not executed: {place}", file=sys.stderr)
    if share < REGIONS:
        print(f"fewer than {REGIONS} % of the regions are executed", file=sys.stderr)
    return 1 if places or share < REGIONS or not files else 0


if __name__ == "__main__":
    sys.exit(main())
