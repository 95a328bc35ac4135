"""Invalid command lines: one line names the error and the option, the next line a remedy."""

import shlex
import tomllib
from pathlib import Path

import pytest

from ils_bench.targets import probe
from sitebench.http import site
from sitebench.runs.store import RunStore
from sitebench.targets.ownership import FLAG
from tests.support.cli import in_process, sitebench
from tests.support.hostile_target import hold, site_that
from tests.support.ldap_server import serving

TABLE: dict[str, dict[str, tuple[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "wrong_input.toml").read_text()
)
WRONG = {line: (kind, *words) for kind, rows in TABLE.items() for line, words in rows.items()}
"""Kinds of errors, and words of message and remedy, by command lines."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of wrong kinds."""
    made = tmp_path_factory.mktemp("wrong")
    texts = {
        "notes.txt": "hello\n",
        "empty.sitebench": "",
        "empty": "",
        "bad.toml": "path = /\n",
        "field.toml": "data.one.people = 'seeded'\n[[operation]]\nget = '/{one.gven}'\n",
        "good.toml": "[[operation]]\nget = '/'\n",
        "paths.toml": "[[operation]]\nget = '/index.html'\n",
        "step.toml": "connection.main.per = 'step'\n[[operation]]\nget = '/'\n",
        "search.toml": "[[operation]]\nsearch = '(uid=a)'\n",
        "files.toml": "files.s.a.sizes = [9]\n[[operation]]\nfile = 'a'\n",
        "people.toml": "data.one.people = 'seeded'\n[[operation]]\nget = '/{one.id}'\n",
        "two.toml": "operation = [{name='a', step=[{get='/'}, {get='/', name='request'}]}]\n",
        "people.txt": "user1\nuser2\n",
        "p98.toml": "[[operation]]\nsearch = '(u=a)'\nobjective = 'p98<1s'\n",
        "no-csv.toml": "data.x.file = 'x.csv'\n[[operation]]\nsearch = '(u={x.u})'\n",
        "column.toml": "data.x.file = 'people.txt'\n[[operation]]\nsearch = '(u={x.u})'\n",
        "stages.toml": "load = { users = 3, stages = ['9s:5'] }\n[[operation]]\nsearch = '(u=a)'\n",
        "old.toml": "[[operation]]\nname = 'a'\n[[operation.request]]\npath = '/'\n",
        "typo.toml": "[[operation]]\nname = 'a'\ngte = '/'\n",
    }
    for name, text in texts.items():
        (made / name).write_text(text)
    return made


@pytest.mark.parametrize("line", WRONG)
def test_wrong_input_is_refused_in_one_line_with_a_remedy(line: str, folder: Path) -> None:
    kind, message, remedy = WRONG[line]
    before = {each: each.read_bytes() for each in folder.iterdir()}
    ran = in_process(*shlex.split(line), cwd=folder).refuse(1 if kind == "unreachable" else 2)
    assert ran.out == ""
    error, remedy_line = ran.err.splitlines()
    assert message in error
    assert remedy in remedy_line
    assert {each: each.read_bytes() for each in folder.iterdir()} == before


def test_existing_run_file_stays_after_a_failure(tmp_path: Path) -> None:
    RunStore(tmp_path / "run").close()
    argv = ("ils", "sweep", "--sizes", "100", "--target", "ldap://127.0.0.1:1", FLAG)
    in_process(*argv, "--out", "run", cwd=tmp_path).refuse(1)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


TALK = [b"SSH-2.0-OpenSSH_9.2\r\n", b"\0" * 64, b""]
TALKERS = [
    *(("ps", "http", "a web server", text) for text in TALK),
    *(("ils", "ldap", "an LDAP server", text) for text in (*TALK, b"HTTP/1.1 400 No\r\n\r\n")),
]


@pytest.mark.parametrize(("suite", "scheme", "server", "text"), TALKERS)
def test_target_with_wrong_or_no_answers_is_refused(
    suite: str, scheme: str, server: str, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_SILENCE_S", 1.0)
    monkeypatch.setattr(site, "_ANSWER_S", 1.0)
    with serving(site_that(text, hold)) as port:
        ran = in_process(suite, "run", "--target", f"{scheme}://127.0.0.1:{port}")
    ran.refuse(1, f"does not answer as {server} does", "check host and port")


def test_mistyped_command_line_in_a_subprocess_exits_with_2() -> None:
    ran = sitebench("directory", "run", "--user", "3")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "sitebench: no such option '--user'\n  did you mean --users? `sitebench directory run "
        "--help` lists the options and arguments\n"
    )


def test_refusal_of_a_server_without_spice_programs_lists_left_out_programs() -> None:
    ran = in_process("web", "spice", "--cgi-program", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    *left_out, error, remedy = ran.err.splitlines()
    assert left_out
    assert all(each.startswith("left out: ") for each in left_out)
    assert error == "sitebench: embedded has none of the programs"
    assert "--programs" in remedy
