"""The dependencies of the native engine, checked against deny.toml without a tool or network."""

import ast
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sitebench.report import bundle
from tests import notices

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads((ROOT / "deny.toml").read_text())
ALLOWED = set(RULES["licenses"]["allow"])
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
LOCKS = ("native/Cargo.lock", "native/fuzz/libfuzzer/Cargo.lock")


def allowed(expression: str) -> bool:
    """Return whether allowed licences satisfy a licence expression (SPDX).

    Its operators bind as those of Python.
    """
    tokens = re.findall(r"[()]|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR "))
    words = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    terms = (words.get(token, str(token in ALLOWED)) for token in tokens)

    def holds(node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            return (any if isinstance(node.op, ast.Or) else all)(map(holds, node.values))
        return bool(ast.literal_eval(node))

    return holds(ast.parse(" ".join(terms), mode="eval").body)


@pytest.mark.parametrize(
    ("expression", "is_allowed"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", True),
        ("MIT OR GPL-2.0-only AND GPL-3.0-only", True),
    ],
)
def test_licence_expressions_are_parsed_as_spdx(expression: str, is_allowed: bool) -> None:
    assert allowed(expression) is is_allowed


def test_every_crate_has_an_allowed_licence() -> None:
    manifest = ("--manifest-path", str(ROOT / "native/Cargo.toml"))
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))
    assert host is not None
    here = ("--filter-platform", host[1])
    said = subprocess.check_output(
        ["cargo", "metadata", "--format-version=1", "--locked", "--offline", *manifest, *here]
    )
    packages: list[dict[str, Any]] = json.loads(said)["packages"]
    assert len(packages) > 50
    refused = [
        f"{p['name']}: {p['license']}" for p in packages if not allowed(p["license"] or "none")
    ]
    assert refused == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_crate_comes_from_one_registry_with_its_checksum(lock: str) -> None:
    packages = tomllib.loads((ROOT / lock).read_text())["package"]
    others = [each for each in packages if "source" in each]
    assert all(each["source"] == CRATES_IO and each["checksum"] for each in others)
    denied = {each["crate"] for each in RULES["bans"]["deny"]}
    assert denied.isdisjoint(each["name"] for each in packages)
    # Crates without a source belong to this repository.
    ours = {each["name"] for each in packages if "source" not in each}
    assert all(name.startswith("sitebench-") for name in ours), ours


def test_unsafe_code_is_forbidden_in_every_crate() -> None:
    workspace = tomllib.loads((ROOT / "native/Cargo.toml").read_text())["workspace"]
    assert workspace["lints"]["rust"]["unsafe_code"] == "forbid"
    for member in workspace["members"]:
        crate = tomllib.loads((ROOT / "native" / member / "Cargo.toml").read_text())
        assert crate["lints"] == {"workspace": True}, member


def test_fuzz_crate_has_unsafe_code_only_for_the_fuzzer() -> None:
    workspace = tomllib.loads((ROOT / "native/Cargo.toml").read_text())["workspace"]
    assert workspace["exclude"] == ["fuzz/libfuzzer"]
    (source,) = (ROOT / "native/fuzz/libfuzzer/src").rglob("*.rs")
    # Its macro declares the function that libFuzzer calls; the file itself has no unsafe code.
    assert "unsafe" not in source.read_text()


def test_container_image_is_built_from_pinned_versions() -> None:
    text = (ROOT / "deploy/Dockerfile").read_text()
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    (maturin,) = (each["version"] for each in locked if each["name"] == "maturin")
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert bases
    assert all(re.fullmatch(r"[a-z]+:\d+\.\d+[\w.-]*", base) for base in bases), bases
    assert re.findall(r"pip install --no-cache-dir (\S+) uv==\d", text) == [f"maturin=={maturin}"]


def test_wheel_has_the_notices_of_all_locked_dependencies() -> None:
    assert notices.FILE.read_text() == notices.text(), "run python -m tests.notices"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert notices.FILE.name in project["license-files"]


def test_every_copy_of_the_chart_library_has_its_notices() -> None:
    assert bundle.build_bundle().startswith(f"/*!\n{bundle.LICENCES.read_text()}*/\n")
