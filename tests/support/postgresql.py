"""A temporary PostgreSQL cluster: a temporary folder, a free port, ended by its process ID."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from sitebench.system.network import free_port
from tests.support.programs import required_program, run_program, running_server

USERS = ("postgres", "nobody")
"""Users to which root switches, because PostgreSQL refuses to run as root."""


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the address of a database."""
    # Not below pytest's folder, which is closed to PostgreSQL's user.
    folder = Path(tempfile.mkdtemp(prefix="sitebench-pg-"))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    cluster, port = folder / "cluster", free_port()
    try:
        argv = [_program("initdb"), "-D", cluster, "-U", "postgres", "--auth=trust", "-N"]
        made = run_program(argv, user=user, cwd=folder)
        assert made.returncode == 0, made.stderr
        argv = [_program("postgres"), "-D", cluster, "-k", folder, "-p", str(port)]
        argv += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        # SIGINT is the fast shutdown, which disconnects clients.
        with running_server(
            argv, lambda: _connect(url), ends_by=signal.SIGINT, user=user, cwd=folder
        ):
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {each.pw_name for each in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def _program(name: str) -> str:
    """Return the path of a program of Debian's newest PostgreSQL."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3])
    )
    return str(versions[-1] if versions else required_program(name))


def _connect(url: str) -> None:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        raise ConnectionError from error
