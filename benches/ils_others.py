"""CPU time for a search or a login: sitebench and other load generators at the same slapd.

Each generator reads one person by name, with equally many clients, and only checks that the answer
is a success. The CPU time of other generators is that of the whole process with its start, which is
a tenth of ten seconds; slapd counts the searches. `searchrate` and `authrate`, which logs people in
over persistent connections, are programs of the UnboundID LDAP SDK for Java. All figures include
the kernel's time for sending, sleeping and waking; a raw loop that sends one bind measures this
time.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape

from benches.bench import Bench, measured, temporary_folder
from benches.ils_messages import bind
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench.calibrate import WARMUP_S
from ils_bench.options import IlsOptions
from ils_bench.points import POINTS
from ils_bench.targets.monitor import DirectoryMonitor
from ils_bench.targets.opening import open_target
from ils_bench.targets.people import spec_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import floor_exchange
from sitebench.seeders.people import generate

CLIENTS = 8
LEAST_S = 10.0
"""A Java program needs some seconds to compile itself."""
NAME = "others"

ROWS = rows_of("ils_others")
_PEOPLE = 1_000
_PASSWORD = "Secret-1"
_BOUND = bytes.fromhex("300c 020105 6107 0a0100 0400 0400")
"""The message of `bind` succeeded (RFC 4511 section 4.2.2)."""

_FILE = """\
base = "$base"
[[operation]]
search = "$filter"
"""
_JMETER = """\
<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="2.8"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="g">
  <stringProp name="ThreadGroup.num_threads">$clients</stringProp>
  <stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <boolProp name="ThreadGroup.scheduler">true</boolProp>
  <stringProp name="ThreadGroup.duration">$seconds</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <intProp name="LoopController.loops">-1</intProp>
  </elementProp>
</ThreadGroup><hashTree>
<OnceOnlyController guiclass="OnceOnlyControllerGui" testclass="OnceOnlyController" testname="o"/>
<hashTree>
<LDAPExtSampler guiclass="LdapExtTestSamplerGui" testclass="LDAPExtSampler" testname="bind">
  <stringProp name="servername">$host</stringProp><stringProp name="port">$port</stringProp>
  <stringProp name="rootdn">$base</stringProp><stringProp name="test">bind</stringProp>
  <stringProp name="user_dn"></stringProp><stringProp name="user_pw"></stringProp>
</LDAPExtSampler><hashTree/></hashTree>
<LDAPExtSampler guiclass="LdapExtTestSamplerGui" testclass="LDAPExtSampler" testname="search">
  <stringProp name="rootdn">$base</stringProp><stringProp name="test">search</stringProp>
  <stringProp name="searchfilter">$filter</stringProp><stringProp name="scope">2</stringProp>
</LDAPExtSampler><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"""


class OthersBench(Bench):
    """One slapd, opened when a trial first needs it."""

    def trials(self) -> list[Trial]:
        return [
            Trial("others-search", self._ours),
            Trial(
                "searchrate", lambda: self._theirs("searchrate", self._searchrate, self._searches)
            ),
            Trial("jmeter", lambda: self._theirs("jmeter", self._jmeter, self._searches)),
            Trial("others-login", self._our_logins),
            Trial("authrate", lambda: self._theirs("authrate", self._authrate, self._logins)),
            Trial("floor-login", self._floor),
        ]

    @cached_property
    def _options(self) -> IlsOptions:
        file = self._folder / f"{NAME}.toml"
        return IlsOptions(
            entries=_PEOPLE,
            target="openldap",
            threads=1,
            users=CLIENTS,
            scenario=str(file),
            warmup=WARMUP_S,
            measure=self.seconds,
        )

    @cached_property
    def _login_options(self) -> IlsOptions:
        """People with one common password, as authrate requires."""
        return replace(
            self._options,
            scenario=None,
            profile="person",
            hash="clear",
            one_password=_PASSWORD,
            over="kept",
        )

    @cached_property
    def _login_target(self) -> OpenDirectory:
        return self.stack.enter_context(open_target(self._login_options, _PEOPLE))

    @cached_property
    def _folder(self) -> Path:
        return self.stack.enter_context(temporary_folder())

    @cached_property
    def _target(self) -> OpenDirectory:
        return self.stack.enter_context(open_target(self._options, self._options.entries))

    @cached_property
    def _counters(self) -> DirectoryMonitor:
        return DirectoryMonitor(self._target)

    @cached_property
    def _login_counters(self) -> DirectoryMonitor:
        return DirectoryMonitor(self._login_target)

    @cached_property
    def _words(self) -> dict[str, str]:
        """Return the words that a program's command needs: slapd, the search and the load."""
        target, seconds = self._target, max(LEAST_S, self.seconds)
        person = generate(spec_of(self._options, 1)).population.name(0)
        return {
            "host": target.address.host,
            "port": str(target.address.port),
            "base": target.base,
            "filter": f"(cn={person})",
            "clients": str(CLIENTS),
            "seconds": str(round(seconds)),
        }

    def _ours(self) -> Values:
        Path(self._options.scenario or "").write_text(Template(_FILE).substitute(self._words))
        found = measured(POINTS.test(self._options, NAME).at(self._target))
        return {"cpu_us": found.cpu_us_per_op or 0.0}

    def _our_logins(self) -> Values:
        found = measured(POINTS.test(self._login_options, "login").at(self._login_target))
        return {"cpu_us": found.cpu_us_per_op or 0.0}

    def _floor(self) -> Values:
        target = self._login_target
        login = bind(f"uid=user.0,{target.base}", _PASSWORD)
        with socket.create_connection((target.address.host, target.address.port)) as connection:
            connection.sendall(login)
            assert connection.recv(len(_BOUND) + 1) == _BOUND
        found = floor_exchange(target.address.port, CLIENTS, self.seconds, login, len(_BOUND))
        return {"cpu_us": found["cpu_ns"] / found["operations"] / 1e3}

    def _theirs(
        self,
        name: str,
        arguments: Callable[[], Sequence[str]],
        count: Callable[[], float] | None = None,
    ) -> Values | Skipped:
        count = count or self._searches
        if (program := shutil.which(name)) is None:
            return Skipped(f"{name} is not on PATH")
        argv, before = [program, *arguments()], count()
        process = subprocess.Popen(
            argv, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        done = count() - before
        if process.returncode != 0 or done < 1_000:
            # Debian's JMeter cannot read any plan.
            line = next(iter(said.strip().splitlines()), "")
            return Skipped(f"{name} made {done:,.0f} operations: {line[:200]}")
        return {"cpu_us": (used.ru_utime + used.ru_stime) / done * 1e6}

    def _searches(self) -> float:
        """Return slapd's number of searches; the five searches of a reading are negligible."""
        found = self._counters.read()
        assert found is not None
        return found["search_completed_total"]

    def _logins(self) -> float:
        found = self._login_counters.read()
        assert found is not None
        return found["bind_completed_total"]

    def _authrate(self) -> list[str]:
        target = self._login_target
        return [
            *("--hostname", target.address.host, "--port", str(target.address.port)),
            *("--baseDN", f"uid=user.[0-{_PEOPLE - 1}],{target.base}", "--filter", "(uid=*)"),
            *("--credentials", _PASSWORD, "--bindOnly", "--numThreads", str(CLIENTS)),
            *("--intervalDuration", str(round(max(LEAST_S, self.seconds))), "--numIntervals", "1"),
        ]

    def _searchrate(self) -> list[str]:
        words = self._words
        return [
            *("--hostname", words["host"], "--port", words["port"], "--baseDN", words["base"]),
            *("--scope", "sub", "--filter", words["filter"], "--numThreads", words["clients"]),
            *("--intervalDuration", words["seconds"], "--numIntervals", "1"),
        ]

    def _jmeter(self) -> list[str]:
        plan = self._folder / "search.jmx"
        words = {name: escape(value) for name, value in self._words.items()}
        plan.write_text(Template(_JMETER).substitute(words))
        return ["-n", "-t", str(plan), "-l", str(self._folder / "log.jtl")]
