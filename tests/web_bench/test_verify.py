"""Servers of a file set: right ones and faulty ones."""

import time
from pathlib import Path

import pytest

from sitebench.errors import TargetUnreachable
from tests.support.http_server import Handler
from tests.web_bench.docroots import SPEC
from tests.web_bench.servers import Answer, failing, nginx, python_server
from web_bench import verify as verifying
from web_bench.verify import Verified, verify
from web_bench.workload import file_set, seed

FILES = file_set(SPEC)
PATHS = [FILES.path(i) for i in range(FILES.count)]
WHOLE = Verified(FILES.count, FILES.bytes, {}, ())
LARGE = "/mixed/wide/0/11.html"


@pytest.fixture(scope="module")
def docroot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("docroot")
    seed(SPEC, made)
    return made


def test_verify_accepts_the_written_files_in_nginx(docroot: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with nginx(docroot, tmp_path / "nginx", requests=10) as url:
        found = verify(SPEC, f"{url}/", lambda done, total: calls.append((done, total)))
    assert found == WHOLE
    assert found.different == 0
    assert calls[-1] == (FILES.bytes, FILES.bytes)
    assert calls == sorted(calls)
    logged = (tmp_path / "nginx" / "access.log").read_text().splitlines()
    asked = [line.split('"')[1].split()[1].removeprefix("/base") for line in logged]
    # Starting and verifying each request the root first.
    assert sorted(asked) == sorted([*PATHS, "/", "/"])


@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_verify_accepts_the_files_in_pythons_server(docroot: Path, version: str) -> None:
    with python_server(docroot, version) as server:
        url = server.url
        assert verify(SPEC, url, connections=3) == WHOLE
        probe = 1
        # A late connection finds no remaining file, and does not connect again.
        used = {FILES.count} if version == "HTTP/1.0" else {1, 2, 3}
        assert server.connections - probe in used


def test_verify_notices_a_different_file_set_or_name_at_the_server(docroot: Path) -> None:
    with python_server(docroot, "HTTP/1.1") as server:
        url = server.url
        found = verify(SPEC | {"seed": 8}, url, limit=5)
        elsewhere = verify(SPEC | {"name": "elsewhere"}, url, limit=100)
    # The empty file is the same in every set.
    assert found.kinds == {"wrong-answer": FILES.count - 1}
    assert [str(each) for each in found.differences] == [
        f"/mixed/256b/0/{k}.html: wrong-answer, differs from byte 0 on" for k in sorted(range(5))
    ]
    assert elsewhere.kinds == {"status:404": FILES.count}
    assert elsewhere.different == len(elsewhere.differences) == FILES.count
    assert {each.detail for each in elsewhere.differences} == {"File not found"}


def damaged(at: int) -> Answer:
    def answer(handler: Handler, content: bytes) -> None:
        handler.reply(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])

    return answer


def announcing(says: int, sends: int | None = None) -> Answer:
    """Announce `says` more bytes than the file has, and send `sends` more."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content) + says))
        handler.end_headers()
        body = content + b"@" * min(says, 1_000)
        handler.wfile.write(body if sends is None else body[: len(content) + sends])
        handler.close_connection = sends is not None

    return answer


def until_close(more: int) -> Answer:
    """Send a body that ends with the connection, longer or shorter than the file."""

    def answer(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write((content + b"@" * more)[: len(content) + more])

    return answer


def chunked(*, cut: bool = False, endless: bool = False) -> Answer:
    def answer(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for at in range(0, len(content), 1_000):
            piece = content[at : at + 1_000]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        while endless:
            handler.wfile.write(b"400\r\n%s\r\n" % (b"@" * 1_024))
        handler.wfile.write(b"100\r\nhalf" if cut else b"0\r\n\r\n")
        handler.close_connection = cut

    return answer


def status(code: int, body: bytes = b"") -> Answer:
    return lambda handler, _: handler.reply(body, code)


def hanging_up(handler: Handler, content: bytes) -> None:
    handler.close_connection = True


def silent(handler: Handler, content: bytes) -> None:
    handler.server.over.wait(30)


def nonsense(handler: Handler, content: bytes) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    handler.close_connection = True


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        (damaged(0), "wrong-answer", "differs from byte 0 on"),
        (damaged(300_000), "wrong-answer", "differs from byte 300,000 on"),
        (damaged(499_999), "wrong-answer", "differs from byte 499,999 on"),
        (announcing(0, -1), "truncated", "ends early, after 499,999 of 500,000 bytes"),
        (announcing(0, -500_000), "truncated", "ends early, after 0 of 500,000 bytes"),
        (announcing(1), "wrong-length", "500,001 bytes instead of 500,000"),
        (announcing(-1, 0), "wrong-length", "499,999 bytes instead of 500,000"),
        (announcing(5 << 30, 10), "wrong-length", "5,369,209,120 bytes instead of 500,000"),
        (until_close(1), "wrong-length", "more than 500,000 bytes instead of 500,000"),
        (until_close(-1), "wrong-length", "499,999 bytes instead of 500,000"),
        (chunked(cut=True), "truncated", "ends early, after 500,000 of 500,000 bytes"),
        (chunked(endless=True), "wrong-length", "more than 500,000 bytes instead of 500,000"),
        (status(404), "status:404", "Not Found"),
        (status(500, b"@" * 3_000_000), "status:500", "Internal Server Error"),
        (status(301), "status:301", "Moved Permanently"),
        (status(200), "wrong-length", "0 bytes instead of 500,000"),
        (hanging_up, "closed", "Remote end closed connection without response"),
        (nonsense, "malformed", "SSH-2.0-OpenSSH_9.2\r\n"),
    ],
)
def test_verify_names_a_different_answer(
    docroot: Path, answer: Answer, kind: str, detail: str
) -> None:
    with failing(docroot, {LARGE: answer}) as server:
        found = verify(SPEC, server.url, connections=1)
    assert found.kinds == {kind: 1}
    (difference,) = found.differences
    assert (difference.path, difference.kind, difference.detail) == (LARGE, kind, detail)


@pytest.mark.parametrize("answer", [chunked(), until_close(0)])
def test_verify_accepts_a_right_body_without_its_length(docroot: Path, answer: Answer) -> None:
    with failing(docroot, dict.fromkeys(PATHS, answer)) as server:
        assert verify(SPEC, server.url) == WHOLE


def test_verify_continues_after_the_close_of_an_idle_connection(docroot: Path) -> None:
    def unannounced(handler: Handler, content: bytes) -> None:
        handler.reply(content)
        handler.close_connection = True

    with failing(docroot, dict.fromkeys(PATHS[::3], unannounced)) as server:
        assert verify(SPEC, server.url, connections=2) == WHOLE


def test_bytes_beyond_the_announced_length_are_not_read_as_the_next_answer(docroot: Path) -> None:
    def one_more(handler: Handler, content: bytes) -> None:
        handler.reply(content)
        handler.wfile.write(b"@")

    with failing(docroot, {PATHS[30]: announcing(-1, 0), PATHS[40]: one_more}) as server:
        found = verify(SPEC, server.url, connections=1)
    assert [(each.path, each.kind) for each in found.differences] == [(PATHS[30], "wrong-length")]


def test_all_differences_are_counted_and_the_first_are_listed(docroot: Path) -> None:
    answers = dict.fromkeys(PATHS[:10], status(404)) | dict.fromkeys(PATHS[20:25], damaged(3))
    with failing(docroot, answers) as server:
        found = verify(SPEC, server.url, connections=1, limit=12)
    assert found.kinds == {"status:404": 10, "wrong-answer": 5}
    assert found.different == 15
    assert [each.path for each in found.differences] == [*PATHS[:10], *PATHS[20:22]]


def test_verify_stops_waiting_for_a_missing_answer(
    docroot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "ANSWER_S", 3.0)
    with failing(docroot, {LARGE: silent}) as server:
        found = verify(SPEC, server.url)
    (difference,) = found.differences
    assert str(difference) == f"{LARGE}: timeout, no answer within 3 s"


def test_exception_of_the_progress_callback_ends_verify_at_once(docroot: Path) -> None:
    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with failing(docroot, dict.fromkeys(PATHS, silent)) as server:
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            verify(SPEC, server.url, interrupted)
        assert time.monotonic() - began < 10


def test_stopped_server_ends_verify(docroot: Path) -> None:
    answers: dict[str, Answer] = {}
    with failing(docroot, answers) as server:

        def last(handler: Handler, content: bytes) -> None:
            server.socket.close()
            handler.reply(content)
            handler.close_connection = True

        answers[PATHS[30]] = last
        with pytest.raises(TargetUnreachable, match=r"nothing answers at .* any more"):
            verify(SPEC, server.url, connections=1)
