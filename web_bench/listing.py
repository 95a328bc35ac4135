"""`sitebench web workloads`: tables of all workloads, or of one workload's classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sitebench.tables.console import show as show_tables
from sitebench.tables.table import Table
from sitebench.units import plural
from web_bench.workload import DYNAMIC, RequestClass, Workload, built_in, find


def show(name: str | None, *, as_json: bool) -> None:
    if name is None:
        workloads = built_in().values()
        papers = dict.fromkeys(workload.paper for workload in workloads)
        tables = [
            _of_paper(paper, [workload for workload in workloads if workload.paper == paper])
            for paper in papers
        ]
        document: Any = [_document(workload) for workload in workloads]
    else:
        workload = find(name)
        tables, document = [_of_workload(workload)], _document(workload)
    if as_json:
        print(json.dumps(document, indent=2))
        return
    show_tables(tables)


def _of_paper(paper: str, workloads: list[Workload]) -> Table:
    rows = [
        [
            *(workload.name, workload.title, _mean(workload)),
            "-" if workload.file_set is None else f"{workload.file_set.count:,}",
        ]
        for workload in workloads
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
    rows = [
        [
            class_.name,
            _request_text(class_, workload),
            f"{100 * requests:.5g}%",
            "-" if share is None else f"{100 * share:.1f}%",
            "-" if (mean := workload.mean_bytes_of(class_)) is None else f"{mean:,.0f}",
        ]
        for class_, requests, share in _shares(workload)
    ]
    columns = ("Class", "What is requested", "Requests", "Bytes", "Mean bytes")
    notes = [f"{title}: {line}" for title, line in lines.items() if line]
    return Table(f"{workload.title} ({workload.name})", columns, rows, 2, notes)


def _shares(workload: Workload) -> Iterator[tuple[RequestClass, float, float | None]]:
    """Yield each class with its share of requests and of bytes."""
    byte_shares = workload.byte_shares or (None,) * len(workload.classes)
    return zip(workload.classes, workload.request_shares, byte_shares, strict=True)


def _request_text(class_: RequestClass, workload: Workload) -> str:
    if class_.dynamic:
        text = DYNAMIC[class_.dynamic]
    elif class_.files is not None and workload.file_set is not None:
        sizes = ", ".join(f"{size:,}" for size in class_.files.sizes)
        if class_.files.spread is not None:
            sizes = "{:,} to {:,}".format(*class_.files.spread)
        count = workload.file_set.count_of(class_.files)
        text = f"{plural(count, 'file')} of {sizes}"
    else:
        text = ", ".join(class_.asks)
    return f"{text}, over TLS" if class_.tls else text


def _mean(workload: Workload) -> str:
    if workload.mean_bytes is None:
        return "-"
    is_approximate = any(class_.size_about is not None for class_ in workload.classes)
    return f"{'about ' if is_approximate else ''}{workload.mean_bytes:,.0f}"


def _document(workload: Workload) -> dict[str, Any]:
    files = workload.file_set
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
                "name": class_.name,
                "weight": class_.weight,
                "requests": requests,
                "bytes": share,
                "mean_bytes": workload.mean_bytes_of(class_),
                "what": _request_text(class_, workload),
                "dynamic": class_.dynamic or None,
                "asks": class_.asks,
                "tls": class_.tls,
            }
            for class_, requests, share in _shares(workload)
        ],
    }
