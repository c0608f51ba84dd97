"""Runs of `colibri wrap`, pins, wrapped calls and notes on them: judged, and for the tests made, from docs/reference/formats.md alone."""

import hashlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

VERIFIER = [sys.executable, str(Path(__file__).resolve().parent / "verify.py")]
ZERO = "0" * 64
OPERATIONS = ("caller_begin", "call_note", "trail_retention", "reputation_import", "wrap_begin", "pins_note", "pins_accept")
CODES = (
    "TOOL_ERROR INPUT_REQUIRED TASK_CREATED RESULT_UNKNOWN RPC_ERROR WRAP_BAD_CALL WRAP_DENIED WRAP_NOT_READ_ONLY "
    "WRAP_TOOL_CHANGED WRAP_TOOL_NEW WRAP_LIST_UNKNOWN WRAP_NOT_RECORDED WRAP_BATCH_REFUSED WRAP_CANCELLED "
    "WRAP_SERVER_ENDED WRAP_CLIENT_GONE WRAP_STOPPED"
).split()


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value):
    """RFC 8785 for what occurs here: integers, strings, null, and names of the Basic Multilingual Plane."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def run_reply(db, row):
    data = {key: row[key] for key in row.keys() if key not in ("run_no", "sequence_no")}
    lists = {}
    for key in ("allow", "deny"):
        try:
            lists[key] = json.loads(data[key])
        except (ValueError, RecursionError):
            return {}
        if canonical(lists[key]) != data[key]:
            return {}
    return {**data, **lists, "read_only": bool(data["read_only"])}


def pin_reply(db, row):
    return {key: row[key] for key in row.keys() if key not in ("list", "sequence_no")}


def list_digest(text):
    """The hash and the number of tools of a stored list; None if it is not one. The text is canonical, so each entry's bytes are
    those to hash."""
    decoder, begin = json.JSONDecoder(), '{"instructions":'
    try:
        if not text.startswith(begin):
            return None
        instructions, at = decoder.raw_decode(text, len(begin))
        if not text.startswith(',"tools":[', at):
            return None
        at, tools, count = at + len(',"tools":['), {}, 0
        while text[at] != "]":
            at += text[at] == ","
            entry, end = decoder.raw_decode(text, at)
            tools[entry["name"]] = sha256("colibri-tool-v1\n" + text[at:end])
            at, count = end, count + 1
        if text[at:] != "]}" or len(tools) != count or not isinstance(instructions, (str, type(None))):
            return None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    tools = dict(sorted(tools.items(), key=lambda tool: tool[0].encode("utf-16-be")))
    text = json.dumps({"instructions": instructions, "tools": tools}, separators=(",", ":"), ensure_ascii=False)
    return sha256("colibri-tool-list-v1\n" + text), count


def check_wraps(db, found):
    """Wrapped calls against the runs, and pins against their lists."""
    runs = {row["boot_id"]: row["name"] for row in db.execute("SELECT boot_id, name FROM wrap_runs")}
    numbers = [row["run_no"] for row in db.execute("SELECT run_no FROM wrap_runs ORDER BY run_no")]
    found.expect(numbers == list(range(1, len(numbers) + 1)), "wraps: run_no has a gap", len(numbers))
    calls = 0
    for row in db.execute("SELECT sequence_no, boot_id, tool, outcome, error_code FROM actions ORDER BY sequence_no"):
        name = runs.get(row["boot_id"])
        if name is not None:
            is_its = row["tool"].startswith(name + "/")
            calls += is_its
            found.expect(is_its or row["tool"] in OPERATIONS, "wraps: a run's call is not its server's", row["sequence_no"])
        elif "/" in row["tool"]:
            answered = row["outcome"] in ("ok", "domain_error") or row["error_code"] in CODES
            found.expect(not answered, "wraps: a call to another server is of no run", row["sequence_no"])
    lists = {}
    for row in db.execute("SELECT * FROM tool_pins ORDER BY pin_no"):
        number, stored = row["pin_no"], lists.setdefault(row["name"], None)
        found.expect((row["event"] == "pinned") == (stored is None), "wraps: a pin is the first list of its name", number)
        stored = lists[row["name"]] = stored or set()
        if row["list"] is None:
            found.expect(row["list_hash"] in stored, "wraps: an accepted list is not stored", number)
            continue
        found.expect(list_digest(row["list"]) == (row["list_hash"], row["tools"]), "wraps: a list gives another hash", number)
        stored.add(row["list_hash"])
    return calls


class Writer:
    """Adds to a database what `colibri wrap` would: the page says how."""

    def __init__(self, database):
        self.db = sqlite3.connect(database)
        self.db.execute("PRAGMA foreign_keys = ON")

    def call(self, boot, tool, outcome="ok", code=None, reply=None, subject=None):
        """A closed call at the end of the log; its number."""
        number, exit_no, prev = self.db.execute("SELECT last_sequence_no, last_exit_no, last_row_hash FROM actions_head").fetchone()
        number, exit_no, ends = number + 1, exit_no + 1, outcome != "aborted"
        enter = {
            "sequence_no": number, "correlation_id": f"00000000-0000-4000-8000-{number:012}", "boot_id": boot, "request_id": "7",
            "tool": tool, "mode": "FULL", "args_hash": sha256("{}"), "trace_context": None,
            "entered_at": "2026-05-01T10:00:00.000Z", "enter_ms": 9,
        }
        exit = {
            "outcome": outcome, "error_code": code, "error_message": code and "a sentence",
            "result_hash": sha256(canonical({"ok": True, "data": reply}) if reply else "{}") if ends else None,
            "duration_ms": 2 if ends else None, "exited_at": "2026-05-01T10:00:00.002Z", "exit_no": exit_no, "prev_hash": prev,
            "subject": subject,
        }
        exit["row_hash"] = sha256(canonical({**enter, **exit}))
        marks = ", ".join("?" * len(enter))
        self.db.execute(f"INSERT INTO actions ({', '.join(enter)}, outcome) VALUES ({marks}, 'running')", [*enter.values()])
        sets = ", ".join(f"{name} = ?" for name in exit)
        self.db.execute(f"UPDATE actions SET {sets} WHERE sequence_no = ?", [*exit.values(), number])
        head = "UPDATE actions_head SET last_sequence_no = ?, last_exit_no = ?, last_row_hash = ?"
        self.db.execute(head, [number, exit_no, exit["row_hash"]])
        return number

    def insert(self, table, row):
        marks = ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()])

    def begin(self, number, name):
        """A process with its caller and its run; its boot id and the run's."""
        boot, run = f"00000000-0000-4000-8000-0000000001{number:02}", f"019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c{number:02}"
        (caller_no,) = self.db.execute("SELECT max(caller_no) + 1 FROM callers").fetchone()
        (last,) = self.db.execute("SELECT last_sequence_no + 1 FROM actions_head").fetchone()
        names = dict.fromkeys(("client_name", "client_title", "client_version", "protocol", "actor"))
        caller = {
            "caller_no": caller_no, "boot_id": boot, "source": "command", **names, "os_user": "alice", "host": "workshop", "pid": 7,
            "first_seen": "2026-05-01T10:00:00.000Z", "sequence_no": last,
        }
        self.insert("callers", caller)
        self.call(boot, "caller_begin", reply=caller, subject=str(caller_no))
        row = {
            "run_id": run, "boot_id": boot, "name": name, "program": "npx", "command_hash": sha256('["npx"]'), "pin": "warn",
            "read_only": False, "allow": [], "deny": ["set_*"], "session_id": None, "started_at": "2026-05-01T10:00:00.000Z",
        }
        call = self.call(boot, "wrap_begin", reply=row, subject=run)
        stored = {**row, "read_only": 0, "allow": "[]", "deny": '["set_*"]', "run_no": number, "sequence_no": call}
        self.insert("wrap_runs", stored)
        return boot, run

    def pin(self, number, boot, run, name, event, tools, instructions=None):
        text = canonical({"instructions": instructions, "tools": tools})
        list_hash, count = list_digest(text)
        row = {
            "pin_no": number, "name": name, "event": event, "list_hash": list_hash, "tools": count, "run_id": run,
            "recorded_at": "2026-05-01T10:00:00.000Z",
        }
        tool = "pins_accept" if event == "accepted" else "pins_note"
        call = self.call(boot, tool, reply=row, subject=str(number))
        self.insert("tool_pins", {**row, "list": None if event == "accepted" else text, "sequence_no": call})

    def note(self, number, boot, about, kind, **body):
        row = {"note_no": number, "about": about, "kind": kind, "noted_at": "2026-05-01T10:00:00.000Z", "body": canonical(body)}
        call = self.call(boot, "call_note", reply=row, subject=str(number))
        self.insert("call_notes", {**row, "sequence_no": call})


def fill(database):
    """Two runs, a pin with another list that was accepted, calls that end in each way, and notes on two of them."""
    writer = Writer(database)
    tool = {"name": "get_time", "description": "Tell the time \U0001f600.", "inputSchema": {"type": "object"}}
    other = [{**tool, "description": "Tell the time in UTC."}, {"name": "\u6f22", "inputSchema": {}}]
    with writer.db:
        boot, run = writer.begin(1, "clock")
        writer.pin(1, boot, run, "clock", "pinned", [tool])
        writer.pin(2, boot, run, "clock", "seen", other, "Ask \"get_time\".\n")
        second, _ = writer.begin(2, "files")
        writer.pin(3, second, None, "clock", "accepted", other, "Ask \"get_time\".\n")
        for outcome, code in (("ok", None), ("domain_error", "TOOL_ERROR"), ("denied", "WRAP_DENIED"), ("aborted", "WRAP_STOPPED")):
            writer.call(boot, "clock/get_time", outcome, code)
        call = writer.call(second, "files/read")
        writer.note(1, second, call, "withdrawn", at="2026-05-01T10:00:00.000Z", reason_hash=None)
        writer.note(2, second, call - 1, "later_round", first=None, state_hash=sha256("s"), actions=["accept", None])
    writer.db.close()


EDITS = [
    "UPDATE wrap_runs SET run_no = 7 WHERE run_no = 2",
    "UPDATE wrap_runs SET boot_id = 'x' WHERE run_no = 1",
    "UPDATE wrap_runs SET name = 'files' WHERE run_no = 1",
    "UPDATE wrap_runs SET command_hash = run_id WHERE run_no = 2",
    "UPDATE wrap_runs SET deny = '[]' WHERE run_no = 2",
    "UPDATE wrap_runs SET deny = '[ \"set_*\"]' WHERE run_no = 2",
    "UPDATE wrap_runs SET session_id = 'S-1' WHERE run_no = 2",
    "DELETE FROM wrap_runs WHERE run_no = 2",
    "UPDATE tool_pins SET event = 'pinned' WHERE pin_no = 2",
    "UPDATE tool_pins SET event = 'seen' WHERE pin_no = 1",
    "UPDATE tool_pins SET name = 'files' WHERE pin_no = 2",
    "UPDATE tool_pins SET list = replace(list, 'UTC', 'CET') WHERE pin_no = 2",
    "UPDATE tool_pins SET list = list || ' ' WHERE pin_no = 2",
    "UPDATE tool_pins SET list_hash = run_id WHERE pin_no = 1",
    "UPDATE tool_pins SET tools = 3 WHERE pin_no = 2",
    "UPDATE tool_pins SET list_hash = 'x' WHERE pin_no = 3",
    "DELETE FROM tool_pins WHERE pin_no = 2",
    "UPDATE call_notes SET note_no = 7 WHERE note_no = 2",
    "UPDATE call_notes SET about = about - 1 WHERE note_no = 1",
    "UPDATE call_notes SET kind = 'task_ended' WHERE note_no = 1",
    "UPDATE call_notes SET noted_at = 'x' WHERE note_no = 1",
    "UPDATE call_notes SET body = body || ' ' WHERE note_no = 2",
    "UPDATE call_notes SET sequence_no = sequence_no - 1 WHERE note_no = 1",
    "DELETE FROM call_notes WHERE note_no = 1",
    "DELETE FROM call_notes WHERE note_no = 2",
    "UPDATE actions SET tool = 'files/x' WHERE tool = 'clock/get_time'",
]


def judge(program, folder, database, edited):
    """Both verifiers take what was made from the page alone, and neither takes it after any of the edits."""
    made = folder / "wrapped.db"
    made.write_bytes(Path(database).read_bytes())
    fill(made)
    for sql in [None, *EDITS]:
        # The seals are signed by a key that is not given.
        path, wanted = (made, 3) if sql is None else (edited(made, folder, sql), 1)
        first = subprocess.run([program, "verify", "--db", str(path)], stdout=subprocess.PIPE, text=True)
        second = subprocess.run([*VERIFIER, str(path)], stdout=subprocess.PIPE, text=True)
        assert (first.returncode, second.returncode) == (wanted, wanted), f"{sql}\n{first.stdout}\n{second.stdout}"
    print(f"wrapped calls, pins and notes, and {len(EDITS)} edits of them, judged alike by both verifiers")
