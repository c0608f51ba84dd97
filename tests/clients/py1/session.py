"""The official Python SDK, 1.x, in a session with any server."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from steps import run_steps


@contextlib.asynccontextmanager
async def open_client(_era, program, answers):
    async def sample(_context, _params):
        return types.CreateMessageResult.model_validate(answers["sampling"])

    async def elicit(_context, _params):
        return types.ElicitResult.model_validate(answers["elicitation"])

    async def list_roots(_context):
        return types.ListRootsResult.model_validate(answers["roots"])

    server = StdioServerParameters(command=program)
    asked = {"sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": list_roots}
    with open(os.devnull, "w") as nowhere:
        async with stdio_client(server, errlog=nowhere) as (read, write), ClientSession(read, write, **asked) as session:
            await session.initialize()
            yield {
                "ping": session.send_ping,
                "tools": session.list_tools,
                "resources": session.list_resources,
                "prompts": session.list_prompts,
                "call": lambda tool, arguments, hear: session.call_tool(tool, arguments, progress_callback=hear),
            }


asyncio.run(run_steps(open_client))
