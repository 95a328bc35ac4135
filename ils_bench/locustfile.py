"""The paper's directory workloads in Locust: a user class for each operation.

A locustfile with them is one line: `from ils_bench.locustfile import *`.
"""

from typing import TYPE_CHECKING, Any

from ils_bench.users import USERS

globals().update(USERS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
