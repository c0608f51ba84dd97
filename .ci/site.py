"""A preprocessor of mdBook: links to files that are not in the site lead to the repository, and a block in a language that its
highlighter does not know is plain text.

mdBook writes the book to stdin, and reads the changed one from stdout. `docs/book.toml` has the repository's address.
"""

import json
import os
import re
import sys

# A link's target, as pages write it: `](target)`. What a block of code shows is not one.
LINK = re.compile(r"\]\(([^)\s:]+)\)")
# Blocks whose language is one of ours.
OURS = re.compile(r"^```(preimage|export)$", re.MULTILINE)
# What a folder's first page is called.
FIRST = "README.md"


def pages(items):
    """Every page of a list of chapters, with those below it."""
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            yield chapter
            yield from pages(chapter["sub_items"])


def rewritten(text, folder, root, docs, repository):
    """The text of a page in `folder`, below `docs` in the work tree `root`."""

    def link(match):
        path, _, anchor = match[1].partition("#")
        target = os.path.normpath(os.path.join(docs, folder, path))
        inside = os.path.commonpath([target, docs]) == docs and os.path.isfile(target)
        if not path or inside or not os.path.exists(target):
            return match[0]
        kind = "tree" if os.path.isdir(target) else "blob"
        address = f"{repository}/{kind}/HEAD/{os.path.relpath(target, root)}"
        return f"]({address}#{anchor})" if anchor else f"]({address})"

    blocks = text.split("```")
    return "```".join(LINK.sub(link, part) if index % 2 == 0 else part for index, part in enumerate(blocks))


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    docs = os.path.realpath(os.path.join(context["root"], context["config"]["book"]["src"]))
    root = os.path.dirname(docs)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    for page in pages(book["items"]):
        folder = os.path.dirname(page["source_path"] or FIRST)
        content = OURS.sub("```text", page["content"])
        page["content"] = rewritten(content, folder, root, docs, repository)
    json.dump(book, sys.stdout)


main()
