"""The commands run, sweep, vary, peak and ui of every suite.

A suite's own `cli.py` has the options, examples and further commands.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

import msgspec

from sitebench import units
from sitebench.errors import BadInput, UnknownValue
from sitebench.locust.web_ui.options import UiOptions
from sitebench.measure.options import (
    DEFAULT_SIZES,
    MeasureOptions,
    PeakOptions,
    VaryOptions,
    refuse_stages,
    run_file,
)
from sitebench.options.command import Argument, Command, Member, Option, argument, command, option
from sitebench.options.convert import narrow
from sitebench.options.option import combine
from sitebench.suite import PaperSweep, Suite
from sitebench.suite_base.options import Part, SuiteOptions

if TYPE_CHECKING:
    from sitebench.measure.command import Tables
    from sitebench.scenario.script import Script
    from sitebench.suite_base.points import SuitePoints

_PANEL = "Measure"


_HELP = {
    "run": "{measures}\n\n{run}",
    "sweep": """{sweeps}

    {sweep}

    An interrupted sweep resumes with the same --out.""",
    "vary": """Vary one option after another and keep all others, as in the papers' tuning.

    {vary}

    processors, memory, network and disk limit a {noun} that sitebench starts; factors that this
    machine does not allow are left out, with the reason. An interrupted run resumes with the same
    --out.""",
    "peak": """Find the highest rate of a {noun}, or its number of users.

    The command measures each number of --clients, as in the papers; each client starts its next
    operation when the last is answered. With --objective, the answer is the largest number of
    clients that meets the objective:

    {clients}

    With --objective alone, the command searches for the highest rate that meets the objective, and
    confirms this rate:

    {objective}

    An interrupted search resumes with the same --out.""",
    "ui": """Test a {noun} from Locust's web UI; the options are the initial values of its form.

    {ui}""",
    "operations": """List the operations, or print the scenario file of one, to edit and run.

    {operations}""",
}


class TestCommands(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Options and help of the commands of a suite."""

    suite: Suite
    default: str
    varied: str | None = None
    """Default operation of `vary`, if it differs from `default`."""
    operation: Callable[[str], Argument]
    """Returns the argument for the operation, given the default operation."""
    point_options: type[Any]
    sweep: tuple[type[Any], ...] = ()
    """Two classes of options: of a sweep over sizes, and of a test without a size."""
    several: tuple[str, ...] = ()
    """Options that take several values in a sweep, which measures all values at each size."""
    noun: str
    measures: str
    sweeps: str = ""
    """First line of the help of `sweep`, as `measures` is the first line of the help of `run`."""
    examples: Mapping[str, Sequence[str]]
    """Examples by command; `peak` has two keys, for clients and for an objective."""
    text_of: str | None = None
    """Function that returns the scenario file of an operation, as "module:name"."""

    def all(self) -> dict[str, Member]:
        sweep = {"sweep": self._sweep} if self.sweep else {}
        operations = {"operations": self._operations} if self.text_of else {}
        other_commands = {"vary": self._vary, "peak": self._peak, "ui": self._ui}
        return {"run": self._run, **sweep, **other_commands, **operations}

    @functools.cached_property
    def _measure_options(self) -> type[Any]:
        return combine(MeasureOptions, self.point_options)

    def default_of(
        self, points: SuitePoints[Any, Any, Any], options: SuiteOptions, fallback: str | None = None
    ) -> str:
        """Return the operation that an option defines, or else the default operation."""
        described = points.described_by(options)
        return (described and described[0]) or fallback or self.default

    def _begin(
        self, options: SuiteOptions, operation: str | None, fallback: str | None = None
    ) -> tuple[SuitePoints[Any, Any, Any], Any, str]:
        points: SuitePoints[Any, Any, Any] = resolve_name(self.suite.points)
        text = operation or self.default_of(points, options, fallback)
        options, name = points.choose(options, text)
        options = points.apply_scenario(options)
        return points, _settle(points, options, [points.program(options, name)]), name

    def _help(self, name: str) -> str:
        return _HELP[name].format(
            noun=self.noun,
            measures=self.measures,
            sweeps=self.sweeps,
            **{
                key: "\n\n".join(f"sitebench {self.suite.first_name} {line}" for line in examples)
                for key, examples in self.examples.items()
            },
        )

    def _run(self) -> Command:
        words = self.operation(self.default)

        @command(self._measure_options, words, panel=_PANEL, explanation=self._help("run"))
        def run(options: SuiteOptions, operation: str | None) -> None:
            points, options, name = self._begin(options, operation)
            if options.check:
                points.try_once(options, name)
                return
            measure_parts(points, options, [Part(options, [name])])

        return run

    def _sweep(self) -> Command:
        sweep_options, *rest = self.sweep
        default = getattr(sweep_options, "operations", (self.default,))

        @command(
            combine(sweep_options, MeasureOptions, *rest),
            self.operation(", ".join(default)),
            panel=_PANEL,
            explanation=self._help("sweep"),
        )
        def sweep(options: Any, operation: str | None) -> None:
            points, paper = resolve_name(self.suite.points), None
            refuse_check(options, self.suite)
            if options.paper:
                paper = resolve_name(self.suite.paper_sweep)
                options = _as_printed(options, paper)
            sizes = options.sizes or (DEFAULT_SIZES if paper is None else paper.sizes)
            names = list(vars(options).get("operations", default))
            is_named = options.is_set("operations") or names == [self.default]
            if operation is not None:
                if options.is_set("operations"):
                    raise BadInput(
                        f"{operation} and --operations both name what is measured", "give one"
                    )
                options, name = points.choose(options, operation)
                names, is_named = [name], True
            if (described := points.described_by(options)) is not None:
                name, by = described
                if options.paper or options.is_set("operations"):
                    option = "--paper" if options.paper else "--operations"
                    raise BadInput(
                        f"{by} and {option} both describe the operations of users", "give one"
                    )
                names, is_named = [name], True
            options = points.apply_scenario(options)
            programs = [points.program(options, name) for name in names]
            options = _settle(points, options, programs, is_named=is_named)
            sizes = _that_matter(points, options, programs, sizes)
            machine = "" if paper is None else options.lab
            base = narrow(self._measure_options, options)
            axes = [vars(options)[name] or (None,) for name in self.several]
            parts = [
                part
                for size in dict.fromkeys(sizes)
                for combination in itertools.product(*axes)
                for fields in [dict(zip(self.several, combination, strict=True))]
                for at_size in [replace(base, entries=size, **fields)]
                for part in _parts(at_size, names, is_named, paper, machine)
            ]
            if len(parts) > 1 or len(names) > 1:
                points.check_several(options)
            if paper is not None:
                say_points(parts)
            measure_parts(points, options, parts, run_file(f"{self.suite.name}-sweep"))

        return sweep

    def _vary(self) -> Command:
        varied = option(
            "variations",
            "Factor and its values; for several factors, give the option several times.",
            "FACTOR=LIST",
            names=("--vary",),
            panel="Load",
            multiple=True,
            required=True,
        )

        @command(
            combine(VaryOptions, self._measure_options),
            self.operation(self.varied or self.default),
            varied,
            panel=_PANEL,
            explanation=self._help("vary"),
        )
        def vary(options: SuiteOptions, operation: str | None, variations: Sequence[str]) -> None:
            from sitebench.suite_base.vary import vary as measure_levels

            refuse_check(options, self.suite)
            points, options, name = self._begin(options, operation, self.varied)
            refuse_stages(options, "`vary`, which compares rates")
            points.check_several(options)
            measure_levels(points, narrow(self._measure_options, options), name, variations)

        return vary

    def _peak(self) -> Command:
        peak_options, words = combine(PeakOptions, self.point_options), self.operation(self.default)

        @command(peak_options, words, panel=_PANEL, explanation=self._help("peak"))
        def peak(options: SuiteOptions, operation: str | None) -> None:
            from sitebench.measure.peak.command import PeakJob, find_peak

            refuse_check(options, self.suite)
            points, completed, name = self._begin(options, operation)
            base = narrow(points.options, completed)
            points.point(base, name)
            points.check(base, [points.program(base, name)])
            job = PeakJob(
                stage=lambda seeding: points.stage(Part(base, [name]), seeding, reused=True),
                test=lambda users, rate, measure: points.test(
                    replace(base, users=users, rate=rate, measure=measure), name
                ),
                facts=lambda: points.facts(base, [base.people]),
                window_s=base.measure or 0.0,
                default_out=run_file(f"{self.suite.name}-peak"),
                afterwards=points.leftovers(base),
            )
            find_peak(completed, job)

        return peak

    def _ui(self) -> Command:
        @command(combine(UiOptions, self.point_options), panel=_PANEL, explanation=self._help("ui"))
        def ui(options: SuiteOptions) -> None:
            from sitebench.locust.web_ui.starting import become_locust

            points = resolve_name(self.suite.points)
            refuse_check(options, self.suite)
            path = self.suite.locustfile_path()
            options = points.apply_scenario(options)
            if options.stages is not None:
                # Each test of the web page derives these options from its stages.
                options = replace(options, rate=None, warmup=0.0, measure=None)
            become_locust(path, options, points.locust_options)

        return ui

    def _operations(self) -> Command:
        @command(None, show_option(self.suite), panel=_PANEL, explanation=self._help("operations"))
        def operations(show: str | None) -> None:
            show_operations(self.suite, resolve_name(cast("str", self.text_of)), show)

        return operations


def show_option(suite: Suite) -> Option:
    words = tuple(suite.operations)
    return option("show", "Operation whose file is printed.", "NAME", words=words)


def show_operations(suite: Suite, text_of: Callable[[str], str], name: str | None) -> None:
    """Print the list of a suite's operations, or the scenario file of a named operation."""
    from sitebench._engine import Scenario
    from sitebench.tables.table import Table
    from sitebench.tables.terminal import show

    if name is None:
        facts = {key: json.loads(Scenario(text_of(key)).facts) for key in suite.operations}
        rows = [[key, fact["title"], fact["paper"] or ""] for key, fact in facts.items()]
        show([Table("", ("Operation", "Title", "Of"), rows, left=3)])
        return
    if name not in suite.operations:
        raise UnknownValue(f"{name!r} is no operation", f"use one of {', '.join(suite.operations)}")
    print(text_of(name), end="")


def refuse_check(options: SuiteOptions, suite: Suite) -> None:
    """Raise if --check is set, for commands other than `run`."""
    if options.check:
        raise BadInput(
            "--check does each operation once, without a load",
            f"use it with run: sitebench {suite.first_name} run FILE --check",
        )


def one_operation(suite: Suite) -> Callable[[str], Argument]:
    """Return the function that makes the argument OPERATION of a suite."""
    names = list(suite.operations)

    def build_argument(default: str) -> Argument:
        texts = [f"{name}: {o.does}" for name, o in suite.operations.items() if o.does]
        text = f"One of {', '.join(names)}. {'; '.join(texts)}".rstrip() + "." * bool(texts)
        if suite.takes_files:
            text += " Or a scenario file, as mix.toml or mix.toml:OPERATION."
        return argument("OPERATION", text, words=names, shown=default)

    return build_argument


def _settle(
    points: SuitePoints[Any, Any, Any],
    options: SuiteOptions,
    programs: Sequence[Any],
    *,
    is_named: bool = True,
) -> Any:
    """Complete the options by a probe of the target; Ctrl-C ends the command with a message."""
    try:
        return points.settle(options, programs, named=is_named)
    except KeyboardInterrupt:
        from sitebench.measure.command import say

        say("interrupted; nothing was measured")
        raise


def measure_parts(
    points: SuitePoints[Any, Any, Any],
    options: SuiteOptions,
    parts: Sequence[Part],
    default_out: str | None = None,
    first: Tables | None = None,
) -> None:
    """Measure every part; show the results in the order of the options."""
    from sitebench.measure.command import measure, one_table
    from sitebench.report.paper import terminal_tables

    # Errors in a scenario file or for a target are raised before a run file is made.
    for part in parts:
        for name in part.operations:
            points.point(part.options, name)
            points.check(part.options, [points.program(part.options, name)])
    described = next((part for part in parts if part.options.scenario_path), parts[0])
    names = [name for part in parts for name in part.operations]
    sizes = [part.options.people for part in parts]
    measure(
        cast("MeasureOptions", options),
        users=max(max(part.clients or (part.options.users,)) for part in parts),
        stages=lambda seeding: [points.stage(part, seeding) for part in parts],
        facts=lambda: points.facts(described.options, sizes),
        first=first or one_table,
        tables=lambda results: terminal_tables(points.suite, results),
        order=lambda result: (
            # Points without people are listed with the first size.
            sizes.index(result.spec.entries) if result.spec.entries else 0,
            names.index(result.spec.operation),
        ),
        default_out=default_out,
        afterwards=points.leftovers(options),
        grows=not all(part.options.is_set("measure") for part in parts),
    )


def _parts(
    options: SuiteOptions, names: Sequence[str], named: bool, paper: PaperSweep | None, machine: str
) -> list[Part]:
    """Return the parts of one size; --paper sets the number of clients of each operation."""
    if paper is None:
        return [Part(options, names, named=named)]
    return [
        Part(
            options.assign(**paper.options.get(name, {})),
            [name],
            [paper.users[machine].get(name, options.users)],
            named,
        )
        for name in names
    ]


def _that_matter(
    points: Any, options: SuiteOptions, programs: Sequence[Script], sizes: Sequence[int]
) -> Sequence[int]:
    """Return one size if a scenario needs no people, because other sizes would be the same test."""
    path = options.scenario_path
    is_built_in = options.target in points.targets.built_in
    if path is None or is_built_in or any(map(points.needs_people, programs)):
        return sizes
    if options.is_set("sizes"):
        raise BadInput(
            f"{path} uses no people of sitebench, so every size would be the same test",
            "leave --sizes out; `[load] clients`, or `sitebench vary`, measure several loads",
        )
    return sizes[:1]


def say_points(parts: Sequence[Part]) -> None:
    from sitebench.measure.command import say

    phrases, points, lasts_s = dict[str, None](), 0, 0.0
    for part in parts:
        seconds = part.options.measure or 0.0
        window = units.format_duration(seconds)
        for name in part.operations:
            clients = ", ".join(map(str, part.clients))
            phrases[f"{name} with {clients} clients for {window} each"] = None
        count = len(part.operations) * len(part.clients)
        points += count
        lasts_s += count * (part.options.warmup + seconds)
    many = units.plural(points, "point")
    say(f"as the paper: {'; '.join(phrases)}: {many}, {units.format_duration(round(lasts_s))}")


def _as_printed(options: SuiteOptions, paper: PaperSweep) -> SuiteOptions:
    """Return options with the paper's times, unless the user set the window for a trial."""
    refuse_stages(options, "`--paper`, which has the paper's loads")
    if options.users != type(options).users:
        raise BadInput(
            f"--paper has the paper's numbers of clients, and --users is {options.users:,}",
            "leave out one of both",
        )
    if options.is_set("measure"):
        return options
    warmup = max(options.warmup, paper.warmup_s)
    return options.assign(warmup=warmup, measure=paper.measure_s)
