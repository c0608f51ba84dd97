"""What passed between a client, `colibri wrap` and a server, as tee.py wrote it down: compared, and read call by call."""

import hashlib
import json
import re

OWN = "colibri-wrap:"
"""How the ids of wrap's own requests begin. At the server's end they stand among the client's."""


class Record:
    """The bytes at one end: `sent` from the client's side, `received` from the server's."""

    def __init__(self, sent, received):
        self.sent, self.received = sent, received

    @classmethod
    def read(cls, file):
        return cls(*(file.with_name(f"{file.name}.{way}").read_bytes() for way in ("in", "out")))

    def own(self):
        """The requests that wrap made for itself."""
        return [line for line in lines(self.sent) if is_own(line)] if OWN.encode() in self.sent else []

    def without_own(self):
        """The same record without wrap's own requests and their answers."""
        if not self.own():
            return self
        return Record(*(b"".join(line for line in lines(way) if not is_own(line)) for way in (self.sent, self.received)))

    def messages(self):
        return len(lines(self.sent)) + len(lines(self.received))

    def size(self):
        return len(self.sent) + len(self.received)

    def calls(self):
        """Each call of a tool: its name, the hash of its arguments, and of its answer the hash, the outcome and the code, as a row
        of the log must have them."""
        answers = {}
        for line in lines(self.received):
            parts = members(line)
            if "id" in parts and "method" not in parts:
                answers[parts["id"]] = parts
        calls = []
        for line in lines(self.sent):
            message = json.loads(line)
            if message.get("method") == "tools/call":
                params = message["params"]
                assert set(params) <= {"name", "arguments", "_meta"}, f"other hashes are asked for: {sorted(params)}"
                arguments = sha256(canonical(params.get("arguments") or {}).encode())
                calls.append((params["name"], arguments, *_ended(answers.get(members(line)["id"]))))
        return calls


def lines(data):
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def is_own(line):
    # A line that was cut off holds no whole message.
    return OWN.encode() in line and str(json.loads(line).get("id")).startswith(OWN)


def members(line):
    """The members of a message, each with the bytes of its value as they were written."""
    text, decoder, found = line.decode(), json.JSONDecoder(), {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        begin = _skip(text, _skip(text, at) + 1)
        _, end = decoder.raw_decode(text, begin)
        found[key] = text[begin:end].encode()
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    """RFC 8785 for what the plans hold: names of the Basic Multilingual Plane, and numbers that Python writes as JavaScript does."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _skip(text, at):
    return re.compile(r"[ \t\r\n]*").match(text, at).end()


def _ended(answer):
    if answer is None:
        return None, "aborted", None
    if "error" in answer:
        return sha256(answer["error"]), "error", "RPC_ERROR"
    failed = json.loads(answer["result"]).get("isError") is True
    return sha256(answer["result"]), "domain_error" if failed else "ok", "TOOL_ERROR" if failed else None
