"""The site suite's locustfile, with a witness."""

from ps_bench.locustfile import FileUser
from ps_bench.suite_run import PsRun
from tests.distributed.witness import witnessed

__all__ = ["FileUser"]

witnessed(PsRun)
