"""The console script. Ctrl-C ends it without a traceback, even while modules are being imported."""

from __future__ import annotations

from sitebench.system.interrupt import EndingQuietly


def main() -> None:
    with EndingQuietly():
        from sitebench.cli.main import main as run
    run()


if __name__ == "__main__":
    main()
