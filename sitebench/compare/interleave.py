"""A B B A A B ...: one command, measured in turn with two values, into one run file each.

The order within each pair is drawn by lot, so that neither side always has the warm cache or the
slower machine; the probabilities of the paired test depend on that draw. Every measurement runs the
ordinary command in a new process, and asks for one repeat more than its run file has. So the same
command continues an interrupted comparison.

The number of repeats is fixed at the beginning: repeats added until there is a difference would
always show one.
"""

from __future__ import annotations

import random
import shlex
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sitebench.compare.comparison import LEAST_TO_DIFFER
from sitebench.errors import EXIT_INTERRUPTED, BadInput, MeasurementFailed, SitebenchError
from sitebench.measure.command import say
from sitebench.options.spelling import gives, long_option
from sitebench.runs.manifest import COMPARED
from sitebench.runs.runfile import RunFile
from sitebench.runs.store import RunStore
from sitebench.system.programs import python_module

_PLACE = "{}"
_SIDES = ("a", "b")
_OURS = ("out", "repeats", "json", "objective", "junit")
"""Options that the command must not have: the comparison sets or excludes them."""

_END_S = 60.0
"""Time limit for an interrupted command to restore the target."""

_EXAMPLE = "such as 'ils run lookup --target {} --entries 10k --measure 2s'"


class Turn(msgspec.Struct, frozen=True):
    """One measurement: its side, and its number on that side, from 0."""

    side: str
    repeat: int


class Interleaving(msgspec.Struct, frozen=True):
    """The measured command, its two values, the number of repeats, and the seed of the order."""

    words: tuple[str, ...]
    a: str
    b: str
    repeats: int
    seed: int
    restart: str | None = None
    """Shell command that restarts a running server before each measurement.

    If only this command has `{}`, one server is compared with itself, with different settings.
    """

    def value(self, side: str) -> str:
        return self.a if side == "a" else self.b

    def argv(self, side: str, file: Path, repeats: int) -> list[str]:
        words = [word.replace(_PLACE, self.value(side)) for word in self.words]
        # Failed operations must not end the command with an error: the comparison itself judges
        # them.
        extra = ["--out", str(file), "--repeats", str(repeats), "--json", "--allow-failures"]
        return [*python_module("sitebench.cli.main"), *words, *extra]

    def turns(self) -> list[Turn]:
        lot, turns = random.Random(self.seed), []
        for repeat in range(self.repeats):
            first = lot.randrange(2)
            turns += [Turn(_SIDES[first], repeat), Turn(_SIDES[1 - first], repeat)]
        return turns

    def facts(self, side: str, identity: str) -> dict[str, Any]:
        return {
            "id": identity,
            "side": side,
            "value": self.value(side),
            "command": shlex.join(self.words),
            "seed": self.seed,
            "repeats": self.repeats,
            **({"restart": self.restart} if self.restart else {}),
        }


def plan(
    command: str, a: str, b: str, *, repeats: int, seed: int, restart: str | None = None
) -> Interleaving:
    """Read a command with `{}` in it; raises BadInput."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(
            f"cannot read --interleave {command!r}: {error}", "close its quotes"
        ) from error
    if words[:1] == ["sitebench"]:
        del words[0]
    if words[1:2] not in (["run"], ["sweep"]):
        raise BadInput(
            f"--interleave takes a run or a sweep, not {command!r}", f"write one {_EXAMPLE}"
        )
    if not any(_PLACE in word for word in (*words, restart or "")):
        nor = ", nor has --restart" if restart else ""
        raise BadInput(
            f"--interleave {command!r} has no {{}} to replace by A and B{nor}",
            f"write one {_EXAMPLE}",
        )
    if repeated := [long_option(field) for field in _OURS if gives(words, field)]:
        raise BadInput(
            f"the command of --interleave has {', '.join(repeated)}",
            "leave it out; --out, --repeats and --json go to `sitebench compare`",
        )
    if gives(words, "stages"):
        raise BadInput(
            "the command of --interleave has --stages, without a constant rate to compare",
            "give it a --rate",
        )
    return Interleaving(tuple(words), a, b, repeats, seed, restart)


def files(out: str) -> tuple[Path, Path]:
    base = out.removesuffix(".sitebench")
    return Path(f"{base}-a.sitebench"), Path(f"{base}-b.sitebench")


def prepare(plan: Interleaving, places: tuple[Path, Path]) -> None:
    """Make both run files, or check that present files belong to this comparison.

    If there are too few pairs for an answer, a message says so now: the pairs take minutes.
    """
    stored = [_comparison_facts(path) for path in places]
    identity = next((facts["id"] for facts in stored if facts), str(uuid.uuid4()))
    for side, path, known_facts in zip(_SIDES, places, stored, strict=True):
        facts = plan.facts(side, identity)
        if known_facts is None:
            with RunStore(path) as store:
                store.set_manifest({COMPARED: facts})
        elif known_facts != facts:
            raise BadInput(
                f"{path} holds another comparison: {_describe(known_facts, facts)}",
                "name another --out, or repeat the same command to resume it",
            )
    if plan.repeats < LEAST_TO_DIFFER:
        say(
            f"{plan.repeats} pairs cannot show any difference, however large: that needs "
            f"--repeats {LEAST_TO_DIFFER} for one point, and more for several"
        )


def _describe(facts: dict[str, Any], planned: dict[str, Any]) -> str:
    """Describe the comparison that a run file belongs to, with its --restart if that differs."""
    if not facts["id"]:
        return "a run of its own"
    restart, wanted_restart = facts.get("restart"), planned.get("restart")
    differs = restart != wanted_restart
    restart_text = f"; its --restart is {restart!r}, not {wanted_restart!r}" if differs else ""
    return (
        f"{facts['command']} with {facts['value']} as {facts['side'].upper()}, "
        f"seed {facts['seed']}, {facts.get('repeats', 'no fixed number of')} repeats{restart_text}"
    )


def _comparison_facts(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    with RunFile(path) as file:
        facts: dict[str, Any] = file.manifest().get(COMPARED, {"id": ""})
        return facts


def measure(
    plan: Interleaving,
    places: tuple[Path, Path],
    on_turn: Callable[[Turn], object] = lambda turn: None,
) -> None:
    """Measure the missing repeats; `on_turn` is called before each turn.

    If --restart switches one server between A and B, a last message names the server's value.
    """
    is_switched = plan.restart is not None and not any(_PLACE in word for word in plan.words)
    last = None
    try:
        for turn in plan.turns():
            on_turn(turn)
            file = places[_SIDES.index(turn.side)]
            if not _is_done(file, turn.repeat):
                last = turn
                _run(plan, turn, file)
    finally:
        if is_switched and last is not None:
            say(f"the server remains as {last.side.upper()} ({plan.value(last.side)})")


def _is_done(path: Path, repeat: int) -> bool:
    with RunFile(path) as file:
        statuses = [point.status for point in file.points() if point.spec.repeat == repeat]
    return bool(statuses) and all(status == "done" for status in statuses)


def _run(plan: Interleaving, turn: Turn, file: Path) -> None:
    if plan.restart:
        argv = plan.restart.replace(_PLACE, shlex.quote(plan.value(turn.side)))
        # A server that the command starts inherits the command's output. If the output were a pipe,
        # this call would wait until the server ends.
        code, errors = _call(["/bin/sh", "-c", argv])
        if code:
            raise MeasurementFailed(
                f"{turn.side.upper()} ({plan.value(turn.side)}), repeat {turn.repeat + 1}: "
                f"--restart {argv!r} ended with code {code}: {errors.strip()}",
                "run this command alone to see more",
            )
    code, errors = _call(plan.argv(turn.side, file, turn.repeat + 1))
    if code:
        raise _failure(plan, turn, code, errors)


def _call(argv: list[str]) -> tuple[int, str]:
    """Run a command, and return its exit code and its errors.

    The command has its own session, so Ctrl-C reaches only this process, which lets it clean up.
    """
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait()
        finally:
            _end(process)
        errors.seek(0)
        return code, errors.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _failure(plan: Interleaving, turn: Turn, code: int, errors: str) -> BaseException:
    if code == EXIT_INTERRUPTED:
        return KeyboardInterrupt()
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    message, remedy = (lines[-1] if lines else f"the command ended with code {code}"), ""
    for n, line in enumerate(lines):
        if line.startswith("sitebench: "):
            message, remedy = line.removeprefix("sitebench: "), " ".join(lines[n + 1 :])
            break
    kind: type[SitebenchError] = BadInput if code == BadInput.exit_code else MeasurementFailed
    return kind(
        f"{turn.side.upper()} ({plan.value(turn.side)}), repeat {turn.repeat + 1}: {message}",
        remedy or "run the command alone to see more",
    )
