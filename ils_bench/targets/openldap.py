"""OpenLDAP's slapd with an mdb database in a temporary folder.

`python -m ils_bench.targets.openldap` starts it, so that slapd ends and its folder is deleted even
if the parent is killed. The monitor observes slapd itself.

The database does not sync to disk: an Internet Locator Server keeps its data in memory (paper, page
3), and the embedded directory does not sync either.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from select import PIPE_BUF
from typing import IO, Any

from ils_bench import schema
from ils_bench.options import LoadTestOptions
from ils_bench.targets.address import DirectoryAddress, scheme_of
from ils_bench.targets.groups import GroupSpec, attribute_of, groups_of, ldif_of
from ils_bench.targets.password_schemes import module_of
from ils_bench.targets.people import suffix_of
from ils_bench.targets.target import OpenDirectory
from sitebench._engine import profile_facts
from sitebench.errors import BadInput, MeasurementFailed, PortInUse, ProgramMissing
from sitebench.seeders.ldif import pieces
from sitebench.seeders.people import Spec, generate
from sitebench.seeders.slow_hashes import make_hashes
from sitebench.suite_base.embedded import open_child
from sitebench.system.child import Service, serve
from sitebench.system.machine import usable_cores
from sitebench.system.network import free_port
from sitebench.system.programs import find_program, last_line
from sitebench.system.scratch import scratch
from sitebench.targets.certificate import make_certificate
from sitebench.verdict.warning import PointWarning, WarningKind

_ANSWER_S = 30.0
_LEAST_ROOM = 4 << 30
"""Size limit of an mdb database without people, with room for added people; it reserves no
memory."""
DATA = "db"
_MORE_SCHEMAS = ("cosine", "inetorgperson", "nis")
"""Schemas of the profiles person and posix; a suffix of dc parts needs cosine."""
_SCHEMA = schema.FOLDER / schema.FILES["openldap"]

_CONFIG = """\
{schemas}
{modules}
pidfile {pid}
allow bind_v2 update_anon
sizelimit unlimited
database mdb
suffix {suffix}
rootdn {admin}
directory {data}
maxsize {maxsize}
dbnosync
index objectClass eq
index {naming} eq
{groups}
access to * by * write
{monitor}
"""


def open_openldap(
    options: LoadTestOptions, people: Spec, groups: GroupSpec | None = None
) -> OpenDirectory:
    scheme = scheme_of(tls=options.tls, start_tls=options.start_tls)

    def make_target(host: str, ready: Mapping[str, Any]) -> OpenDirectory:
        return OpenDirectory("openldap", DirectoryAddress(host, ready["port"], scheme), people.base)

    return open_child(
        make_target,
        "ils_bench.targets.openldap",
        options,
        {"threads": usable_cores()},
        data=Path(tempfile.gettempdir()),
        people=people.to_dict(),
        groups=groups,
        scheme=scheme,
    )


def _start(request: dict[str, Any]) -> Service:
    people, scheme, ca = Spec.from_dict(request["people"]), request["scheme"], None
    slapd, size = find("slapd"), people.size
    with contextlib.ExitStack() as opening:
        folder = opening.enter_context(scratch())
        spec = request["groups"]
        config = write_config(folder, people, with_groups=spec is not None)
        generated = generate(people)
        make_hashes(generated)
        groups = groups_of(spec, generated.population, people.profile)
        entries_of_groups = ((size, entry) for entry in ldif_of(groups))
        fill(config, chain(pieces(generated.population, 0, size), entries_of_groups))
        host = request["config"]["host"]
        if scheme != "ldap":
            ca, key = folder / "slapd.pem", folder / "slapd.key"
            make_certificate(ca, key, host)
            directives = f"TLSCertificateFile {_quote(ca)}\nTLSCertificateKeyFile {_quote(key)}\n"
            config.write_text(directives + config.read_text())
        address = DirectoryAddress(host, free_port(), scheme)
        argv = [slapd, "-d", "0", "-f", str(config), "-h", f"{address}/"]
        with (folder / "slapd.log").open("wb") as log:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        opening.callback(_end, process)
        _await_answer(process, address, folder)
        ready = {
            "port": address.port,
            "pid": process.pid,
            "ca": None if ca is None else str(ca),
            "facts": {
                "version": _version(slapd),
                "configuration": config.read_text().replace(str(folder), "..."),
            },
        }
        return Service(ready, opening.pop_all().close)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    process.kill()
    process.wait()


def find(program: str) -> str:
    return find_program(
        program, "install OpenLDAP's server (`apt-get install slapd`), or use --target embedded"
    )


def _version(slapd: str) -> str:
    process = subprocess.run([slapd, "-VV"], capture_output=True, text=True, check=False)
    lines = (process.stderr + process.stdout).strip().splitlines()
    return lines[0].removeprefix("@(#) $").removesuffix(" $") if lines else "unknown"


def write_config(folder: Path, people: Spec, *, with_groups: bool = False) -> Path:
    (folder / DATA).mkdir(exist_ok=True)
    shutil.copy(_SCHEMA, folder)
    modules = next((d for d in Path("/usr/lib").glob("**/back_mdb.so")), None) or next(
        (d for d in Path("/usr/lib").glob("**/back_mdb.la")), None
    )
    loading = ""
    if modules:
        module = module_of(people.hash)
        loading = f"modulepath {modules.parent}\nmoduleload back_mdb"
        loading += f"\nmoduleload {module}" if module else ""
    config, suffix = folder / "slapd.conf", suffix_of(people.base)
    config.write_text(
        _CONFIG.format(
            schemas="\n".join(f"include {schema}" for schema in _schemas(folder, people)),
            naming=profile_facts(people.profile)[1],
            groups=f"index {attribute_of(people.profile)} eq" if with_groups else "",
            modules=loading,
            pid=_quote(folder / "slapd.pid"),
            data=_quote(folder / DATA),
            suffix=_quote(suffix),
            admin=_quote(f"cn=admin,{suffix}"),
            maxsize=_LEAST_ROOM + people.size * 16_384,
            monitor=_monitor(modules),
        )
    )
    return config


def _quote(value: object) -> str:
    """Return a quoted value of slapd.conf, where a newline ends a directive (slapd.conf(5))."""
    text = str(value)
    if not text.isprintable():
        raise BadInput(
            f"slapd.conf cannot hold {text!r}: it has control characters",
            "name a base and a folder without them",
        )
    return '"' + text.replace("\\", r"\\").replace('"', r"\"") + '"'


def _monitor(modules: Path | None) -> str:
    """Return the configuration of cn=Monitor; empty if this slapd has no back-monitor."""
    module = None if modules is None else modules.with_name(f"back_monitor{modules.suffix}")
    if module is not None and module.exists():
        return "moduleload back_monitor\ndatabase monitor"
    process = subprocess.run([find("slapd"), "-VVV"], capture_output=True, text=True, check=False)
    built_in = "monitor" in (process.stderr + process.stdout).split()
    return "database monitor" if built_in else ""


def _schemas(folder: Path, people: Spec) -> list[object]:
    if people.profile == "ad":
        raise BadInput(
            "a slapd has no users of Active Directory",
            "fill a domain controller by its ldaps:// address, or name --profile person",
        )
    core = _core_schema()
    _, _, of_today = profile_facts(people.profile)
    of_suffix = _MORE_SCHEMAS[: suffix_of(people.base).lower().startswith("dc")]
    names = _MORE_SCHEMAS if of_today else of_suffix
    schemas = [core.with_name(f"{name}.schema") for name in names]
    return [core, *schemas, _quote(folder / _SCHEMA.name)]


def _core_schema() -> Path:
    for place in ("/etc/ldap/schema", "/etc/openldap/schema", "/usr/local/etc/openldap/schema"):
        if (path := Path(place) / "core.schema").is_file():
            return path
    raise ProgramMissing(
        "OpenLDAP's core.schema is not installed",
        "install OpenLDAP's server (`apt-get install slapd`)",
    )


def fill(
    config: Path,
    batches: Iterable[tuple[int, bytes]],
    progress: Callable[[int], object] = lambda written: None,
    locks: Sequence[int] = (),
) -> None:
    """Add batches of LDIF entries to an offline database; slapadd inherits the files `locks`."""
    argv = [find("slapadd"), "-q", "-f", str(config)]
    with tempfile.TemporaryFile() as output:
        # slapadd has its own session, so after Ctrl-C it still commits the entries in the pipe.
        slapadd = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=locks,
            bufsize=0,
        )
        with slapadd, contextlib.suppress(BrokenPipeError):
            assert slapadd.stdin is not None
            for written, piece in batches:
                for block in _whole_entries(piece):
                    slapadd.stdin.write(block)
                progress(written)
        if slapadd.returncode != 0:
            raise MeasurementFailed(
                f"slapadd could not load the people: {last_line_of(output)}",
                "check that its folder has free space, and that AppArmor lets slapd use it",
            )


def _whole_entries(piece: bytes) -> Iterator[bytes]:
    """Yield blocks of entries that fit into an atomic write."""
    start = 0
    while start < len(piece):
        end = piece.rfind(b"\n\n", start, start + PIPE_BUF)
        if end < 0:
            end = piece.find(b"\n\n", start)
        yield piece[start : end + 2]
        start = end + 2


def last_line_of(output: IO[bytes]) -> str:
    output.seek(0)
    return last_line(output.read().decode(errors="replace"))


def _await_answer(
    process: subprocess.Popen[bytes], address: DirectoryAddress, folder: Path
) -> None:
    give_up = time.monotonic() + _ANSWER_S
    while time.monotonic() < give_up:
        if process.poll() is not None:
            log = (folder / "slapd.log").read_text(errors="replace")
            raise PortInUse(
                f"slapd ended at once: {last_line(log)}",
                "another program may have taken its port: run again",
            )
        try:
            socket.create_connection((address.host, address.port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise MeasurementFailed(
        f"slapd did not answer at {address} within {_ANSWER_S:.0f} s", "look at the machine's load"
    )


def warn_of_durability(target: str, *, writes: bool) -> tuple[PointWarning, ...]:
    if target != "openldap" or not writes:
        return ()
    return (
        PointWarning(
            WarningKind.RELAXED_DURABILITY,
            "this slapd does not sync its database to disk (dbnosync), so its writes are faster",
            "compare it with directories that keep nothing either, or measure a slapd of your own "
            "by its ldap:// address",
        ),
    )


if __name__ == "__main__":
    serve(_start)
