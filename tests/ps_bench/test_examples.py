"""The worked examples, started and measured as their README says."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from sitebench.http.address import parse_address
from sitebench.http.site import probe
from sitebench.system.network import free_port
from tests.support.cli import in_process
from tests.support.postgresql import postgresql
from tests.support.programs import running_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "flask_site"
LOGIN = EXAMPLE.with_name("login_site")
PEOPLE = 200


@contextmanager
def serving(example: Path, folder: Path, *argv: str) -> Iterator[str]:
    """Yield the address of an example."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, example / "app.py", *argv, "--port", str(port)]
    environment = {"PYTHONPATH": str(EXAMPLE.parents[1]), "HOME": str(Path.home())}
    root = EXAMPLE.parents[1]
    with running_server(command, lambda: probe(parse_address(url)), cwd=root, env=environment):
        yield url


def flask(database: str, folder: Path) -> AbstractContextManager[str]:
    """Serve the example on a database."""
    return serving(EXAMPLE, folder, "--database", database, "--people", str(PEOPLE))


def measured(url: str, *more: str) -> None:
    """Run the example's scenario; all answers must be right, and all requests must occur."""
    for window in ("2s", "8s", "30s"):  # A busy machine needs longer for a deck of a hundred.
        point = in_process(
            *("ps", "run", str(EXAMPLE / "site.toml"), "--target", url),
            *("--entries", str(PEOPLE), "--users", "4", "--threads", "1", "--think", "20ms"),
            *("--warmup", "0s", "--measure", window, "--json", *more),
        ).point
        assert point["failures_by_kind"] == {}
        mix = point["figures"]["mix"]["site"]
        if mix["page"]["count"] > 90:
            break
    assert min(mix["create"]["count"], mix["update"]["count"]) > 0
    assert 80 < mix["page"]["percent"] < 97


def test_flask_example_on_sqlite_is_measured_after_a_restart(tmp_path: Path) -> None:
    database = str(tmp_path / "notes.sqlite")
    with flask(database, tmp_path):
        pass
    with flask(database, tmp_path) as url:
        measured(url)


def test_flask_example_on_postgresql_is_measured(tmp_path: Path) -> None:
    with postgresql() as database, flask(database, tmp_path) as url:
        measured(url)


def test_site_with_login_is_measured_with_accounts_from_a_csv_file(tmp_path: Path) -> None:
    accounts = tmp_path / "accounts.csv"
    rows = "".join(f"{i},secret-{i},Person {i}\n" for i in range(PEOPLE))
    accounts.write_text(f"number,password,name\n{rows}")
    with serving(LOGIN, tmp_path, "--accounts", str(accounts)) as url:
        point = in_process(
            *("ps", "run", str(LOGIN / "login.toml"), "--data", f"account={accounts}"),
            *("--target", url, "--i-own-this-target", "--users", "4", "--threads", "1"),
            *("--rate", "20", "--warmup", "0s", "--measure", "2s", "--json"),
        ).point
    assert point["failures_by_kind"] == {}
    assert point["figures"]["mix"]["login"]["session"]["count"] > 10
