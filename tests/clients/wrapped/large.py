"""Large replies: to Python's clients they come whole, and wrap's memory does not follow their size. TypeScript's clients close the
connection at 10 MiB of a message, from a bare server, too. The inspector is TypeScript's client, so it has no check of its own."""

import json

from job import Session
from sessions import HERE, compare_ends, compare_rows, launcher, read_ends, require, rows, run_client, wrapping

REPLY_MB = {"py1": 24, "py2": 200, "ts1": 24, "ts2": 24}
"""How large. Both of Python's clients read in the same way, and take half a minute for 200 MB."""
SMALL_CALLS = 10
"""How many replies of 200 bytes come first."""
ABOVE_KIB = 2048
"""How much more memory a large reply may take than small ones."""
PIECE_BYTES = 1 << 20
"""How much Python's clients read at once. They copy all that they have of a line with each piece: with the 64 KiB that asyncio
reads by itself, 200 MB take them minutes."""


def run(report, client, folder, database):
    """Adds the check of one client."""
    if client in REPLY_MB:
        action = comes_whole if client.startswith("py") else closes
        name = f"handshake  a reply of {REPLY_MB[client]} MB"
        report.check(client, name, lambda: action(report, client, folder / f"{client}-large", database))


def comes_whole(report, client, folder, database):
    session, text, peaks = read(client, folder, database, "large")
    step = json.loads(session.printed[-1])
    require("result" in step, f"the client has no reply: {str(step)[:1000]}")
    require(step["result"]["content"][0]["text"] == text, "the client has another text")
    compare_ends(session.starts)
    ends = compare_rows(session.ends(), rows(database, "large"), "large")
    require(ends == ["ok"] * (SMALL_CALLS + 1), f"the calls ended as {ends}")
    # The last message that went in is the large call; behind it is the end.
    small, peak = peaks[-2:]
    require(peak <= small + ABOVE_KIB, f"wrap took {peak} KiB, with small replies {small} KiB")
    return f"{report.count(client, session, ends)}; wrap took {peak} KiB, with small replies {small} KiB"


def closes(report, client, folder, database):
    bare, wrapped = (read(client, folder, file, name)[0] for file, name in [(None, "bare"), (database, "large")])
    errors = [json.loads(session.printed[-1]).get("error", {}).get("message") for session in (bare, wrapped)]
    require(all(errors), f"the client takes the reply: {[session.printed[-1][:200] for session in (bare, wrapped)]}")
    kept = rows(database, "large")
    codes = [row["error_code"] or "ok" for row in kept]
    client_end, server_end = wrapped.starts[0]
    server_end = server_end.without_own()
    whole = client_end.received == server_end.received
    if whole:
        # The client discarded what came while it was closing, to the last byte.
        compare_rows([client_end], kept, "large")
    else:
        # The reply was still on its way when the client asked the server to end: wrap voids the line and answers the call.
        passed, _, answer = client_end.received[:-1].rpartition(b"\n")
        require(server_end.received.startswith(passed), "the client read what the server did not write")
        require(json.loads(answer)["error"]["data"] == {"code": "WRAP_SERVER_ENDED", "server": "large"}, f"{answer}")
        require(codes[-1] in ("WRAP_STOPPED", "WRAP_CLIENT_GONE"), f"the last call ended as {codes[-1]}")
    require(codes[:-1] == ["ok"] * SMALL_CALLS, f"the calls ended as {codes}")
    report.count(client, wrapped, codes)
    return f"{client_end.size()} bytes, {'whole' if whole else 'cut off'}; bare the client says {errors[0]!r}, wrapped {errors[1]!r}"


def read(client, folder, database, name):
    """Has a client read small texts and a large one; each reply holds its text twice. Returns the session, the large text, and
    wrap's peak memory before each message that went in."""
    records, place = folder / name, folder / f"{name}-place"
    for made in (records, place):
        made.mkdir(parents=True)
    # Each line is another one, so that no piece can stand for another.
    text = "".join(f"{number:099}\n" for number in range(REPLY_MB[client] * 5_000))
    steps = []
    for file, content in [("small.txt", text[:100])] * SMALL_CALLS + [("large.txt", text)]:
        (place / file).write_text(content, encoding="ascii")
        steps.append({"do": "call", "tool": "read_text_file", "arguments": {"path": str(place / file)}})
    answers = {"roots": {"roots": [{"uri": f"file://{place}"}]}}
    file, program = folder / f"{name}.json", folder / f"{name}.sh"
    file.write_text(json.dumps({"steps": steps, "answers": answers, "piece_bytes": PIECE_BYTES}), encoding="utf-8")
    server = ["node", HERE / "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", place]
    # Without pins: a thread compares them at a time of its own, and would count as memory of the reply.
    launcher(program, records, server, wrapping(database, "large", "--pin", "off") if database else None)
    printed = run_client(client, "session", ["handshake", file, program])
    ends = "client" if database else "server"
    peaks = [int(line) for start in records.iterdir() for line in (start / f"{ends}.peaks").read_text(encoding="ascii").split()]
    return Session(printed, read_ends(records, ends)), text, peaks
