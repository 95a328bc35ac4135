"""The directory suite's locustfile, with a witness."""

from ils_bench.workload import IlsWorkload
from locustfiles.ils import AddUser, ConnectUser, LookupUser
from tests.distributed.witness import witnessed

__all__ = ["AddUser", "ConnectUser", "LookupUser"]

witnessed(IlsWorkload)
