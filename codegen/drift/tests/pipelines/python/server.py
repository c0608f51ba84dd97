"""A server of two tools on the official Python SDK."""

from typing import Literal

from mcp.server import MCPServer

server = MCPServer("notes", version="1.0.0")
notes: list[str] = ["The door squeaks"]


@server.tool()
def list_notes(order: Literal["newest", "oldest"] = "newest") -> list[str]:
    """Lists notes."""
    return notes if order == "oldest" else notes[::-1]


@server.tool()
def add_note(text: str) -> int:
    """Adds a note, and returns how many there are."""
    notes.append(text)
    return len(notes)


if __name__ == "__main__":
    server.run()
