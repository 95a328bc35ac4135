"""Slow hashes: computed once on all cores, cached, and announced if they take long."""

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from sitebench.errors import BadInput
from sitebench.seeders import slow_hashes
from sitebench.seeders.people import People, Spec, generate
from sitebench.seeders.slow_hashes import make_hashes


def people(hashed: str, size: int = 50, pool: int | None = None, seed: int = 1) -> People:
    spec = Spec(size, seed, "person", ("en_US",), hash=hashed, hash_pool=pool)
    return generate(spec)


def values(of: People, numbers: range) -> list[bytes]:
    return [of.population.entry(number)[1]["userPassword"][0] for number in numbers]


def test_slow_hashes_are_computed_once_and_cached(tmp_path: Path) -> None:
    first = people("pbkdf2-sha256:20000", pool=20)
    make_hashes(first, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.read_bytes().splitlines() == values(first, range(20))
    assert values(first, range(20, 40)) == values(first, range(20))
    again = people("pbkdf2-sha256:20000", pool=30)
    again.population.take_hashes(file.read_bytes())
    assert again.population.slow_hashes == (30, 20)
    make_hashes(again, cache=tmp_path)
    assert len(file.read_bytes().splitlines()) == 30
    # A smaller number of hashes does not shorten the file.
    make_hashes(people("pbkdf2-sha256:20000", pool=2), cache=tmp_path)
    assert len(file.read_bytes().splitlines()) == 30
    make_hashes(people("pbkdf2-sha256:20000", pool=2, seed=2), cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_broken_cache_file_is_recomputed(tmp_path: Path) -> None:
    make_hashes(people("crypt:1000", pool=5), cache=tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], b"x" * 2 * len(whole), b""):
        file.write_bytes(broken)
        make_hashes(people("crypt:1000", pool=5), cache=tmp_path)
        assert file.read_bytes() == whole


def test_fast_hash_is_not_cached_in_a_file(tmp_path: Path) -> None:
    for hashed in ("ssha", "clear"):
        make_hashes(people(hashed), cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_hash_beyond_free_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the system would kill the process with most memory."""
    memory = SimpleNamespace(available=60 << 20, total=1 << 40)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    with pytest.raises(BadInput, match=r"argon2:64m takes 67.1 MB .* and 62.9 MB are free"):
        make_hashes(people("argon2:64m", size=1), cache=tmp_path)


def test_hash_failed_for_lack_of_memory_is_reported_and_not_cached(tmp_path: Path) -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "from tests.seeders.test_slow_hashes import people\n"
        "population = people('argon2:8g', size=1).population\n"
        "assert not population.entry(0)[1]['userPassword'][0], population.slow_hashes\n"
        "assert population.slow_hashes == (1, 0)\n"
        "population.make_hashes(1)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert "there is no memory for argon2:8g" in ran.stderr, ran.stderr


def test_unusable_cache_of_hashes_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadInput, match="cannot keep the hashes") as caught:
        make_hashes(people("crypt:1000", pool=2), cache=tmp_path / "file" / "below")
    assert "XDG_CACHE_HOME" in caught.value.remedy


def test_duration_is_announced_and_ctrl_c_keeps_computed_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A million argon2 hashes take days: this is announced, and computed hashes are reused."""
    monkeypatch.setattr(slow_hashes, "_WORTH_SAYING_S", 0.0)

    def interrupted(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    many = people("pbkdf2-sha256:100000", size=100_000, pool=0)

    monkeypatch.setattr("sitebench.measure.progress.bar", lambda *_: nullcontext(interrupted))
    with pytest.raises(KeyboardInterrupt):
        make_hashes(many, cache=tmp_path)
    assert "99,999 hashes pbkdf2-sha256:100000 take about" in capfd.readouterr().err
    (file,) = tmp_path.iterdir()
    made = len(file.read_bytes().splitlines())
    assert 0 < made < 50_000
    again = people("pbkdf2-sha256:100000", size=made, pool=0)
    make_hashes(again, cache=tmp_path)
    assert "take about" not in capfd.readouterr().err
