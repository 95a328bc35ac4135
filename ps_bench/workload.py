"""The site half's part of a Locust test: its target and its lanes."""

from __future__ import annotations

import contextlib
from typing import Any

from locust.env import Environment
from locust.runners import WorkerRunner

from ps_bench import points
from ps_bench.options import LocustOptions, PsOptions
from ps_bench.paper.figures import figures
from ps_bench.suite import SUITE
from ps_bench.targets.opening import database_of, open_target, spec_of
from seeders.upd import visitors
from sitebench.counts.worker_slot import WorkerSlot
from sitebench.errors import BadInput, SitebenchError
from sitebench.http import scenario_file
from sitebench.http.address import parse_address
from sitebench.http.engine_config import engine_config
from sitebench.http.open_site import OpenSite, assure_own, open_live
from sitebench.http.scenario import Scenario
from sitebench.locust.lanes import Session
from sitebench.locust.preparing import Preparing
from sitebench.locust.recorder import Recorder, Recording, Subject, command_options, operation
from sitebench.locust.web_ui.setup import open_session
from sitebench.locust.workers.choice import of_this_worker
from sitebench.options import convert
from sitebench.options.convert import from_namespace, from_texts
from sitebench.system.machine import engine_threads
from sitebench.system.native_errors import translated
from sitebench.targets.tls import Trust
from sitebench.units import format_size


class SiteWorkload:
    """Opens a target where the test is commanded, and lanes in every process that makes load."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._after = contextlib.ExitStack()
        options = self._options()
        self.session = open_session(environment)
        self._facts: dict[str, Any] = {}
        self._recorder = Recorder(options, options.monitor, self.session)

    def _options(self) -> LocustOptions:
        parsed = self._environment.parsed_options
        return LocustOptions() if parsed is None else from_namespace(LocustOptions, parsed)

    def check(self, options: Any) -> None:
        """Look whether a site of the user's answers, and its scenario can be read."""
        if options.scenario is not None:
            scenario_file.read(options.scenario)
        if options.target != "embedded":
            open_live(options)

    def prepare(
        self, environment: Environment, processes: int, preparing: Preparing
    ) -> dict[str, Any]:
        """Open the target; one that somebody else looks after is only addressed."""
        options = self._options()
        preparing.title = f"{options.target} with {format_size(options.entries)} people"
        if options.target == "embedded":
            # Built in a thread here, and found there when the site is opened.
            preparing.run_with_progress(lambda progress: database_of(options, progress))
            site = self._after.enter_context(open_target(options))
        else:
            for scenario in self._scenarios(options):
                if scenario.writes:
                    assure_own(options, f"the scenario {scenario.name!r}")
            site = open_live(options)
        self._facts = {"name": site.name, **site.facts}
        return {
            "options": convert.to_texts(options),
            "scenario": None
            if options.scenario is None
            else scenario_file.text_of(options.scenario),
            "url": str(site.address),
            "trust": site.trust.to_json(),
            "pid": options.target_pid or site.pid,
            "cores": options.target_cores or site.cores,
            "warmup_s": options.warmup,
            "measure_s": options.measure,
        }

    def record(self, prepared: dict[str, Any]) -> Recording:
        """Watch the target, and write down what lanes do."""
        options = from_texts(LocustOptions, prepared["options"])
        address, scenarios = parse_address(prepared["url"]), self._scenarios(options)
        site = OpenSite(options.target, address, trust=Trust(**prepared["trust"]))
        subject = Subject(
            spec=lambda: points.point(
                command_options(PsOptions, self._options(), self._environment),
                operation(self._environment, SUITE.operations, (s.name for s in scenarios)),
            ),
            facts=lambda sizes: points.manifest(options, sizes),
            pid=prepared["pid"],
            cores=prepared["cores"],
            address=(address.host, address.port),
            counts=[pair for scenario in scenarios for pair in scenario.counted],
            native=options.client == "native",
            check=site.check,
            target=self._facts,
            figures=lambda measured: figures(measured, scenarios),
            doubts=lambda _: site.doubts(),
        )
        return self._recorder.recording(subject)

    def open(self, prepared: dict[str, Any], slot: WorkerSlot) -> Session:
        """Start the lanes' engine, or make ready for portable lanes."""
        options = of_this_worker(from_texts(LocustOptions, prepared["options"]))
        if isinstance(self._environment.runner, WorkerRunner) and options.scenario is not None:
            scenario_file.receive(options.scenario, prepared["scenario"])
        address, trust = parse_address(prepared["url"]), Trust(**prepared["trust"])
        scenarios = self._scenarios(options)
        people = visitors(spec_of(options))
        native = options.client == "native"
        source: Any
        with translated():
            if native:
                from sitebench._engine import Engine

                source = Engine(
                    engine_config(options, address, scenarios, slot=slot, trust=trust), people
                )
            else:
                from sitebench.http.fasthttp_lane import FastHttpLanes

                source = FastHttpLanes(
                    self._environment,
                    address,
                    people,
                    scenarios,
                    options=options,
                    slot=slot,
                    trust=trust,
                )
        return Session(
            source,
            threads=engine_threads(options.threads) if native else 0,
            client=options.client,
            portable=None if native else source.lane,
        )

    def _scenarios(self, options: LocustOptions) -> list[Scenario]:
        from ps_bench.users import SiteUser

        found: dict[str, Scenario] = {}
        for user_class in self._environment.user_classes:
            if issubclass(user_class, SiteUser):
                scenario = user_class.build(options)
                if found.setdefault(scenario.name, scenario) != scenario:
                    raise BadInput(
                        f"two user classes have different scenarios named {scenario.name!r}",
                        "give each scenario a name of its own",
                    )
        return list(found.values())

    def failed(self, error: SitebenchError) -> None:
        """Tell the sweep, when this is one of its points."""
        self._recorder.failed(error)

    def finish(self) -> None:
        """Stop what was started for this test; calling it again does nothing."""
        self._after.close()
