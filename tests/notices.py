"""The licences of third-party software in a wheel: THIRD-PARTY.txt, a part of the wheel.

`python -m tests.notices` writes the file; with `--check`, as `make check` calls it, it compares the
file with the lock file. The crates are those that are linked into the engine on Linux.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sitebench.report.bundle import LICENCES

ROOT = Path(__file__).parents[1]
FILE = ROOT / "THIRD-PARTY.txt"
_ENGINE = "sitebench-engine"
_PLATFORM = "x86_64-unknown-linux-gnu"
_NAMES = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
_OTHER_CHOICES = re.compile(
    r"apache|zlib|0bsd|isc|unlicense|llvm|copying|^license(\.md)?$", re.IGNORECASE
)
"""Licence files of a crate that are not chosen if the crate also has one for the MIT licence."""
_COPYRIGHT = re.compile(
    r"(?:^|\n)[ \t]*((?:Portions )?Copyright (?!notice|and|holder|owner|Notice)[^\n]+)"
)
_RULE = "-" * 80


def text() -> str:
    """Return the text of the file that fits the lock file."""
    holders: dict[str, dict[str, list[str]]] = defaultdict(dict)
    bodies: dict[str, str] = {}
    for crate in sorted(_crates(), key=lambda crate: str(crate["name"])):
        for licence in _licences(crate):
            owners = [re.sub(r"\s+", " ", each).strip() for each in _COPYRIGHT.findall(licence)]
            body = _COPYRIGHT.sub("", licence).strip()
            key = re.sub(r"[\W_]+", " ", body).lower().strip()
            bodies.setdefault(key, body)
            holders[key].setdefault(f"{crate['name']} {crate['version']}", []).extend(owners)
    parts = ["sitebench contains software of other people, under the licences that follow."]
    parts.append(LICENCES.read_text(encoding="utf-8").rstrip())
    for key, crates in holders.items():
        lines = [
            f"{name}{''.join(f'{chr(10)}    {each}' for each in dict.fromkeys(owners))}"
            for name, owners in crates.items()
        ]
        parts.append("\n".join([*lines, "", bodies[key]]))
    return f"\n\n{_RULE}\n\n".join(parts) + "\n"


def _crates() -> Iterator[Mapping[str, Any]]:
    """Yield the third-party crates that the engine links."""
    manifest = ROOT / "native/Cargo.toml"
    found = json.loads(
        subprocess.check_output(
            [
                *("cargo", "metadata", "--format-version=1", "--locked", "--offline"),
                *("--manifest-path", str(manifest), "--filter-platform", _PLATFORM),
            ]
        )
    )
    packages = {each["id"]: each for each in found["packages"]}
    nodes = {each["id"]: each for each in found["resolve"]["nodes"]}
    todo = [name for name, each in packages.items() if each["name"] == _ENGINE]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if packages[name]["source"] is not None:
            yield packages[name]
        todo += [
            each["pkg"]
            for each in nodes[name]["deps"]
            if any(kind["kind"] is None for kind in each["dep_kinds"])
        ]


def _licences(crate: Mapping[str, Any]) -> Iterator[str]:
    """Yield the licence texts of a crate; MIT if its user may choose."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(each for each in folder.iterdir() if _NAMES.match(each.name) and each.is_file())
    if any("mit" in each.name.lower() for each in files):
        files = [each for each in files if not _OTHER_CHOICES.search(each.name)]
    for file in files:
        yield file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    if not files:
        authors = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
        yield f"Copyright {authors}\n\nLicence: {crate['license']}"


def main() -> None:
    made = text()
    if sys.argv[1:] == ["--check"]:
        if not FILE.exists() or FILE.read_text(encoding="utf-8") != made:
            sys.exit(f"{FILE.name} is out of date: run python -m tests.notices")
        return
    FILE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
