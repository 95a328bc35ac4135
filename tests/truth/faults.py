"""`make truth-faults`: puts faults into the engine, one at a time; the matrix must detect each.

Each is a patch in `faults/`. It is applied in a worktree of the last commit under `build/`, whose
engine is built without optimisation; the matrix runs there. Fails if a fault is not detected, and
if a patch no longer applies or compiles.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATCHES = sorted(Path(__file__).with_name("faults").glob("*.patch"))
_WORKTREE = ROOT / "build/truth-faults"
_MOST_FAILED = 5
_ENVIRONMENT = {
    **os.environ,
    "CARGO_PROFILE_DEV_DEBUG": "false",
    "CARGO_TARGET_DIR": str(_WORKTREE / "native/target"),
    "PYO3_BUILD_EXTENSION_MODULE": "1",
    "PYO3_PYTHON": sys.executable,
}


class OutdatedError(Exception):
    """A patch does not fit the code."""


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=_WORKTREE, check=True)


def apply(patch: Path, folder: Path) -> None:
    argv = ["git", "apply", str(patch)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OutdatedError(f"does not apply: {done.stderr.strip()}")


def _prepare() -> None:
    """Reset the worktree to the last commit."""
    if not _WORKTREE.exists():
        argv = ["git", "worktree", "add", "--quiet", "--detach", str(_WORKTREE)]
        subprocess.run(argv, cwd=ROOT, check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    _git("checkout", "--quiet", "--force", "--detach", head)


def _build() -> None:
    argv = ["cargo", "build", "--locked", "--quiet", "--lib", "--package", "sitebench-engine"]
    argv += ["--manifest-path", "native/Cargo.toml"]
    if subprocess.run(argv, cwd=_WORKTREE, env=_ENVIRONMENT, check=False).returncode:
        raise OutdatedError("does not compile")
    shutil.copy(
        _WORKTREE / "native/target/debug/libengine.so", _WORKTREE / "sitebench/_engine.abi3.so"
    )


def _matrix() -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider"]
    argv += [f"--maxfail={_MOST_FAILED}", "tests/truth/test_matrix.py"]
    return subprocess.run(argv, cwd=_WORKTREE, capture_output=True, text=True, check=False)


def _found(output: str) -> list[str]:
    lines = [line for line in output.splitlines() if line.startswith("FAILED")]
    return [line.removeprefix("FAILED ").partition(" - ")[0] for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [patch.stem for patch in PATCHES]
    parser.add_argument("faults", nargs="*", help="some of them", default=names)
    chosen = parser.parse_args().faults
    _prepare()
    _build()
    unfaulted = _found((passed := _matrix()).stdout)
    if len(unfaulted) >= _MOST_FAILED:
        sys.exit(f"the matrix fails without a fault\n{passed.stdout}")
    # On a crowded machine these cells fail, and cannot detect a fault either.
    print(f"without a fault: {len(unfaulted)} cells fail", *unfaulted, sep="\n    ", flush=True)
    missed, outdated = [], []
    for name in chosen:
        patch = PATCHES[names.index(name)]
        try:
            apply(patch, _WORKTREE)
            _build()
            failed = [cell for cell in _found(_matrix().stdout) if cell not in unfaulted]
        except OutdatedError as error:
            print(f"{name}: {error}", flush=True)
            outdated.append(name)
            continue
        finally:
            _git("checkout", "--quiet", "--force")
        print(f"{name}: {len(failed)} cells fail", *failed[:2], sep="\n    ", flush=True)
        if not failed:
            missed.append(name)
    if missed:
        print(f"no cell finds {', '.join(missed)}")
    if outdated:
        print(f"make the patches anew in the code as it is: {', '.join(outdated)}")
    sys.exit(bool(missed or outdated))


if __name__ == "__main__":
    main()
