"""No process of a test run outlives the run, however the run ended.

Ctrl-C ends xdist's workers before their fixtures, and SIGTERM ends pytest itself: servers would
keep running, and use the cores of the next run. So a process beside pytest, in a session of its
own, records the processes of the run, and ends the remaining ones when pytest has ended. Processes
are recognised by an environment variable, or by their parent: nginx writes its title over its
environment, and some tests start programs with none.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "SITEBENCH_TEST_RUNS"
"""Environment variable with the run's name, after the names of enclosing runs."""

_LOOKS_EVERY_S = 1.0
_TIDIES_UP_WITHIN_S = 3.0
_ENDS_WITHIN_S = 30.0
_NAMESPACES = Path("/run/netns")
_DEVICES = Path("/sys/class/net")

Identity = tuple[int, str]
"""A process: its ID and its start time, because IDs are reused."""


def watcher() -> subprocess.Popen[bytes]:
    """Start the watcher, which ends the run's remaining processes once its input is closed."""
    run = os.urandom(16).hex()
    os.environ[MARK] = f"{os.environ.get(MARK, '')} {run}".strip()
    # Isolated and without `site`, Python starts in half the time.
    argv = [sys.executable, "-I", "-S", __file__, run, str(os.getpid())]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)


class Run:
    def __init__(self, name: str, root: int) -> None:
        self._name = name.encode()
        self._aside = {root, os.getpid()}
        self._others = set[Identity]()
        started, _ = _status(root)
        self._ours = {(root, started)}

    def look(self) -> set[int]:
        """Record new processes, and return all living ones except pytest itself."""
        living = dict[int, Identity]()
        parents = dict[int, int]()
        for path in Path("/proc").glob("[0-9]*"):
            pid = int(path.name)
            with contextlib.suppress(OSError):
                started, parents[pid] = _status(pid)
                living[pid] = (pid, started)
        for pid, identity in living.items():
            if identity not in self._ours and identity not in self._others:
                self._note(pid, identity)
        grown = True
        while grown:
            found = {
                identity
                for pid, identity in living.items()
                if identity not in self._ours and living.get(parents[pid]) in self._ours
            }
            self._ours |= found
            grown = bool(found)
        return {pid for pid, each in living.items() if each in self._ours} - self._aside

    def _note(self, pid: int, identity: Identity) -> None:
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if self._name in environment:
                self._ours.add(identity)
            elif environment:  # an execve empties it for a moment
                self._others.add(identity)

    def end(self) -> None:
        """End living processes, first by SIGTERM, and delete their networks."""
        began = time.monotonic()
        told = set[int]()
        while living := self.look():
            late = time.monotonic() > began + _TIDIES_UP_WITHIN_S
            if time.monotonic() > began + _ENDS_WITHIN_S:
                print("these processes of the test run cannot be ended:", living, file=sys.stderr)
                break
            for pid in living if late else living - told:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
            told |= living
            time.sleep(0.05)
        for path in _NAMESPACES.glob("sitebench-*"):
            self._delete(path.name, "netns")
        for path in _DEVICES.glob("sb*"):
            self._delete(path.name, "link")

    def _delete(self, name: str, kind: str) -> None:
        """Delete a network whose name contains the ID of one of the run's processes."""
        made_by = re.search(r"\d+", name)
        if made_by and int(made_by[0]) in {pid for pid, _ in self._ours}:
            subprocess.run(["ip", kind, "del", name], stderr=subprocess.DEVNULL, check=False)


def _status(pid: int) -> tuple[str, int]:
    """Return the start time and the parent of a process; a zombie counts as ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    if fields[0] in {"Z", "X"}:
        raise ProcessLookupError
    return fields[19], int(fields[1])


def main() -> None:
    """Watch until the other end of standard input is closed."""
    name, root = sys.argv[1:]
    run = Run(name, int(root))
    while not select.select([sys.stdin], [], [], _LOOKS_EVERY_S)[0]:
        run.look()
    run.end()


if __name__ == "__main__":
    main()
