"""Processes forked from one that stays ready: what new ones would be, and gone with who asked."""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from sitebench.errors import MeasurementFailed
from sitebench.system import secret
from sitebench.system.forked import fork
from tests.support.cli import in_process
from tests.support.waiting import eventually, left_s

ROOT = str(Path(__file__).parents[2])
FORK = """
import json, os, resource, signal, sys, time
imported = time.monotonic_ns()
def say():
    print(json.dumps({
        "imported": imported,
        "arguments": sys.argv[1:],
        "folder": os.getcwd(),
        "variables": dict(os.environ),
        "input": os.readlink("/proc/self/fd/0"),
        "session": os.getsid(0) == os.getpid(),
        "open": sorted(n for n in range(200) if os.path.exists(f"/proc/self/fd/{n}")),
        "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
        "child": signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
        "cores": sorted(os.sched_getaffinity(0)),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    }))
def read():
    print(open(sys.argv[1]).read())
def end():
    sys.exit(int(sys.argv[1]))
class Torn:
    def __del__(self, write=os.write):
        write(1, b"taken apart\\n")
sys.torn = Torn()
def forks():
    if os.fork() == 0:
        sys.exit(5)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
def ends_by():
    import atexit, threading
    atexit.register(print, "at exit")
    threading.Timer(0.2, print, ["a thread"]).start()
    print("not flushed yet")
    exec(sys.argv[1])
def wait():
    time.sleep(60)
def note():
    open(sys.argv[1], "w").close()
    time.sleep(60)
def orphan():
    from sitebench.system.child import orphaned
    while not orphaned():
        time.sleep(0.02)
    open(sys.argv[1], "w").close()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module that only what is started in this test finds."""
    (tmp_path / "forked_here.py").write_text(FORK)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    return "forked_here"


class Ran:
    """A fork that is to write something, and end."""

    def __init__(self, function: str, *arguments: str, **environment: str) -> None:
        self._output = os.memfd_create("output")
        self.process = fork(
            function,
            arguments,
            output=self._output,
            environment={**os.environ, **environment},
            descriptors=secret.handed_on(),
        )

    def text(self) -> str:
        assert self.process.wait() == 0
        return self.read()

    def read(self) -> str:
        with os.fdopen(self._output) as file:
            file.seek(0)
            return file.read()

    @property
    def said(self) -> dict[str, Any]:
        return dict(json.loads(self.text()))


def test_a_fork_is_what_a_new_process_would_be(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Ran(f"{module}:say", "with", "a b", COLOUR="blue").said
    assert first["arguments"] == ["with", "a b"]
    assert first["variables"]["COLOUR"] == "blue"
    assert first["input"] == os.devnull
    assert first["session"]
    # A command keeps the passwords that it was given, and tests run commands in this process.
    assert first["open"] == [0, 1, 2, *secret.handed_on()]
    assert first["interrupt"]
    assert first["child"]
    monkeypatch.chdir(tmp_path)
    second = Ran(f"{module}:say").said
    assert second["folder"] == str(tmp_path)
    assert second["arguments"] == []
    assert "COLOUR" not in second["variables"]
    # What the tests are for: nothing was imported again.
    assert second["imported"] == first["imported"]


def test_it_has_the_limits_and_the_cores_of_who_asks(module: str) -> None:
    first = Ran(f"{module}:say").said
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(cores)})
        second = Ran(f"{module}:say").said
    finally:
        os.sched_setaffinity(0, cores)
    assert (first["cores"], second["cores"]) == (sorted(cores), [max(cores)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        third = Ran(f"{module}:say").said
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (first["files"], third["files"]) == ([soft, hard], [soft - 1, hard])
    # Limits can be given to a fork, and cores are what is imported with.
    imported = [each["imported"] for each in (first, third, second)]
    assert imported[0] == imported[1] != imported[2]


def test_it_reads_the_secrets_that_are_held_here_and_no_others(module: str) -> None:
    before = Ran(f"{module}:say").said["open"]
    with secret.held(b"first") as one, secret.held(b"second") as other:
        assert Ran(f"{module}:read", one).text() == "first\n"
        assert Ran(f"{module}:read", other).text() == "second\n"
        assert Ran(f"{module}:read", one).text() == "first\n"
        held = [int(Path(each).name) for each in (one, other)]
        assert Ran(f"{module}:say").said["open"] == before + sorted(held)
    assert Ran(f"{module}:say").said["open"] == before


def test_neither_is_it_told_a_secret_that_what_stays_ready_could_show(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork may need the password; /proc shows what variables its parent was started with."""
    monkeypatch.setenv(secret.BIND_PASSWORD, "hunter2")
    ran = Ran(f"{module}:wait")
    try:
        assert "hunter2" not in Path(f"/proc/{ran.process.pid}/environ").read_text()
    finally:
        ran.process.kill()
        ran.process.wait()
    assert Ran(f"{module}:say").said["variables"][secret.BIND_PASSWORD] == "hunter2"


@pytest.mark.parametrize("code", [0, 3])
def test_its_exit_code_is_known(module: str, code: int) -> None:
    process = Ran(f"{module}:end", str(code)).process
    assert process.wait() == code
    assert process.poll() == process.wait(1.0) == code
    process.kill()


@pytest.mark.parametrize(
    ("way", "code", "says"),
    [
        ("pass", 0, []),
        ("sys.exit()", 0, []),
        ("sys.exit(259)", 3, []),
        ("sys.exit('too bad')", 1, ["too bad"]),
        ("1 / 0", 1, ["ZeroDivisionError: division by zero"]),
        ("raise KeyboardInterrupt", -signal.SIGINT, ["KeyboardInterrupt"]),
    ],
)
def test_it_ends_as_a_new_process_would(module: str, way: str, code: int, says: list[str]) -> None:
    ran = Ran(f"{module}:ends_by", way)
    assert ran.process.wait() == code
    lines = ran.read().splitlines()
    assert [line for line in lines if line in {"not flushed yet", "a thread", "at exit"}] == [
        *("not flushed yet", "a thread", "at exit")
    ]
    assert all(each in lines for each in says)
    assert ("taken apart" in lines) == (code == -signal.SIGINT)


def test_what_it_forks_itself_has_exit_codes_of_its_own(module: str) -> None:
    assert Ran(f"{module}:forks").text() == "5\n"


def test_what_cannot_be_written_is_an_exit_code(module: str) -> None:
    with Path("/dev/full").open("w") as full:
        environment = {**os.environ}
        process = fork(f"{module}:forks", (), output=full.fileno(), environment=environment)
        assert process.wait() == 120


def test_a_signal_ends_it_and_it_is_told_apart_from_the_others(module: str) -> None:
    one, other = (Ran(f"{module}:wait").process for _ in range(2))
    assert (one.poll(), other.poll()) == (None, None)
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(0.01)
    one.send_signal(signal.SIGTERM)
    assert one.wait() == -signal.SIGTERM
    assert other.poll() is None
    other.kill()
    assert other.wait() == -signal.SIGKILL
    assert not psutil.pid_exists(one.pid)


def test_a_module_that_cannot_be_imported_is_an_error_that_says_why(
    module: str, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text("raise ImportError('no such part')")
    with pytest.raises(MeasurementFailed, match="no such part"):
        Ran(f"{module}:say")
    # The next one tries again.
    (tmp_path / f"{module}.py").write_text(FORK)
    assert Ran(f"{module}:say").said


def test_it_notices_that_its_parent_was_killed_and_the_next_has_a_new_one(
    module: str, tmp_path: Path
) -> None:
    noticed = tmp_path / "noticed"
    process = Ran(f"{module}:orphan", str(noticed)).process
    parent = psutil.Process(process.pid).ppid()
    assert parent != os.getpid()
    os.kill(parent, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    # It was waited for: what it cleans up is done.
    assert noticed.exists()
    assert Ran(f"{module}:say").said


STARTS = """
import os, sys, time
from sitebench.system.forked import fork
process = fork("forked_here:orphan", [sys.argv[1]], output=1, environment=os.environ)
print(process.pid, flush=True)
time.sleep(60)
"""


def test_neither_it_nor_what_stays_ready_outlives_who_asked(module: str, tmp_path: Path) -> None:
    noticed = tmp_path / "noticed"
    argv = [sys.executable, "-c", STARTS, str(noticed)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as asks:
        assert asks.stdout is not None
        forked = int(asks.stdout.readline())
        family = psutil.Process(asks.pid).children(recursive=True)
        assert [each.pid for each in family][1:] == [forked]
        asks.kill()
    _, alive = psutil.wait_procs(family, timeout=left_s())
    assert alive == []
    assert noticed.exists()


def test_one_that_was_given_up_before_it_was_known_never_goes(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while it is forked: the load of a point that no sweep knows would go on for ever."""
    Ran(f"{module}:say").text()
    noted, pairs, forked = tmp_path / "noticed", socket.socketpair, list[int]()

    class Line(socket.socket):
        def recv(self, *most: int) -> bytes:
            forked.append(int(super().recv(*most)))
            raise KeyboardInterrupt

    def interrupted(*of: int) -> tuple[socket.socket, socket.socket]:
        ours, its = pairs(*of)
        return Line(fileno=ours.detach()), its

    monkeypatch.setattr(socket, "socketpair", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Ran(f"{module}:note", str(noted))
    monkeypatch.undo()
    assert eventually(lambda: not psutil.pid_exists(forked[0]))
    assert not noted.exists()


def test_what_stays_ready_keeps_nothing_of_the_forks_that_have_ended() -> None:
    """Of Locust, too, whose os.close leaves the closing to an event loop."""

    def parent_of_one_that_ended() -> psutil.Process:
        ran = Ran("sitebench.suite_base.process:main", "--version")
        parent = psutil.Process(psutil.Process(ran.process.pid).ppid())
        assert ran.text().startswith("locust ")
        return parent

    # It closes a line after it has said on it how the fork ended.
    first = parent_of_one_that_ended().num_fds()
    parents = {parent_of_one_that_ended() for _ in range(3)}
    assert eventually(lambda: all(parent.num_fds() <= first for parent in parents))


def test_one_that_is_killed_at_once_has_an_exit_code(module: str) -> None:
    for _ in range(20):
        process = Ran(f"{module}:wait").process
        process.kill()
        assert process.wait() == -signal.SIGKILL


KEEPS = """
import multiprocessing, os, signal, sys, time
from sitebench.system.forked import fork
if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    process = fork("forked_here:orphan", sys.argv[1:], output=1, environment=os.environ)
    other = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,), daemon=True)
    other.start()
    print(process.pid, flush=True)
    sys.stdin.readline()
    process.kill()
    process.wait()
"""


@pytest.mark.parametrize("killed", [True, False])
def test_nor_where_who_asked_has_forked_itself_and_blocks_a_signal(
    module: str, tmp_path: Path, killed: bool
) -> None:
    """A process of its own keeps the socket open, and what stays ready has its mask."""
    noticed = tmp_path / "noticed"
    (tmp_path / "keeps.py").write_text(KEEPS)
    argv = [sys.executable, str(tmp_path / "keeps.py"), str(noticed)]
    with subprocess.Popen(argv, stdin=-1, stdout=-1, text=True) as asks:
        assert asks.stdout is not None
        assert asks.stdin is not None
        forked = int(asks.stdout.readline())
        parent = psutil.Process(psutil.Process(forked).ppid())
        family = psutil.Process(asks.pid).children(recursive=True)
        if killed:
            asks.kill()
        asks.stdin.close()
        assert asks.wait() == (-signal.SIGKILL if killed else 0)
    try:
        assert psutil.wait_procs([parent], timeout=left_s())[1] == []
        assert eventually(lambda: not psutil.pid_exists(forked))
        assert noticed.exists() is killed
    finally:
        for each in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def test_variables_of_locust_are_not_read_as_it_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A point's environment lacks them, and so has what it is forked from."""
    monkeypatch.setenv("LOCUST_PLAYWRIGHT", "1")
    monkeypatch.setenv("LANG", "C.UTF-8")  # Another one stays ready than in other tests.
    ran = in_process(
        *("ils", "run", "connect", "--entries", "20", "--users", "1", "--rate", "20"),
        *("--warmup", "0s", "--measure", "200ms"),
    )
    assert ran.code == 0, ran.err
