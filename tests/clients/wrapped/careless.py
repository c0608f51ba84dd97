"""A relay as it must not be: passes on what goes in and what comes out, but for a change of one byte.

    careless.py in|out BEFORE AFTER -- COMMAND [ARGS…]

The first line with BEFORE, of those that go in or come out, leaves with AFTER instead. It stands where wrap would, or before wrap."""

import os
import subprocess
import sys
import threading


def copy(source, target, change):
    for line in source:
        if change and change[0] in line:
            line, change = line.replace(*change, 1), None
        target.write(line)
        target.flush()
    target.close()


def main(way, before, after, _separator, *command):
    change = (before.encode(), after.encode())
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    inward = (sys.stdin.buffer, child.stdin, change if way == "in" else None)
    threading.Thread(target=copy, args=inward, daemon=True).start()
    copy(child.stdout, sys.stdout.buffer, change if way == "out" else None)
    # At once: the other thread may still wait for the client.
    os._exit(child.wait())


main(*sys.argv[1:])
