from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sitebench.errors import UnknownValue
from sitebench.http.address import SiteAddress, parse_address
from sitebench.http.options import SiteOptions
from sitebench.options import option
from sitebench.options.option import Options
from sitebench.suite_base.options import (
    EndpointOptions,
    ServerOptions,
    port_option,
    target_option,
)
from web_bench.workload import DYNAMIC, PATH, SEED


def _addresses(text: str) -> tuple[SiteAddress, ...]:
    return tuple(parse_address(f"http://{part}") for part in option.sequence_of(str)(text))


def _programs(text: str) -> dict[str, str]:
    path_by_kind = option.pairs(text, "cgi=/cgi-bin/program?size={size}", DYNAMIC)
    for kind, path in path_by_kind.items():
        if not path.startswith("/") or not path.isascii() or " " in path:
            raise UnknownValue(f"{path!r} of {kind} is no path", "begin with /, without spaces")
    return path_by_kind


def _path(text: str) -> str:
    if not text.startswith("/"):
        remedy = f"write {'/' + text!r}"
        if "://" in text:
            remedy = "write the path alone; the target has the address"
        raise UnknownValue(f"the path {text!r} does not begin with '/'", remedy)
    if not text.isascii() or not text.isprintable() or {*" #{}"} & {*text}:
        raise UnknownValue(
            f"the path {text!r} has a character that no request line can carry", "write it as %XX"
        )
    return text


@dataclass(frozen=True)
class FileSetOptions:
    """Options that, with the workload, determine the files."""

    files_per_class: int | None = option.count(
        None,
        "Files of each class's sizes (default: those of the workload).",
        panel="Files",
        form=False,
    )
    seed: int = option.count(
        SEED, "Seed of the files' contents and of the random choices.", at_least=0, panel="Files"
    )


@dataclass(frozen=True)
class WebOptions(FileSetOptions, SiteOptions):
    target: str = target_option(
        "embedded",
        "Server to measure: embedded, nginx or apache, which sitebench starts; or the http:// or "
        "https:// address of another.",
    )
    path: str | None = option.parsed(
        None,
        f"Path to request, with an optional query, instead of a workload: the operation {PATH!r}.",
        parse=_path,
        metavar="PATH",
        panel="Load",
    )
    keepalive: bool | None = option.switch(
        "HTTP/1.1 and one connection per client, or one per request (default: per client with "
        "--path, else per request with HTTP/1.0; scenario files have their own setting)."
    )
    docroot: str | None = option.text(
        None,
        "Folder with the files of a server that sitebench starts; missing files are written "
        "(default: one for each file set, in the cache folder).",
        "FOLDER",
        panel="Files",
        form=False,
    )
    addresses: tuple[SiteAddress, ...] = option.parsed(
        (),
        "Further addresses of a running server, which clients use in turn: HOST:PORT.",
        parse=_addresses,
        show=lambda addresses: ",".join(f"{address.host}:{address.port}" for address in addresses),
        metavar="LIST",
        panel="Target",
    )
    tls_target: str | None = option.text(
        None, "https:// address of the same server, for connections with TLS.", "URL", panel="TLS"
    )
    programs: Mapping[str, str] | None = option.parsed(
        None,
        "Programs of a running server: KIND=PATH, with {size}, {content} and {copy} as "
        "placeholders.",
        parse=_programs,
        show=option.show_pairs,
        metavar="LIST",
        panel="Target",
    )
    directives: Mapping[str, str] | None = option.parsed(
        None,
        "Directives of nginx or apache to change, as NAME=VALUE,NAME=VALUE.",
        parse=lambda text: option.pairs(text, "sendfile=off"),
        show=option.show_pairs,
        metavar="LIST",
        panel="Target",
        form=False,
    )
    cgi_program: str | None = option.file(
        "Your own program for CGI requests, instead of sitebench's own, which needs no "
        "interpreter.",
        panel="Target",
        form=False,
    )
    target_threads: int = option.count(
        1, "Threads of the embedded server, workers of nginx or apache.", panel="Advanced"
    )
    keys: str = option.choice("uniform", "Unused.", "uniform", hidden=True)


@dataclass(frozen=True)
class SweepOptions(WebOptions):
    clients: tuple[int, ...] = option.sizes(
        "Numbers of clients to measure (default: those of the workload).",
        locust=False,
        names=("--clients", "--users", "-u"),
    )
    users: int = option.size(1, "One of --clients.", "N", locust=False, command=False)
    paper: bool = option.flag(
        "The sweep of the papers: their numbers of clients, 600 s per point, 30 s to ramp up if "
        "printed (WebBench 1.0), a connection per request.",
        locust=False,
    )


@dataclass(frozen=True)
class VerifyOptions(FileSetOptions, EndpointOptions):
    target: str = target_option(
        "http://127.0.0.1:8080", "http:// or https:// address of the server."
    )


@dataclass(frozen=True)
class ServeOptions(FileSetOptions, ServerOptions, Options):
    port: int = port_option(8080)
    docroot: str | None = option.text(
        None,
        "Folder to serve, or folder of --workload's files (default: the cache folder).",
        "FOLDER",
        panel="Files",
    )
    workload: str = option.text(
        "webbench1-static",
        "Workload, or scenario file, whose files are served; files missing in --docroot are "
        "written.",
        panel="Files",
    )
    dot_files: bool = option.flag(
        "Files whose names begin with a dot, such as .git and .env, are served, too.", panel="Files"
    )
