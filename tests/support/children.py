"""The processes that a command has started, by their command lines."""

import psutil


def children(pid: int, name: str) -> list[psutil.Process]:
    def called(process: psutil.Process) -> bool:
        try:
            return name in " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            return False

    return [each for each in psutil.Process(pid).children(recursive=True) if called(each)]
