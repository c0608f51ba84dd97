"""What every Python client does with a server: the calls of calls.json in their order, the refusals
after them, a call of a tool that is not there, and a long call that tells how far it is. One line for
each; plan.mjs is its twin."""

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

import jsonschema

_PLAN = json.loads((Path(__file__).parent / "calls.json").read_text(encoding="utf-8"))
CALLS, REFUSALS, PROGRESS = _PLAN["calls"], _PLAN["refusals"], _PLAN["progress"]


def binary():
    """The server's binary."""
    if not os.environ.get("COLIBRI_BIN"):
        sys.exit("COLIBRI_BIN must name the server's binary")
    return os.environ["COLIBRI_BIN"]


def folder():
    """A folder for a database, which goes away."""
    return tempfile.TemporaryDirectory(prefix="colibri-client-")


def variables(in_folder):
    """The server's environment."""
    return {"COLIBRI_DB_PATH": os.path.join(in_folder, "colibri.db"), "COLIBRI_LOG_LEVEL": "warn"}


@contextlib.contextmanager
def stalled_provider(in_folder):
    """The environment of a server whose providers take a request and never answer it: a call of the router
    then lasts as long as its attempts may."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as provider:
        url = f"http://127.0.0.1:{provider.getsockname()[1]}"
        candidates = Path(in_folder, "candidates.json")
        candidates.write_text(json.dumps({"candidates": PROGRESS["candidates"]}), encoding="utf-8")
        yield {
            **variables(in_folder),
            **PROGRESS["settings"],
            **dict.fromkeys(PROGRESS["bases"], url),
            "COLIBRI_ROUTER_CANDIDATES": f"file:{candidates}",
        }


def require(condition, message):
    """Ends the check with that message unless the condition holds."""
    if not condition:
        raise AssertionError(message)


class Report:
    """A run of one client: counts, and prints a line for each check."""

    def __init__(self, client):
        self.client, self.passed, self.failed = client, 0, 0

    async def check(self, era, name, action):
        """Runs one check; whatever it raises is a failure with that text."""
        try:
            value = await action()
        except Exception as error:  # one failed check must not hide the others
            self.failed += 1
            print(f"FAIL  {self.client}  {era}  {name}: {type(error).__name__}: {error}", flush=True)
            return None
        self.passed += 1
        print(f"ok    {self.client}  {era}  {name}", flush=True)
        return value

    def finish(self):
        """The closing line, and the exit code that goes with it."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(0 if self.failed == 0 and self.passed > 0 else 1)


async def run_plan(report, era, list_tools, call, unknown):
    """The whole plan against one connection. `list_tools()` gives tools as JSON objects, `call(tool,
    arguments)` a result as one, `unknown()` calls a tool that is not there and checks its refusal."""

    async def listed():
        tools = {tool["name"]: tool for tool in await list_tools()}
        # A tool that talks to the outside has no call that succeeds here; it is among the refusals.
        planned = set(CALLS) | {case["tool"] for case in REFUSALS}
        require(sorted(tools) == sorted(planned), f"calls.json has every tool: {sorted(tools)}")
        return tools

    tools = await report.check(era, "tools/list", listed)
    if tools is None:
        return
    replies = {}

    async def perform(tool, template):
        envelope = _envelope(await call(tool, _fill(template, replies)))
        jsonschema.Draft202012Validator(tools[tool]["outputSchema"]).validate(envelope)
        return envelope

    for tool, template in CALLS.items():

        async def succeed():
            envelope = await perform(tool, template)
            require(envelope["ok"] is True and envelope["data"].get("ok") is not False, f"refused: {envelope}")
            replies[tool] = envelope

        await report.check(era, tool, succeed)
    for case in REFUSALS:

        async def refuse():
            envelope = await perform(case["tool"], case["arguments"])
            require(envelope["ok"] is (case["pattern"] == "B"), f"{envelope}")
            error = (envelope if case["pattern"] == "A" else envelope["data"])["error"]
            require(error["code"] == case["code"], f"{envelope}")

        await report.check(era, f"{case['tool']} ({case['title']})", refuse)
    await report.check(era, "a tool that is not there", unknown)


async def run_progress(report, era, call):
    """A long call with a listener: `call(tool, arguments, hear)` passes each notification to `hear`."""

    async def hears():
        heard = []

        async def hear(progress, total, message):
            heard.append((progress, total, message))

        result = await call(PROGRESS["tool"], PROGRESS["arguments"], hear)
        require(result["isError"] is True, f"no provider answers: {result}")
        # Each attempt lasts for two seconds and more, and tells once that it was begun.
        expected = [(1, 2, PROGRESS["messages"][0]), (2, 2, PROGRESS["messages"][1])]
        require(heard == expected, f"{heard}")
        await asyncio.sleep(1.5)
        require(len(heard) == len(expected), "nothing is heard after the reply")

    await report.check(era, f"{PROGRESS['tool']} (progress)", hears)


def _envelope(result):
    """The envelope of a result whose three parts agree: structured content, text block, error flag."""
    envelope = result["structuredContent"]
    text, *others = [json.loads(block["text"]) for block in result["content"]]
    require(text == envelope, "text block and structuredContent agree")
    # What is said beside the result, such as that a vote does not count.
    require([list(other) for other in others] in ([], [["warnings"]]), "content is one block and perhaps a notice")
    require(bool(result.get("isError")) is (envelope["ok"] is False), "isError is set for Pattern A alone")
    return envelope


def _fill(template, replies):
    """Arguments with every `{"$from": tool, "pointer": …}` replaced from that tool's reply."""
    if isinstance(template, list):
        return [_fill(item, replies) for item in template]
    if not isinstance(template, dict):
        return template
    if "$from" in template:
        value = replies[template["$from"]]
        for key in template["pointer"].split("/")[1:]:
            value = value[key]
        return value
    return {key: _fill(value, replies) for key, value in template.items()}
