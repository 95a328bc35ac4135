"""`sitebench web workloads`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sitebench.errors import BadInput
from web_bench.files_cli import workloads as command
from web_bench.workload import built_in


def workloads(*argv: str) -> str:
    return CliRunner().invoke(command, [*argv], catch_exceptions=False).output


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_workloads_are_listed_under_their_papers() -> None:
    shown = workloads()
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    for name, workload in built_in().items():
        assert workload.title in lines[name]
    assert lines["webbench1-static"].split()[-2:] == ["8,348", "100"]
    assert "about 7,580" in lines["webbench1-light"]
    assert lines["spice-cgi"].split()[-2:] == ["6,250", "-"]
    for paper in {each.paper for each in built_in().values()}:
        assert shown.count(paper) == 1
    assert shown.index("(July 1997)") < shown.index("webbench1-static")


def test_page_of_a_workload_has_classes_with_shares_of_requests_and_bytes() -> None:
    shown = workloads("large-filemix")
    rows = [line.split() for line in shown.splitlines()]
    assert ["1m", "1", "file", "of", "1,048,576", "1%", "38.7%", "1,048,576"] in rows
    assert ["256b", "1", "file", "of", "256", "8%", "0.1%", "256"] in rows
    assert "Paper: Compaq, Performance Tuning Your Windows NT Web Server (October 1996)" in shown
    assert "Files: 14, 1,975,040 bytes in all (set large-filemix)" in shown
    assert "Mean: 27,080 bytes per request" in shown
    assert "Clients: 48, 96, 192, 264" in shown
    assert "HTTP: 1.0" in shown


def test_description_of_a_workload_has_size_spreads_programs_and_tls() -> None:
    shown = workloads("ecommerce-cgi")
    assert "970 files of 4,000 to 8,000 " in shown
    assert "970 files of 4,000 to 8,000, over TLS" in shown
    assert "a process per request, over TLS" in shown
    assert "Deck: 10,000 requests are exactly the mix" in shown


def test_unknown_bytes_of_a_user_file_are_left_blank(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[[operation]]\nname = "a"\nstep = [{ get = "/[red]" }, { get = "/:bell:" }]\n')
    rows = [line.split() for line in workloads(str(file)).splitlines()]
    # Paths are shown unchanged: no markup, no emoji.
    assert ["a", "/[red],", "/:bell:", "100%", "-", "-"] in rows
    found = json.loads(workloads(str(file), "--json"))
    assert (found["mean_bytes"], found["files"], found["paper"]) == (None, None, "")
    assert found["classes"][0]["asks"] == ["/[red]", "/:bell:"]
    assert found["classes"][0]["bytes"] is None


def test_json_of_workloads_has_all_data_of_the_tables() -> None:
    listed = json.loads(workloads("--json"))
    assert [each["name"] for each in listed] == list(built_in())
    (light,) = (each for each in listed if each["name"] == "webbench1-light")
    assert light == json.loads(workloads("webbench1-light", "--json"))
    assert light["files"] == {"name": "webbench1", "count": 100, "bytes": 834_816}
    assert light["mean_bytes"] == pytest.approx(7_580, abs=0.5)
    assert (light["deck"], light["clients"][0], light["http"]) == (1000, 2, "1.0")
    *files, program = light["classes"]
    assert program == {
        "name": "cgi-env",
        "weight": 100,
        "requests": 0.1,
        "bytes": pytest.approx(67 / 7580.344),
        "mean_bytes": 670,
        "what": "a process per request that prints its environment",
        "dynamic": "cgi-env",
        "asks": [],
        "tls": False,
    }
    assert sum(each["bytes"] for each in files) + program["bytes"] == pytest.approx(1)


def test_unknown_workload_is_refused() -> None:
    with pytest.raises(BadInput, match=r"unknown workload 'large'.*\.toml file of your own"):
        workloads("large")
