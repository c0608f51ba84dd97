"""The official Python SDK, 1.x: the handshake era."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import McpError
from plan import Report, binary, folder, require, run_plan, run_progress, stalled_provider, variables

ERA = "handshake"


async def main(report):
    with folder() as path:
        server = StdioServerParameters(command=binary(), env=variables(path))
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:

            async def initialize():
                answer = await session.initialize()
                require(answer.serverInfo.name == "colibri", f"{answer}")
                require(answer.capabilities.tools is not None and answer.instructions, f"{answer}")

            async def list_tools():
                return [_json(tool) for tool in (await session.list_tools()).tools]

            async def call(tool, arguments):
                return _json(await session.call_tool(tool, arguments))

            async def unknown():
                try:
                    answer = await session.call_tool("no_such_tool", {})
                except McpError as error:
                    require(error.error.code == -32602, f"{error.error}")
                else:
                    require(False, f"answered: {answer}")

            await report.check(ERA, "initialize", initialize)
            await report.check(ERA, "ping", session.send_ping)
            await run_plan(report, ERA, list_tools, call, unknown)
    with folder() as path, stalled_provider(path) as environment:
        server = StdioServerParameters(command=binary(), env=environment)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:

            async def long_call(tool, arguments, hear):
                return _json(await session.call_tool(tool, arguments, progress_callback=hear))

            await session.initialize()
            await run_progress(report, ERA, long_call)


def _json(model):
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


REPORT = Report("python-1.x")
asyncio.run(main(REPORT))
REPORT.finish()
