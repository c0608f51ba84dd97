"""All official clients with official servers and with Colibri itself, bare and through `colibri wrap`.

Every session runs twice, over the same folder, and a tee writes down each byte: one before a bare server, two around wrap. Then
  - the server has read what the client wrote, byte by byte, and the client what the server wrote; wrap's own requests for the
    list of tools are set apart and counted;
  - each call ended as the plan says, and in an era that the server does not speak no client called but Python's 2.x;
  - the client got the same results from the bare server, and the same bytes passed there, but for the values that servers.json
    says the server makes anew;
  - the log has a row for each call, in order, with the hashes of its arguments and of the answer's bytes, and how it ended;
  - `colibri verify` finds the database sound, with as many calls as the clients made.
Two clients of one server with different lists share a pin (pins.py). A relay that changes one byte, in the place of wrap or before
it, shows that the comparisons notice it (control.py).

    client.py [CLIENT…]    some of ts1 ts2 py1 py2 inspector; without one, all"""

import json
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import control
import large
import pins
from job import ERAS, PLAN, Job, Session
from sessions import (
    BINARY,
    WORK,
    Failed,
    compare_ends,
    compare_plan,
    compare_rows,
    launcher,
    read_ends,
    require,
    rows,
    run_client,
    wrapping,
)

JOBS = 4
"""Sessions at a time. Most of one is waiting: for processes to start, and for steps that last."""


class Report:
    """Counts, and a line for each check."""

    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.messages = self.size = self.own = 0
        self.calls, self.ends = Counter(), Counter()

    def check(self, client, name, action):
        try:
            said = action()
        except Exception as error:  # one failed session must not hide the others
            said = None
            told = str(error) if isinstance(error, Failed) else repr(error)
        with self.lock:
            if said is None:
                self.failed += 1
                print(f"FAIL  wrapped  {client}  {name}: {told}", flush=True)
            else:
                self.passed += 1
                print(f"ok    wrapped  {client}  {name}: {said}", flush=True)

    def count(self, client, session, ends):
        """Adds the calls of a wrapped session, each with the code or outcome of its row, and the bytes; says how many they were."""
        records = session.ends()
        messages, size = sum(record.messages() for record in records), sum(record.size() for record in records)
        with self.lock:
            self.calls[client] += len(ends)
            self.ends.update(ends)
            self.messages += messages
            self.size += size
            self.own += sum(len(server.own()) for _, server in session.starts)
        return f"{len(ends)} calls, {messages} messages, {size} bytes"

    def told(self):
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common())
        return (
            f"{self.calls.total()} calls, each with its one row: {ends}; {self.messages} messages and {self.size} bytes, the same "
            f"at both ends of wrap, which made {self.own} requests of its own"
        )


def colibri(report, client, folder, database):
    report.check(client, "all eras  colibri", lambda: through_wrap(report, client, folder, database))


def through_wrap(report, client, folder, database):
    """The plan that the client has for Colibri itself, with its checks, through wrap. `tests/clients/run` makes it bare."""
    plan = json.loads((WORK / "calls.json").read_text(encoding="utf-8"))
    progress = plan["progress"]
    own = ["COLIBRI_DB_PATH", "COLIBRI_LOG_LEVEL", "COLIBRI_ROUTER_CANDIDATES", *progress["settings"], *progress["bases"]]
    records, program = folder / f"{client}-colibri", folder / f"{client}-colibri.sh"
    records.mkdir()
    kept = [word for name in own for word in ("--keep-env", name)]
    launcher(program, records, [BINARY], wrapping(database, "colibri", *kept))
    printed = run_client(client, "client", COLIBRI_BIN=str(program))
    session = Session(printed, read_ends(records))
    compare_ends(session.starts)
    wanted = [(tool, None) for tool in plan["calls"]]
    wanted += [(case["tool"], "TOOL_ERROR" if case["pattern"] == "A" else None) for case in plan["refusals"]]
    if client != "inspector":
        wanted += [("no_such_tool", "RPC_ERROR"), (progress["tool"], "TOOL_ERROR")]
    compare_plan(session.ends(), wanted * len(ERAS[client]))
    ends = compare_rows(session.ends(), rows(database, "colibri"), "colibri")
    return f"{printed[-1].decode()}; {report.count(client, session, ends)}"


def other(report, job):
    """The eras of a client with one of the other servers, one after another."""

    def era(name):
        session, ends = job.era(name)
        return report.count(job.client, session, ends)

    for name in ERAS[job.client]:
        report.check(job.client, f"{name}  {job.server}", lambda: era(name))


def verify(database, calls):
    """What `colibri verify` says of the wrapped calls in a database, which must be sound and have so many."""
    ended = subprocess.run([BINARY, "verify", "--db", database], capture_output=True, text=True)
    require(ended.returncode == 0, f"colibri verify: {ended.stdout[-2000:]}")
    line = next(line for line in ended.stdout.splitlines() if line.split()[1:2] == ["wraps"])
    found = re.search(r"wrapped calls: (\d+)", line)
    require(found and int(found[1]) == calls, f"{calls} calls were made, and verify says: {line}")
    return line


def main(clients):
    report = Report()
    with tempfile.TemporaryDirectory(prefix="colibri-wrapped-") as name, ThreadPoolExecutor(JOBS) as pool:
        folder = Path(name)
        databases = {client: folder / f"{client}.db" for client in clients}
        # The longest first.
        jobs = [pool.submit(colibri, report, client, folder, databases[client]) for client in reversed(clients)]
        jobs += [pool.submit(large.run, report, client, folder, databases[client]) for client in clients]
        for client in clients:
            jobs += [pool.submit(other, report, Job(client, server, folder, databases[client])) for server in PLAN["servers"]]
        jobs.append(pool.submit(control.run, report, clients[0], folder))
        jobs.append(pool.submit(pins.run, report, folder))
        for job in jobs:
            job.result()
        for client in clients:
            report.check(client, "verify", lambda: verify(databases[client], report.calls[client]))
    print(f"note  wrapped  {report.told()}")
    print(f"{report.passed} passed, {report.failed} failed")
    return 0 if report.passed and not report.failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(ERAS)))
