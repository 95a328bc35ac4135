"""A locustfile for an operation that no locustfile has: a program made it up."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sitebench.system import secret
from sitebench.system.scratch import scratch

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class OwnUser({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


@dataclass(frozen=True)
class Own:
    """An operation, the user class that runs such operations, and the attribute that takes it."""

    module: str
    base: str
    attribute: str
    value: Any


@contextlib.contextmanager
def own_locustfile(own: Own | None) -> Iterator[tuple[Path, str] | None]:
    """Yield a locustfile whose one class runs the operation, and the name of the class.

    None for None: the suite's own locustfile has the operation.

    The operation itself is handed on in memory: a sequence may hold a password, and a file would
    outlive a program that is killed.
    """
    if own is None:
        yield None
        return
    with scratch() as folder, secret.held(pickle.dumps(own.value)) as kept:
        path = folder / "own.py"
        path.write_text(
            _LOCUSTFILE.format(module=own.module, base=own.base, attribute=own.attribute, kept=kept)
        )
        yield path, "OwnUser"
