"""What every process of a test knows of it, once its target is ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Generic, TypeVar

import msgspec

from sitebench.frozen import frozen
from sitebench.options import convert
from sitebench.targets.tls import Trust

_M = TypeVar("_M")


@frozen(kw_only=True)
class Prepared(Generic[_M]):
    """A test that may begin: its options, where its target is, and what a suite adds."""

    options: Any
    url: str
    trust: Trust
    pid: int | None
    """The target's process, if it is on the machine of the process that commands."""
    cores: int | None
    text: tuple[str, str] | None
    """The name and the text of a file that workers on other machines need, too."""
    more: _M
    data: Mapping[str, str] = field(default_factory=dict)
    """Digests of the data of scenarios, which each process reads itself."""

    def to_message(self) -> dict[str, Any]:
        """Return it as plain data for workers: options of this machine are left out."""
        sent: dict[str, Any] = msgspec.to_builtins(
            replace(self, options=convert.to_texts(self.options))
        )
        return sent

    @classmethod
    def read(cls, data: dict[str, Any], options: type[Any], more: type[_M]) -> Prepared[_M]:
        """Return what `to_message` made of one; raises msgspec.ValidationError."""
        found = msgspec.convert(data, Prepared[more])  # type: ignore[valid-type]
        return replace(found, options=convert.from_texts(options, found.options))
