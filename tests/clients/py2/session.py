"""The official Python SDK, 2.x, in a session with any server."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from steps import run_steps

MODES = {"handshake": "legacy"}


@contextlib.asynccontextmanager
async def open_client(era, program, answers):
    async def sample(_context, _params):
        return types.CreateMessageResult.model_validate(answers["sampling"])

    async def elicit(_context, _params):
        return types.ElicitResult.model_validate(answers["elicitation"])

    async def list_roots(_context):
        return types.ListRootsResult.model_validate(answers["roots"])

    asked = {"sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": list_roots}
    with open(os.devnull, "w") as nowhere:
        transport = stdio_client(StdioServerParameters(command=program), errlog=nowhere)
        async with Client(transport, mode=MODES.get(era, era), **asked) as client:
            yield {
                "ping": client.send_ping,
                "tools": client.list_tools,
                "resources": client.list_resources,
                "prompts": client.list_prompts,
                "call": lambda tool, arguments, hear: client.call_tool(tool, arguments, progress_callback=hear),
            }


asyncio.run(run_steps(open_client))
