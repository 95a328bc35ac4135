"""The faults of `make truth-faults`."""

import subprocess
from pathlib import Path

import pytest

from tests.truth.faults import PATCHES, ROOT


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_fault_fits_the_engine(patch: Path) -> None:
    argv = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make the fault anew in what the code has become: {done.stderr}"
