"""`sitebench worker`: makes load for a master on this machine or another one."""

from __future__ import annotations

from typing import Annotated

import typer

from sitebench.locust.workers.choice import PORTABLE
from sitebench.options.addresses import MasterAddress


def worker(
    master: Annotated[
        MasterAddress,
        typer.Option(
            parser=MasterAddress.parse,
            help="Where the master listens: what its --bind says.",
            metavar="HOST[:PORT]",
        ),
    ],
    processes: Annotated[int, typer.Option(help="How many workers to be.", min=1, metavar="N")] = 1,
    client: Annotated[
        str | None,
        typer.Option(
            help="Client that makes the load here: native, or a portable one, as far as the "
            f"test's suite has it ({', '.join(PORTABLE)}); default: the test's.",
            metavar="CHOICE",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            help="Engine threads of each worker; by default as the test says, or half the cores.",
            min=1,
            metavar="N",
        ),
    ] = None,
) -> None:
    """Wait for masters and make the load of their tests, until Ctrl-C.

    sitebench worker --master 10.0.0.1

    sitebench worker --master 10.0.0.1 --processes 2 --threads 1

    The master is `sitebench ils sweep --workers N --bind 10.0.0.1`, or `locust --master
    --master-bind-host 10.0.0.1`. What it sends is run here: let only masters that you trust be
    reached.
    """
    from sitebench.locust.workers.supervisor import WorkerCommand, supervise
    from sitebench.measure.command import say
    from sitebench.options.option import OneOf
    from sitebench.targets.serving import until_stopped

    if client is not None:
        OneOf("native", *PORTABLE)(client)
    with until_stopped() as stopped:
        many = "1 worker waits" if processes == 1 else f"{processes} workers wait"
        say(f"{many} for masters at {master.host}:{master.port}; Ctrl-C ends")
        supervise(WorkerCommand(master, processes, client, threads), stopped)
    say("ended")
