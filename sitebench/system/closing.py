"""A base class of context managers that close themselves."""

from __future__ import annotations

from typing import Self


class Closing:
    def close(self) -> None:
        """Release the resources; a second call does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
