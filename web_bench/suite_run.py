"""The web suite's part of a Locust test."""

from __future__ import annotations

from collections.abc import Sequence

from sitebench.counts.source import SEQUENCE
from sitebench.frozen import frozen
from sitebench.http.address import parse_address
from sitebench.locust.prepared import Prepared
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Observed
from sitebench.suite_base.suite_run import BaseSuiteRun
from web_bench.docroot import docroot_of
from web_bench.options import WebOptions
from web_bench.paper.figures import figures, warnings
from web_bench.points import POINTS
from web_bench.targets.open_web import OpenWeb
from web_bench.workload import Workload


@frozen
class _More:
    """What the processes of a test have to know of a web server."""

    secure: str | None
    """Its address for requests over TLS."""
    programs: dict[str, str]
    addresses: list[str]


class WebRun(BaseSuiteRun[WebOptions, Workload, OpenWeb]):
    points = POINTS
    more = _More

    def make_data(
        self, options: WebOptions, programs: Sequence[Workload], preparing: Preparing
    ) -> None:
        """Write the files, in a thread."""
        preparing.run_with_progress(lambda progress: docroot_of(options, programs, progress))

    def prepare_more(
        self, options: WebOptions, target: OpenWeb, processes: int, preparing: Preparing
    ) -> _More:
        """Hand on the second address, and where the programs are."""
        secure = None if target.secure is None else str(target.secure)
        return _More(secure, dict(target.programs), [str(each) for each in target.addresses])

    def target_in(self, prepared: Prepared[_More]) -> OpenWeb:
        more = prepared.more
        return OpenWeb(
            prepared.options.target,
            parse_address(prepared.url),
            trust=prepared.trust,
            secure=None if more.secure is None else parse_address(more.secure),
            programs=more.programs,
            addresses=[parse_address(each) for each in more.addresses],
        )

    def counted_steps(self, program: Workload) -> Sequence[tuple[str, str]]:
        """Return whole requests: the papers' latency is from connecting to the last byte.

        Or operations, where a file has others than one request each.
        """
        if program.counts is None:
            return program.counted
        # Arrivals of a schedule are those of passes, each of which is one request.
        return [(program.name, "request" if self.options().rate is None else SEQUENCE)]

    def observe(self, target: OpenWeb, programs: Sequence[Workload]) -> Observed:
        """Add the papers' figures to a result, and what is wrong with them."""
        return {
            "figures": lambda measured: figures(measured, programs),
            "warnings": lambda spec, found: (*target.warnings(), *warnings(found)),
        }
