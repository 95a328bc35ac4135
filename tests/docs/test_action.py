"""action.yml and its sample workflow: steps that work as described."""

import os
import re
import sys
from pathlib import Path

import pytest

from ils_bench.targets.ldap_directory import LdapDirectory
from tests.docs.cli_page import ROOT
from tests.docs.shown import parse
from tests.docs.test_deploy import document
from tests.support.programs import run_program

ACTION = ROOT / "action.yml"
SAMPLE = ROOT / "examples/github/compare.yml"
MEASURE = (
    "ils run lookup --target {url} --entries 100 --locales en_US --users 2 "
    "--warmup 0s --measure 300ms --think {{}}"
)


STEPS = {step["id"]: step for step in document(ACTION)["runs"]["steps"]}
DEFAULTS = {name: each.get("default", "") for name, each in document(ACTION)["inputs"].items()}


def run_step(folder: Path, name: str, **said: str) -> tuple[int, str, dict[str, str]]:
    """Run a step as GitHub does; return its exit code, its output and its outputs."""
    inputs = DEFAULTS | {key.replace("_", "-"): value for key, value in said.items()}
    output, summary = folder / "output", folder / "summary"
    output.write_text("")
    runner = {"GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": summary, "RUNNER_TEMP": folder}
    env = {key: str(value) for key, value in runner.items()}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for key, value in STEPS[name]["env"].items():
        expression = re.fullmatch(r"\$\{\{ (inputs|steps\.measure\.outputs)\.([\w-]+) \}\}", value)
        assert expression is not None, value
        env[key] = inputs[expression[2]]
    argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
    ran = run_program(argv, cwd=folder, env={**os.environ, **env})
    outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
    return ran.returncode, ran.stdout + ran.stderr, outputs


def test_no_input_is_interpolated_into_a_script() -> None:
    for step in STEPS.values():
        assert "${{" not in step["run"]


def test_sample_workflow_has_existing_inputs_and_a_valid_command() -> None:
    (job,) = document(SAMPLE)["jobs"].values()
    (step,) = (each for each in job["steps"] if "sitebench@" in each.get("uses", ""))
    assert set(step["with"]) <= set(DEFAULTS)
    parse(step["with"]["measure"].replace("{}", step["with"]["base"]).split())


@pytest.mark.timeout(600)
def test_two_servers_are_interleaved_and_the_verdict_is_in_the_summary(tmp_path: Path) -> None:
    with LdapDirectory(100, locales=("en_US",)) as directory:
        each = {"measure": MEASURE.format(url=directory.url), "repeats": "5", "out": "it's"}
        code, said, outputs = run_step(tmp_path, "measure", base="10ms", head="20ms", **each)
    assert code == 0, said
    # Five repeats are too few for an answer on any machine.
    assert outputs == {"answer": "unknown"}
    summary = (tmp_path / "summary").read_text()
    assert summary.startswith("### These repeats cannot tell\n")
    assert "lookup at 100" in summary
    assert {"it's-a.sitebench", "it's-b.sitebench", "it's.html"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_failed_measurement_fails_the_step_with_its_reason(tmp_path: Path) -> None:
    code, said, outputs = run_step(
        tmp_path, "measure", base="a", head="b", measure="ils run walk --think {}"
    )
    assert code == 2, said
    assert outputs == {"answer": "failed"}
    assert "walk" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize(
    ("fail_on", "answer", "code", "said"),
    [
        ("slower", "not-slower", 0, ""),
        ("slower", "slower", 3, "::error::head is slower"),
        ("slower", "unknown", 0, "::warning::cannot tell"),
        ("slower,unknown", "not-slower", 0, ""),
        ("slower,unknown", "slower", 3, "::error::head is slower"),
        ("slower,unknown", "unknown", 4, "::error::cannot tell"),
        ("never", "slower", 0, "::warning::head is slower"),
        ("never", "unknown", 0, "::warning::cannot tell"),
    ],
)
def test_input_fail_on_decides_whether_the_job_fails(
    tmp_path: Path, fail_on: str, answer: str, code: int, said: str
) -> None:
    found, printed, _ = run_step(tmp_path, "judge", fail_on=fail_on, answer=answer)
    assert (found, printed.startswith(said)) == (code, True), printed
    assert bool(printed) == bool(said)


def test_unknown_value_of_fail_on_is_refused_before_measuring(tmp_path: Path) -> None:
    assert run_step(tmp_path, "install", fail_on="slow")[0] == 2
    code, said, _ = run_step(tmp_path, "install")
    assert (code, said.startswith("sitebench ")) == (0, True), said
