"""A native server in this process, for `serve`, tests and programs."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

from sitebench.system.closing import Closing
from sitebench.system.native_errors import translated
from sitebench.targets.open_target import OpenTarget
from sitebench.targets.tls import ServerTls, Trust, ca_file
from sitebench.targets.tls_options import TlsOptions


class NativeServer(Protocol):
    @property
    def port(self) -> int: ...
    @property
    def address(self) -> str: ...
    @property
    def made_ca(self) -> str | None: ...
    def stats(self) -> dict[str, int]: ...
    def unknown_names(self) -> list[str]: ...
    def stop(self) -> None: ...


_S = TypeVar("_S", bound=NativeServer)
_C = TypeVar("_C", bound="InProcess[Any]")
_T = TypeVar("_T", bound=OpenTarget[Any])


class InProcess(Closing, Generic[_S]):
    """A server on native threads of this process; closing it closes `opening` too."""

    def __init__(
        self,
        start: Callable[[str], _S],
        config: Mapping[str, Any],
        scheme: str,
        opening: contextlib.ExitStack,
    ) -> None:
        self.host: str = config["host"]
        self.threads: int = config["threads"]
        self._scheme = scheme
        with opening:
            with translated():
                self._server = start(json.dumps(config))
            self.ca = stopping(self._server, opening)
            """File with the authority of a certificate that was made for the server."""
            self._opened = opening.pop_all()

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self._server.address}"

    def stats(self) -> dict[str, int]:
        return self._server.stats()

    def unknown_names(self) -> list[str]:
        """Return attributes and matching rules that clients requested and the server lacks."""
        return self._server.unknown_names()

    def close(self) -> None:
        self._opened.close()


def stopping(server: NativeServer, opened: contextlib.ExitStack) -> str | None:
    """Stop a server when `opened` is closed; return the file of the CA that was made for it."""
    opened.callback(server.stop)
    return None if server.made_ca is None else opened.enter_context(ca_file(server.made_ca))


def opened_here(target: _T, server: InProcess[Any], options: TlsOptions) -> _T:
    """Return `target` with the facts of its server, which runs in this process."""
    trust, ca = Trust.from_options(options), options.tls_ca
    cores = server.threads
    return replace(target, pid=os.getpid(), cores=cores, disposable=True, trust=trust, ca=ca)


def certificate(tls: bool | ServerTls, host: str) -> dict[str, Any]:
    return (tls if isinstance(tls, ServerTls) else ServerTls()).to_engine(host)


def start(server: type[_C], options: Any, **overrides: Any) -> _C:
    """Start a server for a `serve` command; messages of errors name options, not parameters."""
    names = (name for name in inspect.signature(server).parameters if name in vars(options))
    same = {name: vars(options)[name] for name in names}
    same |= {"limits": options.limit, "tls": ServerTls.from_options(options) or False}
    started, unchecked = server.__new__(server), inspect.unwrap(server.__init__)
    unchecked(started, **same | overrides)
    return started
