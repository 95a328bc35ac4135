"""The directory suite's locustfile, with a witness."""

from ils_bench.locustfile import AddUser, ConnectUser, LookupUser
from ils_bench.suite_run import IlsRun
from tests.distributed.witness import witnessed

__all__ = ["AddUser", "ConnectUser", "LookupUser"]

witnessed(IlsRun)
