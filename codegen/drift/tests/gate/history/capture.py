#!/usr/bin/env python3
"""Asks a server that speaks MCP over stdio for its tools and writes the answers as one JSON file.

    capture.py OUT.json REGISTRY PACKAGE VERSION -- COMMAND [ARGUMENT...]

The file holds where it came from, what `initialize` answered, and all pages of `tools/list` as one
`tools` array. `colibri-codegen drift --from-tools-list` reads it.
"""

import datetime
import json
import subprocess
import sys
import threading


def main() -> None:
    head, command = sys.argv[1 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
    out, registry, package, version = head
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    timer = threading.Timer(60, server.kill)
    timer.start()
    number = 0

    def send(message: dict) -> None:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def ask(method: str, params: dict) -> dict:
        nonlocal number
        number += 1
        send({"id": number, "method": method, "params": params})
        for line in server.stdout:
            try:
                message = json.loads(line)
            except json.JSONDecodeError:
                continue
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
        raise SystemExit(f"{method}: the server ended without an answer")

    client = {"name": "capture", "version": "1"}
    greeting = ask(
        "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    )
    send({"method": "notifications/initialized"})
    tools, cursor = [], None
    while True:
        page = ask("tools/list", {"cursor": cursor} if cursor else {})
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor:
            break
    timer.cancel()
    server.kill()
    origin = {
        "registry": registry,
        "package": package,
        "version": version,
        "captured": datetime.date.today().isoformat(),
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"origin": origin, "initialize": greeting, "tools": tools}, file, indent=1, ensure_ascii=False)
        file.write("\n")


main()
