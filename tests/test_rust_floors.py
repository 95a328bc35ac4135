"""Layers in Rust: a crate depends only on lower crates; its files and folders have no import cycle.

A `mod.rs` or `lib.rs` may use the files below it, and they may use it. An item re-exported with
`pub use` counts for the file that defines it.
"""

import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

Module = tuple[str, ...]

NATIVE = Path(__file__).parents[1] / "native"
MEMBERS: list[str] = tomllib.loads((NATIVE / "Cargo.toml").read_text())["workspace"]["members"]
FOLDERS = {member.rpartition("/")[2]: NATIVE / member for member in MEMBERS}
CRATES = list(FOLDERS)
BASE = {"wire", "hashes", "people", "files", "table", "net", "tls", "http"}
MIDDLE = {"directory", "site", "web", "load"}
ON_LOAD = {"seeding", "floor"}
BELOW: dict[str, set[str]] = {
    **{crate: set() for crate in ("wire", "hashes", "files", "table", "tls", "cgi")},
    "net": {"tls"},
    "people": {"wire", "hashes"},
    "scenario": {"wire"},
    "fuzz": {"wire", "scenario", "table", "load"},
    "http": {"wire", "net", "tls"},
    **dict.fromkeys(MIDDLE, BASE),
    "load": BASE | {"scenario"},
    **dict.fromkeys(ON_LOAD, BASE | {"load"}),
    "engine": BASE | MIDDLE | ON_LOAD | {"scenario"},
}


def sources(crate: str) -> dict[Module, str]:
    """The files by module, without comments and unit tests, `use a::{b, c}` as `use a::b, a::c`."""
    texts = {}
    source = FOLDERS[crate] / "src"
    for file in source.rglob("*.rs"):
        *folders, name = file.relative_to(source).with_suffix("").parts
        text = re.sub(r"//.*", "", file.read_text()).partition("#[cfg(test)]\nmod tests {")[0]
        while use := re.search(r"([\w:]+::)\{([^{}]*)\}", text):
            paths = re.sub(r"[\w:*]+(?: as \w+)?", rf"{use[1]}\g<0>", use[2])
            text = text[: use.start()] + paths + text[use.end() :]
        texts[*folders, *({name} - {"mod", "lib"})] = text.replace("::self", "")
    return texts


def names(texts: dict[Module, str], module: Module) -> dict[str, Module]:
    """The meaning of the first word of a path in a module: a path from the root of the crate."""
    known = {"crate": (), "super": module[:-1], "self": module}
    known |= {path[-1]: path for path in texts if path and path[:-1] == module}
    for use in re.findall(r"\buse ([^;]+);", texts[module]):
        for path, alias in re.findall(r"(\w+(?:::\w+)*)(?: as (\w+))?", use):
            first, *rest = path.split("::")
            if rest and first in known:
                known[alias or rest[-1]] = (*known[first], *rest)
    return known


def imports(texts: dict[Module, str]) -> dict[Module, set[Module]]:
    """The modules that each module uses, without those below it."""
    known = {module: names(texts, module) for module in texts}

    def defining(path: Module) -> Module:
        depth = max(depth for depth in range(len(path) + 1) if path[:depth] in texts)
        passed_on = known[path[:depth]].get(*path[depth : depth + 1] or [""])
        return defining((*passed_on, *path[depth + 1 :])) if passed_on else path[:depth]

    graph: dict[Module, set[Module]] = {}
    for module, text in texts.items():
        paths = {tuple(path.split("::")) for path in re.findall(r"\w+(?:::\w+)+", text)}
        used = {defining((*known[module][p[0]], *p[1:])) for p in paths if p[0] in known[module]}
        graph[module] = {path for path in used if path[: len(module)] != module}
    return graph


@pytest.mark.parametrize("crate", CRATES)
def test_a_crate_depends_only_on_crates_below_it(crate: str) -> None:
    dependencies = tomllib.loads((FOLDERS[crate] / "Cargo.toml").read_text())["dependencies"]
    assert dependencies.keys() & set(CRATES) <= BELOW[crate]


@pytest.mark.parametrize("crate", CRATES)
def test_files_and_folders_of_a_crate_do_not_import_in_a_circle(crate: str) -> None:
    graph = imports(sources(crate))
    TopologicalSorter(graph).prepare()  # CycleError names the files
    # A room is a file or a folder directly in `src`.
    rooms: dict[str, set[str]] = {}
    for module, used in graph.items():
        for room in module[:1]:
            others = {path[0] for path in used if path} - {room}
            rooms.setdefault(room, set()).update(others)
    TopologicalSorter(rooms).prepare()


@pytest.mark.parametrize("crate", [each for each in CRATES if each != "fuzz"])
def test_every_source_of_a_crate_triggers_a_rebuild_of_the_engine(crate: str) -> None:
    # A pattern that misses a folder would keep the old engine without a message.
    root = NATIVE.parent
    keys = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["uv"]["cache-keys"]
    built_from = {file for key in keys for file in root.glob(key["file"])}
    folder = FOLDERS[crate]
    sources = {*folder.glob("src/**/*.*"), *folder.glob("*.rs"), folder / "Cargo.toml"}
    assert sources <= built_from, f"name {sources - built_from} under [tool.uv] cache-keys"


def of_no_module(tests: Path) -> set[str]:
    """Return the files that no `mod` names, whose tests would silently not run."""
    left = set()
    for file in tests.glob("*/**/*.rs"):
        above = file.parent.parent if file.stem == "mod" else file.parent
        name = file.parent.name if file.stem == "mod" else file.stem
        roots = [above / "main.rs", above / "mod.rs", above.with_suffix(".rs")]
        text = "\n".join(root.read_text() for root in roots if root.exists())
        if name != "main" and not re.search(rf"^\s*(?:pub )?mod {name};", text, re.M):
            left.add(str(file.relative_to(tests)))
    return left


@pytest.mark.parametrize("crate", CRATES)
def test_every_rust_test_file_is_part_of_a_module(crate: str) -> None:
    assert of_no_module(FOLDERS[crate] / "tests") == set()
    assert len(list((FOLDERS[crate] / "tests").glob("*.rs"))) <= 1, "one binary is linked, not many"


def test_a_rust_test_file_outside_all_modules_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "wire"
    folder.mkdir()
    (folder / "main.rs").write_text("mod ber;\n")
    for name in ("ber", "lost"):
        (folder / f"{name}.rs").touch()
    assert of_no_module(tmp_path) == {"wire/lost.rs"}
