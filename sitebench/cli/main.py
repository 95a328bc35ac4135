"""The root of the command line; suites add their commands through `sitebench.suite`.

Completion imports this module at every key, so the import must be quick. Commands are imported when
they are needed.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import shell_complete

from sitebench.cli.usage import as_bad_input
from sitebench.errors import EXIT_INTERRUPTED, SitebenchError, exit_with
from sitebench.options.command import Group, Member, instead, invoke
from sitebench.suite import suites
from sitebench.system.interrupt import end_in_order
from sitebench.system.output import assure_open, no_longer_read
from sitebench.system.version import say_version

_COMPLETE = "_SITEBENCH_COMPLETE"
"""The shell's variable for completion (`docs/install.md`)."""

_EXAMPLES = "\n\n".join(
    [
        "sitebench demo",
        *(shlex.join(["sitebench", suite.first_name, *suite.demo.command]) for suite in suites()),
    ]
)
_LONG_NAMES = {suite.name: suite.long_name for suite in suites() if suite.long_name}


def _group(name: str, commands: str, explanation: str, panel: str, **options: Any) -> Group:
    return Group(name, lambda: resolve_name(commands), help=explanation, panel=panel, **options)


def _members() -> Mapping[str, Member]:
    (calibrate,) = filter(None, (suite.calibrate for suite in suites()))
    plan = "Plan capacity: people per machine, machines per community."
    return {
        "demo": "sitebench.cli.demo:demo",
        **{s.name: _group(s.name, s.commands, s.help, "Measure") for s in suites()},
        "report": "sitebench.cli.report:report",
        "compare": "sitebench.cli.compare:compare",
        "resume": "sitebench.cli.resume:resume",
        "export": "sitebench.cli.export:export",
        "plan": _group(
            "plan", "sitebench.cli.plan:COMMANDS", plan, "Results", long_names=_LONG_NAMES
        ),
        "calibrate": calibrate,
        "worker": "sitebench.cli.worker:worker",
        "docs": "sitebench.cli.docs:docs",
    }


app = Group(
    "sitebench",
    _members,
    long_names=_LONG_NAMES,
    help="Load tester for LDAP directories and web sites. It says for every number whether the "
    f"server or the load generator was the limit.\n\n{_EXAMPLES}",
    params=[instead(["--version", "-V"], "Version of sitebench.", lambda _: say_version())],
)


def main() -> None:
    end_in_order()
    assure_open()
    try:
        if instruction := os.environ.get(_COMPLETE):
            sys.exit(shell_complete(app, {}, "sitebench", _COMPLETE, instruction))
        code = invoke(app, "sitebench", sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except BrokenPipeError:
        if not no_longer_read():
            raise
        sys.exit(1)
    except SitebenchError as error:
        exit_with(error)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.UsageError as error:
        exit_with(as_bad_input(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except RuntimeError as error:
        # Python 3.11 raises RuntimeError for a Ctrl-C within `__set_name__` of an imported class.
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        sys.exit(EXIT_INTERRUPTED)


if __name__ == "__main__":
    main()
