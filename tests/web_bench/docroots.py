from pathlib import Path
from typing import Any

SPEC: dict[str, Any] = {
    "name": "mixed",
    "seed": 7,
    "files_per_class": 20,
    "classes": [
        {"name": "256b", "sizes": [256]},
        {"name": "2k-3k", "sizes": [2_048, 3_072]},
        {"name": "empty", "sizes": [0], "files": 1},
        {"name": "wide", "spread": [500, 500_000], "files": 12},
    ],
}


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
