"""One client with one server: its eras one after another, each bare and through wrap, and the comparisons of the two."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from records import Record, lines
from sessions import FIXED, HERE, compare_ends, compare_plan, compare_rows, launcher, read_ends, require, rows, run_client, wrapping

PLAN = json.loads((HERE / "servers.json").read_text(encoding="utf-8"))
ERAS = {
    "ts1": ["handshake"],
    "ts2": ["handshake", "2026-07-28", "auto"],
    "py1": ["handshake"],
    "py2": ["handshake", "2026-07-28", "auto"],
    "inspector": ["handshake", "2026-07-28"],
}


@dataclass
class Session:
    """What a client printed; and for each start of the server what passed at the client's end and at the server's, which are
    one end if nothing stands between."""

    printed: list[bytes]
    starts: list[tuple[Record, Record]]

    def ends(self):
        return [client for client, _ in self.starts]


class Job:
    def __init__(self, client, server, folder, database, steps=()):
        self.client, self.server, self.database = client, server, database
        self.plan = PLAN["servers"][server]
        steps = steps or self.plan["steps"]
        self.steps = [step for step in steps if client != "inspector" or step.get("inspector")]
        self.brief = client == "inspector" or len(self.steps) == 1
        self.folder = folder / f"{client}-{server}"

    def era(self, era):
        """Makes both sessions of an era and compares them. Returns the wrapped one, and how each of its calls ended."""
        bare = self.session(era, "bare")
        before = len(rows(self.database, self.server))
        wrapped = self.session(era, "wrapped", wrapping(self.database, self.server))
        kept = rows(self.database, self.server)[before:]
        compared = {name: compare() for name, compare in self.comparisons(era, bare, wrapped, kept).items()}
        return wrapped, compared["rows"]

    def comparisons(self, era, bare, other, kept):
        """What must hold of a session, of the bare one beside it, and of the rows that it left: a function each, which may raise."""
        return {
            "ends": lambda: compare_ends(other.starts),
            "plan": lambda: compare_plan(other.ends(), self.wanted(era)),
            "results": lambda: self.same("results", bare.printed, other.printed),
            "messages": lambda: self.same_messages(bare.ends(), other.ends()),
            "rows": lambda: compare_rows(other.ends(), kept, self.server),
        }

    def wanted(self, era):
        """The calls of an era, each with its code. In an era that the server does not speak only Python's 2.x client calls: pinned
        to a revision it asks the server nothing, and does not say what it can do."""
        spoken = era in self.plan["eras"]
        if not spoken and self.client != "py2":
            return []
        steps = [step for step in self.steps if "tool" in step]
        return [(step["tool"], step.get("ends") if spoken else step.get("ends_unasked", step.get("ends"))) for step in steps]

    def session(self, era, name, around=None):
        """Runs the client once, with what stands between it and the server, if anything does."""
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if self.server == "git":
            (place / "file.txt").write_text("one\ntwo\n", encoding="utf-8")
            environment = {**os.environ, **FIXED}
            subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
            subprocess.run(["git", "-C", place, "commit", "-q", "--allow-empty", "-m", "first"], check=True, env=environment)
        places = {"folder": place, "npm": HERE / "npm", "pypi": HERE / "pypi"}
        file, program, records = (self.folder / f"{era}-{name}{end}" for end in (".json", ".sh", ""))
        records.mkdir()
        file.write_text(json.dumps(fill({"steps": self.steps, "answers": PLAN["answers"]}, places)), encoding="utf-8")
        launcher(program, records, fill(self.plan["command"], places), around)
        printed = run_client(self.client, "session", [era, file, program])
        return Session(printed, read_ends(records, "client" if around else "server"))

    def same_messages(self, bare, other):
        for way in ("sent", "received"):
            ends = [[line for record in part for line in lines(getattr(record, way))] for part in (bare, other)]
            if self.brief:
                # What the server sends by its timers may come too late for a client that ends after one call.
                ends = [[line for line in end if ("method" in json.loads(line)) == (way == "sent")] for end in ends]
            # A message that a timer sends may come before or after another one.
            self.same(f"messages {way}", *(sorted(map(self.mask, end)) for end in ends))

    def same(self, what, bare, other):
        require(len(bare) == len(other), f"{what}: {len(bare)} bare, {len(other)} wrapped")
        for one, two in zip(map(self.mask, bare), map(self.mask, other)):
            require(one == two, f"{what} differ: bare {one[:2000]}, wrapped {two[:2000]}")

    def mask(self, line):
        for pattern in self.plan["varies"]:
            line = re.sub(pattern.encode(), b"(varies)", line)
        return line


def fill(value, places):
    """A part of servers.json with the names of places replaced."""
    if isinstance(value, str):
        for name, path in places.items():
            value = value.replace(f"{{{name}}}", str(path))
        return value
    if isinstance(value, list):
        return [fill(item, places) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, places) for key, item in value.items()}
    return value
