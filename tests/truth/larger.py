"""The cells of `make truth`: the product's programs x the shapes of the matrix, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.truth import doors
from tests.truth.cells import FAULTS, LONG_THINK, LOST_ANSWERS, SCHEDULES, SHAPES, Cell
from tests.truth.figures import Reported
from tests.truth.key_cells import CLIENTS, SESSION
from tests.truth.log import Due, Operation
from tests.truth.matrix import OBJECTIVES, Begun, Measured, Server, compare, due_of

WORKERS = 2
_EDGES_S = {"two threads": 0.02, "two workers": 0.02, "portable": 0.02}
"""The delay between the edges of several windows; a slow client's window also ends late."""
_OTHER = {
    "ldap": '\n[[operation]]\nname = "p"\nsearch = "(uid=p.p.{user}.{iteration})"\n',
    "http": '\n[[operation]]\nname = "p"\nget = "/p.p.{user}.{iteration}"\n',
}


_OF_SITES = ("two threads", "two workers", "one operation", "locust", "page")
_OF_ALL = (*_OF_SITES, "portable")


@dataclass(frozen=True)
class DoorCell:
    """A cell of the matrix that one of the product's programs runs."""

    door: str
    cell: Cell
    tls: bool = False

    def __str__(self) -> str:
        return f"{self.door}, {self.cell}{', tls' * self.tls}".replace(" ", "-")


def _larger() -> Iterator[DoorCell]:
    """Combine every program with every shape, every schedule, every fault, and TLS."""
    for column, door in enumerate(_OF_ALL):
        workers = WORKERS if door == "two workers" else 1
        # The portable client supports neither rates nor stages.
        schedules = SCHEDULES if door in _OF_SITES else SCHEDULES[:2]
        # Nor does the portable client support shared connections.
        shapes = SHAPES if door in _OF_SITES else [each for each in SHAPES if not each.waits]
        for row, shape in enumerate(shapes):
            turn = row + column
            schedule, fault = schedules[turn % len(schedules)], FAULTS[turn % len(FAULTS)]
            # No log contains the handshake of each request: only a rate determines its begin.
            tls = turn % 4 == 0 and (shape.name != "connection per step" or schedule.arrives)
            cell = Cell("ldap", shape, schedule, fault, workers=workers)
            yield DoorCell(door, cell, tls)
            if shape.http is not None and door in _OF_SITES and turn % 3 == 0:
                schedule, fault = schedules[turn // 3 % len(schedules)], FAULTS[row % len(FAULTS)]
                cell = Cell("http", shape, schedule, fault, workers=workers)
                yield DoorCell(door, cell, turn % 2 == 0)


LARGER: Sequence[DoorCell] = (
    *_larger(),
    DoorCell("two threads", SESSION),
    DoorCell("sweep", CLIENTS),
    # Operations that began before a warm-up end after it.
    DoorCell("locust", Cell("ldap", LONG_THINK, SCHEDULES[0], LOST_ANSWERS)),
)


def measure(
    door_cell: DoorCell, server: Server, folder: Path, ca: Path, *more: str
) -> tuple[Measured, object]:
    """Run a cell with its program and more options; return the program's other output, too."""
    cell = door_cell.cell
    (text,) = cell.scenarios
    shown: list[object] = []
    if door_cell.door == "one operation":
        text += _OTHER[cell.protocol]

    def run(port: int, begun: Begun) -> Reported:
        secure = ca if door_cell.tls else None
        objectives = () if "objective" in text else OBJECTIVES
        task = doors.Task(folder, cell.protocol, text, port, objectives, secure, more)
        reported, rest = doors.run(doors.DOORS[door_cell.door], task, begun)
        shown.append(rest)
        return reported

    due = due_of(cell)
    if cell.workers > 1:
        due = by_worker(due_of(_of_one_worker(cell)))
    edges_s = _EDGES_S.get(door_cell.door, 0.0)
    measured = compare(cell, server, run, due, tls=door_cell.tls, edges_s=edges_s)
    # Commands bind before the load.
    return replace(measured, truth=replace(measured.truth, binds=None)), shown[0]


def _of_one_worker(cell: Cell) -> Cell:
    """Return the part of one worker: half the rates, but all the places of a pool."""
    schedule = replace(
        cell.schedule,
        rate=cell.schedule.rate / WORKERS,
        stages=[(seconds, share / WORKERS) for seconds, share in cell.schedule.stages],
    )
    return replace(cell, schedule=schedule)


def by_worker(due: Due) -> Due:
    """Give each worker's operations their due times; workers get the users in turn."""

    def of_all(operations: Sequence[Operation]) -> Sequence[Operation]:
        parts = [
            [each for each in operations if int(each.requests[0].user) % WORKERS == part]
            for part in range(WORKERS)
        ]
        dated = [each for part in parts for each in due(part)]
        return sorted(dated, key=lambda each: each.began_s)

    return of_all
