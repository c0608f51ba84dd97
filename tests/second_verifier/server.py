"""The real server, driven over pipes as any MCP client would."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Server:
    def __init__(self, program, folder, **settings):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("COLIBRI_")}
        variables |= {"COLIBRI_DB_PATH": str(folder / "colibri.db"), "COLIBRI_LOG_LEVEL": "error", **settings}
        self.process = subprocess.Popen(
            [program], cwd=folder, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.number = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "run", "version": "1"}})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, tool, **arguments):
        envelope = self.request("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]
        assert envelope["ok"] and envelope["data"].get("ok") is not False, envelope
        return envelope["data"]

    def stop(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
