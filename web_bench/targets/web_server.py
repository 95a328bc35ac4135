"""The embedded web server in this process, for `serve`, tests and programs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sitebench._engine import WebServer as Native
from sitebench.errors import BadInput
from sitebench.options.arguments import check_arguments
from sitebench.system.scratch import scratch
from sitebench.targets.in_process import InProcess, certificate, start
from sitebench.targets.serving import serve_until_stopped
from sitebench.targets.tls import ServerTls
from web_bench.suite import SUITE
from web_bench.targets.cgi import install
from web_bench.targets.embedded import PROGRAMS

if TYPE_CHECKING:
    from web_bench.options import ServeOptions


class WebServer(InProcess[Native]):
    """A real web server of files, generated pages and CGI programs, on threads of this process.

        with WebServer("docroot") as server:
            page = urllib.request.urlopen(server.url + "/index.html").read()

    Without a folder the server has generated pages only. Names that begin with a dot need
    `dot_files`. /cgi-bin/ has only the program of the CGI workloads. `limits` bound the requests of
    one client; `sitebench docs limits` lists their names.
    """

    suite = SUITE.name
    """The suite whose operations `sitebench.run` can measure here."""
    programs = PROGRAMS

    @check_arguments
    def __init__(
        self,
        docroot: Path | str | None = None,
        *,
        dot_files: bool = False,
        limits: Mapping[str, int] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        threads: int = 1,
        tls: bool | ServerTls = False,
    ) -> None:
        with contextlib.ExitStack() as opening:
            config: dict[str, Any] = {
                "host": host,
                "port": port,
                "threads": threads,
                "docroot": None if docroot is None else str(docroot),
                "hidden": dot_files,
                "cgi": str(install(opening.enter_context(scratch()))),
                "limits": dict(limits or {}),
            }
            if tls:
                config["tls"] = certificate(tls, host)
            super().__init__(Native, config, "https" if tls else "http", opening.pop_all())

    def __repr__(self) -> str:
        return f"<WebServer {self.url}>"


def serve(options: ServeOptions) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    from sitebench.measure.progress import bar
    from web_bench.docroot import docroot_of, with_options
    from web_bench.workload import find

    is_own = options.docroot is not None and not options.is_set("workload")
    workloads = [] if is_own else [with_options(find(options.workload), options)]
    total = sum(
        0 if workload.file_set is None else workload.file_set.bytes for workload in workloads
    )
    with bar("writing the files", total) as move:
        folder = docroot_of(options, workloads, lambda written, _: move(written))
    if is_own and not Path(str(folder)).is_dir():
        raise BadInput(
            f"--docroot: there is no folder {folder}",
            "name one that is there; or add --workload, and its files are written there",
        )
    _keep_from_programs()
    serve_until_stopped(
        lambda: start(WebServer, options, docroot=folder),
        lambda server: _greeting(options, server, folder, is_own=is_own),
        host=options.host,
    )


def _keep_from_programs() -> None:
    """Prevent that programs of this process inherit its descriptors."""
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # The folder itself is already closed.
            if int(descriptor.name) > 2:
                os.set_inheritable(int(descriptor.name), False)


def _greeting(
    options: ServeOptions, server: WebServer, folder: Path | None, *, is_own: bool
) -> list[str]:
    content = "generated pages" if folder is None else str(folder)
    first = f"serving {content} at {server.url} (Ctrl-C to stop)"
    if is_own and folder is not None:
        path = next((quote(file.name) for file in sorted(folder.iterdir()) if file.is_file()), "")
        trust = "" if server.ca is None else f"--cacert {server.ca} "
        return [first, f"  curl {trust}{server.url}/{path}"]
    trust = "" if server.ca is None else f" --tls-ca {server.ca}"
    return [first, f"  sitebench web run {options.workload} --target {server.url}{trust}"]
