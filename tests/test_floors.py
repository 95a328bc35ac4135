"""Layers of the packages: imports go downward, without a circle, and to no suite by name."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from sitebench.suite import SUITES, suites

FLOORS = [
    *("_engine errors frozen", "units suite", "system", "monitor options", "counts", "verdict"),
    *("runs targets scenario", "tables", "measure calibrate", "plan", "report"),
    *("locust compare seeders", "suite_base", "api", "http", "cli"),
    *("ils_bench ps_bench web_bench", "sitebench locustfiles __main__", "benches"),
]
"""Bottom-up: files and folders of sitebench/, and packages; `sitebench` is its public interface.

Members of one layer do not import each other, suites in particular.
"""


def room(module: str) -> str:
    package, *within = module.split(".")
    return within[0] if package == "sitebench" and within else package


ROOT = Path(__file__).parents[1]
LEVELS = {name: level for level, names in enumerate(FLOORS) for name in names.split()}
FILES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for package in ("sitebench", *SUITES, "locustfiles", "benches")
    for file in sorted((ROOT / package).rglob("*.py*"))
    if file.suffix in (".py", ".pyi")
    if ROOT / "sitebench/data" not in file.parents
}


@cache
def trees() -> dict[str, ast.Module]:
    """Parse all files on first use: it takes a second, which collecting processes do not need."""
    return {module: ast.parse(file.read_text()) for module, file in FILES.items()}


@cache
def imports() -> dict[str, set[str]]:
    """Return the modules of ours that each module imports, in functions and for types too."""
    return {module: _imports(tree) for module, tree in trees().items()}


def _imports(tree: ast.Module) -> set[str]:
    named = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named |= {each.name for each in node.names}
        if isinstance(node, ast.ImportFrom):
            whole = {f"{node.module}.{each.name}" for each in node.names}
            named |= {name if name in FILES else str(node.module) for name in whole}
    return named & FILES.keys()


def test_no_module_imports_from_a_higher_layer() -> None:
    assert [
        f"{module} imports {name}"
        for module, names in imports().items()
        for name in sorted(names)
        if room(name) != room(module) and LEVELS[room(name)] >= LEVELS[room(module)]
    ] == []


@pytest.mark.parametrize("large", ["sitebench.locust", "ils_bench"])
def test_folders_of_a_large_package_have_no_import_cycle(large: str) -> None:
    below = dict[str, set[str]]()
    for module, names in imports().items():
        if module.startswith(f"{large}."):
            within = (name for name in names if name.startswith(f"{large}."))
            inner, *lower = (name.removeprefix(large).split(".")[1] for name in (module, *within))
            below[inner] = below.get(inner, set()) | {*lower} - {inner}
    TopologicalSorter(below).prepare()


def test_imports_have_no_cycle() -> None:
    TopologicalSorter(imports()).prepare()


def test_every_warning_has_a_kind_of_the_list() -> None:
    """Six warnings of suites had strings that no list of kinds contained."""
    assert [
        f"{module}:{node.lineno} warns of {ast.unparse(node.args[0])}"
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "PointWarning"
        if not ast.unparse(node.args[0]).startswith("WarningKind.")
        # A verdict is shown among the warnings.
        if ast.unparse(node.args[0]) != "verdict.bound"
    ] == []


PROFILE = ("sitebench.seeders", "ils")
"""A profile of Internet Locator Server entries, which shares its name with the suite."""


def test_only_the_registry_names_a_suite() -> None:
    names = {each.name for each in suites()}
    assert [
        f"{module}:{node.lineno} has {node.value!r}"
        for module, tree in trees().items()
        if module.startswith("sitebench.") and module != "sitebench.suite"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in names or any(package in node.value for package in SUITES)
        if (module, node.value) != PROFILE
    ] == []


@pytest.mark.parametrize("module", ["locust", "sitebench.locust.bridge"])
def test_no_test_imports_locust_into_its_own_process(module: str) -> None:
    with pytest.raises(ImportError, match="in_locust"):
        import_module(module)


def test_only_one_module_uses_the_connection_class_of_ldap3() -> None:
    assert {
        module
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "Connection"
            and ast.unparse(node.value) == "ldap3"
        )
        or (
            isinstance(node, ast.ImportFrom)
            and str(node.module).partition(".")[0] == "ldap3"
            and "Connection" in {alias.name for alias in node.names}
        )
    } == {"ils_bench.targets.reading"}
