"""Files for a contributor's tools: workflows, templates, citation, hooks, editor settings."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.cli_page import ROOT
from tests.docs.test_deploy import checked

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [GITHUB / "ISSUE_TEMPLATE" / name for name in ("bug.yml", "feature.yml")]
HOOKS = ROOT / ".pre-commit-config.yaml"
SCHEMAS = {
    "github-workflows": WORKFLOWS,
    "github-issue-forms": FORMS,
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "citation-file-format": [ROOT / "CITATION.cff"],
}


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text())


@pytest.mark.parametrize("schema", SCHEMAS)
def test_workflows_and_templates_follow_their_schema(schema: str) -> None:
    paths = [str(path) for path in SCHEMAS[schema]]
    checked("check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)


def test_yaml_files_pass_the_linter() -> None:
    paths = [*WORKFLOWS, *(GITHUB / "ISSUE_TEMPLATE").glob("*.yml"), HOOKS]
    checked("yamllint", "--strict", "-c", "deploy/.yamllint", *map(str, paths))


def test_invalid_workflow_is_detected(tmp_path: Path) -> None:
    workflow = tmp_path / "ci.yml"
    workflow.write_text(WORKFLOWS[0].read_text().replace("runs-on", "run-on"))
    with pytest.raises(AssertionError, match="run"):
        checked("check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow))


def test_workflows_call_commands_of_this_repository() -> None:
    steps = [
        step["run"]
        for workflow in WORKFLOWS
        for job in read(workflow)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    assert ".ci/run" in steps
    assert any(step.startswith("make wheel TARGET=") for step in steps)


def test_hooks_run_the_commands_of_make_check() -> None:
    recipe = (ROOT / "Makefile").read_text().split("\ncheck: ")[1].split("\n\n")[0]
    recipe = recipe.replace("$(BIN)", ".venv/bin").replace("$(CARGO)", "cargo")
    recipe = recipe.replace("$(MANIFEST)", "--manifest-path native/Cargo.toml")
    commands = re.findall(r"^\t@(?:NO_MKDOCS_2_WARNING=1 )?((?:\.venv|cargo).*)$", recipe, re.M)
    hooks = [hook["entry"] for hook in read(HOOKS)["repos"][0]["hooks"]]
    assert [command.removesuffix(" .") for command in commands] == hooks


def test_citation_has_the_version_of_the_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == package["version"]
    assert citation["license"] == package["license"]
