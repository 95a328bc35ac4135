"""The web suite in a report."""

from __future__ import annotations

from sitebench.report.suite import ReportSuite
from web_bench.suite import SUITE

REPORT = ReportSuite(
    name=SUITE.name, title=SUITE.title, size_title="Clients", people="clients", rates=[]
)
