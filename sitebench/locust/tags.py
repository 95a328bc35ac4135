"""User classes that are left without a task: Locust would start their users all the same.

It warns and goes on; each such user then fails, once a second, while its lane would do what was to
be left out. `--tags`, `--exclude-tags` and the web UI's choice of tasks all end here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sitebench.errors import BadInput


def refuse_idle(user_classes: Iterable[type[Any]]) -> None:
    """Raise where Locust's filter left a class nothing to do."""
    classes = list(user_classes)
    idle = [each.__name__ for each in classes if not each.tasks]
    if not idle:
        return
    remedy = "mark user classes with Locust's @tag"
    if busy := [each.__name__ for each in classes if each.tasks]:
        remedy = f"name the others, before --tags: {' '.join(busy)}"
    what = f"{', '.join(idle)} would have nothing to do: no task of it has these tags"
    raise BadInput(what, remedy)
