"""Masters and workers of different builds, and messages of no known build."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import msgspec
import pytest

from sitebench.counts import metrics
from sitebench.errors import BadMessage, OtherBuild
from sitebench.locust.workers import messages
from sitebench.locust.workers.build import Build, refuse_other, this_build
from sitebench.locust.workers.messages import Ask, Report, pack, read, unpack
from sitebench.system.network import free_port
from tests.distributed.masters import Worker, waited_for, worker
from tests.support.cli import Ran, in_process
from tests.support.drains import Drain, Step, histogram
from tests.support.workers import forked_workers

LOOKUP = ("ils", "run", "lookup", "--entries", "100", "--locales", "en_US", "--users", "2")
BRIEF = ("--rate", "50", "--warmup", "0s", "--measure", "1s", "--json", "--workers", "1")

OTHER_CLOCKS = "from sitebench.counts import metrics; metrics.CLOCKS = metrics.CLOCKS[:-1]"
BLIND = """
from sitebench.locust.workers import build
other = build.Build("0.0.9", 2, "0123456789ab")
build.this_build, build.refuse_other = lambda: other, lambda *_: None
"""
SENDS = """
from sitebench.locust.workers import messages
import msgspec
def send(self, runner, worker=None):
    plain = msgspec.to_builtins(self, builtin_types=(bytes,))
    if self.TYPE == messages.Report.TYPE:
        {change}
    runner.send_message(self.TYPE, plain)
messages.Message.send = send
"""


@contextmanager
def other(folder: Path, code: str) -> Iterator[tuple[Worker, str]]:
    """Start a worker whose process executes this code before any import."""
    (folder / "first").mkdir()
    (folder / "first" / "sitecustomize.py").write_text(code)
    where = f"127.0.0.1:{free_port()}"
    with worker(folder, where, None, "--threads", "1", path=folder / "first") as made:
        yield made, where


def run(where: str) -> Ran:
    return in_process(*LOOKUP, *BRIEF, "--bind", where)


def run_with(folder: Path, code: str) -> Ran:
    """Run with a worker that executes this code after all its imports."""
    where = f"127.0.0.1:{free_port()}"
    with forked_workers(folder, where, threads=1, first=code):
        return run(where)


BOTH = re.compile(r"sitebench (\S+) \(build (\w{12})\), this is sitebench (\S+) \(build (\w{12})\)")


def test_worker_with_metrics_unlike_the_masters_is_refused_on_both_sides(tmp_path: Path) -> None:
    with other(tmp_path, OTHER_CLOCKS) as (there, where):
        ran = run(where)
        waited_for(lambda: there.locust() is not None, "it does not wait for other masters")
        said = there.end()
    assert ran.code == 2, ran.err
    (here,) = [line for line in ran.err.splitlines() if "build" in line]
    assert here.startswith("sitebench: worker 0: the master runs")
    (found,) = BOTH.findall(here)
    assert found[1] == this_build().digest != found[3]
    (line,) = [line for line in said.splitlines() if BOTH.search(line)]
    assert BOTH.findall(line) == [found]
    assert "Traceback" not in ran.err + said


def test_master_refuses_worker_that_skips_the_comparison_of_builds(tmp_path: Path) -> None:
    with other(tmp_path, BLIND) as (_, where):
        ran = run(where)
    ran.check(2, "worker 0 runs sitebench 0.0.9 (build 0123456789ab), this is sitebench")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("del plain['did']", "missing required field `did`"),
        ("plain['use'] = {'seconds': 'many'}", "seconds"),
    ],
)
def test_message_of_unknown_format_ends_the_run(tmp_path: Path, change: str, named: str) -> None:
    ran = run_with(tmp_path, SENDS.format(change=change)).check(1)
    (line,) = [line for line in ran.err.splitlines() if line.startswith("sitebench: ")]
    assert named in line
    assert "Traceback" not in ran.err


def test_order_of_message_fields_has_no_meaning(tmp_path: Path) -> None:
    change = "plain = dict(reversed(plain.items()))"
    ran = run_with(tmp_path, SENDS.format(change=change)).check(0)
    point = json.loads(ran.out)
    assert point["operations"] > 0
    assert [each["missing"] for each in point["workers"]] == [0]


def test_build_digest_covers_metrics_and_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest() -> str:
        this_build.cache_clear()
        return this_build().digest

    known = digest()
    try:
        for place, name, value in (
            (metrics, "CLOCKS", metrics.CLOCKS[::-1]),
            (metrics, "COUNTERS", metrics.COUNTERS[1:]),
            (messages, "ALL", messages.ALL[1:]),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(place, name, value)
                assert digest() != known, name
        assert digest() == known
    finally:
        this_build.cache_clear()


@pytest.mark.parametrize("found", [{}, {"version": "0.0.1"}, {"digest": "other"}])
def test_incomplete_build_digest_is_refused(found: dict[str, Any]) -> None:
    with pytest.raises(OtherBuild, match=re.escape(str(this_build()))):
        refuse_other("worker 3", found)
    refuse_other("worker 3", {**msgspec.structs.asdict(this_build()), "host": "a"})
    assert Build() != this_build()


def a_report() -> Any:
    step = Step("p", "s", 1, {}, 1, 2, histogram(50_000))
    report = Report(1, 2, 3, 4, 5, False, 1, None, pack(Drain(0, 1, (step,)), [7]))
    return msgpack.loads(msgpack.dumps(msgspec.to_builtins(report, builtin_types=(bytes,))))


def the_step(report: Any) -> Any:
    return report["drained"]["steps"][0]


def test_report_survives_the_message_format() -> None:
    drain = unpack(read(Report, a_report()).drained)
    (step,) = drain.steps
    assert step.clocks["service"] == histogram(50_000)
    assert step.clocks["latency"] is step.clocks["service"]


OTHER_FORMAT = "has not the form of this sitebench"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda report: report.pop("did"), "missing required field `did`"),
        (lambda report: report.update(more=1), "unknown field `more`"),
        (lambda report: the_step(report)["clocks"].pop("unread"), OTHER_FORMAT),
        (lambda report: the_step(report)["clocks"].update(other=None), OTHER_FORMAT),
        (lambda report: the_step(report)["clocks"].update(service=None), OTHER_FORMAT),
        (lambda report: the_step(report)["failures"].update(timeout="1"), OTHER_FORMAT),
        (lambda report: the_step(report)["clocks"].update(service=b"\x1c\x84"), OTHER_FORMAT),
        (lambda report: the_step(report)["counters"].pop("failed"), OTHER_FORMAT),
        (lambda report: the_step(report).update(count="1"), OTHER_FORMAT),
        (lambda report: report["drained"].update(steps=[[1, 2, 3]]), OTHER_FORMAT),
        (lambda report: report["drained"].pop("owed"), OTHER_FORMAT),
        (lambda report: report.update(drained=None), OTHER_FORMAT),
        (lambda report: report.update(number=1.5), OTHER_FORMAT),
    ],
)
def test_report_of_another_format_is_refused(change: Callable[[Any], object], message: str) -> None:
    report = a_report()
    change(report)
    with pytest.raises(BadMessage, match=message):
        unpack(read(Report, report).drained)


@pytest.mark.parametrize("nonsense", [None, [], "text", {1: 2}, {"number": {}}])
def test_random_bytes_are_refused_as_a_message(nonsense: Any) -> None:
    for kind in messages.ALL:
        with pytest.raises(BadMessage):
            read(kind, nonsense)
    assert Ask in messages.ALL
    assert Report in messages.ALL
