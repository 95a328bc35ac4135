"""Options of every suite that tests a web site."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sitebench.errors import BadInput
from sitebench.options import option
from sitebench.scenario.script import Script
from sitebench.suite_base.options import SuiteOptions


@dataclass(frozen=True)
class SiteOptions(SuiteOptions):
    access_log: bool = option.flag(
        "Log of every request, in the common format, by a server that sitebench starts (as the "
        "papers' servers did).",
        paired=True,
        panel="Advanced",
    )


_Keeping = TypeVar("_Keeping", bound=Any)


def settle_keepalive(options: _Keeping, script: Script | None) -> _Keeping:
    """Return options with `keepalive` set: by the scenario, if there is one."""
    keepalive: bool | None = options.keepalive
    if script is None:
        return replace(options, keepalive=bool(keepalive))
    if keepalive is not None and keepalive != script.keeps_alive:
        unit = "user" if keepalive else "step"
        raise BadInput(
            f"{script.path} has its own setting of how long connections are kept",
            f'write per = "{unit}" in its [connection.main]',
        )
    return replace(options, keepalive=script.keeps_alive)
