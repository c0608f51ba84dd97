"""A session of a Python client with any server: the steps of a file in their order, and for each a line of JSON with what the
client got. `wrapped/client.py` compares sessions with a bare and a wrapped server; steps.mjs is its twin."""

import asyncio.unix_events
import json
import sys
from pathlib import Path

from anyio._backends._asyncio import StreamReaderWrapper


async def run_steps(open_client):
    """Runs the session that the command line names: an era, a file of steps, and the program that starts the server.
    `open_client(era, program, answers)` connects, with `answers` to what the server asks, and gives an action for each kind
    of step."""
    era, file, program = sys.argv[1:]
    plan = json.loads(Path(file).read_text(encoding="utf-8"))
    if "piece_bytes" in plan:
        _read_pieces(plan["piece_bytes"])
    connected = False
    try:
        async with open_client(era, program, plan["answers"]) as actions:
            connected = True
            _print({"step": "connect", "result": None})
            for step in plan["steps"]:
                await _run_step(actions, step)
    except Exception as error:  # what the client says of a server that it cannot talk to is a result, too
        _print({"step": "close" if connected else "connect", "error": _told(error)})


def _read_pieces(size):
    """Has asyncio and anyio read up to `size` bytes at once. A name that another version lacks ends the session."""
    transport, receive = asyncio.unix_events._UnixReadPipeTransport, StreamReaderWrapper.receive
    if len(receive.__defaults__) != 1 or transport.max_size > size:
        sys.exit(f"anyio reads {receive.__defaults__} bytes, asyncio {transport.max_size}: see _read_pieces")
    transport.max_size, receive.__defaults__ = size, (size,)


async def _run_step(actions, step):
    # What a listener hears is not printed: TypeScript's clients may miss the last, and the bytes are compared.
    async def hear(_progress, _total, _message):
        pass

    arguments = [step["tool"], step["arguments"], hear if step.get("progress") else None] if "tool" in step else []
    try:
        model = await actions[step["do"]](*arguments)
        ended = {"result": model.model_dump(mode="json", by_alias=True, exclude_unset=True)}
    except Exception as error:  # one failed step must not hide the others
        ended = {"error": _told(error)}
    _print({"step": step.get("tool", step["do"]), **ended})


def _told(error):
    """What an error says; of a group, what its first member says."""
    while members := getattr(error, "exceptions", None):
        error = members[0]
    code = getattr(getattr(error, "error", None), "code", None)
    return {"kind": type(error).__name__, "code": code, "message": str(error)}


def _print(value):
    print(json.dumps(value), flush=True)
