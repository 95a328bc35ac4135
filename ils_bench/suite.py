"""What the directory suite is."""

from __future__ import annotations

from sitebench.suite import Demo, Suite

SUITE = Suite(
    name="ils",
    long_name="directory",
    title="Directory",
    help="Measure, fill and serve LDAP directories.",
    commands="ils_bench.cli:COMMANDS",
    operations={
        "connect": "ConnectUser",
        "add": "AddUser",
        "lookup": "LookupUser",
        "retrieve": "RetrieveUser",
        "login": "LoginUser",
        "ils-user": "SessionUser",
        "register": "RegisterUser",
    },
    does="connect: log in (bind) and out again; add: enter people, 100 per connection; lookup: "
    "search a person, 100 per connection; retrieve: list all; login: log people in, as --how says; "
    "ils-user, register: the life of an online user.",
    takes_files="ldap",
    # Older runs counted the four lookups of each.
    counts={"ils-user": "sequence"},
    locustfile="ils_bench.locustfile",
    demo=Demo(
        command=("sweep", "--entries", "1k,10k,100k"),
        points=9,
        next="plan ils {run} --community 100k",
    ),
    calibrate="ils_bench.calibrate:calibrate",
    program="ils_bench.sequences:Sequence",
    points="ils_bench.points:POINTS",
    paper_sweep="ils_bench.paper.printed:SWEEP_1997",
    report="ils_bench.paper.report:REPORT",
    plan="ils_bench.paper.plan:PLAN",
    exports={
        "LdapDirectory": "ils_bench.targets.ldap_directory",
        **dict.fromkeys(
            (
                *("Add", "Bind", "Change", "Compare", "Connect", "Delete", "Lookup", "Modify"),
                *("Refresh", "Repeat", "Retrieve", "Search", "Sequence", "Think", "Unbind"),
            ),
            "ils_bench.sequences",
        ),
    },
    target_options=frozenset(("target", "base", "bind_dn", "names", "target_threads")),
    portable_client="ldap3",
    packages=("ldap3",),
)
