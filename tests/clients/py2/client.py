"""The official Python SDK, 2.x: both eras, and the probe that finds out by itself."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from mcp import Client, MCPError, StdioServerParameters
from plan import Report, binary, folder, require, run_plan, run_progress, stalled_provider, variables

MODES = [
    ("handshake", "legacy", "2025-11-25"),
    ("2026-07-28", "2026-07-28", "2026-07-28"),
    ("auto", "auto", "2026-07-28"),
]


async def run_mode(report, era, mode, version):
    with folder() as path:
        server = StdioServerParameters(command=binary(), env=variables(path))
        async with Client(server, mode=mode) as client:

            async def connect():
                require(client.protocol_version == version, client.protocol_version)
                # A pinned version asks the server nothing, so the client does not know its name yet.
                if mode != version:
                    require(client.server_info.name == "colibri", f"{client.server_info}")
                    require(client.instructions, "instructions are there")

            async def list_tools():
                return [_json(tool) for tool in (await client.list_tools()).tools]

            async def call(tool, arguments):
                return _json(await client.call_tool(tool, arguments))

            async def unknown():
                try:
                    answer = await client.call_tool("no_such_tool", {})
                except MCPError as error:
                    require(error.error.code == -32602, f"{error.error}")
                else:
                    require(False, f"answered: {answer}")

            await report.check(era, "connect", connect)
            await run_plan(report, era, list_tools, call, unknown)
    with folder() as path, stalled_provider(path) as environment:
        server = StdioServerParameters(command=binary(), env=environment)
        async with Client(server, mode=mode) as client:

            async def long_call(tool, arguments, hear):
                return _json(await client.call_tool(tool, arguments, progress_callback=hear))

            await run_progress(report, era, long_call)


async def main(report):
    for era, mode, version in MODES:
        await run_mode(report, era, mode, version)


def _json(model):
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


REPORT = Report("python-2.x")
asyncio.run(main(REPORT))
REPORT.finish()
