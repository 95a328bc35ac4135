"""CPU time for a search or a login: sitebench and other load generators at the same slapd.

Each generator reads one person by name, with equally many clients, and only checks that the answer
is a success. The CPU time of other generators is that of the whole process with its start, which is
a tenth of ten seconds; slapd counts the searches. `searchrate` and `authrate`, which logs people in
over persistent connections, are programs of the UnboundID LDAP SDK for Java. All figures include
the kernel's time for sending, sleeping and waking; a raw loop that sends one bind measures this
time.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape

from benches.bench import run_counted, temporary_folder
from benches.ils_engine import DirectoryBench
from benches.ils_messages import bind
from benches.ratios import Skipped, Trial, Values, rows_of
from ils_bench.options import IlsOptions
from ils_bench.targets.monitor import DirectoryMonitor
from ils_bench.targets.people import spec_of
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


class OthersBench(DirectoryBench):
    """A slapd for searches, and one for logins."""

    def trials(self) -> list[Trial]:
        return [
            Trial("others-search", self._ours),
            Trial("searchrate", lambda: self._theirs("searchrate", self._searchrate)),
            Trial("jmeter", lambda: self._theirs("jmeter", self._jmeter)),
            Trial("others-login", lambda: self._cost(self._logins, "login")),
            Trial("authrate", lambda: self._theirs("authrate", self._authrate, logins=True)),
            Trial("floor-login", self._floor),
        ]

    @cached_property
    def _folder(self) -> Path:
        return self.stack.enter_context(temporary_folder())

    @cached_property
    def _searches(self) -> IlsOptions:
        file = str(self._folder / f"{NAME}.toml")
        return self.options(_PEOPLE, target="openldap", users=CLIENTS, scenario=file)

    @cached_property
    def _logins(self) -> IlsOptions:
        """Logins of people with one common password, as authrate requires."""
        people = {"profile": "person", "hash": "clear", "one_password": _PASSWORD}
        return self.options(_PEOPLE, target="openldap", users=CLIENTS, over="kept", **people)

    @cached_property
    def _words(self) -> dict[str, str]:
        """Return the words that a program's command needs: slapd, the search and the load."""
        target, seconds = self.target(self._searches), max(LEAST_S, self.seconds)
        person = generate(spec_of(self._searches, 1)).population.name(0)
        return {
            "host": target.address.host,
            "port": str(target.address.port),
            "base": target.base,
            "filter": f"(cn={person})",
            "clients": str(CLIENTS),
            "seconds": str(round(seconds)),
        }

    def _ours(self) -> Values:
        Path(self._searches.scenario or "").write_text(Template(_FILE).substitute(self._words))
        return self._cost(self._searches, NAME)

    def _cost(self, options: IlsOptions, operation: str) -> Values:
        return {"cpu_us": self.point(options, operation=operation).cpu_us_per_op or 0.0}

    def _floor(self) -> Values:
        target = self.target(self._logins)
        login = bind(f"uid=user.0,{target.base}", _PASSWORD)
        with socket.create_connection((target.address.host, target.address.port)) as connection:
            connection.sendall(login)
            assert connection.recv(len(_BOUND) + 1) == _BOUND
        found = floor_exchange(target.address.port, CLIENTS, self.seconds, login, len(_BOUND))
        return {"cpu_us": found["cpu_ns"] / found["operations"] / 1e3}

    def _theirs(
        self, name: str, arguments: Callable[[], Sequence[str]], *, logins: bool = False
    ) -> Values | Skipped:
        if (program := shutil.which(name)) is None:
            return Skipped(f"{name} is not on PATH")
        argv, before = [program, *arguments()], self._operations(logins=logins)
        code, output, cpu_s = run_counted(argv, cwd=self._folder, stderr=subprocess.STDOUT)
        done = self._operations(logins=logins) - before
        if code != 0 or done < 1_000:
            # Debian's JMeter cannot read any plan.
            line = next(iter(output.strip().splitlines()), "")
            return Skipped(f"{name} made {done:,.0f} operations: {line[:200]}")
        return {"cpu_us": cpu_s / done * 1e6}

    def _operations(self, *, logins: bool) -> float:
        """Return slapd's number of operations; the five searches of a reading are negligible."""
        target = self.target(self._logins if logins else self._searches)
        counters = DirectoryMonitor(target).read()
        assert counters is not None
        return counters["bind_completed_total" if logins else "search_completed_total"]

    def _authrate(self) -> list[str]:
        target = self.target(self._logins)
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
