"""The address of a web UI with its printed token, as every client of the web UI needs it."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.support.locusts import Locust
from tests.support.waiting import eventually


@dataclass(frozen=True)
class UiAddress:
    """The address, which is its text, and the token, which is empty if there is a login."""

    base: str
    token: str | None

    def __str__(self) -> str:
        return self.base

    @property
    def page(self) -> str:
        """Return the address that a browser opens first; then the browser has a cookie."""
        return f"{self.base}/" + ("" if self.token is None else f"?token={self.token}")

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of a client without cookies."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def request(self, path: str, data: bytes | None = None, **more: str) -> urllib.request.Request:
        """Return a request of a client that knows the token."""
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return urllib.request.Request(f"{self.base}{path}", data, {**self.headers, **named})

    def answer(self, path: str, data: bytes | None = None, **more: str) -> tuple[int, Any, str]:
        """Return status, headers and text of the answer to such a request."""
        try:
            reply = urllib.request.urlopen(self.request(path, data, **more), timeout=30)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            return reply.status, reply.headers, reply.read().decode(errors="replace")


def printed(process: Locust) -> UiAddress:
    """Wait until a web UI has printed its address, and answers there."""

    def address() -> UiAddress | None:
        found = re.search(r"web UI: (\S+)/(?:\?token=(\S+))? \(", process.said())
        return None if found is None else UiAddress(found[1], found[2])

    def answers() -> bool:
        there = address()
        return there is not None and _answers(there)

    eventually(lambda: process.poll() is not None or answers())
    assert process.poll() is None, f"the web UI ended: {process.said()}"
    there = address()
    assert there is not None, f"the web UI prints no address: {process.said()}"
    assert _answers(there), "the web UI does not answer"
    return there


def _answers(there: UiAddress) -> bool:
    try:
        urllib.request.urlopen(there.request("/"), timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
