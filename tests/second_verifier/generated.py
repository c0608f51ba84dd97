"""Random histories of tasks in databases, as servers could have written them, and as accidents and forgers change them.

Each database has a few tasks. A forger changes a value, a row or a call, and goes on as far as the dice say: the replies of
the calls, then the chain of the log. So the rules about histories decide, and not only the hashes.
"""

import contextlib
import json
import random
import shutil
import sqlite3
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import verify
from server import Server
from verify import ZERO, canonical, sha256

WORDS = ["a", "b", "\u6f22 \"B\"\n\u2028", "\U0001f600", "c\\", "x" * 60]
TASKS_A_CASE = 8
TABLES = {"task_events": "task_id = ? AND event_no = ?", "task_claims": "task_id = ?", "claim_clock": "id = ?", "tasks": "id = ?",
          "task_dependencies": "task_id = ? AND depends_on_id = ?", "actions": "sequence_no = ?"}
FIELDS = ("title", "description", "project_id", "priority", "assignee")


def prepare(program, folder):
    """An empty database of the real server, without its guards, and the guards."""
    Server(program, Path(folder)).stop()
    database = Path(folder) / "colibri.db"
    db = sqlite3.connect(database)
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        db.execute(f'DROP TRIGGER "{name}"')
    # The start has made calls of its own.
    for table in ("actions", "callers"):
        db.execute(f"DELETE FROM {table}")
    db.commit()
    db.close()
    (Path(folder) / "guards.json").write_text(json.dumps([sql for _, sql in guards]))
    shutil.move(database, Path(folder) / "template.db")


class Clock:
    """A wall clock that mostly goes on, and sometimes jumps."""

    def __init__(self, dice):
        self.dice, self.now = dice, datetime(2026, 5, 1, 10)
        if dice.random() < 0.02:
            self.now = datetime(9999, 12, 31, 23, 50)

    def tick(self):
        die = self.dice.random()
        step = self.dice.randrange(5_000)
        if die < 0.15:
            step = self.dice.choice([-1, 1]) * self.dice.randrange(2 * 3_600_000)
        elif die < 0.2:
            step = self.dice.choice([-1, 1]) * self.dice.randrange(3 * 86_400_000)
        self.now = later(self.now, step)
        return text_of(self.now)


LAST = datetime(9999, 12, 31, 23, 59, 59, 999_000)


def later(time, milliseconds):
    try:
        return min(time + timedelta(milliseconds=milliseconds), LAST)
    except OverflowError:
        return LAST


def text_of(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03}Z"


class Board:
    """Tasks, the calls about them, and what a server would have stored."""

    def __init__(self, dice):
        self.dice, self.clock = dice, Clock(dice)
        self.calls, self.callers, self.latest = [], [], ""
        self.tasks = {}
        boots = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(1, 4)]
        # Calls from before callers were stored.
        old = [self.create(boots[2], None) for _ in range(dice.choice([0, 0, 1, 2]))]
        for task in old:
            if dice.random() < 0.5:
                self.change(task, boots[2], None)
        for number, boot in enumerate(boots[:2], 1):
            self.begin(number, boot)
        for _ in range(TASKS_A_CASE - len(old)):
            self.create(*self.caller())
        for _ in range(dice.randrange(6, 60)):
            self.act(dice.choice(list(self.tasks)), *self.caller())

    def caller(self):
        caller = self.dice.choice(self.callers)
        return caller["boot_id"], caller["caller_no"]

    def call(self, tool, boot, subject, data, entered_at=None):
        """A call that ended; its number, under which its row is stored."""
        number = len(self.calls) + 1
        entered = entered_at or self.clock.tick()
        exited = text_of(later(datetime.strptime(entered, "%Y-%m-%dT%H:%M:%S.%fZ"), self.dice.randrange(9)))
        ok = data is not None
        self.calls.append({
            "sequence_no": number, "correlation_id": f"00000000-0000-4000-9000-{number:012}", "boot_id": boot, "request_id": str(number), "tool": tool, "mode": "FULL",
            "args_hash": sha256(str(number)), "trace_context": None, "entered_at": entered, "enter_ms": number,
            "outcome": "ok" if ok else "domain_error", "error_code": None if ok else "ERR", "error_message": None,
            "result_hash": reply_hash(data), "duration_ms": 1, "exited_at": exited, "exit_no": number, "subject": subject,
        })
        return number

    def begin(self, number, boot):
        now = self.clock.tick()
        row = {"caller_no": number, "boot_id": boot, "source": "initialize", "client_name": "run", "client_title": None,
               "client_version": "1", "protocol": "2025-11-25", "actor": self.dice.choice([None, "alice"]), "os_user": "u", "host": "h",
               "pid": number, "first_seen": now, "sequence_no": len(self.calls) + 1}
        self.call("caller_begin", boot, str(number), row, now)
        self.callers.append(row)

    def create(self, boot, caller_no):
        dice, task_id = self.dice, f"{len(self.tasks):08}-0000-7000-8000-000000000000"
        status = dice.choice(["INIT"] * 6 + ["GATHER", "VERIFY", "CANCELLED"])
        values = {name: dice.choice([None, *WORDS]) for name in FIELDS[1:]} | {"title": dice.choice(WORDS)}
        waits = [one for one in self.tasks if dice.random() < 0.2]
        values |= {"depends_on": waits or None}
        history = verify.History(task_id)
        self.tasks[task_id] = (history, [])
        self.event(task_id, "created" if caller_no else "migrated", "task_create", boot, caller_no, None, status, values)
        return task_id

    def event(self, task_id, kind, tool, boot, caller_no, before, after, values=None, claim=None):
        """Takes an event, and stores its call."""
        history, events = self.tasks[task_id]
        entered_at, number = self.clock.tick(), len(self.calls) + 1
        at, of_claim = max(entered_at, history.task["updated_at"]), claim is not None
        if of_claim:
            at = self.latest = verify.claim_time(entered_at, self.latest)
        event = {"task_id": task_id, "event_no": len(events) + 1, "sequence_no": number, "kind": kind, "from_status": before,
                 "to_status": after, "at": at, "task_call": history.task_call if of_claim else number,
                 **dict.fromkeys(verify.CLAIM_COLUMNS), **(claim or {})}
        if of_claim and event["lease_until"] is None:
            event["lease_until"] = text_of(later(datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%fZ"), self.dice.randrange(30, 86_401) * 1000))
        old = history.task if before else {}
        changes = {name: [old.get(name), new] for name, new in (values or {}).items() if old.get(name) != new}
        if kind == "migrated":
            changes["created_at"] = [None, history.task["created_at"] or at]
        holder = history.claim["agent_id"] if kind == "taken_over" else None
        if holder is not None and holder != event["agent_id"]:
            changes = {"held_by": [holder, event["agent_id"]]}
        event["changes"] = canonical(changes)
        assert history.take(event, caller_no), event
        events.append((event, caller_no))
        self.call(tool, boot, task_id, history.reply(event, holder), entered_at)

    def change(self, task_id, boot, caller_no, status=None):
        """Other values, or another state. A task from before callers begins its history again with its newest state."""
        dice, (history, events) = self.dice, self.tasks[task_id]
        values = {name: dice.choice([*WORDS, *([] if name == "title" else [None])]) for name in FIELDS if dice.random() < 0.3}
        if dice.random() < 0.2:
            old = history.task.get("depends_on") or []
            wanted = [one for one in self.tasks if one != task_id and dice.random() < 0.3]
            kept = [one for one in old if one in wanted]
            values["depends_on"] = kept + [one for one in wanted if one not in kept] or None
        state = history.task["status"]
        if caller_no is None:
            values = {name: history.task.get(name) for name in (*FIELDS, "depends_on")} | values
            events.clear()
            history.event_no = 0
            return self.event(task_id, "migrated", "task_update", boot, None, None, state, values)
        return self.event(task_id, "changed", "task_update", boot, caller_no, state, status or state, values)

    def act(self, task_id, boot, caller_no):
        dice, (history, _) = self.dice, self.tasks[task_id]
        state, claim, die = history.task["status"], history.claim, dice.random()
        held = claim is not None and claim["released_at"] is None
        event = lambda kind, tool, **part: self.event(task_id, kind, tool, boot, caller_no, state, state, claim=part)
        if die < 0.1:
            self.call(dice.choice(["task_get", "task_update", "server_ping"]), boot, None, dice.choice([None, {"x": 1}]))
        elif die < 0.3:
            self.change(task_id, boot, caller_no)
        elif die < 0.5:
            steps = [to for of, to in sorted(verify.STEPS) if of == state]
            self.change(task_id, boot, caller_no, dice.choice([*steps, state]))
        elif held and (die < 0.65 or state in verify.FINISHED):
            event("released", "task_release", claim_no=claim["claim_no"], agent_id=claim["agent_id"], lease_until=claim["lease_until"])
        elif state not in verify.FINISHED:
            number = claim["claim_no"] + 1 if claim else 1
            if held and dice.random() < 0.5:
                event("renewed", "task_claim", claim_no=claim["claim_no"], agent_id=claim["agent_id"])
            else:
                event("taken_over" if held else "claimed", "task_claim", claim_no=number, agent_id=dice.choice(WORDS))

    def reorder(self):
        """A call of another process that began earlier may end later: the numbers of both change places."""
        for one, other in zip(self.calls[6:], self.calls[7:]):
            if one["boot_id"] != other["boot_id"] and self.dice.random() < 0.1:
                numbers = {one["sequence_no"]: other["sequence_no"], other["sequence_no"]: one["sequence_no"]}
                one["sequence_no"], other["sequence_no"] = other["sequence_no"], one["sequence_no"]
                for history, events in self.tasks.values():
                    for row in [event for event, _ in events] + [row for row in [history.claim] if row]:
                        row |= {name: numbers.get(row[name], row[name]) for name in ("sequence_no", "task_call") if name in row}
                    history.task_call = numbers.get(history.task_call, history.task_call)

    def store(self, db):
        """Writes all rows."""
        self.reorder()
        insert(db, "actions", self.calls, {"prev_hash": ZERO, "row_hash": ZERO})
        insert(db, "callers", self.callers)
        for task_id, (history, events) in self.tasks.items():
            task = {name: value for name, value in history.task.items() if name not in ("task_id", "depends_on")}
            insert(db, "tasks", [task | {"sequence_no": history.task_call}])
        for task_id, (history, events) in self.tasks.items():
            insert(db, "task_dependencies", [{"task_id": task_id, "depends_on_id": one} for one in history.task.get("depends_on") or []])
            # The first event is stored together with the second.
            insert(db, "task_events", [event for event, _ in events] if len(events) > 1 else [])
            insert(db, "task_claims", [{"task_id": task_id, **history.claim}] if history.claim else [])
        insert(db, "claim_clock", [{"id": 1, "latest": self.latest}] if self.latest else [])
        chain(db)


def reply_hash(data):
    return sha256(canonical({"ok": True, "data": data}))


def insert(db, table, rows, more=None):
    for row in rows:
        row = row | (more or {})
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def chain(db):
    """Chains the log anew."""
    tip, last = ZERO, 0
    for row in db.execute("SELECT * FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no").fetchall():
        columns = dict(row) | {"prev_hash": tip}
        columns.pop("row_hash")
        tip, last = sha256(canonical(columns)), row["exit_no"]
        db.execute("UPDATE actions SET prev_hash = ?, row_hash = ? WHERE sequence_no = ?", [columns["prev_hash"], tip, row["sequence_no"]])
    highest = db.execute("SELECT max(sequence_no) FROM actions").fetchone()[0]
    db.execute("UPDATE actions_head SET last_sequence_no = ?, last_exit_no = ?, last_row_hash = ?", [highest, last, tip])


def other_value(dice, rows, row, column):
    """Another value for a column: one of another row, one that is near, or one that cannot be."""
    old = row[column]
    others = [one[column] for one in rows if one[column] != old]
    if column == "changes" and dice.random() < 0.7:
        with contextlib.suppress(ValueError):
            value = json.loads(old)
            names = [*value, *FIELDS, "depends_on", "created_at", "held_by"]
            value[dice.choice(names)] = [dice.choice([None, *WORDS, ["x"]]), dice.choice([None, *WORDS, []])]
            return canonical(value)
    if column in ("tool", "boot_id"):
        known = {one[column] for one in rows} - {old}
        return dice.choice([*sorted(known), "x"])
    if isinstance(old, int):
        return dice.choice([old + 1, old - 1, *others, None])
    if column in ("at", "lease_until", "claimed_at", "released_at", "latest", "created_at", "updated_at") and isinstance(old, str):
        near = old[:-2] + ("0Z" if old[-2] != "0" else "1Z")
        return dice.choice([near, near, *others, "9999-12-31T23:59:59.999Z", "2026-05-01", "", old.lower()])
    states = [*verify.PIPELINE, "CANCELLED"]
    texts = [*others, *WORDS, None, *(states if "status" in column else []), *(verify.EVENT_TOOLS if column == "kind" else [])]
    return dice.choice(texts)


def forge(dice, db):
    """Changes a value or a row, and what a forger adjusts afterwards. The name of the table, or None if nothing could be changed."""
    table = dice.choice(["task_events"] * 5 + ["actions"] * 3 + ["task_claims", "claim_clock", "tasks", "task_dependencies"])
    rows, where = db.execute(f"SELECT * FROM {table}").fetchall(), TABLES[table]
    if not rows:
        return None
    row, die = dice.choice(rows), dice.random()
    key = [row[column] for column in row.keys()[: where.count("?")]] if table != "tasks" else [row["id"]]
    try:
        if die < 0.1 and table != "actions":
            db.execute(f"DELETE FROM {table} WHERE {where}", key)
        elif die < 0.15 and table == "task_events":
            number = db.execute("SELECT max(event_no) + 1 FROM task_events WHERE task_id = ?", key[:1]).fetchone()[0]
            insert(db, table, [dict(row) | {"event_no": number}])
        elif die < 0.25 and table == "task_events":
            swap(db, *key, dice.choice([1, -1]))
        else:
            columns = {"actions": ["tool", "subject", "boot_id"], "task_dependencies": ["depends_on_id"]}.get(table, row.keys())
            column = dice.choice(list(columns))
            values = db.execute("SELECT id AS depends_on_id FROM tasks").fetchall() if table == "task_dependencies" else rows
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [other_value(dice, values, row, column), *key])
    except sqlite3.IntegrityError:
        return None
    # A changed call breaks the chain, unless the forger mends it.
    level = dice.choice([1, 1, 2] if table == "actions" else [0, 1, 2, 2, 2])
    if level >= 2:
        answer(db)
    if level >= 1:
        chain(db)
    return table


def swap(db, task_id, event_no, by):
    for at, to in ((event_no, 1_000), (event_no + by, event_no), (1_000, event_no + by)):
        db.execute("UPDATE task_events SET event_no = ? WHERE task_id = ? AND event_no = ?", [to, task_id, at])


def answer(db):
    """Gives each call of an event the reply that the events say, and the rows of tasks and claims what the last event leaves."""
    for (task_id,) in db.execute("SELECT DISTINCT task_id FROM task_events").fetchall():
        with contextlib.suppress(Exception):
            history = verify.History(task_id)
            for event in db.execute("SELECT * FROM task_events WHERE task_id = ? ORDER BY event_no", [task_id]).fetchall():
                holder = history.claim["agent_id"] if event["kind"] == "taken_over" and history.claim else None
                history.take(event, verify.caller_of(db, event["sequence_no"]))
                digest = reply_hash(history.reply(event, holder))
                db.execute("UPDATE actions SET result_hash = ? WHERE sequence_no = ?", [digest, event["sequence_no"]])
            task = {name: value for name, value in history.task.items() if name not in ("task_id", "depends_on", "id")}
            update(db, "tasks", "id", task_id, task | {"sequence_no": history.task_call})
            if history.claim:
                update(db, "task_claims", "task_id", task_id, history.claim)


def update(db, table, key, value, columns):
    marks = ", ".join(f"{name} = ?" for name in columns)
    db.execute(f"UPDATE {table} SET {marks} WHERE {key} = ?", [*columns.values(), value])


def history_case(kind, seed, program, folder):
    """One database, as both verifiers judge it: the number of its histories, its path, no keys, and both verdicts."""
    dice, folder = random.Random(f"{kind} {seed}"), Path(folder)
    path = folder / f"{kind}-{seed}.db"
    shutil.copy(folder / "template.db", path)
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA synchronous = OFF")
    Board(dice).store(db)
    if dice.random() < 0.7:
        forge(dice, db)
    histories = db.execute("SELECT count(*) FROM tasks").fetchone()[0]
    for guard in json.loads((folder / "guards.json").read_text()):
        db.execute(guard)
    db.commit()
    done = subprocess.run([program, "verify", "--db", str(path)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = verify.Findings()
    for check in (verify.check_log, verify.check_callers, verify.check_ties, verify.check_histories):
        check(db, found)
    db.close()
    code = 1 if found.counts else 0
    return histories, path, [], (done.returncode, done.stdout.decode(errors="replace")), (code, found.first)
