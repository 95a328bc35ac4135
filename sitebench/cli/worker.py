"""`sitebench worker`: makes load for a master, on this machine or another."""

from __future__ import annotations

from typing import Annotated

import typer

from sitebench.locust.workers.choice import PORTABLE
from sitebench.options.addresses import MasterAddress
from sitebench.options.convert import named

_CLIENTS = ("native", *PORTABLE)


def worker(
    master: Annotated[
        MasterAddress,
        typer.Option(
            parser=named(MasterAddress.parse, "--master"),
            help="Address of the master: its --bind.",
            metavar="HOST[:PORT]",
        ),
    ],
    processes: Annotated[
        int, typer.Option(help="Number of worker processes.", min=1, metavar="N")
    ] = 1,
    client: Annotated[
        str | None,
        typer.Option(
            help="Client, if the test's suite has it (default: the test's).",
            metavar="|".join(_CLIENTS),
            autocompletion=lambda: list(_CLIENTS),
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Load threads of each worker (default: the test's, or half the cores).",
            min=1,
            metavar="N",
        ),
    ] = None,
) -> None:
    """Wait for masters and make the load of their tests until Ctrl-C.

    sitebench worker --master 10.0.0.1

    sitebench worker --master 10.0.0.1 --processes 2 --threads 1

    The master is `sitebench ils sweep --workers N --bind 10.0.0.1`, or `locust --master
    --master-bind-host 10.0.0.1`. A worker runs what its master sends: connect only to a master that
    you trust.
    """
    from sitebench.locust.workers.supervisor import WorkerCommand, supervise
    from sitebench.measure.command import say
    from sitebench.options.option import OneOf
    from sitebench.targets.serving import until_stopped

    if client is not None:
        named(OneOf(*_CLIENTS), "--client")(client)
    with until_stopped() as stopped:
        workers = "1 worker waits" if processes == 1 else f"{processes} workers wait"
        say(f"{workers} for masters at {master.host}:{master.port}; stop with Ctrl-C")
        supervise(WorkerCommand(master, processes, client, threads), stopped)
    say("ended")
