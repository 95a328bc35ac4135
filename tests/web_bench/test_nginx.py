"""A real nginx, with every kind of program behind it."""

import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sitebench.errors import BadInput, ProgramMissing
from sitebench.http.site import Address
from sitebench.targets.tls import ServerTls, Trust, trusting
from tests.support.programs import required_program
from tests.tls.certificates import Authority
from tests.web_bench.docroots import SPEC
from tests.web_bench.started import (
    ask,
    assert_ends_with_its_parent,
    family,
    ordinary_user,
    served_elsewhere,
    today,
    with_cgi_program,
)
from web_bench.seed import file_set, seed
from web_bench.targets import nginx
from web_bench.targets.started import Started
from web_bench.verify import verify

FILES = file_set(SPEC)


@pytest.fixture(scope="module")
def docroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the set, whose name a configuration could misread."""
    required_program("nginx")
    required_program("fcgiwrap")
    with_cgi_program()
    made = tmp_path_factory.mktemp('the "docroot" of $5; {x}')
    seed(SPEC, made)
    (made / "today.shtml").write_text('<!--#echo var="QUERY_STRING" -->')
    return made


@pytest.fixture(scope="module")
def access_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server lists the requests."""
    return tmp_path_factory.mktemp("logs") / "access.log"


@pytest.fixture(scope="module")
def server(docroot: Path, access_log: Path) -> Iterator[Started]:
    """An nginx with everything, started once."""
    directives = {"access_log": f"{access_log} combined"}
    with nginx.serving(docroot, tls=ServerTls(), threads=2, directives=directives) as started:
        yield started


def test_the_set_is_served_byte_for_byte_in_the_clear_and_over_tls(
    server: Started, access_log: Path
) -> None:
    assert server.secure is not None
    assert server.ca is not None
    for address, trust in (
        (server.address, Trust()),
        (server.secure, trusting(Trust(), server.ca)),
    ):
        found = verify(SPEC, str(address), trust=trust)
        assert (found.files, found.different) == (FILES.count, 0)
    asked = [line.split('"')[1].split()[1] for line in access_log.read_text().splitlines()]
    assert all(asked.count(FILES.path(i)) == 2 for i in range(FILES.count))


@pytest.mark.parametrize("kind", ["cgi", "fastcgi"])
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_program_answers_with_as_much_as_it_is_asked_for(
    server: Started, kind: str, encrypted: bool
) -> None:
    address = server.secure if encrypted else server.address
    assert address is not None
    for size in (0, 1, 6_250, 1_000_000):
        path = server.programs[kind].format(size=size, content="constant")
        found = ask(address, path, server.ca)
        assert (found.status, found.body) == (200, b"x" * size)
    found = ask(address, server.programs[kind].format(size=999, content="random"), server.ca)
    assert (found.status, len(found.body)) == (200, 999)
    assert set(found.body) == set(range(ord("?"), ord("X") + 1))


def test_the_page_shows_todays_date(server: Started) -> None:
    before = today()
    found = ask(server.address, server.programs["page"])
    assert (found.status, len(found.body)) == (200, 6_250)
    days = {before, today()}
    assert any(f"<p>Today is {day}.</p>".encode() in found.body for day in days)


def test_a_page_of_the_docroot_is_parsed_too(server: Started) -> None:
    assert ask(server.address, "/today.shtml?a=b").body == b"a=b"


def test_a_program_learns_of_its_request(server: Started) -> None:
    assert server.secure is not None
    path = server.programs["cgi-env"]
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
    assert found["SERVER_SOFTWARE"].startswith("nginx/")
    assert ask(server.secure, path, server.ca).variables["HTTPS"] == "on"
    fastcgi = ask(server.address, "/dynamic/fastcgi").variables
    assert fastcgi["SCRIPT_NAME"] == "/dynamic/fastcgi"


def test_each_cgi_request_has_a_process_of_its_own(server: Started) -> None:
    """Random characters begin with the number of the process."""
    path = server.programs["cgi"].format(size=64, content="random")
    assert len({ask(server.address, path).body for _ in range(5)}) == 5


def test_a_kept_connection_serves_every_kind_in_turn(server: Started) -> None:
    """FastCGI connections are kept too: an answer must not run into the next one."""
    for _ in range(3):
        for kind in ("fastcgi", "cgi"):
            for size in (70_000, 3):
                path = server.programs[kind].format(size=size, content="constant")
                assert len(ask(server.address, path).body) == size
    assert ask(server.address, "/dynamic/fastcgi?kind=constant", method="HEAD").body == b""


def test_nothing_is_left_after_it_is_closed(docroot: Path) -> None:
    with nginx.serving(docroot, threads=2) as started:
        begun = family(started.pid)
        names = [each.name() for each in begun]
        folder = Path(begun[0].cwd())
        assert started.alive()
        assert started.secure is None
    assert names.count("nginx") == 3
    assert names.count("fcgiwrap") == 17
    assert names.count("sitebench-cgi") == 1
    assert not [each for each in begun if each.is_running()]
    assert not folder.exists()
    assert not started.alive()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_after_its_parent_has_ended(docroot: Path, how: signal.Signals) -> None:
    assert_ends_with_its_parent("web_bench.targets.nginx", docroot, how)


def test_it_serves_an_ordinary_user(docroot: Path) -> None:
    elsewhere = served_elsewhere("web_bench.targets.nginx", docroot, ordinary_user())
    with elsewhere as (_, (pid, port, programs)):
        assert all(each.uids().real != 0 for each in family(pid))
        for kind, path in programs.items():
            asked = path.format(size=10, content="constant")
            assert ask(Address("127.0.0.1", port), asked).status == 200, kind


def test_only_what_is_needed_is_started(docroot: Path) -> None:
    with nginx.serving(docroot, kinds={"page"}) as started:
        assert [each.name() for each in family(started.pid)] == ["nginx", "nginx"]
        assert started.programs.keys() == {"page"}
        assert started.facts["version"].startswith("nginx/")
        configuration = started.facts["configuration"]
    assert "worker_processes 1;" in configuration
    assert "@" not in configuration


def test_directives_replace_those_that_are_there_or_are_added(docroot: Path) -> None:
    directives = {"sendfile": "off", "worker_connections": "600", "etag": "off"}
    with nginx.serving(docroot, directives=directives, kinds=()) as started:
        lines = [line.strip() for line in started.facts["configuration"].splitlines()]
        found = ask(started.address, FILES.path(0))
    assert lines.count("sendfile off;") == 1
    assert "sendfile on;" not in lines
    assert lines.count("worker_connections 600;") == 1
    assert lines.count("etag off;") == 1
    assert "etag" not in found.headers


@pytest.mark.parametrize(
    ("directives", "words"),
    [
        ({"sendfil": "on"}, 'nginx did not start: nginx: [emerg] unknown directive "sendfil" in'),
        ({"sendfile": "perhaps"}, 'invalid value "perhaps" in "sendfile" directive'),
        ({"worker_priority": "5"}, '"worker_priority" directive is not allowed here in nginx.conf'),
        ({"sendfile": "on;\n} evil"}, r'"sendfile on;\n} evil" is not one directive of nginx'),
        ({"send file": "on"}, '"send file on" is not one directive of nginx'),
    ],
)
def test_a_wrong_directive_is_refused_in_nginxs_words(
    docroot: Path, directives: dict[str, str], words: str
) -> None:
    with pytest.raises(BadInput) as raised, nginx.serving(docroot, directives=directives, kinds=()):
        pass
    assert words in raised.value.message


def test_what_it_does_not_have_is_refused(docroot: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nginx has no inprocess programs"):
        nginx.serving(docroot, kinds={"inprocess"}).__enter__()
    with pytest.raises(BadInput, match="there is no folder"):
        nginx.serving(tmp_path / "missing").__enter__()


def test_a_missing_program_is_refused_with_its_package(
    docroot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sitebench.system.programs._DAEMONS", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramMissing, match="apt-get install nginx-light"):
        nginx.SERVER.find()
    with pytest.raises(ProgramMissing, match="apt-get install fcgiwrap"):
        nginx.SERVER.behind(["cgi"])


def test_a_certificate_of_the_users_with_a_locked_key_is_shown(
    docroot: Path, tmp_path: Path
) -> None:
    authority = Authority(tmp_path / "authority")
    shown = authority.locked(authority.sign("server"))
    tls = ServerTls(shown.cert, shown.key, "opens the key", authority.ca)
    client = authority.sign("client")
    with nginx.serving(docroot, tls=tls, kinds=()) as started:
        assert started.secure is not None
        assert started.ca is None
        trust = trusting(Trust(cert=client.cert, key=client.key), authority.ca)
        assert verify(SPEC, str(started.secure), trust=trust).different == 0
        without = verify(SPEC, str(started.secure), trust=replace(trust, cert=None, key=None))
        assert without.kinds == {"status:400": FILES.count}
