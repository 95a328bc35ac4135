"""`sitebench docs`: the documentation, as text.

`make data` copies pages and examples into the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sitebench.errors import BadInput
from sitebench.options.command import argument, command
from sitebench.options.spelling import nearest
from sitebench.system.output import print_lines

_CHECKOUT = Path(__file__).parents[2]
_HOME = _CHECKOUT if (_CHECKOUT / "mkdocs.yml").is_file() else _CHECKOUT / "sitebench" / "data"
_SCHEMA = "schema"
"""The page with the JSON Schema of scenario files."""
_KINDS = (".md", ".py", ".toml", ".yml")


def pages() -> Mapping[str, Path]:
    """Return the pages by name, then the files of examples by path."""
    examples = [path for path in (_HOME / "examples").rglob("*") if path.suffix in _KINDS]
    return {
        **{path.stem: path for path in sorted((_HOME / "docs").glob("*.md"))},
        **{str(path.relative_to(_HOME)): path for path in sorted(examples)},
    }


def text(page: str) -> str:
    if page == _SCHEMA:
        from sitebench._engine import scenario_schema

        return scenario_schema()
    by_name = pages()
    if page not in by_name:
        near, remedy = nearest(page, [*by_name, _SCHEMA]), "`sitebench docs` lists all of them"
        raise BadInput(
            f"there is no page {page!r}", f"did you mean {near}? {remedy}" if near else remedy
        )
    return _read(by_name[page])


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip("\n")


@command(
    None,
    argument("PAGE", "Page to print.", words=(*pages(), _SCHEMA), shown="all pages, listed"),
    panel="Help",
)
def docs(page: str | None) -> None:
    """Print a page of the documentation, or the list of pages.

    sitebench docs

    sitebench docs troubleshooting
    """
    print_lines([text(page)] if page else _list())


def _list() -> list[str]:
    if not (by_name := pages()):
        raise BadInput("this installation of sitebench has no pages", "install it as a wheel")
    widest = max(len(name) for name in by_name if "/" not in name)
    rows = [
        name if "/" in name else f"{name:<{widest}}  {_read(path).splitlines()[0].lstrip('# ')}"
        for name, path in by_name.items()
    ]
    rows.append(f"{_SCHEMA:<{widest}}  JSON Schema of scenario files, for editors")
    return [*rows, "`sitebench docs PAGE` prints one."]
