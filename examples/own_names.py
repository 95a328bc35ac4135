"""People of a list: bind, look up each uid of a file, one in each line, and unbind."""

import os
from pathlib import Path

from ils_bench.sequences import Bind, Connect, Search, Sequence, Unbind
from ils_bench.users import SequenceUser

NAMES = Path(os.environ.get("NAMES", "names.txt")).read_text(encoding="utf-8").splitlines()


class NamesUser(SequenceUser):
    """Goes through the list, and expects one entry for each name."""

    sequence = Sequence(
        "names",
        (
            Connect(),
            Bind(),
            *(Search(filter=f"(uid={name})", expect_entries=1) for name in NAMES),
            Unbind(),
        ),
        counts="search",
    )
