from __future__ import annotations

from dataclasses import dataclass

from sitebench.locust.workers.choice import PORTABLE
from sitebench.options import option
from sitebench.options.addresses import MasterAddress
from sitebench.options.command import command
from sitebench.options.command import option as command_option
from sitebench.units import plural


@dataclass(frozen=True)
class _WorkerOptions:
    processes: int = option.count(1, "Number of worker processes.", panel="Options")
    client: str | None = option.choice(
        None,
        "Client for suites that have it (default: the test's).",
        *("native", *PORTABLE),
        panel="Options",
    )
    threads: int | None = option.count(
        None,
        "Load threads of each worker (default: the test's, or half the cores).",
        panel="Options",
    )


@command(
    _WorkerOptions,
    command_option(
        "master",
        "Address of the master, as in its --bind.",
        "HOST[:PORT]",
        parse=MasterAddress.parse,
        required=True,
    ),
    panel="This machine",
)
def worker(options: _WorkerOptions, master: MasterAddress) -> None:
    """Run a worker: it generates load for any master that connects, until Ctrl-C.

    sitebench worker --master 10.0.0.1

    sitebench worker --master 10.0.0.1 --processes 2 --threads 1

    The master is `sitebench directory sweep --workers N --bind 10.0.0.1`, or `locust --master
    --master-bind-host 10.0.0.1`. A worker runs any code that its master sends: connect only to a
    master that you trust.
    """
    from sitebench.locust.workers.supervisor import WorkerCommand, supervise
    from sitebench.measure.command import say
    from sitebench.targets.serving import until_stopped

    workers_command = WorkerCommand(master, options.processes, options.client, options.threads)
    with until_stopped() as stopped:
        workers = plural(options.processes, "worker waits", "workers wait")
        say(f"{workers} for masters at {master.host}:{master.port}; stop with Ctrl-C")
        supervise(workers_command, stopped)
    say("ended")
