"""Load tester for LDAP directories and web sites.

    with sitebench.LdapDirectory(entries=10_000) as directory:
        print(sitebench.run("lookup", directory, users=64))

Public names are imported when they are first used.
"""
# fmt: off

from importlib import import_module

TYPE_CHECKING = False  # Type checkers take this name for true, without an import of `typing`.
if TYPE_CHECKING:  # the names in `exports` of all suites, for type checkers
    from ils_bench.sequences import Add, Bind, Change, Compare, Connect, Delete, Lookup, Modify  # noqa: I001
    from ils_bench.sequences import Refresh, Repeat, Retrieve, Search, Sequence, Think, Unbind
    from ils_bench.targets.ldap_directory import LdapDirectory
    from ps_bench.targets.personalized_site import PersonalizedSite
    from sitebench._engine import Histogram, Population
    from sitebench.api.result import Result
    from sitebench.api.run import run
    from sitebench.errors import SitebenchError
    from sitebench.runs.runfile import RunFile
    from web_bench.targets.web_server import WebServer

__all__ = ["Add", "Bind", "Change", "Compare", "Connect", "Delete", "Histogram", "LdapDirectory",
           "Lookup", "Modify", "PersonalizedSite", "Population", "Refresh", "Repeat", "Result",
           "Retrieve", "RunFile", "Search", "Sequence", "SitebenchError", "Think", "Unbind",
           "WebServer", "run"]
_OWN = {"Histogram": "._engine", "Population": "._engine", "Result": ".api.result",
        "RunFile": ".runs.runfile", "SitebenchError": ".errors", "run": ".api.run"}

if not TYPE_CHECKING:  # type checkers report names that are not listed above
    def __getattr__(name: str) -> object:
        from sitebench.suite import suites
        for homes in (_OWN, *(suite.exports for suite in suites())):
            if name in homes:
                globals()[name] = value = getattr(import_module(homes[name], __name__), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
