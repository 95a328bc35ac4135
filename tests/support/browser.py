"""A headless Chromium, driven over chromedriver's own protocol (W3C WebDriver)."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sitebench.system.network import free_port
from tests.support.programs import running_server
from tests.support.waiting import eventually, left_s

# The machine may have no sandbox, no screen and no network except its own.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--window-size=1100,1400",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""WebDriver's key for a reference to an element."""


class Browser:
    def __init__(self, root: str, session: str) -> None:
        self._session = f"{root}/session/{session}"

    def open(self, url: str) -> None:
        """Load an address and wait for the page."""
        call("POST", f"{self._session}/url", {"url": url})

    def reload(self) -> None:
        call("POST", f"{self._session}/refresh", {})

    def text(self, selector: str) -> str:
        return str(call("GET", f"{self._find(selector)}/text"))

    def attribute(self, selector: str, name: str) -> str:
        return str(call("GET", f"{self._find(selector)}/attribute/{name}"))

    def click(self, selector: str) -> None:
        call("POST", f"{self._find(selector)}/click", {})

    def submit(self, selector: str) -> None:
        """Click a button that sends a form, and wait for the next page."""
        self.run("document.sent = true")
        self.click(selector)

        def answered() -> bool:
            try:
                return bool(self.run("return !document.sent && document.readyState === 'complete'"))
            except AssertionError:  # Between two pages there is none.
                return False

        assert eventually(answered), "the form was not answered"

    def run(self, script: str, *arguments: object) -> Any:
        body = {"script": script, "args": list(arguments)}
        return call("POST", f"{self._session}/execute/sync", body)

    def resize(self, width: int, height: int = 1_400) -> None:
        """Give the page this many pixels."""
        form = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **form)

    def draw(self, page: Path) -> None:
        """Open a page, and wait until it has all its charts."""
        self.open(page.as_uri())
        state = "return document.documentElement.dataset.state"
        assert eventually(lambda: self.run(state) == "drawn"), "the page is not drawn"

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(call("GET", f"{self._session}/screenshot")))

    def press(self, selector: str, key: str) -> None:
        """Type a key or text into an element."""
        call("POST", f"{self._find(selector)}/value", {"text": key})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Send a command to the browser itself, over its DevTools protocol."""
        body = {"cmd": command, "params": parameters}
        return call("POST", f"{self._session}/goog/cdp/execute", body)

    def complaints(self) -> list[str]:
        """Return the page's errors since the last call."""
        logged = call("POST", f"{self._session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in logged if entry["level"] in ("SEVERE", "WARNING")]

    def _find(self, selector: str) -> str:
        body = {"using": "css selector", "value": selector}
        found = call("POST", f"{self._session}/element", body)
        return f"{self._session}/element/{found[ELEMENT]}"


@contextmanager
def browsing(chromedriver: Path, folder: Path, *flags: str) -> Iterator[Browser]:
    """Yield a browser with a new profile; `flags` are additional flags of Chromium."""
    port = free_port()
    log = folder / "chromedriver.log"
    root = f"http://127.0.0.1:{port}"
    argv = [chromedriver, f"--port={port}", f"--log-path={log}"]
    with running_server(argv, lambda: call("GET", f"{root}/status")):
        options = {"args": [*FLAGS, *flags, f"--user-data-dir={folder / 'profile'}"]}
        asked = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        session = call("POST", f"{root}/session", asked)["sessionId"]
        try:
            yield Browser(root, session)
        finally:
            call("DELETE", f"{root}/session/{session}")


def call(method: str, url: str, body: object = None) -> Any:
    """Send a request to the driver; a refusal fails the test with the driver's message."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=left_s()) as answer:
            return json.loads(answer.read())["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(error.read().decode()) from None
