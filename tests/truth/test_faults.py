import subprocess
from pathlib import Path

import pytest

from tests.truth.faults import PATCHES, ROOT, OutdatedError, apply


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_patch_of_a_fault_applies_to_the_engine(patch: Path) -> None:
    argv = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"make the fault anew in what the code has become: {done.stderr}"


def test_patch_for_other_code_is_reported_as_outdated(tmp_path: Path) -> None:
    (patch,) = (patch for patch in PATCHES if patch.stem == "latency-from-the-sending")
    file = tmp_path / "native/tester/load/src/record/recorder.rs"
    file.parent.mkdir(parents=True)
    file.write_text("other code\n")
    with pytest.raises(OutdatedError, match=r"does not apply: .*recorder\.rs"):
        apply(patch, tmp_path)
