"""A password in a sequence of a program's own leaves no trace, even if the program is killed."""

import os
import subprocess
import sys

import psutil

from tests.system.test_child import gone
from tests.trust.searching import ADMIN, Searched

PROGRAM = """
import sys
import threading
import time

import sitebench

dn, password = sys.argv[1], sys.stdin.readline().strip()
bind = sitebench.Bind(dn=dn, password=password)
sequence = sitebench.Sequence("bound", (sitebench.Connect(), bind, sitebench.Unbind()))
load = {"users": 2, "threads": 1, "warmup_s": 0.0}
with sitebench.LdapDirectory(10, locales=("en_US",), admin_dn=dn, admin_password=password) as there:
    done = sitebench.run(sequence, there, measure_s=0.5, out="run.sitebench", **load)
    print(done.failures, done.point.operations > 0, done, flush=True)
    binds = there.stats()["binds"]

    def tell():
        while there.stats()["binds"] < binds + 100:
            time.sleep(0.05)
        print("bound", flush=True)

    threading.Thread(target=tell, daemon=True).start()
    sitebench.run(sequence, there, measure_s=60.0, **load)
"""


def test_a_password_in_a_sequence_of_ones_own_leaves_no_trace(searched: Searched) -> None:
    with (
        (searched.folder / "errors").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, ADMIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=searched.folder,
            env={**os.environ, **searched.environment()},
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{searched.secret}\n")
            process.stdin.flush()
            searched.heard += [process.stdout.readline(), process.stdout.readline()]
            load = [each.pid for each in psutil.Process(process.pid).children(recursive=True)]
        finally:
            process.kill()
    assert searched.heard[0].startswith("0 True <bound, 2 clients: ")
    assert searched.heard[1] == "bound\n"
    assert searched.traces() == []
    searched.done("report", "run.sitebench", "--out", "report.html")
    assert load
    assert all(gone(pid) for pid in load)
    assert searched.traces() == []
    assert searched.told == set()
