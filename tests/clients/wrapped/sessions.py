"""Sessions of the official clients: how they are started, what they leave, and what must hold of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from records import Record

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
BINARY = os.environ["COLIBRI_BIN"]
SESSION_SECONDS = 600
# Commits get the hash that they had in the other session.
FIXED = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in [("NAME", "Client"), ("EMAIL", "client@example.org"), ("DATE", "2026-11-24T06:00:00+0000")]
}


class Failed(Exception):
    """What a session should not have done."""


def require(condition, message):
    if not condition:
        raise Failed(message)


def wrapping(database, name, *options):
    return [BINARY, "wrap", "--name", name, "--db", database, *options]


def launcher(file, records, command, around=None):
    """Writes the program that a client starts: the server with a tee before it, or with wrap or a relay between two. Each start
    has a folder of its own below `records`, and their names sort by time."""
    tee = quoted([sys.executable, "-I", "-S", HERE / "tee.py"])
    around = f'{tee} "$at/client" {quoted(around)} -- ' if around else ""
    fixed = "".join(f"export {name}='{value}'\n" for name, value in FIXED.items())
    file.write_text(
        f'#!/bin/sh\nset -e\n{fixed}at=$(mktemp -d "{records}/$(date +%s%N).XXXXXX")\n'
        f'exec {around}{tee} "$at/server" {quoted(command)}\n',
        encoding="utf-8",
    )
    file.chmod(0o755)


def quoted(words):
    return " ".join(f"'{word}'" for word in words)


def run_client(client, script, arguments=(), **variables):
    """Runs a script of a client; the lines that it printed."""
    folder = WORK / client
    python = folder / f"{script}.py"
    command = [folder / "bin" / "python", python] if python.exists() else ["node", folder / f"{script}.mjs"]
    environment = {**os.environ, **variables}
    ended = subprocess.run([*command, *arguments], capture_output=True, timeout=SESSION_SECONDS, env=environment)
    require(ended.returncode == 0, f"exit code {ended.returncode}: {(ended.stdout + ended.stderr).decode()[-2000:]}")
    return ended.stdout.splitlines()


def read_ends(folder, client="client"):
    """What passed in each start of a server, at the client's end and at the server's."""
    starts = [tuple(Record.read(start / end) for end in (client, "server")) for start in sorted(folder.iterdir())]
    require(starts, "the server was never started")
    return starts


def compare_ends(starts):
    """The client's end and the server's: the same bytes, but for wrap's own requests for the list of tools."""
    for client, server in starts:
        server = server.without_own()
        same_bytes("what the client wrote", client.sent, "what the server read", server.sent)
        same_bytes("what the server wrote", server.received, "what the client read", client.received)


def compare_plan(records, wanted):
    """The calls and how they ended, against the plan: a server of which every call fails would be the same bare and wrapped,
    too."""
    ended = [(tool, code) for record in records for tool, _, _, _, code in record.calls()]
    require(ended == wanted, f"the calls ended as {ended}, by the plan as {wanted}")


def same_bytes(written, one, read, other):
    if one != other:
        at = next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))
        near = slice(max(0, at - 100), at + 100)
        raise Failed(f"differ from byte {at} on: {written}: {one[near]!r}; {read}: {other[near]!r}")


def compare_rows(records, kept, name):
    """The calls of these sessions and their rows: as many, in order, with the same hashes and ends. Returns how each ended, as a
    code or an outcome."""
    calls = [(f"{name}/{tool}", *rest) for record in records for tool, *rest in record.calls()]
    found = [tuple(row[key] for key in ("tool", "args_hash", "result_hash", "outcome", "error_code")) for row in kept]
    require(len(calls) == len(found), f"{len(calls)} calls were made, and the log has {len(found)} rows")
    for call, row in zip(calls, found):
        require(call == row, f"the call {call} has the row {row}")
    return [code or outcome for *_, outcome, code in found]


def rows(database, name):
    """The rows of a server's calls, oldest first."""
    if not database.exists():
        return []
    ended = subprocess.run([BINARY, "log", "--db", database, "--server", name, "--json"], capture_output=True, text=True)
    require(ended.returncode == 0, f"colibri log: {ended.stderr.strip()}")
    return [json.loads(line) for line in ended.stdout.splitlines()]
