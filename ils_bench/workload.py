"""The directory half's part of a Locust test: its target, its lanes, and cleaning up after them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from locust.env import Environment

from ils_bench import points
from ils_bench.engine_config import engine_config
from ils_bench.ldap3_lane import Ldap3Lanes
from ils_bench.options import IlsOptions, LocustOptions
from ils_bench.seeding import clean, journal
from ils_bench.seeding.journal import Reservation
from ils_bench.sequences import Sequence as Program
from ils_bench.suite import SUITE
from ils_bench.targets.address import parse_address
from ils_bench.targets.identity import identity_of
from ils_bench.targets.live import assure_own, open_live, seed
from ils_bench.targets.monitor import DirectoryMonitor
from ils_bench.targets.opening import open_target
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from seeders.people import generate
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, SitebenchError
from sitebench.locust.lanes import Session
from sitebench.locust.preparing import Preparing, run_in_thread
from sitebench.locust.recorder import Recorder, Recording, Subject, command_options, operation
from sitebench.locust.web_ui.setup import open_session
from sitebench.locust.workers.choice import of_this_worker
from sitebench.options import convert
from sitebench.options.convert import from_namespace, from_texts
from sitebench.runs.point import PointSpec
from sitebench.runs.windows import Windows
from sitebench.system.machine import engine_threads
from sitebench.system.native_errors import translated
from sitebench.targets.tls import Trust
from sitebench.units import format_size
from sitebench.verdict.warning import Doubt

OURS = ("embedded", "openldap")
"""Targets that a test starts by itself."""


class IlsWorkload:
    """Opens a target where the test is commanded, and lanes in every process that makes load."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._after = contextlib.ExitStack()
        options = self._options()
        self.session = open_session(environment)
        self._facts: dict[str, Any] = {}
        self._windows: Windows | None = None
        self._recorder = Recorder(options, options.monitor, self.session)

    def _options(self) -> LocustOptions:
        parsed = self._environment.parsed_options
        return LocustOptions() if parsed is None else from_namespace(LocustOptions, parsed)

    def check(self, options: Any) -> None:
        """Look whether a directory of the user's answers."""
        if options.target not in OURS:
            open_live(options)

    def prepare(
        self, environment: Environment, processes: int, preparing: Preparing
    ) -> dict[str, Any]:
        """Open the target; a directory of the user's holds its people, or gets them here."""
        options = self._options()
        preparing.title = f"{options.target} with {format_size(options.entries)} people"
        if options.target in OURS:
            target = self._after.enter_context(open_target(options, options.entries))
        else:
            for sequence in self._sequences(options):
                if sequence.writes:
                    assure_own(options, f"the sequence {sequence.name!r}")
            target = open_live(options)
            if environment.web_ui is not None and not options.disposable and not options.names:
                self._seed(options, target, preparing)
        self._facts = {"name": target.name, **target.facts}
        return {
            "options": convert.to_texts(options),
            "url": str(target.address),
            "trust": target.trust.to_json(),
            "pid": options.target_pid or target.pid,
            "cores": options.target_cores or target.cores,
            "disposable": target.disposable or options.disposable,
            "password_file": options.password_file,
            "warmup_s": options.warmup,
            "measure_s": options.measure,
            "first_added": self._first_added(options, target, processes),
        }

    def _seed(self, options: LocustOptions, target: OpenDirectory, preparing: Preparing) -> None:
        """Add whoever is missing, as `sitebench ils run` does, and remove them after the test.

        Those too who are there when it is stopped while they are being added.
        """
        people = spec_of(options, options.entries)
        self._after.callback(run_in_thread, lambda: clean.remove_seeded(target))
        preparing.run_with_progress(lambda progress: seed(target, people, progress, keep=False))

    def record(self, prepared: dict[str, Any]) -> Recording:
        """Watch the target, and write down what lanes do."""
        options = from_texts(LocustOptions, prepared["options"])
        target = self._target(prepared, options)
        address, sequences = target.address, self._sequences(options)
        writes = any(each.writes for each in sequences)
        subject = Subject(
            spec=lambda: points.point(
                command_options(IlsOptions, self._options(), self._environment),
                operation(self._environment, SUITE.operations, (each.name for each in sequences)),
            ),
            facts=lambda sizes: points.manifest(options, sizes),
            pid=prepared["pid"],
            cores=prepared["cores"],
            address=(address.host, address.port),
            counts=[(each.name, each.counts) for each in sequences],
            native=options.client == "native",
            check=target.check,
            target=self._facts,
            probe=DirectoryMonitor(target),
            doubts=lambda spec: (*target.doubts(), *_relaxed(spec, writes=writes)),
        )
        recording = self._recorder.recording(subject)
        self._windows = recording.windows
        return recording

    def _target(self, prepared: dict[str, Any], options: LocustOptions) -> OpenDirectory:
        """Return the target as it is addressed by any process of the test."""
        address = parse_address(prepared["url"], start_tls=options.start_tls)
        trust = Trust(**prepared["trust"])
        known = replace(options, password_file=prepared["password_file"], tls_cert=trust.cert)
        return OpenDirectory(
            str(address),
            address,
            options.base,
            identity_of(known),
            trust=trust,
        )

    def open(self, prepared: dict[str, Any], slot: WorkerSlot) -> Session:
        """Start the lanes' engine, or make ready for portable lanes."""
        options = of_this_worker(from_texts(LocustOptions, prepared["options"]))
        target, sequences = self._target(prepared, options), self._sequences(options)
        population = generate(spec_of(options, options.entries)).population
        first = prepared["first_added"][slot.index]
        native = options.client == "native"
        with translated():
            source: Any
            if native:
                from sitebench._engine import Engine

                config = engine_config(
                    options,
                    target.address,
                    sequences,
                    slot=slot,
                    first_added=first,
                    who=target.who,
                    trust=target.trust,
                )
                source = Engine(config, population)
            else:
                source = Ldap3Lanes(
                    self._environment,
                    target,
                    population,
                    sequences,
                    options=options,
                    slot=slot,
                    first_added=first,
                )
        return Session(
            source,
            threads=engine_threads(options.threads) if native else 0,
            client=options.client,
            portable=None if native else source.lane,
        )

    def _sequences(self, options: LocustOptions) -> list[Program]:
        from ils_bench.users import SequenceUser

        found: dict[str, Program] = {}
        for user_class in self._environment.user_classes:
            if issubclass(user_class, SequenceUser):
                sequence = user_class.build(options).thinking(options.think)
                if found.setdefault(sequence.name, sequence) != sequence:
                    raise BadInput(
                        f"two user classes have different sequences named {sequence.name!r}",
                        "give each sequence a name of its own",
                    )
        return list(found.values())

    def _first_added(
        self, options: LocustOptions, target: OpenDirectory, processes: int
    ) -> list[int]:
        """Return, for each process that makes load, the first person that it may add.

        In a directory that is somebody's own they are reserved, and removed at the test's end.
        """
        adds = any(each.adding for each in self._sequences(options))
        if target.disposable or options.disposable or not adds:
            return [journal.FIRST_ADDED + index * options.ring for index in range(processes)]
        return [self._reserve(options, target).start for _ in range(processes)]

    def _reserve(self, options: LocustOptions, target: OpenDirectory) -> Reservation:
        reservation = journal.reserve(
            str(target.address),
            base=options.base,
            bind_dn=options.bind_dn,
            profile=options.profile,
            seed=options.seed,
            locales=options.locales,
            keys=options.ring,
            sparse=any(each.removes for each in self._sequences(options)),
        )
        self._windows = None

        def remove() -> None:
            # In the hub itself it would keep workers' heartbeats waiting.
            added = self._added(options)
            run_in_thread(lambda: clean.remove(reservation, target, added=added))

        self._after.callback(remove)
        return reservation

    def _added(self, options: LocustOptions) -> int | None:
        """Return how many people this test's lanes have added at the most; None if unknown."""
        if self._windows is None:
            return 0
        if any(worker.ended or worker.missing for worker in self._windows.workers):
            return None
        adding = {(each.name, name) for each in self._sequences(options) for name in each.adding}
        tallies = self._windows.tallies.values()
        return sum(
            step.count for tally in tallies for key, step in tally.steps.items() if key in adding
        )

    def failed(self, error: SitebenchError) -> None:
        """Tell the sweep, when this is one of its points."""
        self._recorder.failed(error)

    def finish(self) -> None:
        """Stop what was started for this test; calling it again does nothing."""
        self._after.close()


def _relaxed(spec: PointSpec, *, writes: bool) -> tuple[Doubt, ...]:
    """Warn that writes to a slapd that the test starts are cheaper than elsewhere.

    It runs with `dbnosync`, as an Internet Locator Server keeps nothing on disk (paper, page 3).
    """
    if spec.target != "openldap" or not writes:
        return ()
    return (
        Doubt(
            "relaxed-durability",
            "this slapd does not sync its database to disk (dbnosync), so its writes are faster",
            "compare it with directories that keep nothing either, or measure a slapd of your own "
            "by its ldap:// address",
        ),
    )
