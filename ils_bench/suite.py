from __future__ import annotations

from sitebench.suite import Demo, Operation, Suite

SUITE = Suite(
    name="ils",
    long_name="directory",
    title="Directory",
    help="Measure, fill and serve LDAP directories.",
    commands="ils_bench.cli:COMMANDS",
    operations={
        "connect": Operation("ConnectUser", "bind and unbind"),
        "add": Operation("AddUser", "add people, 100 per connection"),
        "lookup": Operation("LookupUser", "look up people, 100 per connection"),
        "retrieve": Operation("RetrieveUser", "list all"),
        "login": Operation("LoginUser", "log people in, by --how"),
        "ils-user": Operation("SessionUser", "the nine steps of the paper's user, in --session"),
        "register": Operation("RegisterUser", "add oneself, stay online, delete oneself"),
    },
    takes_files="ldap",
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
