"""The paper's personalized site in Locust: its scenario, and each operation alone.

A locustfile with them is one line: `from ps_bench.locustfile import *`.
"""

from typing import TYPE_CHECKING, Any

from ps_bench.users import USERS

globals().update(USERS)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
