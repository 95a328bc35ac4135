"""ldap3's source distribution: fetched by pip, checked against uv.lock, unpacked on request."""

import importlib.metadata
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
CACHE = REPOSITORY / ".cache" / "ldap3-sdist"
FETCH_WITHIN_S = 110.0


class SdistMissingError(Exception):
    """The source distribution is not available; the message gives the reason."""


def installed_version() -> str:
    """Return the installed version of ldap3."""
    return importlib.metadata.version("ldap3")


def locked_hash() -> str:
    """Return the hash of ldap3's source distribution from uv.lock."""
    lock = tomllib.loads((REPOSITORY / "uv.lock").read_text())
    (package,) = [package for package in lock["package"] if package["name"] == "ldap3"]
    if package["version"] != installed_version():
        raise SdistMissingError(
            f"ldap3 {installed_version()} is installed, uv.lock has {package['version']}: uv sync"
        )
    locked: str = package["sdist"]["hash"]
    return locked


def download(folder: Path, name: str, version: str, digest: str) -> Path:
    """Download a source distribution with pip into `folder`, if it has this digest."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{name}=={version} --hash={digest}\n")
    options = ["--no-deps", "--no-binary", ":all:", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, "-r", str(wanted)]
    try:
        done = subprocess.run(
            [*command, "--dest", str(folder)],
            capture_output=True,
            text=True,
            timeout=FETCH_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SdistMissingError(f"pip took more than {FETCH_WITHIN_S} s") from error
    if done.returncode != 0:
        raise SdistMissingError(f"pip download failed: {done.stderr.strip()}")
    (archive,) = folder.glob("*.tar.gz")
    return archive


def archive() -> Path:
    """Return the distribution, from the cache or by pip."""
    cached = CACHE / f"ldap3-{installed_version()}.tar.gz"
    if not cached.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            fetched = download(Path(folder), "ldap3", installed_version(), locked_hash())
            fetched.replace(cached)
    return cached


def unpack_tests(folder: Path) -> list[str]:
    """Unpack ldap3's tests into `folder`/test and return the names of their modules."""
    root = f"ldap3-{installed_version()}/"
    with tarfile.open(archive()) as distribution:
        for member in distribution.getmembers():
            if member.isfile() and member.name.startswith(f"{root}test/"):
                content = distribution.extractfile(member)
                assert content is not None
                path = folder / member.name.removeprefix(root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())
    tests = folder / "test"
    # Python has a package of the same name, which only another package can hide.
    (tests / "__init__.py").touch()
    return sorted(path.stem for path in tests.glob("test*.py"))
