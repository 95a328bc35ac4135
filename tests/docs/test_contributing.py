"""Files for a contributor's tools: workflows, templates, citation, hooks, editor settings."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.cli_page import ROOT
from tests.docs.test_action import ACTION, SAMPLE
from tests.docs.test_deploy import DEPLOY, checked, document

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [GITHUB / "ISSUE_TEMPLATE" / name for name in ("bug.yml", "feature.yml")]
CONFIG = GITHUB / "ISSUE_TEMPLATE/config.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"
SCHEMAS = {
    "github-actions": [ACTION],
    "github-workflows": [*WORKFLOWS, SAMPLE],
    "github-issue-forms": FORMS,
    "github-issue-config": [CONFIG],
    "citation-file-format": [ROOT / "CITATION.cff"],
    "compose-spec": [DEPLOY / "compose.yaml"],
}
YAML_FILES = [*WORKFLOWS, *FORMS, CONFIG, HOOKS, ACTION, SAMPLE, DEPLOY]


def follows(schema: str, *paths: Path) -> None:
    checked("check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_of_other_tools_follow_their_schema(schema: str) -> None:
    follows(schema, *SCHEMAS[schema])


def test_yaml_files_pass_the_linter() -> None:
    checked("yamllint", "--strict", "-c", "deploy/.yamllint", *map(str, YAML_FILES))


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [("github-workflows", "runs-on", "run-on"), ("github-actions", "shell: bash", "shel: bash")],
)
def test_invalid_file_is_detected(schema: str, right: str, wrong: str, tmp_path: Path) -> None:
    file = tmp_path / "file.yml"
    file.write_text(SCHEMAS[schema][0].read_text().replace(right, wrong, 1))
    with pytest.raises(AssertionError, match=wrong.partition(":")[0]):
        follows(schema, file)


def test_workflows_call_commands_of_this_repository() -> None:
    steps = [
        step["run"]
        for workflow in WORKFLOWS
        for job in document(workflow)["jobs"].values()
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
    hooks = [hook["entry"] for hook in document(HOOKS)["repos"][0]["hooks"]]
    assert [command.removesuffix(" .") for command in commands] == hooks


def test_citation_has_the_version_of_the_package() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = document(ROOT / "CITATION.cff")
    for fact in ("version", "license"):
        assert citation[fact] == package[fact]
