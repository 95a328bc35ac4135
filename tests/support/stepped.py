"""A wall clock that a test can step for the processes that it starts."""

import mmap
import struct
import subprocess
from pathlib import Path

from tests.support.programs import required_program

SOURCE = Path(__file__).with_name("stepped.c")
SECONDS = struct.Struct("q")


class WallClock:
    """The clock of processes with its `environment`."""

    def __init__(self, folder: Path) -> None:
        library, kept = folder / "stepped.so", folder / "stepped"
        compiler = str(required_program("cc"))
        argv = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(argv, check=True, capture_output=True)
        kept.write_bytes(SECONDS.pack(0))
        with kept.open("r+b") as file:
            self._ahead = mmap.mmap(file.fileno(), SECONDS.size)
        self.environment = {"LD_PRELOAD": str(library), "STEPPED": str(kept)}

    def set_ahead(self, seconds: int) -> None:
        """Set it ahead of the machine's clock; below zero, behind."""
        self._ahead[:] = SECONDS.pack(seconds)
