"""Locust's web UI over HTTP, like a browser."""

import csv
import json
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sitebench.system.network import free_port
from tests.support.locusts import Locust
from tests.support.ui_address import UiAddress, printed
from tests.support.waiting import ends_s, eventually, left_s


class Screen:
    def __init__(self, root: UiAddress) -> None:
        self.root = root
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open

    def read(self, path: str, form: dict[str, str] | None = None) -> bytes:
        """Return a page, or the answer to a form."""
        data = None if form is None else urllib.parse.urlencode(form).encode()
        with self._open(self.root.request(path, data), timeout=left_s()) as answer:
            content: bytes = answer.read()
            return content

    def get(self, path: str) -> str:
        return self.read(path).decode()

    def live(self) -> dict[str, Any]:
        return self._object("/sitebench/live.json")

    def _object(self, path: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.read(path, form))
        return parsed

    def until_done(self, step: str, n: int) -> None:
        """Wait until the running test has done a step `n` times.

        Locust's own rows may belong to the previous test for two seconds.
        """

        def done() -> bool:
            found = self.live()
            counts = [int(row["count"]) for row in found["steps"] if row["step"] == step]
            return bool(found["busy"]) and n <= sum(counts)

        assert eventually(done), self.live()

    def until_lanes(self, n: int) -> None:
        assert eventually(lambda: self.live()["moments"]["lanes"][-1:] == [n]), self.live()

    def workers(self) -> int:
        """Return the number of workers of this master."""
        return int(self._object("/worker-count")["worker_count"])

    def rows(self) -> list[dict[str, str]]:
        """Return Locust's own rows, which are current, unlike polled ones."""
        return list(csv.DictReader(self.get("/stats/requests/csv").splitlines()))

    def totals(self) -> Counter[str]:
        """Return Locust's own counts by step, because clients name a request's type differently."""
        totals = Counter[str]()
        for row in self.rows():
            if row["Name"] != "Aggregated":
                totals[row["Name"]] += int(row["Request Count"])
        return totals

    def download(self, path: Path) -> Path:
        """Download the present run file."""
        path.write_bytes(self.read("/sitebench/run"))
        return path

    def start(self, user_class: str, users: int = 4, **fields: str) -> None:
        """Start a test, or change the number of its users; at full speed if `rate` is ""."""
        answer = self.swarm(user_class, users, **fields)
        assert answer["success"], answer

    def swarm(self, user_class: str, users: int = 1, /, **fields: str) -> dict[str, Any]:
        """Send the form of a test; return the answer."""
        how = {"user_count": str(users), "spawn_rate": str(users), "user_classes": user_class}
        return self.post("/swarm", **{"rate": "400", **how, **fields})

    def refuse(self, words: str, user_class: str, users: int = 1, /, **fields: str) -> None:
        """Check that a form is refused with a message that contains these words."""
        answer = self.swarm(user_class, users, **fields)
        assert not answer["success"]
        assert words in answer["message"]

    def run(self, user_class: str, step: str, n: int, users: int = 4, **fields: str) -> None:
        """Start a test, and stop it when it has done a step `n` times."""
        self.start(user_class, users, **fields)
        self.until_done(step, n)
        self.stop()

    def post(self, path: str, **fields: str) -> dict[str, Any]:
        return self._object(path, fields)

    def stop(self) -> None:
        self.post("/stop")
        self.wait(lambda stats: stats["state"] == "stopped")

    def stats(self) -> dict[str, Any]:
        return self._object("/stats/requests")

    def wait(self, ready: Any) -> dict[str, Any]:
        give_up = time.monotonic() + left_s()
        while True:
            # The web UI caches its statistics for two seconds.
            stats = self.stats()
            if ready(stats):
                return stats
            assert time.monotonic() < give_up, stats
            time.sleep(0.2)


def screen_of(locustfile: Path, folder: Path, *more: str) -> Iterator[Screen]:
    """Yield the web UI of a Locust with its locustfile and few other options."""
    where = ("--web-host", "127.0.0.1", "--web-port", str(free_port()))
    with Locust("-f", str(locustfile), *where, *more, cwd=folder, together=True) as process:
        try:
            yield Screen(printed(process))
        finally:
            process.terminate()
            process.wait(ends_s())


def requests(stats: dict[str, Any], name: str) -> int:
    return sum(row["num_requests"] for row in stats["stats"] if row["name"] == name)
