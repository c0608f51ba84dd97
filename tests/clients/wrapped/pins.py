"""Two clients of one server that lists more tools to a client with roots: once both lists are accepted, neither differs.

The client is a few lines of its own, since the official ones always say that they have roots. `colibri wrap` withholds what is
not pinned, so the second client does not see the tool of its own until the list is accepted."""

import json
import os
import subprocess

from sessions import BINARY, HERE, require, wrapping

SERVER = "everything"
ONLY_WITH_ROOTS = "get-roots-list"
ANSWER_SECONDS = 60


def run(report, folder):
    report.check("pins", f"handshake  {SERVER} with and without roots", lambda: share_a_pin(folder / "pins.db"))


def share_a_pin(database):
    with Client(database, roots=False) as without, Client(database, roots=True) as other:
        require(not without.call("echo", message="first").get("isError"), "the first list is the pin")
        shared = without.names()
        require(ONLY_WITH_ROOTS not in shared, f"a client without roots gets {shared}")
        refused = other.call(ONLY_WITH_ROOTS)
        require(refused.get("isError") and "not among the pinned ones" in str(refused), f"a tool that is not pinned was called: {refused}")
        require(other.names() == shared, f"the client with roots reads {other.names()} before its list is accepted")
        command(database, "pins", "accept", SERVER)
        require(not other.call(ONLY_WITH_ROOTS).get("isError"), "the accepted tool is refused")
        complete = other.names()
        require([name for name in complete if name not in shared] == [ONLY_WITH_ROOTS], f"with roots there are {complete}")
    for roots, expected in [(False, shared), (True, complete), (False, shared)]:
        with Client(database, roots) as again:
            require(not again.call("echo", message="again").get("isError"), "a pinned tool is refused")
            require(again.names() == expected, f"with roots {roots}: {again.names()}")
        require("WARN [wrap]" not in again.said, again.said)
    command(database, "pins", "diff", SERVER)
    command(database, "verify")
    state = json.loads(command(database, "pins", "--json"))
    require([pin["another_since"] for pin in state] == [None], f"another list waits: {state}")
    return f"{len(shared)} tools, and {len(complete)} with roots; neither list differs from the pin"


def command(database, *words):
    """Runs a command, which must end with 0; what it printed."""
    environment = {**os.environ, "COLIBRI_DB_PATH": str(database)}
    ended = subprocess.run([BINARY, *words], capture_output=True, text=True, env=environment)
    require(ended.returncode == 0, f"colibri {words}: {ended.stdout}{ended.stderr}")
    return ended.stdout


class Client:
    """A client of the wrapped server, which says that it has roots or that it has none."""

    def __init__(self, database, roots):
        server = ["node", HERE / "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]
        command = [*wrapping(database, SERVER, "--pin", "refuse"), "--", *server]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process, self.asked, self.said = subprocess.Popen(command, text=True, bufsize=1, **pipes), 0, ""
        capabilities = {"roots": {}} if roots else {}
        info = {"name": "pins", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities=capabilities, clientInfo=info)
        self.send(method="notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _, self.said = self.process.communicate(timeout=ANSWER_SECONDS)

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def ask(self, method, **params):
        """Sends a request and returns its result. Answers what the server asks meanwhile."""
        self.asked += 1
        self.send(id=self.asked, method=method, params=params)
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "roots/list":
                self.send(id=message["id"], result={"roots": [{"uri": "file:///srv", "name": "srv"}]})
            elif message.get("id") == self.asked and "method" not in message:
                require("result" in message, f"{method} was answered {message}")
                return message["result"]
        raise RuntimeError(f"the server ended: {self.process.stderr.read()}")

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)

    def names(self):
        return [tool["name"] for tool in self.ask("tools/list")["tools"]]
