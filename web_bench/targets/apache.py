"""Apache in a temporary folder: files, parsed pages, CGI, FastCGI, pages of Lua, TLS."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from sitebench.system.child import serve
from sitebench.system.programs import find_program
from web_bench.targets import started
from web_bench.targets.cgi import PATH as CGI
from web_bench.targets.started import Server, page

PROGRAMS = {
    "cgi-env": f"{CGI}?kind=simcgi",
    "cgi": f"{CGI}?kind={{content}}&size={{size}}",
    "inprocess": "/dynamic/{content}?size={size}",
    "page": "/dynamic/page.shtml",
    "template": "/dynamic/template/{copy}",
    "fastcgi": "/dynamic/fastcgi?kind={content}&size={size}",
}

_AT_ONCE = 640
"""Threads of all processes, more than the papers' 600 clients: without a free thread, Apache closes
kept connections."""
_NOBODY = "65534"

_FIXED = "# The rest is needed as it is.\n"
_TLS = """
LoadModule ssl_module @modules@/mod_ssl.so
Listen @host@:@secure@
<VirtualHost @host@:@secure@>
  SSLEngine On
  SSLCertificateFile cert.pem
  SSLCertificateKeyFile key.pem
@client_ca@</VirtualHost>
"""
_CLIENT_CA = """\
  SSLCACertificateFile clients.pem
  SSLVerifyClient require
"""

serving = functools.partial(started.serving, __name__)


def _argv(program: str, folder: Path) -> Sequence[str]:
    argv = [program, "-d", str(folder), "-f", "apache2.conf", "-D", "FOREGROUND"]
    if os.geteuid() != 0:
        return argv
    # Apache serves no request as root; the capability lets another user read root's files.
    setpriv = find_program("setpriv", "install it (`apt-get install util-linux`)")
    user = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return [setpriv, *user, "--inh-caps=+dac_override", "--ambient-caps=+dac_override", *argv]


SERVER = Server(
    "apache2",
    "apache2-bin",
    started.read_file("apache2.conf"),
    _FIXED,
    "{name} {value}",
    # A backslash at the end would continue the line.
    r".*[^\\]",
    PROGRAMS,
    _argv,
    _TLS,
    _CLIENT_CA,
    lambda threads: {
        "modules": "/usr/lib/apache2/modules",
        "threads_each": str(-(-_AT_ONCE // threads)),
        "requests": str(-(-_AT_ONCE // threads) * threads),
    },
    started.fastcgi,
    {"CustomLog": "access.log common"},
    {
        "programs/pages.lua": started.read_file("apache2.lua").replace(
            "@page@", page("]=] .. date .. [=[")
        )
    },
)


if __name__ == "__main__":
    serve(lambda request: started.start(SERVER, request))
