"""What a manifest knows of a site: version and configuration, as far as it tells."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from ps_bench.options import PsOptions
from ps_bench.targets.opening import open_target
from sitebench.http.site import OpenSite


class Silent(BaseHTTPRequestHandler):
    """Answers everything with an empty page."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def version_string(self) -> str:
        """Return what the header Server says."""
        return "Kestrel/8"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_embedded_site_gives_its_settings(site: OpenSite) -> None:
    assert site.facts["version"].startswith("sitebench ")
    assert site.facts["configuration"] == {"threads": 1, "durability": "normal", "row_cache": 0}


def test_a_foreign_site_gives_what_its_server_calls_itself() -> None:
    with HTTPServer(("127.0.0.1", 0), Silent) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        try:
            target = f"http://127.0.0.1:{server.server_address[1]}"
            with open_target(PsOptions(target=target)) as opened:
                assert opened.facts == {"server": "Kestrel/8"}
        finally:
            server.shutdown()
