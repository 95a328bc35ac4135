"""Real nginx and Apache, each with every kind of program behind it."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

from sitebench.errors import BadInput, ProgramMissing, SitebenchError, TlsFailed
from sitebench.http.address import SiteAddress
from sitebench.monitor.child_clock import ChildClock
from sitebench.monitor.process import ProcessReader
from sitebench.targets.tls import ServerTls, Trust, trusting
from tests.support.programs import required_program
from tests.support.waiting import eventually
from tests.tls.certificates import PASSWORD, Authority
from tests.web_bench.docroots import SPEC
from tests.web_bench.started import (
    ask,
    assert_ends_with_its_parent,
    family,
    ordinary_user,
    served_elsewhere,
    today,
)
from web_bench.targets.started import Started
from web_bench.verify import verify
from web_bench.workload import file_set, seed

FILES = file_set(SPEC)
LOGGED = {"nginx": ("access_log", "{} combined"), "apache": ("CustomLog", r'"{}" "%h \"%r\""')}
"""The directive for each server's access log."""


@pytest.fixture(scope="module", params=list(LOGGED))
def name(request: pytest.FixtureRequest) -> str:
    for program in ("nginx", "fcgiwrap", "apache2"):
        required_program(program)
    return str(request.param)


@pytest.fixture(scope="module")
def target(name: str) -> Any:
    return import_module(f"web_bench.targets.{name}")


@pytest.fixture(scope="module")
def docroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the set, whose name a configuration could misread."""
    made = tmp_path_factory.mktemp('the "docroot" of $5; {x}')
    seed(SPEC, made)
    (made / "today.shtml").write_text('<!--#echo var="QUERY_STRING" -->')
    return made


@pytest.fixture(scope="module")
def access_log(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(name) / "access.log"


@pytest.fixture(scope="module")
def server(name: str, target: Any, docroot: Path, access_log: Path) -> Iterator[Started]:
    directive, value = LOGGED[name]
    directives = {directive: value.format(access_log)}
    with target.serving(docroot, tls=ServerTls(), threads=2, directives=directives) as started:
        yield started


def test_files_are_served_with_and_without_tls(server: Started, access_log: Path) -> None:
    assert server.secure is not None
    assert server.ca is not None
    trust = trusting(Trust(), server.ca)
    for address in (server.address, server.secure):
        found = verify(SPEC, str(address), trust=trust)
        assert (found.files, found.different) == (FILES.count, 0)
    with pytest.raises(TlsFailed):
        verify(SPEC, str(server.secure))

    def logged_twice() -> bool:
        asked = [line.split('"')[1].split()[1] for line in access_log.read_text().splitlines()]
        return all(asked.count(FILES.path(i)) == 2 for i in range(FILES.count))

    # A server writes its line after the answer.
    assert eventually(logged_twice)


def _page(size: int) -> bytes:
    """Return `size` bytes of HTML, as the servlets and programs of 2000 answered."""
    begin, end = b"<!DOCTYPE html>\n<title>sitebench</title>\n<p>", b"</p>\n"
    letters = size - len(begin) - len(end)
    return b"x" * size if letters < 0 else begin + b"x" * letters + end


@pytest.mark.parametrize("encrypted", [False, True])
def test_program_answers_with_the_requested_size(server: Started, encrypted: bool) -> None:
    address = server.secure if encrypted else server.address
    assert address is not None
    for kind in server.programs.keys() & {"cgi", "fastcgi", "inprocess"}:
        path = server.programs[kind]
        for size in (0, 1, 6_250, 1_000_000):
            found = ask(address, path.format(size=size, content="constant"), server.ca)
            assert (found.status, found.body) == (200, _page(size)), kind
            assert found.headers["content-type"] == "text/html", kind
        found = ask(address, path.format(size=999, content="random"), server.ca)
        assert (found.status, len(found.body)) == (200, 999), kind
        assert set(found.body) == set(range(ord("?"), ord("X") + 1)), kind


def test_simcgi_shows_the_papers_twenty_variables(server: Started) -> None:
    if "cgi-env" not in server.programs:
        pytest.skip("runs no CGI programs")
    shown = ask(server.address, server.programs["cgi-env"]).body.decode()
    assert (len(shown), len(shown.splitlines())) == (670, 21)
    assert "GATEWAY_INTERFACE = CGI/1.1\n" in shown
    assert "REMOTE_ADDR = 127.0.0.1\n" in shown


def test_pages_show_todays_date(server: Started) -> None:
    before = today()
    paths = [server.programs["page"]]
    if "template" in server.programs:
        paths += [server.programs["template"].format(copy=copy) for copy in (0, 9, 10, 99)]
    for path in paths:
        found = ask(server.address, path)
        assert (found.status, len(found.body)) == (200, 6_250)
        assert found.headers["content-type"] == "text/html"
        days = {before, today()}
        assert any(f"<p>Today is {day}.</p>".encode() in found.body for day in days)


def test_page_of_the_docroot_is_parsed_for_directives(server: Started) -> None:
    assert ask(server.address, "/today.shtml?a=b").body == b"a=b"


@pytest.mark.parametrize("path", ["/cgi-bin/sitebench-cgi", "/dynamic/fastcgi"])
def test_program_gets_the_variables_of_its_request(server: Started, path: str) -> None:
    assert server.secure is not None
    found = ask(server.address, f"{path}?a=b").variables
    expected = {
        "GATEWAY_INTERFACE": "CGI/1.1",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_PORT": str(server.address.port),
        "REQUEST_METHOD": "GET",
        "REQUEST_URI": f"{path}?a=b",
        "SCRIPT_NAME": path,
        "QUERY_STRING": "a=b",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": f"127.0.0.1:{server.address.port}",
    }
    assert expected.items() <= found.items()
    assert "HTTPS" not in found
    assert ask(server.secure, path, server.ca).variables["HTTPS"] == "on"


def test_each_cgi_request_has_a_separate_process(server: Started) -> None:
    """Random characters begin with the number of the process."""
    path = server.programs["cgi"].format(size=64, content="random")
    assert len({ask(server.address, path).body for _ in range(5)}) == 5


def test_cpu_of_ended_cgi_programs_is_counted(
    server: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither fcgiwrap nor mod_cgid waits for ended CGI programs."""
    try:
        ChildClock(server.pid)
    except OSError as error:
        pytest.skip(f"no performance event may be counted here: {error}")

    def cpu_s(reader: ProcessReader) -> float:
        found = reader.read()
        assert found is not None
        return found.cpu_s

    with_clock, without = (ProcessReader(server.pid, family=True) for _ in range(2))
    began_s = cpu_s(with_clock)
    with monkeypatch.context() as patched:
        patched.setattr("sitebench.monitor.child_clock._SYSCALL", None)
        began_without_s = cpu_s(without)
    path = server.programs["cgi"].format(size=5_000_000, content="random")
    for _ in range(20):
        assert len(ask(server.address, path).body) == 5_000_000
    program = Path(psutil.Process(server.pid).cwd()) / "programs/cgi-bin/sitebench-cgi"
    query = {"QUERY_STRING": "kind=random&size=5000000"}
    before = os.times()
    for _ in range(20):
        subprocess.run([program], env=query, stdout=subprocess.DEVNULL, check=True)
    used_s = os.times().children_user - before.children_user
    seen_s = (cpu_s(with_clock) - began_s) - (cpu_s(without) - began_without_s)
    assert seen_s > used_s / 2


def test_query_cannot_make_a_cgi_program_listen(server: Started) -> None:
    """Words of a query without `=` are passed as arguments of the program."""
    found = ask(server.address, "/cgi-bin/sitebench-cgi?--fastcgi+other.sock")
    assert found.variables["QUERY_STRING"] == "--fastcgi+other.sock"


def test_persistent_fastcgi_connection_answers_consecutive_requests(server: Started) -> None:
    for size in (70_000, 3, 140_000, 0):
        path = server.programs["fastcgi"].format(size=size, content="constant")
        assert len(ask(server.address, path).body) == size
        assert ask(server.address, path, method="HEAD").body == b""


def test_closed_server_leaves_no_processes_or_files(target: Any, docroot: Path) -> None:
    with target.serving(docroot, threads=2) as started:
        begun = family(started.pid)
        folder = Path(begun[0].cwd())
        assert started.alive()
        assert started.secure is None
    assert len(begun) > 3
    assert not [each for each in begun if each.is_running()]
    assert not folder.exists()
    assert not started.alive()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_server_processes_end_with_their_parent(
    target: Any, docroot: Path, how: signal.Signals
) -> None:
    assert_ends_with_its_parent(target.__name__, docroot, how)


def test_ordinary_user_can_start_the_server(target: Any, docroot: Path) -> None:
    with served_elsewhere(target.__name__, docroot, ordinary_user()) as (_, (pid, port, programs)):
        assert all(each.uids().real != 0 for each in family(pid))
        for kind, path in programs.items():
            asked = path.format(size=10, content="constant", copy=7)
            assert ask(SiteAddress("127.0.0.1", port), asked).status == 200, kind


def test_server_starts_in_a_folder_with_a_long_path(
    target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of sockets have at most 107 characters."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    with target.serving(None) as started:
        for kind, path in started.programs.items():
            asked = path.format(size=10, content="constant", copy=7)
            assert ask(started.address, asked).status == 200, kind
    assert list(folder.iterdir()) == []


def test_unsupported_programs_and_missing_folders_are_refused(target: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no asp programs"):
        target.serving(None, kinds={"asp"}).__enter__()
    with pytest.raises(BadInput, match="there is no folder"):
        target.serving(tmp_path / "missing").__enter__()


@pytest.mark.parametrize(
    ("program", "directive", "value", "words"),
    [
        ("nginx", "sendfil", "on", 'did not start: nginx: [emerg] unknown directive "sendfil" in'),
        ("nginx", "sendfile", "perhaps", 'invalid value "perhaps" in "sendfile" directive'),
        (
            "nginx",
            "worker_priority",
            "5",
            '"worker_priority" directive is not allowed here in nginx',
        ),
        (
            "nginx",
            "sendfile",
            "on;\n} evil",
            r'"sendfile on;\n} evil" is not one directive of nginx',
        ),
        (
            "nginx",
            "sendfile",
            "on; } events { } http { include /etc/passwd",
            "is not one directive",
        ),
        ("nginx", "sendfile", 'on"; } evil "', "is not one directive"),
        ("nginx", "sendfile", "on # ", "is not one directive"),
        ("nginx", "sendfile", "on\\", "is not one directive"),
        ("nginx", "sendfile", "@evil@", 'invalid value "@evil@"'),
        ("nginx", "send file", "on", '"send file on" is not one directive of nginx'),
        ("apache", "EnableSendfil", "On", "apache2 did not start: Invalid command 'EnableSendfil'"),
        ("apache", "KeepAliveTimeout", "long", "KeepAliveTimeout has wrong format"),
        ("apache", "KeepAlive", "On\nEvil On", r'"KeepAlive On\nEvil On" is not one directive of'),
        ("apache", "FileETag", "None \\", "is not one directive of apache2"),
    ],
)
def test_invalid_directive_is_refused(program: str, directive: str, value: str, words: str) -> None:
    started = import_module(f"web_bench.targets.{program}")
    with pytest.raises(BadInput) as raised:
        started.serving(None, directives={directive: value}, kinds=()).__enter__()
    assert words in raised.value.message


def test_missing_program_is_refused(
    name: str, target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitebench.system.programs._DAEMONS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    package = {"nginx": "nginx-light", "apache": "apache2-bin"}[name]
    with pytest.raises(ProgramMissing, match=f"apt-get install {package}"):
        target.SERVER.find()
    if name == "nginx":
        with pytest.raises(ProgramMissing, match="apt-get install fcgiwrap"):
            target.SERVER.helpers(["cgi"])


def test_user_supplied_certificate_with_encrypted_key_is_used(
    target: Any, docroot: Path, tmp_path: Path
) -> None:
    authority = Authority(tmp_path / "authority")
    shown = authority.locked(authority.sign("server"))
    tls = ServerTls(shown.cert, shown.key, PASSWORD, authority.ca)
    client = authority.sign("client")
    with target.serving(docroot, tls=tls, kinds=()) as started:
        assert started.secure is not None
        assert started.ca is None
        trust = trusting(Trust(cert=client.cert, key=client.key), authority.ca)
        assert verify(SPEC, str(started.secure), trust=trust).different == 0
        different = FILES.count
        with contextlib.suppress(SitebenchError):  # nginx says 400, Apache ends the connection.
            found = verify(SPEC, str(started.secure), trust=trusting(Trust(), authority.ca))
            different = found.different
        assert different == FILES.count
