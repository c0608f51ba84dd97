"""Controls: a relay that changes one byte stands where wrap stands, or before wrap. Each comparison that this concerns must fail,
and no other: a comparison that fails by itself would show nothing."""

import sys

from job import Job
from sessions import HERE, Failed, require, rows, wrapping

ERA = "handshake"
STEPS = [{"do": "call", "tool": "echo", "arguments": {"message": "a swallow \u001b"}}]
NOTHING = ("out", "swallow", "swallow")
# Where the relay stands, what it changes, and which comparisons must fail. A relay in the place of wrap leaves no rows.
CASES = {
    "changes nothing": (False, NOTHING, {"rows"}),
    "changes a letter of a call": (False, ("in", "swallow", "swallov"), {"ends", "results", "messages", "rows"}),
    "changes a letter of a reply": (False, ("out", "swallow", "swallov"), {"ends", "results", "messages", "rows"}),
    "spells a character of a reply differently": (False, ("out", "\\u001b", "\\u001B"), {"ends", "messages", "rows"}),
    "stands before wrap and changes nothing": (True, NOTHING, set()),
    "stands before wrap and changes a letter of a call": (True, ("in", "swallow", "swallov"), {"ends", "results", "messages", "rows"}),
    "stands before wrap and spells a character of a reply differently": (True, ("out", "\\u001b", "\\u001B"), {"ends", "messages", "rows"}),
}


def run(report, client, folder):
    """Adds a check for each case."""
    database = folder / "control.db"
    job = Job(client, "everything", folder / "control", database, STEPS)
    bare = job.session(ERA, "bare")
    for number, (title, case) in enumerate(CASES.items()):
        report.check(client, f"{ERA}  control: a relay that {title}", lambda: control(job, bare, f"careless-{number}", *case))


def control(job, bare, name, before_wrap, change, wanted):
    relay = [sys.executable, "-I", "-S", HERE / "careless.py", *change]
    wrap = ["--", *wrapping(job.database, job.server)] if before_wrap else []
    before = len(rows(job.database, job.server))
    other = job.session(ERA, name, [*relay, *wrap])
    kept = rows(job.database, job.server)[before:]
    failed = {name for name, compare in job.comparisons(ERA, bare, other, kept).items() if fails(compare)}
    require(failed == wanted, f"noticed by {sorted(failed)}, and should be by {sorted(wanted)}")
    return f"noticed by {', '.join(sorted(failed)) or 'none'}"


def fails(compare):
    try:
        compare()
    except Failed:
        return True
    return False
