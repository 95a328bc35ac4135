"""Everything that a command writes, prints and shows, searched for a secret."""

import base64
import contextlib
import os
import secrets
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from sitebench.seeders.pools import cache_folder
from tests.support.cli import SITEBENCH, Ran, in_process, python_module
from tests.support.programs import required_program
from tests.support.waiting import left_s

ADMIN = "cn=admin,o=Intranet"
SERVE = ("ils", "serve", "--entries", "0", "--port", "0", "--admin-dn", ADMIN)


READ_BYTES = 16 << 20
"""The searched part of each file, because slapd's database is a sparse file of gigabytes."""


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(READ_BYTES)


def codings(secret: bytes) -> Iterator[bytes]:
    """Yield the spellings of a secret: plain, in hex, and in base64 within longer data."""
    yield from (secret, secret.hex().encode(), secret.hex().upper().encode())
    for before in range(3):
        # A letter has six bits; letters with bits of a neighbour are left out.
        begin, end = 8 * before, 8 * (before + len(secret))
        yield base64.b64encode(bytes(before) + secret)[-(-begin // 6) : end // 6]


@dataclass
class Terminal:
    """A command at a new terminal, at which a test types the secret when prompted."""

    process: subprocess.Popen[bytes]
    secret: str
    screen: int
    shown: bytes = b""
    typed: bool = False

    def until(self, words: str | None = None) -> str:
        """Return the output once it contains these words, or at the end of the command."""
        # A terminal whose programs have all ended returns an error.
        with contextlib.suppress(OSError):
            while (words is None or words.encode() not in self.shown) and (
                part := os.read(self.screen, 65536)
            ):
                self.shown += part
                if not self.typed and b"Password of" in self.shown:
                    self.typed = bool(os.write(self.screen, f"{self.secret}\n".encode()))
        return self.shown.decode(errors="replace")


@dataclass
class Searched:
    """A folder in which everything happens, with recorded output and processes."""

    folder: Path
    secret: str = field(default_factory=lambda: f"Geheim-{secrets.token_hex(8)}")
    more: list[str] = field(default_factory=list, repr=False)
    """Other secrets of a test."""
    heard: list[str] = field(default_factory=list, repr=False)
    titles: set[str] = field(default_factory=set, repr=False)
    passing: set[str] = field(default_factory=set, repr=False)
    """Files that held a secret for a while."""
    told: set[str] = field(default_factory=set, repr=False)
    """Started programs of sitebench with a secret in their environment."""

    def environment(self, **more: str) -> dict[str, str]:
        """Return an environment with all folders below this folder."""
        places = ("HOME", "TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
        found = {name: str(self.folder / name) for name in places}
        for place in found.values():
            Path(place).mkdir(exist_ok=True)
        # The cache contains pools of names, which take a minute to harvest.
        return {**found, "XDG_CACHE_HOME": str(cache_folder().parent), **more}

    def run(self, *argv: str, **env: str) -> Ran:
        """Run a command and record its output."""
        # Not forked, because other users see a process's first arguments and environment.
        where = self.environment(**env)
        ran = python_module(SITEBENCH[2], *argv, cwd=self.folder, timeout_s=110, **where)
        self.heard += [ran.out, ran.err]
        return ran

    def done(self, *argv: str, **env: str) -> None:
        """Run a command that must succeed."""
        self.run(*argv, **env).check(0)

    def shown(self, *argv: str) -> None:
        """Run a command without a secret that must succeed, in this process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tempfile, "tempdir", None)
            ran = in_process(*argv, cwd=self.folder, **self.environment())
        self.heard += [ran.out, ran.err]
        assert ran.code == 0, (argv, ran.err)

    def typing(self, *argv: str) -> tuple[int, str]:
        """Run a command at a terminal, and return its exit code and output."""
        with self.terminal(*argv) as there:
            shown = there.until()
            return there.process.wait(left_s()), shown

    @contextlib.contextmanager
    def terminal(self, *argv: str) -> Iterator[Terminal]:
        """Start a command at a terminal, and record its output."""
        master, slave = os.openpty()
        environment = {**os.environ, **self.environment(), "TERM": "dumb", "COLUMNS": "160"}
        # A new terminal, so that the prompt does not appear at the terminal of the test run.
        process = subprocess.Popen(
            [str(required_program("setsid")), "--ctty", *SITEBENCH, *argv],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=self.folder,
            env=environment,
        )
        os.close(slave)
        there = Terminal(process, self.secret, master)
        try:
            yield there
            process.terminate()
            self.heard.append(there.until())
        finally:
            process.kill()
            process.wait()
            os.close(master)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Check every process started since, and every file of the folder, repeatedly."""
        ended, before = threading.Event(), {*psutil.pids()} - {os.getpid()}
        seen = dict[Path, tuple[int, int, int]]()

        def watch() -> None:
            while not ended.wait(0.2):
                now = {*psutil.pids()}
                before.intersection_update(now)  # process IDs are reused
                for pid in now - before:
                    with contextlib.suppress(psutil.Error):
                        each = psutil.Process(pid)
                        self.titles.update((" ".join(each.cmdline()), each.name()))
                for each in psutil.Process().children(recursive=True):
                    with contextlib.suppress(psutil.Error, OSError):
                        if self._in(str(each.environ())):
                            self.told.add(" ".join(each.cmdline()[1:4]) or each.name())
                for path in self._files():
                    with contextlib.suppress(OSError):
                        stat = path.stat()
                        state = stat.st_ino, stat.st_size, stat.st_mtime_ns
                        if seen.get(path) != state and self._within(_content(path)):
                            self.passing.add(str(path))
                        seen[path] = state

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _files(self) -> Iterator[Path]:
        """Yield every file; folders may be removed meanwhile."""
        for folder, _, names in os.walk(self.folder):
            yield from (path for name in names if (path := Path(folder, name)).is_file())

    def _in(self, text: str) -> bool:
        return self._within(text.encode(errors="surrogateescape"))

    def _within(self, content: bytes) -> bool:
        secrets = (each.encode() for each in (self.secret, *self.more))
        return any(coded in content for each in secrets for coded in codings(each))

    def traces(self) -> list[str]:
        """Return all places that contain a secret in any spelling."""
        found = [f"said: {text}" for text in self.heard if self._in(text)]
        found += [f"process: {title}" for title in list(self.titles) if self._in(title)]
        found += [f"file, for a while: {path}" for path in list(self.passing)]
        for path in self._files():
            content = _content(path)
            if content.startswith(b"SQLite format 3"):
                # A long value is split over pages, so a search of the bytes may miss it.
                with contextlib.closing(sqlite3.connect(path)) as database:
                    content += "\n".join(database.iterdump()).encode()
            if self._within(content):
                found.append(f"file: {path}")
        return found


@contextlib.contextmanager
def administered(searched: Searched, *options: str, **env: str) -> Iterator[str]:
    """Serve a directory with an administrator; its output is searched too."""
    log = searched.folder / "serve.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [*SITEBENCH, *SERVE, *options],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            cwd=searched.folder,
            env={**os.environ, **searched.environment(**env)},
        ) as process,
    ):
        assert process.stdout is not None
        try:
            greeting = process.stdout.readline()
            searched.heard.append(greeting)
            yield greeting.split(" at ")[1].split(",")[0]
        finally:
            process.terminate()
            searched.heard.append(process.communicate(timeout=left_s())[0])
