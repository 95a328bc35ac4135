from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

from locust.env import Environment

from ils_bench.growth import count_added, entries_at_ends, warn_of_growth, warn_of_leftovers
from ils_bench.login.first_login import FirstLogin, first_login
from ils_bench.login.lockout import LIFT, Care, binds_of
from ils_bench.names import names_of
from ils_bench.options import IlsOptions, LocustOptions
from ils_bench.points import POINTS
from ils_bench.programs import is_login
from ils_bench.targets import clean, journal
from ils_bench.targets.journal import Reservation
from ils_bench.targets.live import make_ready, say_removed
from ils_bench.targets.monitor import DirectoryMonitor
from ils_bench.targets.openldap import warn_of_durability
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import PortableUsers
from sitebench.counts.source import StepTotals
from sitebench.counts.tally import Tally
from sitebench.errors import BadInput, MeasurementFailed
from sitebench.locust.preparing import Preparing, run_in_thread
from sitebench.locust.recorder import Observed, Recording
from sitebench.measure.diagnosis import NOT_ALLOWED, NOT_ALLOWED_REMEDY
from sitebench.measure.test import Test
from sitebench.options.option import group_of
from sitebench.runs.store import RunStore
from sitebench.runs.windows import Windows
from sitebench.scenario.script import Script
from sitebench.suite_base.points import Load
from sitebench.suite_base.suite_run import BaseSuiteRun

if TYPE_CHECKING:
    from ils_bench.ldap3_lane import Ldap3Lanes


class IlsRun(BaseSuiteRun[IlsOptions, Script, OpenDirectory]):
    points = POINTS

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._windows: Windows | None = None
        self._first_login = FirstLogin()
        self._care: Care | None = None

    def first_added(
        self, options: IlsOptions, target: OpenDirectory, processes: int, preparing: Preparing
    ) -> list[int]:
        """Seed missing people, and reserve the people that lanes will add.

        If the test is a point of a command, the command has seeded them already.
        """
        locust = group_of(self.options(), LocustOptions)
        is_foreign = not (target.disposable or (locust is not None and locust.disposable))
        if is_foreign and self.request is None:
            # Seeded people are removed even if the test is stopped during the seeding.
            self.after.callback(run_in_thread, lambda: clean.remove_seeded(target))
            programs = self.programs
            preparing.run_with_progress(
                lambda progress: make_ready(target, options, options.entries, programs, progress)
            )
        if is_foreign:
            self._take_care(options)
            if any(map(is_login, self.programs)):
                try:
                    self._first_login = run_in_thread(lambda: first_login(target, options))
                except MeasurementFailed:
                    if self._care is not None:
                        self._care.note_refusal()
                    raise
        if not is_foreign or not any(program.adding for program in self.programs):
            return [journal.FIRST_ADDED + index * options.ring for index in range(processes)]
        return [self._reserve(options, target).start for _ in range(processes)]

    def digests(self, options: IlsOptions, programs: Many[Script]) -> dict[str, str]:
        digests = super().digests(options, programs)
        names = None if options.names is None else names_of(options.names)
        if names is not None and names.file is not None and names.digest is not None:
            digests[names.file] = names.digest
        return digests

    def _take_care(self, options: IlsOptions) -> None:
        if options.wrong_passwords is not None or (binds := binds_of(self.programs)) is None:
            return
        if binds.wrong and self.environment.web_ui is not None:
            raise BadInput(
                "each test of this page would send wrong passwords to the same accounts",
                f"use `sitebench ils run`; or, if you may lock them, add {LIFT}",
            )
        point = self.request
        store = None if point is None else RunStore(point.store, create=False, joins=True)
        self._care = Care(binds, store)
        self._care.begin()

    def observe(self, target: OpenDirectory, programs: Many[Script]) -> Observed:
        writes = any(program.writes for program in programs)
        adds = any(program.adding for program in programs)
        bare = target.name == "embedded" or self.options().target == "embedded"
        return Observed(
            probe=None if bare else DirectoryMonitor(target),
            figures=lambda measured: (
                entries_at_ends(self.options().entries, self._tallies, programs) if adds else {}
            ),
            watch=self._watch,
            warnings=lambda spec, figures: (
                *target.warnings(),
                *self._first_login.warnings(spec.entries, self._per_s(programs)),
                *warn_of_durability(spec.target, writes=writes),
                *warn_of_growth(figures),
                *warn_of_leftovers(spec, programs, self._tallies),
            ),
        )

    def _watch(self, tallies: Iterable[Tally]) -> None:
        if self._care is not None:
            self._care.watch(tallies)
        _assure_not_all_refused(tallies)

    def _per_s(self, programs: Many[Script]) -> float:
        measured = None if self._windows is None else self._windows.measured
        if measured is None or not measured.seconds:
            return 0.0
        rows = [row for program in programs for row in program.counted_rows]
        return measured.merge_steps(rows).count / measured.seconds

    @property
    def _tallies(self) -> Mapping[str, Tally]:
        return {} if self._windows is None else self._windows.tallies

    def record(self, test: Test) -> Recording:
        """Return the recording, and keep its windows, which count the people that lanes added."""
        recording = super().record(test)
        self._windows = recording.windows
        return recording

    def portable(
        self, load: Load[IlsOptions, Script, OpenDirectory], users: PortableUsers
    ) -> Ldap3Lanes:
        # Imported late: an import of ldap3 takes 0.1 s.
        from ils_bench.ldap3_lane import Ldap3Lanes

        return Ldap3Lanes(self.environment, load.target, users, options=load.options)

    def _reserve(self, options: IlsOptions, target: OpenDirectory) -> Reservation:
        reservation = journal.reserve(
            str(target.address),
            spec_of(options, options.entries),
            bind_dn=options.bind_dn,
            keys=options.ring,
            sparse=any(program.removes for program in self.programs),
        )
        self._windows = None

        def remove() -> None:
            # The removal would delay workers' heartbeats in the hub's own thread.
            count = count_added(self._windows, self.programs, options.threads)
            removed = run_in_thread(lambda: clean.remove(reservation, target, added=count))
            say_removed(target, removed)

        self.after.callback(remove)
        return reservation


def _assure_not_all_refused(tallies: Iterable[Tally]) -> None:
    steps = defaultdict[tuple[str, str], list[StepTotals]](list)
    for tally in tallies:
        for key, totals in tally.steps.items():
            if not totals.overlaps:
                steps[key].append(totals)
    for (operation, step), parts in steps.items():
        kinds = Counter[str](sum((totals.failures for totals in parts), Counter()))
        if kinds and kinds.keys() <= NOT_ALLOWED and kinds.total() == sum(p.count for p in parts):
            examples = {kind: words for totals in parts for kind, words in totals.examples.items()}
            raise MeasurementFailed(
                f"{operation}: every {step} was refused, so the run has ended "
                f"({kinds.total():,} of them): {next(iter(examples.values()), next(iter(kinds)))}",
                f"{NOT_ALLOWED_REMEDY}; a refusal that is meant is no failure with expect.result",
            )
