"""Starts a program, passes on what goes in and what comes out, and writes both down as they are: FILE.in and FILE.out.

    tee.py FILE COMMAND [ARGS…]

FILE.peaks has the program's peak memory in KiB, before it gets each piece of what goes in, and before it gets the end of that."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

CHUNK = 1 << 16
PIPE = 1 << 20


def copy(source, record, target, each=lambda: None):
    """Passes everything on until one side closes, and then closes the other. What is passed on has been written down before."""
    with open(record, "wb", buffering=0) as kept, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while chunk := os.read(source, CHUNK):
            each()
            kept.write(chunk)
            while chunk:
                chunk = chunk[os.write(target, chunk) :]
    each()
    os.close(source)
    os.close(target)


def note_peak(process, file):
    """Adds the peak memory of a process to a file, where there is /proc and the process lives."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        with open(file, "a", encoding="ascii") as peaks:
            peaks.writelines(f"{line.split()[1]}\n" for line in status.splitlines() if line.startswith("VmHWM:"))


def main(file, *command):
    # Sorted, as wrap hands it on: a server that prints its environment then prints the same.
    environment = dict(sorted(os.environ.items()))
    child = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: child.send_signal(number))
    # Clients on pipes then get large messages in few pieces. Those on sockets have no pipe to enlarge.
    with contextlib.suppress(OSError):
        fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, PIPE)
    inward = (0, f"{file}.in", child.stdin.fileno(), lambda: note_peak(child.pid, f"{file}.peaks"))
    threading.Thread(target=copy, args=inward, daemon=True).start()
    copy(child.stdout.fileno(), f"{file}.out", 1)
    code = child.wait()
    # At once: the other thread may still wait for the client.
    os._exit(code if code >= 0 else 128 - code)


main(*sys.argv[1:])
