"""What `sitebench web workloads` shows: all workloads, or the classes of one."""

from __future__ import annotations

import json
from typing import Any

from sitebench.tables.console import show as show_tables
from sitebench.tables.table import Table
from sitebench.units import plural
from web_bench.workload import DYNAMIC, RequestClass, Workload, built_in, find


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
        made, document = [_of_workload(workload)], _document(workload)
    if as_json:
        print(json.dumps(document, indent=2))
        return
    show_tables(made)


def _of_paper(paper: str, found: list[Workload]) -> Table:
    rows = [
        [
            *(each.name, each.title, _mean(each)),
            "-" if each.file_set is None else f"{each.file_set.count:,}",
        ]
        for each in found
    ]
    return Table(paper, ("Workload", "Title", "Mean bytes", "Files"), rows, left=2)


def _of_workload(workload: Workload) -> Table:
    lines = {"Paper": workload.paper, "Note": workload.note}
    if workload.file_set is not None:
        files = workload.file_set
        lines["Files"] = f"{files.count:,}, {files.bytes:,} bytes in all (set {files.name})"
    lines["Mean"] = f"{_mean(workload)} bytes per request"
    lines["Deck"] = f"{plural(sum(workload.deck), 'request is', 'requests are')} exactly the mix"
    lines["Clients"] = ", ".join(map(str, workload.clients))
    lines["HTTP"] = workload.http
    byte_shares = workload.byte_shares or (None,) * len(workload.classes)
    rows = [
        [
            each.name,
            _what(each, workload),
            f"{100 * requests:.5g}%",
            "-" if share is None else f"{100 * share:.1f}%",
            "-" if (mean := workload.mean_bytes_of(each)) is None else f"{mean:,.0f}",
        ]
        for each, requests, share in zip(
            workload.classes, workload.request_shares, byte_shares, strict=True
        )
    ]
    columns = ("Class", "What is requested", "Requests", "Bytes", "Mean bytes")
    notes = [f"{title}: {line}" for title, line in lines.items() if line]
    return Table(f"{workload.title} ({workload.name})", columns, rows, 2, notes)


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
