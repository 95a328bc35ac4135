"""A locustfile for an operation that no locustfile has: a program made it up."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sitebench.system import secret
from sitebench.system.scratch import scratch

CLASS = "OwnUser"

_LOCUSTFILE = """\
import pickle
from pathlib import Path

from {module} import {base}


class {name}({base}):
    {attribute} = pickle.loads(Path({kept!r}).read_bytes())
"""


@contextlib.contextmanager
def own_locustfile(
    module: str, base: str, attribute: str, value: Any
) -> Iterator[tuple[Path, str]]:
    """Yield a locustfile whose one class does what `value` says, and the name of the class.

    The value itself is in no file that has a name: a sequence may hold a password.
    """
    with scratch() as folder, secret.held(pickle.dumps(value)) as kept:
        path = folder / "own.py"
        path.write_text(
            _LOCUSTFILE.format(module=module, base=base, name=CLASS, attribute=attribute, kept=kept)
        )
        yield path, CLASS
