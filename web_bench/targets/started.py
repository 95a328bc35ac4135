"""Start and stop of nginx and Apache, in a temporary folder, with programs behind them.

A process of the server's module (`python -m`) starts the server. Even if the parent is killed, this
process ends all processes and deletes the folder. Programs are children of the server's master, so
the monitor, which observes the master and its descendants, includes them.
"""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import json
import os
import re
import resource
import shlex
import socket
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil
from msgspec.structs import asdict

from sitebench.errors import BadInput, MeasurementFailed
from sitebench.http.address import SiteAddress
from sitebench.system.child import Child, Service, lives
from sitebench.system.network import free_port
from sitebench.system.programs import find_program, last_line
from sitebench.system.scratch import scratch
from sitebench.targets.certificate import make_certificate, unlock
from sitebench.targets.limits import UNCONFINED, Confinement
from sitebench.targets.tls import ServerTls
from web_bench.targets.cgi import PATH, install

_START_S = 60.0
_ANSWER_S = 30.0
_STOP_S = 8.0
_BACKLOG = 4_096
"""Length of the queue of connections, because all clients can connect at once."""
_DESCRIPTORS = 32_768
"""Number of descriptors, unless the limit of this process is lower."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)

_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": os.environ.get("TZ", "")}
"""Environment of the programs, which print it; TZ sets the date in pages."""

PAGE_BYTES = 6_250
"""Bytes of the page in paper 001."""
_DATE_BYTES = len("2000-02-07")
PARSED_DATE = '<!--#config timefmt="%Y-%m-%d" --><!--#echo var="DATE_LOCAL" -->'


class Started(msgspec.Struct, frozen=True):
    address: SiteAddress
    secure: SiteAddress | None
    """Address of requests over TLS."""
    ca: str | None
    """File of the certificate, if it was made for the server."""
    pid: int
    """Process of the master; workers and programs are its descendants."""
    programs: Mapping[str, str]
    facts: Mapping[str, Any]
    alive: Callable[[], bool]


class Server(msgspec.Struct, frozen=True):
    """A web server; `@name@` in its template is replaced by a value."""

    name: str
    package: str
    template: str
    """Directives of the user replace lines above the text of `fixed`, or are added above it."""
    fixed: str
    directive: str
    """Format of a directive."""
    value: str
    """Pattern of a value that cannot begin another directive."""
    programs: Mapping[str, str]
    argv: Callable[[str, Path], Sequence[str]]
    """Returns the command that serves a folder in the foreground."""
    tls: str
    """Part of the configuration for TLS, in place of `@tls@`."""
    client_ca: str
    """Part of `tls` for client certificates, in place of `@client_ca@`."""
    values: Callable[[int], Mapping[str, str]]
    """Returns further values for a number of threads."""
    helpers: Callable[[Collection[str]], Sequence[Sequence[str]]]
    """Returns the commands that start programs of some kinds."""
    logged: Mapping[str, str]
    """Directives that make the server log requests."""
    files: Mapping[str, str] = {}
    """Further files in the folder of the server, by path."""
    socket: str | None = None
    """Path of the socket that programs get as standard input."""

    def find(self) -> str:
        return find(self.name, self.package)


def read_file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def find(program: str, package: str) -> str:
    return find_program(
        program, f"install it (`apt-get install {package}`), or use --target embedded"
    )


def fastcgi(kinds: Collection[str]) -> Sequence[Sequence[str]]:
    return [[f"programs{PATH}", "--fastcgi", "fastcgi.sock"]] if "fastcgi" in kinds else []


@contextlib.contextmanager
def serving(
    module: str,
    docroot: Path | None,
    *,
    tls: ServerTls | None = None,
    threads: int = 1,
    directives: Mapping[str, str] = {},
    kinds: Collection[str] | None = None,
    cgi_program: str | None = None,
    confinement: Confinement = UNCONFINED,
) -> Iterator[Started]:
    """Serve a folder with the server of a module, with `tls` also at a second port.

    `directives` replace equal directives of the configuration, or are added to it. `kinds` are the
    kinds of programs to start, by default all.
    """
    host = confinement.host or "127.0.0.1"
    request = {
        "host": host,
        "before": confinement.before,
        "docroot": None if docroot is None else str(docroot.resolve()),
        "tls": None if tls is None else asdict(tls),
        "threads": threads,
        "directives": dict(directives),
        "kinds": None if kinds is None else sorted(kinds),
        "cgi_program": cgi_program,
    }
    child = Child(module, request, timeout_s=_START_S)
    try:
        ready = child.ready
        pid, secure = int(ready["pid"]), ready["secure"]
        yield Started(
            SiteAddress(host, ready["port"]),
            None if secure is None else SiteAddress(host, secure, scheme="https"),
            ready["ca"],
            pid,
            ready["programs"],
            {key: ready[key] for key in ("version", "configuration")},
            lambda: child.alive and lives(pid),
        )
    finally:
        child.stop()


def start(server: Server, request: dict[str, Any]) -> Service:
    program, docroot, kinds = server.find(), request["docroot"], request["kinds"]
    kinds = list(server.programs) if kinds is None else kinds
    for kind in kinds:
        if kind not in server.programs:
            raise BadInput(
                f"{server.name} has no {kind} programs", f"it has {', '.join(server.programs)}"
            )
    if docroot is not None and not Path(docroot).is_dir():
        raise BadInput(f"there is no folder {docroot}", "name the folder that is to be served")
    programs = {kind: server.programs[kind] for kind in kinds}
    # Orphaned descendants become children of this process, which ends them.
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    descriptors = _allow_descriptors()
    with contextlib.ExitStack() as opening:
        folder = opening.enter_context(scratch())
        # The socket gets a relative path, because a path may have 107 characters at most (unix(7)).
        os.chdir(folder)
        if docroot is None:
            (folder / "docroot").mkdir()
        else:
            # The configuration names this link, because a server could misread the path itself.
            (folder / "docroot").symlink_to(docroot)
        _write(folder / "pages/dynamic/page.shtml", page(PARSED_DATE).encode())
        install(folder / "programs", request["cgi_program"])
        for path, text in server.files.items():
            _write(folder / path, text.encode())
        ports: set[int] = set()
        while len(ports) < 2:
            ports.add(free_port())
        port, secure = sorted(ports)
        values = {
            "host": request["host"],
            "port": str(port),
            "secure": str(secure),
            "backlog": str(_BACKLOG),
            "threads": str(request["threads"]),
            "connections": str(descriptors // 8),
            "files": str(descriptors // 2),
            **server.values(request["threads"]),
        }
        tls = None if request["tls"] is None else ServerTls(**request["tls"])
        ca = None if tls is None else _certify(tls, folder, request["host"])
        config = folder / f"{server.name}.conf"
        config.write_text(configuration(server, tls, request["directives"], values))
        argv = server.argv(program, folder)
        helpers = server.helpers(kinds)
        process = _launch(request["before"], argv, helpers, server.socket, folder)
        opening.callback(_end, process)
        _await_answers(server, process, (request["host"], port), programs, folder)
        ready = {
            "port": port,
            "secure": None if tls is None else secure,
            "ca": ca,
            "pid": process.pid,
            "programs": programs,
            "version": _version(program),
            "configuration": config.read_text().replace(str(folder), "..."),
        }
        return Service(ready, opening.pop_all().close)


def page(date: str) -> str:
    """Return the page of paper 001, with PAGE_BYTES once `date` is replaced by a date."""
    head = "<!DOCTYPE html>\n<html><head><title>Today</title></head><body>\n<p>Today is "
    middle, end = ".</p>\n<p>", "</p>\n</body></html>\n"
    words = "A page of the size that the paper's clients asked for, with nothing else to say. "
    length = PAGE_BYTES - len(head) - _DATE_BYTES - len(middle) - len(end)
    return head + date + middle + (words * length)[:length] + end


def configuration(
    server: Server, tls: ServerTls | None, directives: Mapping[str, str], values: Mapping[str, str]
) -> str:
    """Return the configuration; raise if a directive contains another directive."""

    def fill(template: str) -> str:
        return re.sub(r"@(\w+)@", lambda match: fields[match[1]], template)

    client_ca = "" if tls is None or tls.client_ca is None else server.client_ca
    fields = {**values, "client_ca": client_ca, "tls": ""}
    if tls is not None:
        fields["tls"] = fill(server.tls)
    text, fixed = map(fill, server.template.split(server.fixed))
    for name, value in directives.items():
        is_single = value.isprintable() and re.fullmatch(server.value, value)
        if not re.fullmatch(r"\w+", name) or not is_single:
            raise BadInput(
                f"{json.dumps(f'{name} {value}')} is not one directive of {server.name}",
                "give its name and, after =, its value in one line",
            )
        line = server.directive.format(name=name, value=value)
        line_match = re.search(rf"(?mi)^ *({name}\s.*)$", text)
        text = f"{text}{line}\n" if line_match is None else text.replace(line_match[1], line)
    return text + server.fixed + fixed


def _allow_descriptors() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
    return descriptors


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _certify(tls: ServerTls, folder: Path, host: str) -> str | None:
    """Put a certificate and its key into the folder; return the certificate's file if made here."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    if tls.client_ca is not None:
        (folder / "clients.pem").symlink_to(Path(tls.client_ca).resolve())
    if tls.cert is None or tls.key is None:
        make_certificate(cert, key, host)
        return str(cert)
    cert.symlink_to(Path(tls.cert).resolve())
    if tls.key_password is None:
        key.symlink_to(Path(tls.key).resolve())
    else:
        unlock(tls.key, tls.key_password, key)
    return None


def _launch(
    wrapper: Sequence[str],
    argv: Sequence[str],
    helpers: Sequence[Sequence[str]],
    listening: str | None,
    folder: Path,
) -> subprocess.Popen[bytes]:
    """Start a shell that starts the programs, and then executes the server, their parent."""
    # Descriptor 3 is the socket: a shell replaces the input of background programs by /dev/null.
    begun = "".join(f"{shlex.join(command)} <&3 3<&- & " for command in helpers)
    script = f"exec 3<&0 </dev/null; {begun} exec {shlex.join(argv)} 3<&-"
    with (folder / "error.log").open("ab") as log, socket.socket(socket.AF_UNIX) as listener:
        if listening is not None:
            listener.bind(listening)
            listener.listen(_BACKLOG)
        return subprocess.Popen(
            [*wrapper, "/bin/sh", "-c", script],
            stdin=listener.fileno(),
            stdout=log,
            stderr=log,
            env={name: value for name, value in _ENVIRONMENT.items() if value},
        )


def _await_answers(
    server: Server,
    process: subprocess.Popen[bytes],
    address: tuple[str, int],
    programs: Mapping[str, str],
    folder: Path,
) -> None:
    give_up = time.monotonic() + _ANSWER_S
    for kind, path in {"files": "/", **programs}.items():
        url = path.format(size=1, content="constant", copy=0)
        while not _answers(address, url, any_status=kind == "files"):
            wrote = last_line((folder / "error.log").read_text(errors="replace"))
            wrote = wrote.replace(f"{folder}/", "")
            if process.poll() is not None:
                raise BadInput(
                    f"{server.name} did not start: {wrote}",
                    "check the directives that it was given; if another program has taken its "
                    "port, run again",
                )
            if time.monotonic() > give_up:
                raise MeasurementFailed(
                    f"{server.name} did not answer {kind} within {_ANSWER_S:.0f} s: {wrote}",
                    "look at the machine's load",
                )
            time.sleep(0.01)


def _answers(address: tuple[str, int], path: str, *, any_status: bool) -> bool:
    connection = http.client.HTTPConnection(*address, timeout=_ANSWER_S)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        answer.read()
        return any_status or answer.status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _end(master: subprocess.Popen[bytes]) -> None:
    master.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        master.wait(_STOP_S)
    while remaining := psutil.Process().children(recursive=True):
        for child in remaining:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(remaining, _STOP_S)


def _version(program: str) -> str:
    process = subprocess.run([program, "-v"], capture_output=True, text=True, check=False)
    lines = (process.stdout + process.stderr).strip().splitlines()
    return lines[0].partition(": ")[2] if lines else "unknown"
