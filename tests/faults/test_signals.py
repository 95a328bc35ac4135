"""Ctrl-C and SIGTERM end every command in each of its phases, and no process or file remains."""

import contextlib
import itertools
import os
import pty
import signal
import subprocess

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from sitebench.runs.store import RunStore
from sitebench.system.network import free_port
from tests.scenario.recording import archive, entry
from tests.support.aftermath import Ground
from tests.support.cli import SITEBENCH
from tests.support.forked_command import run_forked
from tests.support.runs import finish
from tests.support.waiting import eventually, left_s

FEW = ("--entries", "200", "--locales", "en_US")
LONG = ("--users", "2", "--warmup", "100ms", "--measure", "600s")
LOAD = (*LONG, "--threads", "1", "--rate", "50")
LOOKUP = ("ils", "run", "lookup", *FEW, *LOAD)
BRIEF = (*LOOKUP, "--measure", "300ms", "--allow-failures")
SWEEP = ("ils", "sweep", *FEW, *BRIEF[3:], "--operations", "lookup,connect")
VARY = ("ils", "vary", "lookup", "--vary", "keys=uniform,zipfian")
LOOKS = "sitebench.runs.store:RunStore.status"
"""A command checks for its point's result four times a second."""
RUNNER = "sitebench.measure.point_process:"
SERVES = "sitebench.system.stop:Stop.wait"
LIVE = ("--target", "{url}", "--base", "o=Intranet", "--i-own-this-target")

PHASES: dict[str, tuple[tuple[str, ...], str, int]] = {
    "run begins": (LOOKUP, "sitebench.measure.command:allow_descriptors", 1),
    "run starts its directory": (LOOKUP, "sitebench.system.child:Child._line", 1),
    "run begins a point": (LOOKUP, "sitebench.runs.store:RunStore.begin", 1),
    "run starts its runner": (LOOKUP, f"{RUNNER}_RunnerProcess.begin", 1),
    "run waits for its runner": (LOOKUP, f"{RUNNER}_attend", 1),
    "run looks for the end of a point": (LOOKUP, f"{RUNNER}_RunnerProcess.is_over", 4),
    "run ends its runner": (BRIEF, f"{RUNNER}_RunnerProcess.end", 1),
    "sweep goes on": ((*SWEEP, "--out", "{folder}/sweep"), f"{RUNNER}_RunnerProcess.begin", 2),
    "run is at work": (LOOKUP, LOOKS, 8),
    "run adds people": ((*LOOKUP, *LIVE, "--entries", "5k"), LOOKS, 3),
    "run has measured": (BRIEF, "sitebench.runs.store:RunStore.confirm", 1),
    "run stops its directory": (BRIEF, "sitebench.system.child:Child.stop", 1),
    "run judges": (BRIEF, "sitebench.measure.command:judge_points", 1),
    "run of slapd": ((*LOOKUP, "--target", "openldap"), LOOKS, 4),
    "run by ldap3": (("ils", "run", "lookup", *FEW, *LONG, "--client", "ldap3"), LOOKS, 4),
    "run probes": ((*LOOKUP, *LIVE), "ils_bench.targets.profile:_profile", 1),
    "check": (("ils", "run", "{scenario}", *LIVE, "--check"), "ils_bench.targets.probe:probe", 1),
    "sweep": (("ils", "sweep", *FEW, *LOAD, "--out", "{folder}/sweep"), LOOKS, 4),
    "vary": ((*VARY, *FEW, *LOAD, "--out", "{folder}/v"), LOOKS, 4),
    "peak": (("ils", "peak", "lookup", *FEW, "--measure", "600s", "--out", "{folder}/p"), LOOKS, 4),
    "ps run": (("ps", "run", "page", *FEW, *LOAD), LOOKS, 4),
    "web run": (("web", "run", "--docroot", "{folder}", "--path", "/a.har", *LOAD), LOOKS, 4),
    "demo": (("demo", "--out", "{folder}/demo"), LOOKS, 4),
    "ils serve": (("ils", "serve", *FEW, "--port", "0"), SERVES, 1),
    "ps serve": (("ps", "serve", *FEW, "--port", "0"), SERVES, 1),
    "web serve": (("web", "serve", "--docroot", "{folder}", "--port", "0"), SERVES, 1),
    "worker": (("worker", "--master", "127.0.0.1:{port}"), SERVES, 3),
    "seed": (("ils", "seed", *FEW, *LIVE), "ils_bench.seeding.commands:_make_containers", 1),
    "verify": (("ils", "verify", *FEW, *LIVE), "ils_bench.seeding.commands:_destination", 1),
    "clean": (("ils", "clean", *LIVE), "ils_bench.seeding.commands:clean_all", 1),
    "calibrate": (("calibrate",), "ils_bench.calibrate:running_engine", 1),
    "report": (("report", "{run}", "--out", "{folder}/r.html"), "sitebench.report.build:html", 1),
    "compare": (("compare", "{run}", "{run}"), "sitebench.runs.runfile:RunFile.points", 1),
    "export": (("export", "{run}"), "sitebench.cli.export:as_text", 1),
    "plan": (("plan", "ils", "{run}"), "sitebench.runs.runfile:RunFile.points", 1),
    "resume": (("resume", "{run}"), "sitebench.cli.resume:again", 1),
    "from-har": (("ps", "from-har", "{har}"), "sitebench.scenario.har:convert", 1),
}
ENDS_ITSELF = {"ils serve", "ps serve", "web serve", "worker"}
"""Commands that run until a signal ends them, which is no error."""
SCENARIO = """
[[operation]]
search = "(objectClass=*)"
"""


OF_RUNNERS = [phase for phase, (_, place, _) in PHASES.items() if place.startswith(RUNNER)]


@pytest.mark.parametrize(
    ("phase", "number"),
    [
        *itertools.product(PHASES, (signal.SIGINT, signal.SIGTERM)),
        *itertools.product(OF_RUNNERS, (signal.SIGHUP,)),
    ],
)
def test_signal_ends_the_command_without_leftovers(
    phase: str, number: signal.Signals, ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv, place, nth = PHASES[phase]
    for name, value in ground.environment.items():
        monkeypatch.setenv(name, value)
    folder = ground.folder / "own"
    folder.mkdir()
    names: dict[str, object] = {"folder": folder, "run": folder / "run", "har": folder / "a.har"}
    names |= {"scenario": folder / "mix.toml", "port": free_port()}
    (folder / "mix.toml").write_text(SCENARIO)
    (folder / "a.har").write_text(archive(entry("GET", "http://shop.example.com/")))
    with RunStore(folder / "run") as store:
        store.set_manifest({"command": ["sitebench", "ils", "sweep"]})
        finish(store)
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(LdapDirectory(0)) if set(LIVE) <= {*argv} else None
        names["url"] = directory.url if directory else ""
        words = [each.format(**names) for each in argv]
        ran, _ = run_forked(
            *words, cwd=ground.folder, timeout_s=left_s(), moment=f"{int(number)} {place} {nth}"
        )
        if directory is not None:
            assert directory.stats()["entries"] == 1
    ran.check(0 if phase in ENDS_ITSELF else 130)
    assert phase != "run probes" or ran.err == "interrupted; nothing was measured\n"
    ground.assert_over()


def test_hangup_of_the_terminal_ends_the_command(ground: Ground) -> None:
    """People added by the run are removed, even though no output can be written any more."""
    terminal, inside = pty.openpty()
    with LdapDirectory(0) as directory, contextlib.ExitStack() as open_terminal:
        open_terminal.callback(os.close, terminal)
        argv = [each.format(url=directory.url) for each in (*LOOKUP, *LIVE)]
        with subprocess.Popen(
            ["setsid", "--ctty", *SITEBENCH, *argv],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env={**os.environ, **ground.environment},
        ) as process:
            os.close(inside)
            os.set_blocking(terminal, False)

            def added() -> bool:
                with contextlib.suppress(BlockingIOError):
                    os.read(terminal, 65_536)
                return directory.stats()["entries"] > 200

            try:
                assert eventually(added), directory.stats()
                open_terminal.close()
                # A shell that ends with its terminal signals its jobs, too.
                process.send_signal(signal.SIGHUP)
                process.wait(left_s())
            finally:
                process.kill()
        assert process.returncode == 130
        assert directory.stats()["entries"] == 1
    ground.assert_over()
