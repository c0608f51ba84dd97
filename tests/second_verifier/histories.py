"""Histories of tasks, as the real server writes them and as a forger changes them: the second verifier tells them apart."""

import gzip
import shutil
import sqlite3
import subprocess
import sys

import verify
from server import ROOT, Server

STATES = ("GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE")


def judge(program, folder):
    """Judges all of it with a server's program, in an empty folder."""
    judge_claims(program, folder)
    judge_golden(program, folder)


class Wall:
    """A wall clock under a server, moved by writing milliseconds into a file. The crash tests load the same layer."""

    def __init__(self, folder):
        self.folder = folder / "wall"
        self.folder.mkdir()
        self.library = self.folder / "files.so"
        source = ROOT / "tests" / "shim" / "files.c"
        command = ["cc", "-O1", "-std=gnu11", "-shared", "-fPIC", "-pthread", str(source), "-o", str(self.library)]
        subprocess.run(command, check=True)
        self.set(0)

    def set(self, milliseconds):
        # In place: servers have the file mapped.
        (self.folder / "off").touch()
        with open(self.folder / "off", "r+b") as file:
            file.write(milliseconds.to_bytes(8, sys.byteorder, signed=True))

    def settings(self):
        return {"LD_PRELOAD": str(self.library), "SHIM_FOLDER": str(self.folder), "SHIM_CLOCK": str(self.folder / "off")}


def work_in_turns(program, folder):
    """Tasks that agents of two servers claim, renew, take over, change, release and finish, and tasks that none claims."""
    wall = Wall(folder)
    one = Server(program, folder, **wall.settings(), COLIBRI_ACTOR="alice")
    two = Server(program, folder, **wall.settings())
    ids = [one.call("task_create", title=f"Task {number}", assignee="x", priority="low")["id"] for number in range(5)]
    taken, walked, dropped, untouched, chosen = ids
    claim = lambda server, agent, task, **more: server.call("task_claim", agent_id=agent, id=task, **more)["claim"]
    number = claim(one, "a", taken)
    one.call("task_update", id=taken, claim=number, title="\u6f22 \"B\"\n\u2028", depends_on=[untouched, dropped])
    claim(one, "a", taken, claim=number, lease_seconds=60)
    wall.set(61_000)
    assert one.call("task_claim", agent_id="b", id=chosen)["renewed"] is False
    one.call("task_update", id=taken, depends_on=[], assignee=None)
    number = claim(two, "\u6f22", taken)
    two.call("task_update", id=taken, claim=number, status="GATHER", description="")
    two.call("task_release", id=taken, claim=number)
    # A second release and an empty patch change nothing.
    two.call("task_release", id=taken, claim=number)
    one.call("task_update", id=taken)
    claim(one, "a", taken)
    # The clock is set back by less than a day, which counts for nothing, and later by more, which ends the mistake.
    wall.set(-60_000)
    number = claim(two, "c", walked)
    session = one.call("audit_session_start", intent="Walk")["session_id"]
    one.call("thought_record", type="plan", task_id=walked, agent_id="c", content="x", session_id=session)
    for status in (*STATES[:5], *STATES):
        one.call("task_update", id=walked, claim=number, status=status)
    wall.set(2 * 86_400_000)
    claim(two, "c", dropped)
    wall.set(0)
    claim(one, "d", untouched, claim=claim(one, "d", untouched))
    one.call("task_update", id=dropped, claim=1, status="CANCELLED")
    one.call("task_update", id=dropped, priority=None)
    born = one.call("task_create", title="Born later", status="VERIFY", depends_on=[dropped])["id"]
    one.call("thought_record", type="plan", task_id=born, agent_id="c", content="x", session_id=session)
    one.call("task_update", id=born, status="DONE")
    one.call("task_create", title="Without events", project_id="p")
    one.stop()
    two.stop()


def noticed(db, *statements, forged=()):
    """What the fold says once the statements have run; the database is afterwards as it was. The log agrees with forged tasks."""
    db.execute("SAVEPOINT edit")
    try:
        for sql, *values in statements:
            assert db.execute(sql, values).rowcount > 0, f"nothing to change: {sql}, {values}"
        for task in forged:
            answer_forged(db, task)
        found = verify.Findings()
        verify.check_histories(db, found)
        return list(found.counts)
    finally:
        db.execute("ROLLBACK TO edit")


def in_memory(database):
    """A copy without guards, to be edited and read by the same connection."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    with sqlite3.connect(database) as stored:
        stored.backup(db)
    stored.close()
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA ignore_check_constraints = ON")
    for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {trigger}")
    assert noticed(db) == []
    return db


def judge_each_value(database):
    """Each value of each event and claim is another, each row is gone, each event is there twice: all of it is noticed."""
    db, edits = in_memory(database), 0
    for table, key in (("task_events", "task_id = ? AND event_no = ?"), ("task_claims", "task_id = ?"), ("claim_clock", "id = ?")):
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        for row in rows:
            of = [row[column] for column in row.keys()[: key.count("?")]]
            statements = [(f"DELETE FROM {table} WHERE {key}", *of)]
            for column in row.keys():
                others = [other[column] for other in rows if other[column] not in (row[column], None)]
                value = others[0] if others else "2026-01-01T00:00:00.000Z"
                if column.endswith("_no") or column in ("id", "task_call"):
                    value = (row[column] or 0) + 1
                elif column == "at":
                    # One that is only just another.
                    value = row[column][:-2] + ("0Z" if row[column][-2] != "0" else "1Z")
                statements.append((f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {key}", value, *of))
            if table == "task_events":
                number = "(SELECT max(event_no) + 1 FROM task_events AS n WHERE n.task_id = e.task_id)"
                columns = ", ".join(row.keys()[2:])
                twice = f"INSERT INTO task_events SELECT task_id, {number}, {columns} FROM task_events AS e WHERE {key}"
                statements.append((twice, *of))
            for statement in statements:
                assert noticed(db, statement), f"not noticed: {statement}"
            edits += len(statements)
    db.close()
    return edits


# What is wrong with a history, and what the fold must say of it: `{0}` and so on are the tasks of `work_in_turns`.
FORGERIES = {
    "event_no has a gap, or no beginning": [
        "UPDATE task_events SET event_no = event_no + 1 WHERE task_id = '{4}' AND event_no = 2",
        "DELETE FROM task_events WHERE task_id = '{1}' AND event_no = 4",
        "UPDATE task_events SET kind = 'created' WHERE task_id = '{2}' AND event_no = 3",
    ],
    "not what was before the event": [
        "UPDATE task_events SET from_status = 'PLAN' WHERE task_id = '{1}' AND event_no = 5",
        "UPDATE task_events SET changes = replace(changes, 'Task 0', 'Task 9') WHERE task_id = '{0}' AND event_no = 3",
        "UPDATE task_events SET changes = replace(changes, ':', ': ') WHERE task_id = '{0}' AND event_no = 3",
        "UPDATE task_events SET changes = '{{\"title\":[\"Task 1\",\"Task 1\"]}}' WHERE task_id = '{1}' AND event_no = 3",
        "UPDATE task_events SET changes = '{{\"title\":[\"Task 2\",\"Task 1\"]}}' WHERE task_id = '{1}' AND event_no = 1",
        "UPDATE task_events SET changes = '{{\"title\":\"xy\"}}' WHERE task_id = '{1}' AND event_no = 3",
        "UPDATE task_events SET changes = '{{\"title\":[\"x\"]}}' WHERE task_id = '{1}' AND event_no = 3",
        "UPDATE task_events SET changes = '[1' WHERE task_id = '{1}' AND event_no = 3",
        "UPDATE task_events SET at = '2020-01-01T00:00:00.000Z' WHERE task_id = '{0}' AND event_no = 7",
        "UPDATE task_events SET agent_id = 'e' WHERE task_id = '{0}' AND event_no = 4",
        "UPDATE task_events SET claim_no = 3 WHERE task_id = '{0}' AND event_no = 6",
        "UPDATE task_events SET changes = '{{}}' WHERE task_id = '{0}' AND event_no = 6",
        "UPDATE task_events SET task_call = sequence_no WHERE task_id = '{3}' AND event_no = 2",
        "UPDATE task_events SET claim_no = 1 WHERE task_id = '{1}' AND event_no = 3",
    ],
    "no step of the pipeline": [
        "UPDATE task_events SET to_status = 'APPLY' WHERE task_id = '{1}' AND event_no = 4",
        "UPDATE task_events SET to_status = 'DONE' WHERE task_id = '{5}' AND event_no = 1",
    ],
    "event of no call": [
        "UPDATE task_events SET sequence_no = 9999 WHERE task_id = '{4}' AND event_no = 2",
        "UPDATE task_events SET sequence_no = NULL WHERE task_id = '{4}' AND event_no = 1",
        "UPDATE task_events SET sequence_no = (SELECT sequence_no FROM task_events WHERE task_id = '{3}' AND event_no = 2) "
        "WHERE task_id = '{4}' AND event_no = 2",
        "UPDATE task_events SET kind = 'migrated' WHERE task_id = '{4}' AND event_no = 1",
        "UPDATE task_events SET kind = 'deleted' WHERE task_id = '{1}' AND event_no = 3",
        "UPDATE callers SET boot_id = 'x'",
        "DELETE FROM callers WHERE caller_no = 2",
        "UPDATE actions SET outcome = 'error' WHERE tool = 'task_claim'",
        "UPDATE actions SET tool = 'task_get' WHERE tool = 'task_release'",
        "UPDATE actions SET subject = NULL WHERE tool = 'task_claim'",
    ],
    "not what was answered": [
        "UPDATE task_events SET changes = replace(changes, 'low', 'high') WHERE event_no = 1",
        "UPDATE task_events SET changes = '{{\"assignee\":[null,\"x\"],\"title\":[null,\"Task 4\"]}}' "
        "WHERE task_id = '{4}' AND event_no = 1",
        "UPDATE task_events SET lease_until = '2030-01-01T00:00:00.000Z' WHERE task_id = '{4}' AND event_no = 2",
        "UPDATE task_events SET at = '2030-01-01T00:00:00.000Z' WHERE task_id = '{0}' AND event_no = 7",
    ],
    "one event alone": [
        "INSERT INTO task_events SELECT task_id, event_no, sequence_no, sequence_no, kind, from_status, to_status, at, changes, claim_no, "
        "agent_id, lease_until FROM task_event_list WHERE task_id = '{6}'",
    ],
    "events of no task": ["DELETE FROM tasks WHERE id = '{4}'"],
    "row of the task": [
        "UPDATE tasks SET title = 'x' WHERE id = '{4}'",
        "UPDATE tasks SET status = 'GATHER' WHERE id = '{3}'",
        "DELETE FROM task_dependencies WHERE task_id = '{5}'",
    ],
    "row without an event": ["UPDATE tasks SET sequence_no = sequence_no + 1 WHERE id = '{4}'"],
    "row of the claim": [
        # The claim of another caller.
        "UPDATE task_claims SET caller_no = 3 - caller_no WHERE task_id = '{1}'",
        "UPDATE task_claims SET released_at = NULL WHERE task_id = '{2}'",
        "UPDATE task_claims SET released_at = claimed_at WHERE task_id = '{4}'",
        "DELETE FROM task_claims WHERE task_id = '{4}'",
    ],
    "claim without an event": [
        "INSERT INTO task_claims SELECT '{6}', claim_no, agent_id, caller_no, claimed_at, lease_until, released_at, sequence_no "
        "FROM task_claims WHERE task_id = '{4}'",
    ],
    "call without an event": [
        "DELETE FROM task_events",
        "DELETE FROM task_events WHERE task_id = '{5}'",
        "DELETE FROM task_events WHERE task_id = '{1}' AND event_no = 13",
    ],
    "time of a claim": ["UPDATE task_events SET at = '2030-01-01T00:00:00.000Z' WHERE task_id = '{4}' AND event_no = 2"],
    "clock of claims": ["UPDATE claim_clock SET latest = '2030-01-01T00:00:00.000Z'", "DELETE FROM claim_clock"],
}

# Several rows changed together, so that they agree with one another or nearly so: the log says otherwise.
CONSPIRACIES = [
    # Two events change places.
    [f"UPDATE task_events SET event_no = {to} WHERE task_id = '{{2}}' AND event_no = {at}" for at, to in ((3, 9), (4, 3), (9, 4))],
    [
        "UPDATE task_events SET changes = replace(changes, 'Task 4', 'Task 7') WHERE task_id = '{4}'",
        "UPDATE tasks SET title = 'Task 7' WHERE id = '{4}'",
    ],
    [
        "UPDATE task_events SET agent_id = 'e' WHERE task_id = '{4}' AND event_no = 2",
        "UPDATE task_claims SET agent_id = 'e' WHERE task_id = '{4}'",
    ],
    ["DELETE FROM task_events WHERE task_id = '{4}'", "DELETE FROM task_claims WHERE task_id = '{4}'"],
    [
        "DELETE FROM task_events WHERE task_id = '{2}' AND event_no = 4",
        "UPDATE tasks SET priority = 'low', sequence_no = (SELECT task_call FROM task_events WHERE task_id = '{2}' AND event_no = 3) "
        "WHERE id = '{2}'",
    ],
]

# Rules that are broken where the log agrees: the calls' replies are forged too.
BROKEN_RULES = [
    # A claim of a finished task.
    [
        "UPDATE task_events SET to_status = 'CANCELLED', from_status = CASE event_no WHEN 2 THEN 'CANCELLED' END WHERE task_id = '{4}'",
        "UPDATE tasks SET status = 'CANCELLED' WHERE id = '{4}'",
    ],
    # Claims that begin with 2.
    [
        "UPDATE task_events SET claim_no = 2 WHERE task_id = '{4}' AND event_no = 2",
        "UPDATE task_claims SET claim_no = 2 WHERE task_id = '{4}'",
    ],
    # A change before the one before.
    [
        "UPDATE task_events SET at = '2020-01-01T00:00:00.000Z' WHERE task_id = '{2}' AND event_no = 4",
        "UPDATE tasks SET updated_at = '2020-01-01T00:00:00.000Z' WHERE id = '{2}'",
    ],
    # A beginning that says when the task was created.
    [
        "UPDATE task_events SET changes = '{{\"created_at\":[null,\"x\"],\"title\":[null,\"Task 4\"]}}' "
        "WHERE task_id = '{4}' AND event_no = 1",
        "UPDATE tasks SET assignee = NULL, priority = NULL WHERE id = '{4}'",
    ],
]


def answer_forged(db, task_id):
    """Puts the reply that each event gives into the log."""
    history = verify.History(task_id)
    for event in db.execute("SELECT * FROM task_events WHERE task_id = ? ORDER BY event_no", [task_id]).fetchall():
        taken_from = history.claim["agent_id"] if event["kind"] == "taken_over" else None
        history.take(event, None)
        reply = {"ok": True, "data": history.reply(event, taken_from)}
        values = [verify.sha256(verify.canonical(reply)), event["sequence_no"]]
        db.execute("UPDATE actions SET result_hash = ? WHERE sequence_no = ?", values)


def judge_claims(program, folder):
    """Histories with claims are sound for both verifiers, and forged ones are not."""
    folder = folder / "turns"
    folder.mkdir()
    work_in_turns(program, folder)
    database = folder / "colibri.db"
    agree(program, database)
    db = in_memory(database)
    tasks = [row["id"] for row in db.execute("SELECT id FROM tasks ORDER BY rowid")]
    kinds = {row["kind"] for row in db.execute("SELECT kind FROM task_events")}
    assert kinds == verify.EVENT_TOOLS.keys() - {"migrated"}, kinds
    for kind, forgeries in FORGERIES.items():
        agree(program, forged_file(database, forgeries[0].format(*tasks)), wanted=1)
        for sql in forgeries:
            found = noticed(db, (sql.format(*tasks),))
            assert f"history: {kind}" in found, f"{sql}: {found}"
    for forgery in CONSPIRACIES:
        assert noticed(db, *((sql.format(*tasks),) for sql in forgery)), forgery
    for rule in BROKEN_RULES:
        found = noticed(db, *((sql.format(*tasks),) for sql in rule), forged=tasks[:5])
        assert found == ["history: not what was before the event"], f"{rule}: {found}"
    day = "2026-11-24T10:00:00.000Z"
    for entered_at, latest, at in [
        ("2026-11-23T10:00:00.000Z", "", "2026-11-23T10:00:00.000Z"),
        ("2026-11-23T10:00:00.000Z", day, day),
        ("2026-11-23T09:59:59.999Z", day, "2026-11-23T09:59:59.999Z"),
        ("2026-11-24T10:00:00.001Z", day, "2026-11-24T10:00:00.001Z"),
    ]:
        assert verify.claim_time(entered_at, latest) == at, (entered_at, latest)
    # A task that was born in VERIFY would have earned without the work before.
    born = "UPDATE task_events SET to_status = 'VERIFY' WHERE task_id = '{1}' AND event_no = 1".format(*tasks)
    db.execute(born)
    found = verify.Findings()
    verify.check_ledger(db, found)
    assert list(found.counts) == ["ledger: entry for a task that could not earn"], found.counts
    db.close()
    forged = sum(map(len, FORGERIES.values())) + len(CONSPIRACIES) + len(BROKEN_RULES) + 1
    print(f"{forged} forged histories and {judge_each_value(database)} changed values, each noticed")


def agree(program, database, wanted=0):
    """Both verifiers judge a database so: sound, 0, or not, 1. A sound one may be signed by a key that is not given: 3."""
    first = subprocess.run([program, "verify", "--db", str(database)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    second = subprocess.run([sys.executable, verify.__file__, str(database)], stdout=subprocess.PIPE, text=True)
    codes = {wanted, 3} if wanted == 0 else {wanted}
    fits = first.returncode == second.returncode and first.returncode in codes
    assert fits, f"{database}: {first.returncode}, {second.returncode}:\n{first.stdout}\n{second.stdout}"


def forged_file(database, sql):
    """A copy with one forgery, which has its guards again."""
    copy = database.with_name("forged.db")
    shutil.copy(database, copy)
    db = sqlite3.connect(copy)
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    assert db.execute(sql).rowcount > 0, f"nothing to change: {sql}"
    for _, guard in guards:
        db.execute(guard)
    db.commit()
    db.close()
    return copy


def late_call(db):
    """Tells of a change that a server of 0.1.0 stored behind the migration, as its event would be found; the task's id.

    Between its creation and its change a task's row was what its creation answered.
    """
    tied = "SELECT * FROM actions WHERE subject = ? AND outcome = 'ok' ORDER BY exit_no"
    for row in db.execute("SELECT * FROM tasks WHERE status = 'GATHER'").fetchall():
        created, *changes = db.execute(tied, [row["id"]]).fetchall()
        now = verify.task_reply(db, row)
        before = now | {"status": "INIT", "updated_at": row["created_at"]}
        if len(changes) != 1 or verify.sha256(verify.canonical({"ok": True, "data": before})) != created["result_hash"]:
            continue
        for number, (call, task) in enumerate([(created, before), (changes[0], now)], 1):
            fields = {*verify.TASK_FIELDS, "depends_on"}
            whole = verify.canonical({name: [None, task[name]] for name in fields if task.get(name) is not None})
            call_no = call["sequence_no"]
            event = (row["id"], number, call_no, call_no, "migrated", None, task["status"], task["updated_at"], whole)
            db.execute("INSERT INTO task_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL)", event)
        db.commit()
        return row["id"]
    return None


def judge_golden(program, folder):
    """Databases of earlier releases are sound once this release has migrated them, and once it has gone on with their tasks."""
    edits, late, packed = 0, [], sorted((ROOT / "tests" / "golden_databases").glob("*.db.gz"))
    assert packed, "no golden databases"
    for path in packed:
        name = path.name.removesuffix(".db.gz")
        place = folder / name
        place.mkdir()
        database = place / "colibri.db"
        for part in ("db", "db-wal"):
            source = path.with_name(f"{name}.{part}.gz")
            if source.exists():
                database.with_suffix(f".{part}").write_bytes(gzip.decompress(source.read_bytes()))
        Server(program, place).stop()
        agree(program, database)
        db = sqlite3.connect(database)
        db.row_factory = sqlite3.Row
        late.append(late_call(db))
        tasks = [row["id"] for row in db.execute("SELECT id FROM tasks WHERE deleted_at IS NULL LIMIT 8")]
        held = db.execute("SELECT task_id, claim_no FROM task_claims WHERE released_at IS NULL")
        numbers = {row["task_id"]: {"claim": row["claim_no"]} for row in held}
        db.close()
        server = Server(program, place)
        claimed = [server.call("task_claim", agent_id="a") for _ in range(3)]
        numbers |= {claim["task"]["id"]: {"claim": claim["claim"]} for claim in claimed if claim["task"]}
        for task in tasks:
            server.call("task_update", id=task, description="by this release", **numbers.get(task, {}))
        server.stop()
        agree(program, database)
        if tasks:
            edits += judge_each_value(database)
    assert any(late), "no golden database has a task that was changed once"
    print(f"{len(packed)} databases of earlier releases are sound, and {edits} changed values of them are noticed")
