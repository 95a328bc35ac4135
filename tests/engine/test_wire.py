"""The bytes of lanes equal the recording in `wire.txt`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.engine.wire import ENVIRONMENT, GOLDEN, cases, text_of


def test_bytes_on_the_wire_match_the_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    recorded = GOLDEN.read_text().split("\n== ")[1:]
    with ThreadPoolExecutor(8) as pool:
        sent = [text.removeprefix("== ").rstrip() for text in pool.map(text_of, cases())]
    assert [text.rstrip() for text in recorded] == sent
