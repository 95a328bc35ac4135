"""What `sitebench web workloads` shows: all workloads, or the classes of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from sitebench.tables.console import results_console
from sitebench.tables.tables import new_table, titled
from sitebench.units import plural
from web_bench.workload import DYNAMIC, RequestClass, Workload, built_in, find

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def show(name: str | None, *, as_json: bool) -> None:
    """Print all built-in workloads, or the one of this name, a scenario file included."""
    if name is None:
        found = built_in().values()
        papers = dict.fromkeys(each.paper for each in found)
        made = [
            _of_paper(paper, [each for each in found if each.paper == paper]) for paper in papers
        ]
        document: Any = [_document(each) for each in found]
    else:
        workload = find(name)
        made, document = [Group(*_of_workload(workload))], _document(workload)
    if as_json:
        print(json.dumps(document, indent=2))
        return
    console = results_console()
    for each in made:
        console.print(each)


def _of_paper(paper: str, found: list[Workload]) -> RenderableType:
    table = new_table("Workload", "Title", "Mean bytes", "Files", left=2)
    for each in found:
        files = "-" if each.file_set is None else f"{each.file_set.count:,}"
        table.add_row(each.name, each.title, _mean(each), files)
    return titled(paper, table)


def _of_workload(workload: Workload) -> Iterator[RenderableType]:
    yield titled(f"{workload.title} ({workload.name})", _classes(workload))
    lines = {"Paper": workload.paper, "Note": workload.note}
    if workload.file_set is not None:
        files = workload.file_set
        lines["Files"] = f"{files.count:,}, {files.bytes:,} bytes in all (set {files.name})"
    lines["Mean"] = f"{_mean(workload)} bytes per request"
    lines["Deck"] = f"{plural(sum(workload.deck), 'request is', 'requests are')} exactly the mix"
    lines["Clients"] = ", ".join(map(str, workload.clients))
    lines["HTTP"] = workload.http
    for title, line in lines.items():
        if line:
            yield Text(f"{title}: {line}")


def _classes(workload: Workload) -> Table:
    table = new_table("Class", "What is requested", "Requests", "Bytes", "Mean bytes", left=2)
    no_bytes = (None,) * len(workload.classes)
    rows = zip(
        workload.classes, workload.request_shares, workload.byte_shares or no_bytes, strict=True
    )
    for each, requests, share in rows:
        mean = workload.mean_bytes_of(each)
        table.add_row(
            each.name,
            Text(_what(each, workload)),
            f"{100 * requests:.5g}%",
            "-" if share is None else f"{100 * share:.1f}%",
            "-" if mean is None else f"{mean:,.0f}",
        )
    return table


def _what(each: RequestClass, workload: Workload) -> str:
    if each.dynamic:
        what = DYNAMIC[each.dynamic]
    elif each.files is not None and workload.file_set is not None:
        sizes = ", ".join(f"{size:,}" for size in each.files.sizes)
        if each.files.spread is not None:
            sizes = "{:,} to {:,}".format(*each.files.spread)
        count = workload.file_set.count_of(each.files)
        what = f"{plural(count, 'file')} of {sizes}"
    else:
        what = ", ".join(each.asks)
    return f"{what}, over TLS" if each.tls else what


def _mean(workload: Workload) -> str:
    if workload.mean_bytes is None:
        return "-"
    about = any(each.size_about is not None for each in workload.classes)
    return f"{'about ' if about else ''}{workload.mean_bytes:,.0f}"


def _document(workload: Workload) -> dict[str, Any]:
    files = workload.file_set
    shares = workload.byte_shares or (None,) * len(workload.classes)
    return {
        "name": workload.name,
        "title": workload.title,
        "paper": workload.paper,
        "note": workload.note,
        "clients": workload.clients,
        "http": workload.http,
        "mean_bytes": workload.mean_bytes,
        "deck": sum(workload.deck),
        "files": files and {"name": files.name, "count": files.count, "bytes": files.bytes},
        "classes": [
            {
                "name": each.name,
                "weight": each.weight,
                "requests": requests,
                "bytes": share,
                "mean_bytes": workload.mean_bytes_of(each),
                "what": _what(each, workload),
                "dynamic": each.dynamic or None,
                "asks": each.asks,
                "tls": each.tls,
            }
            for each, requests, share in zip(
                workload.classes, workload.request_shares, shares, strict=True
            )
        ],
    }
