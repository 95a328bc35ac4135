"""The papers' web workloads in Locust, and the workload of a scenario file.

A locustfile with them is one line: `from web_bench.locustfile import *`.
"""

from typing import TYPE_CHECKING, Any

from web_bench.users import USERS

globals().update(USERS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
